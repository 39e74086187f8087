"""What is set in every response as it is sent: common headers, no body after HEAD, the methods of a path.

Responses are counted here, by what was requested and the class of their status: how available the service
is. `/v1/ready` responds 503 to monitors while a component is unhealthy, so their requests count apart.
"""

import re
from typing import Any, cast

from litestar.routes import HTTPRoute
from litestar.types import Message, Scope

from app.http import rate_limit, request_id
from app.kit.metrics import http_responses

_MONITORING = re.compile(r"/v1/(?:health|ready|alive)(?:\.xml)?/?\Z")
_LOG_SINK = re.compile(r"/ops/v1/matches/[^/]+/log/?\Z")
_REST = ("/v1/", "/cs2/v1/", "/soccer/v1/")
_APIS = ("rest", "log_sink", "operators", "pages", "monitoring")
#: Known beforehand, so that each is exposed as 0 from the start.
_COUNTERS = {
    (api, hundreds): http_responses.labels(api, f"{hundreds}xx") for api in _APIS for hundreds in range(2, 6)
}


def count_response(path: str, status: int) -> None:
    """Count a response."""
    counter = _COUNTERS.get((requested_api(path), status // 100))
    if counter is not None:
        counter.inc()


def requested_api(path: str) -> str:
    """What a request was for, by its path."""
    if path.startswith(_REST):
        return "monitoring" if _MONITORING.match(path) else "rest"
    if path.startswith("/ops/"):
        return "log_sink" if _LOG_SINK.match(path) else "operators"
    return "pages"


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
        count_response(scope["path"], message["status"])
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
