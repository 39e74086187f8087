"""The heads of answers: what each says, HEAD for every GET, and what OPTIONS says."""

from typing import Any, cast

from litestar.enums import ScopeType
from litestar.routes import HTTPRoute
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from app.http import rate_limit, request_id

_HEADS = ("http.response.start", "websocket.accept", "websocket.http.response.start")


class Heads:
    """Around the whole application, which never sees a HEAD: the same work, the same headers, no body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        asked = cast(Any, {**scope, "method": "GET"})
        await self._app(asked, receive, cast(Send, send_head))


async def complete(message: Message, scope: Scope) -> None:
    """A hook before every sent message: what every answer says in its head. One for all, for it is called
    twice a request."""
    if message["type"] not in _HEADS:
        return
    said = cast(Any, message)
    said["headers"] = [*said["headers"], request_id.header(scope), *rate_limit.headers(scope)]
    if scope.get("method") == "OPTIONS" and said.get("status") == 204 and "path_template" in scope:
        _explain(said, scope)


def _explain(said: Any, scope: Scope) -> None:
    """OPTIONS names every method of the address. The framework's own answer forgets those of the handlers
    that joined the address later."""
    others = [one for one in said["headers"] if one[0] != b"allow"]
    said["headers"] = [*others, (b"allow", ", ".join(sorted(_methods(scope))).encode())]


def _methods(scope: Scope) -> set[str]:
    found: set[str] = set()
    for route in scope["litestar_app"].routes:
        if isinstance(route, HTTPRoute) and route.path_format == scope["path_template"]:
            found |= set(route.methods)
    return found | {"HEAD"} if "GET" in found else found
