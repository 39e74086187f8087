"""Which listener serves which paths, and what refuses a WebSocket upgrade.

The listeners of tenants, of operators and of SDKs are sockets of one process. Everything under `/ops` and
`/console` belongs to the operators' listener, except the log sink, which game servers reach on the public
one. A path that a listener does not serve is answered like one that does not exist. So is, on every listener,
a path in an ambiguous spelling (`//ops/v1/feed`, `/cs2%2fv1/stream`, `/x/../ops/v1/feed`): a proxy that
protects a prefix must read the same path as this service.

Without a port for operators one listener serves everything: for development, and for tests in one process.

The SDK address serves the paths under `/v1/`, in a dialect of its own (`wire.xml.dialect`): `listener_of`
returns the listener that received a request.

A refused upgrade gets an HTTP response with a JSON body, like every refusal. The server must support ASGI's
`websocket.http.response` extension (uvicorn does); one that does not sends a 403 without a body.
"""

import re
from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from typing import Any, cast
from urllib.parse import unquote

import msgspec
from litestar import Litestar
from litestar.enums import ScopeType
from litestar.exceptions import NotFoundException
from litestar.middleware import ASGIMiddleware
from litestar.types import (
    ASGIApp,
    LifeSpanReceive,
    LifeSpanScope,
    LifeSpanSend,
    Message,
    Receive,
    Scope,
    Send,
)

from app.access.rate_limit import UnauthenticatedLimiter
from app.domain.ids import limits_of
from app.http.auth import client_address
from app.http.errors import Problem, detail_of
from app.http.headers import LOG_SINK, complete_response, request_id
from app.kit.errors import NotFound, Refusal

_KEY = "matchfeed.listener"
_NOT_HERE = "There is no stream at this address."
_SDK_PREFIX = "/v1/"
_SEPARATORS = re.compile(r"[/\\]+")
#: What the operators' listener serves beside `/ops`, for monitoring.
_ON_BOTH = ("/v1/health", "/v1/ready", "/v1/alive")
#: The operators' prefixes, and the spelling of paths under them.
_CANONICAL = {
    # Only the log sink's path may end in a slash: game servers add one.
    "ops": re.compile(rb"/ops/[A-Za-z0-9/_.:~%-]*(?:[A-Za-z0-9_.:~%-]|/log/)"),
    # Market names have `=`, and `|`, which browsers send as `%7C`.
    "console": re.compile(rb"/console(?:/[A-Za-z0-9_.:~=%-]+)*"),
}
#: Separators, and unreserved characters (letters, digits, `-._~`). `:` and `|` in an id may be encoded.
_NEEDLESSLY_ENCODED = re.compile(rb"%(2[def]|3[0-9]|4[1-9a-f]|5[0-9acf]|6[1-9a-f]|7[0-9ae])", re.IGNORECASE)


class Listener(Enum):
    """For whom a listener is."""

    TENANTS = "tenants"
    OPERATORS = "operators"
    SDK = "sdk"


class Ports(msgspec.Struct, frozen=True):
    """The ports of the listeners that an installation may have; 0 for one that does not exist."""

    operators: int
    sdk: int


class ListenerFilter(ASGIMiddleware):
    """The outermost middleware: hides the paths that a request's listener does not serve.

    The framework runs it after routing. A wrong method of a hidden path, which the framework refuses before,
    is therefore hidden by the handler of that refusal (`errors.unrouted`).

    `limiter` and `ports` are called for each request: an application may be configured anew."""

    def __init__(self, limiter: Callable[[], UnauthenticatedLimiter], ports: Callable[[], Ports]) -> None:
        self._limiter, self._ports = limiter, ports

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        if self.serves(scope):
            await next_app(scope, receive, send)
        elif scope["type"] == ScopeType.WEBSOCKET:
            await refuse_unknown(scope, send, self._limiter())
        else:
            raise NotFoundException

    def serves(self, scope: Scope) -> bool:
        """Whether the listener that received the request serves its path; stores the listener."""
        listener = scope["state"][_KEY] = self._listener(scope)
        return _serves(listener, _raw(scope), has_operators=bool(self._ports().operators))

    def _listener(self, scope: Scope) -> Listener:
        """The listener that received the request."""
        server = scope.get("server")
        port = server[1] if server else None
        ports = self._ports()
        if port and port == ports.operators:
            return Listener.OPERATORS
        return Listener.SDK if port and port == ports.sdk else Listener.TENANTS


