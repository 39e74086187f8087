"""The metrics of the web process, under /ops/v1."""

from litestar import Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from app.http.handlers import get


@get("/ops/v1/metrics", opt={"operator": True, "format": CONTENT_TYPE_LATEST})
async def show_metrics() -> Response[bytes]:
    """Counters and gauges of this process, as Prometheus reads them."""
    return Response(generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})
