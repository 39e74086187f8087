"""Requests a minute, per key; and a bound on those who have none.

`RateLimit` and `RateLimit-Policy` have the form of the IETF's draft: quota and window, what remains, and
the seconds until one request more is free. `Gate` stands before authentication, `RateLimit` after it.
Neither looks at WebSockets.
"""

from collections.abc import Callable

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from app.access.grants import Grants
from app.access.rate_limit import WINDOW_SECONDS, Allowance, Strangers, spend
from app.http.auth import presented_key
from app.kit.errors import BadRequest, Forbidden, TooManyRequests, Unauthenticated
from app.store.counters import Counters

_KEY = "matchfeed.allowance"


class Gate(ASGIMiddleware):
    """Turns an address away that was refused too often, unless it shows a key known to be good."""

    scopes = (ScopeType.HTTP,)

    def __init__(self, grants: Callable[[], Grants], strangers: Strangers) -> None:
        self._grants = grants
        self._strangers = strangers

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        client = scope.get("client")
        address = client[0] if client else ""
        seconds = self._strangers.wait(address)
        if seconds and not scope["route_handler"].opt.get("open"):
            self._turn_away(scope, seconds)
        try:
            await next_app(scope, receive, send)
        except (BadRequest, Unauthenticated, Forbidden):
            if scope.get("auth") is None:
                self._strangers.refused(address)
            raise

    def _turn_away(self, scope: Scope, seconds: int) -> None:
        try:
            known = self._grants().knows(presented_key(scope["headers"]))
        except (BadRequest, Unauthenticated):
            known = False
        if not known:
            what = "Too many requests without a valid key came from this address; slow down."
            raise TooManyRequests(what, retry_after=seconds)


class RateLimit(ASGIMiddleware):
    """Counts the request against its key, and refuses it when it is one too many."""

    scopes = (ScopeType.HTTP,)

    def __init__(self, counters: Callable[[], Counters]) -> None:
        self._counters = counters

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        if scope.get("auth") is not None:
            allowance = await spend(self._counters(), scope["auth"])
            scope["state"][_KEY] = allowance
            if allowance.refused:
                what = f"This key may ask {allowance.limit} times a minute; wait {allowance.reset} s."
                raise TooManyRequests(what, retry_after=allowance.reset)
        await next_app(scope, receive, send)


async def add(message: Message, scope: Scope) -> None:
    """A hook before every sent message: tell the caller where its key stands."""
    if message["type"] == "http.response.start":
        allowance: Allowance | None = scope["state"].get(_KEY)
        if allowance:
            message["headers"] = [*message["headers"], *_headers(allowance)]


def _headers(allowance: Allowance) -> list[tuple[bytes, bytes]]:
    policy = b'"key";q=%d;w=%d' % (allowance.limit, WINDOW_SECONDS)
    headers = [(b"ratelimit-policy", policy)]
    if allowance.remaining is not None:
        state = b'"key";r=%d;t=%d' % (allowance.remaining, allowance.reset)
        headers.append((b"ratelimit", state))
    return headers
