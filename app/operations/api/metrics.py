"""The metrics of the web process, /ops/v1/metrics."""

from typing import Any

from litestar import Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from app.http.handlers import get

_METRICS: dict[str, Any] = {"operator": True, "format": CONTENT_TYPE_LATEST}


@get("/ops/v1/metrics", opt=_METRICS)
async def show_metrics() -> Response[bytes]:
    """Counters and gauges of this process, as Prometheus reads them."""
    return Response(generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})


HANDLERS = (show_metrics,)
