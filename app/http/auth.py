"""Who asks, and whether this route is for them.

A route says in its `opt` what it asks for: `open` (no key at all), `operator` (operator keys only),
`sport` (a namespace), `scopes` (one of these is enough). Every route but an `open` one needs a key.
"""

from collections.abc import Callable, Iterable
from typing import Any

from litestar import Request
from litestar.datastructures import State
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Receive, Scope, Send

from app.access.grants import Grants
from app.domain.tenant import Grant
from app.http import request_id
from app.kit.errors import BadRequest, Forbidden, Unauthenticated
from app.kit.logging import bind

Caller = Request[object, Grant, State]  #: a request whose `auth` is the caller's grant
HEADERS = (b"x-api-key", b"x-access-token", b"$x$access-token")


class Authentication(ASGIMiddleware):
    """Puts the caller's `Grant` into the request's `auth`, or refuses. What that grant may do is judged by
    `Admission`, so that requests beyond its rights count against its rate like all others."""

    scopes = (ScopeType.HTTP,)

    def __init__(self, grants: Callable[[], Grants]) -> None:
        self._grants = grants

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        wanted = scope["route_handler"].opt
        if wanted.get("open"):
            with bind(request_id=request_id.of(scope)):
                await next_app(scope, receive, send)
            return
        client = scope.get("client")
        grant = await self._grants().of(presented_key(scope["headers"]), client[0] if client else None)
        scope["auth"] = grant
        with bind(request_id=request_id.of(scope), tenant=grant.tenant.slug):
            await next_app(scope, receive, send)


class Admission(ASGIMiddleware):
    """Refuses a caller whose grant lacks what the route asks for."""

    scopes = (ScopeType.HTTP,)

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        grant = scope.get("auth")
        if grant is not None:
            admit(grant, scope["route_handler"].opt)
        await next_app(scope, receive, send)


def presented_key(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The key in the request's headers; raises `Unauthenticated` for none, `BadRequest` for two kinds."""
    keys = {value for name, value in headers if name.lower() in HEADERS}
    if not keys:
        raise Unauthenticated("Send your API key in the header X-API-Key.")
    if len(keys) > 1:
        raise BadRequest("The headers X-API-Key and x-access-token carry different keys: send one.")
    return keys.pop().decode("latin-1").strip()


def admit(grant: Grant, wanted: dict[str, Any]) -> None:
    """Raise `Forbidden` unless the grant has what the route asks for."""
    if wanted.get("operator") and not grant.operator:
        raise Forbidden("This is for operator keys only.")
    sport = wanted.get("sport")
    if sport is not None and sport not in grant.sports:
        raise Forbidden(f"This key may not use the sport {sport!r}. Ask your account manager to add it.")
    scopes: tuple[str, ...] = wanted.get("scopes", ())
    if scopes and grant.scopes.isdisjoint(scopes):
        raise Forbidden(
            f"This key lacks the scope {' or '.join(scopes)}. Ask your account manager to add it."
        )
