"""Counts of responses, by what was requested and the class of their status: how available the service is.

`/v1/ready` responds 503 to monitors while a component is unhealthy: requests for monitoring count apart.
"""

import re

from app.kit.metrics import http_responses

_MONITORING = re.compile(r"/v1/(?:health|ready|alive)(?:\.xml)?/?\Z")
_LOG_SINK = re.compile(r"/ops/v1/matches/[^/]+/log/?\Z")
_REST = ("/v1/", "/cs2/v1/", "/soccer/v1/")
_APIS = ("rest", "log_sink", "operators", "pages", "monitoring")
#: Known beforehand, so that each is exposed as 0 from the start.
_COUNTERS = {
    (api, hundreds): http_responses.labels(api, f"{hundreds}xx") for api in _APIS for hundreds in range(2, 6)
}


def count(path: str, status: int) -> None:
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
