"""What is set in every response as it is sent: the request's id, the key's rate limit, no body after HEAD,
the methods of a path.

`X-Request-Id` is the client's own id if it is valid, else a generated one. `RateLimit-Policy` and `RateLimit`
have the form of the IETF's draft: quota and window; what remains, and the seconds until one more request is
allowed.

Responses are counted here, by what was requested and the class of their status: how available the service
is. `/v1/ready` responds 503 to monitors while a component is unhealthy, so their requests count apart.
"""

import os
import re
from functools import lru_cache
from itertools import count
from secrets import token_hex
from typing import Any, cast

from litestar.routes import HTTPRoute
from litestar.types import Message, Scope

from app.access.rate_limit import WINDOW_SECONDS, RateLimitState
from app.kit.metrics import http_responses

_VALID_ID = re.compile(rb"[A-Za-z0-9._:/+=-]{1,64}\Z")
_ID, _RATE_LIMIT = "matchfeed.request_id", "matchfeed.rate_limit"
#: An id is a random prefix and a counter: a random id, or the process id, per request would cost a system
#: call.
_prefix, _numbers = token_hex(12), count(1)
_MONITORING = re.compile(r"/v1/(?:health|ready|alive|status)(?:\.xml)?/?\Z")
#: The path of the log sink.
LOG_SINK = re.compile(r"/ops/v1/matches/[^/]+/log/?\Z")
_REST = ("/v1/", "/cs2/v1/", "/soccer/v1/")
_APIS = ("rest", "log_sink", "operators", "pages", "monitoring")
#: Known beforehand, so that each is exposed as 0 from the start.
_COUNTERS = {
    (api, hundreds): http_responses.labels(api, f"{hundreds}xx") for api in _APIS for hundreds in range(2, 6)
}
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
    start["headers"] = [*start["headers"], *headers_of_request(scope)]
    if scope.get("method") == "OPTIONS" and start.get("status") == 204 and "path_template" in scope:
        _set_allow(start, scope)


def headers_of_request(scope: Scope) -> list[tuple[bytes, bytes]]:
    """What the response to this request has in its headers, whatever it is: its id, the key's rate limit."""
    return [(b"x-request-id", request_id(scope).encode()), *_rate_limit_headers(scope)]


def request_id(scope: Scope) -> str:
    """The id of this request, the same at every call."""
    state = scope.setdefault("state", {})
    found: str | None = state.get(_ID)
    if found is None:
        found = state[_ID] = _client_id(scope) or f"{_prefix}{next(_numbers):08x}"
    return found


def _client_id(scope: Scope) -> str:
    """The client's own id, if it is valid; else empty."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _VALID_ID.match(value):
            return value.decode()
    return ""


def _begin_in_child() -> None:
    """Choose another prefix: a forked process would continue with its parent's ids."""
    global _prefix
    _prefix = token_hex(12)


os.register_at_fork(after_in_child=_begin_in_child)


def set_rate_limit(scope: Scope, state: RateLimitState) -> None:
    """Set what the response to this request reports of its key's rate limit."""
    scope["state"][_RATE_LIMIT] = state


def _rate_limit_headers(scope: Scope) -> list[tuple[bytes, bytes]]:
    """The headers that report the key's rate limit; none before the request is counted."""
    allowance: RateLimitState | None = scope["state"].get(_RATE_LIMIT)
    if allowance is None:
        return []
    headers = [_policy(allowance.limit)]
    if allowance.remaining is not None:
        headers.append((b"ratelimit", b'"key";r=%d;t=%d' % (allowance.remaining, allowance.reset)))
    return headers


@lru_cache(maxsize=1024)
def _policy(limit: int) -> tuple[bytes, bytes]:
    return b"ratelimit-policy", b'"key";q=%d;w=%d' % (limit, WINDOW_SECONDS)


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
        return "log_sink" if LOG_SINK.match(path) else "operators"
    return "pages"


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
