"""What is set in every response as it is sent: common headers, no body after HEAD, the methods of a path."""

from typing import Any, cast

from litestar.routes import HTTPRoute
from litestar.types import Message, Scope

from app.http import rate_limit, request_id, response_counts

_START_MESSAGES = ("http.response.start", "websocket.accept", "websocket.http.response.start")


async def complete_response(message: Message, scope: Scope) -> None:
    """A `before_send` hook: adds the request id and the rate limit to every response, and drops the body of a
    response to HEAD. It is one hook and not several because it is called twice per request."""
    if message["type"] == "http.response.body" and scope.get("method") == "HEAD":
        message["body"] = b""
    if message["type"] not in _START_MESSAGES:
        return
    start = cast(Any, message)
    if message["type"] == "http.response.start":
        response_counts.count(scope["path"], message["status"])
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
    return found
