"""Response headers that every response carries, HEAD for every GET, and the response to OPTIONS."""

from typing import Any, cast

from litestar.enums import ScopeType
from litestar.routes import HTTPRoute
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from app.http import rate_limit, request_id

_START_MESSAGES = ("http.response.start", "websocket.accept", "websocket.http.response.start")


class HeadRequests:
    """Middleware around the whole application, which handles a HEAD as a GET: same work, same headers; the
    body is dropped."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        as_get = cast(Any, {**scope, "method": "GET"})
        await self._app(as_get, receive, cast(Send, send_without_body))


async def add_common_headers(message: Message, scope: Scope) -> None:
    """A `before_send` hook: adds the request id and the rate limit to every response. It is one hook and not
    several because it is called twice per request."""
    if message["type"] not in _START_MESSAGES:
        return
    start = cast(Any, message)
    start["headers"] = [*start["headers"], request_id.header(scope), *rate_limit.headers(scope)]
    if scope.get("method") == "OPTIONS" and start.get("status") == 204 and "path_template" in scope:
        _set_allow(start, scope)


def _set_allow(start: Any, scope: Scope) -> None:
    """List every method of the path in `Allow`. The framework omits those of handlers that were registered
    for the path later."""
    others = [one for one in start["headers"] if one[0] != b"allow"]
    start["headers"] = [*others, (b"allow", ", ".join(sorted(_methods(scope))).encode())]


def _methods(scope: Scope) -> set[str]:
    found: set[str] = set()
    for route in scope["litestar_app"].routes:
        if isinstance(route, HTTPRoute) and route.path_format == scope["path_template"]:
            found |= set(route.methods)
    return found | {"HEAD"} if "GET" in found else found