@lru_cache(maxsize=4096)
def _serves(listener: Listener, raw: bytes, *, has_operators: bool) -> bool:
    """Whether the listener serves the path, as it was sent; `has_operators`: operators have a listener of
    their own."""
    path = unquote(raw.decode("latin-1"))  # routing has normalised the scope's own
    if not _is_unambiguous(path, raw):
        return False
    if listener is Listener.SDK:
        return path.startswith(_SDK_PREFIX)
    prefix = _operators_prefix(path)
    if not prefix:
        return listener is Listener.TENANTS or path in _ON_BOTH
    if not _CANONICAL[prefix].fullmatch(raw) or b"%25" in raw:
        return False
    return not has_operators or (listener is Listener.OPERATORS) is not bool(LOG_SINK.match(path))


def listener_of(scope: Scope) -> Listener:
    """The listener that received this request; known once `ListenerFilter` has seen it."""
    found: Listener = scope["state"][_KEY]
    return found


def _operators_prefix(path: str) -> str:
    """The operators' prefix under which any parser could read the path, or ""."""
    parts: list[str] = []
    for part in _SEPARATORS.split(path.lower()):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    found = (each for each in _CANONICAL if parts[:1] == [each] or path.lower().startswith(f"/{each}"))
    return next(found, "")


def _is_unambiguous(path: str, raw: bytes) -> bool:
    """Whether every parser reads the path alike: no empty or dot segments, no encoded separators."""
    segments = path.split("/")
    tidy = "" not in segments[1:-1] and not {".", ".."} & set(segments) and "\\" not in path
    return tidy and not _NEEDLESSLY_ENCODED.search(raw)


def _raw(scope: Scope) -> bytes:
    """The path as it was sent."""
    return scope.get("raw_path") or scope["path"].encode()


class InternalError(Refusal):
    """An unexpected exception; its traceback is in the log."""

    status = 500


class Application(Litestar):
    """The framework's application, which answers refused upgrades. The `unauthenticated_limiter` of its
    `state.parts` counts those to unknown paths.

    No hook of the framework (2.25) can do this: it closes an upgrade to an unknown path before any middleware
    runs, exception handlers are called for HTTP only, and `before_send` cannot send a body."""

    async def __call__(
        self, scope: Scope | LifeSpanScope, receive: Receive | LifeSpanReceive, send: Send | LifeSpanSend
    ) -> None:
        if scope["type"] == ScopeType.WEBSOCKET:
            send = self._refusing(cast(Scope, scope), cast(Send, send))
        await super().__call__(scope, receive, send)

    def _refusing(self, scope: Scope, send: Send) -> Send:
        """A `send` that refuses an upgrade which the framework would close without a response."""
        started = False

        async def completed(message: Message) -> None:
            await complete_response(message, scope)
            await send(message)

        async def send_or_refuse(message: Message) -> None:
            nonlocal started
            if message["type"] != "websocket.close" or started:
                await send(message)
            elif cast(Any, scope).get("route_handler"):
                await refuse(scope, completed, internal_error(scope))
            else:
                await refuse_unknown(scope, completed, self.state.parts.unauthenticated_limiter)
            started = True

        return send_or_refuse


async def refuse_unknown(scope: Scope, send: Send, limiter: UnauthenticatedLimiter) -> None:
    """Respond to an upgrade to a path without a stream as to any request to an unknown path."""
    limiter.record_refusal(client_address(scope), "path")
    await refuse(scope, send, NotFound(_NOT_HERE + limits_of(scope["path"])))


async def refuse(scope: Scope, send: Send, error: Refusal) -> None:
    """Respond to an upgrade with the status and the JSON `{detail}` of a refusal."""
    body = msgspec.json.encode(Problem(detail_of(error)))
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),  # the server adds it to all responses but these
    ]
    if error.retry_after is not None:
        headers.append((b"retry-after", str(error.retry_after).encode()))
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1008, "reason": error.detail[:120]})
        return
    start = {"type": "websocket.http.response.start", "status": error.status, "headers": headers}
    await send(cast(Any, start))
    await send(cast(Any, {"type": "websocket.http.response.body", "body": body, "more_body": False}))


def internal_error(scope: Scope) -> InternalError:
    """The refusal that an unexpected exception becomes; it carries the request id."""
    return InternalError(f"The service failed; tell us the request id {request_id(scope)}.")
