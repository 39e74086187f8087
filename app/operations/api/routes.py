"""Every route of the operators' API but the log sink, as a plain list; and that of metrics."""

from litestar import Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from app.http.handlers import get, handlers_of
from app.operations.api import (
    alerts,
    claims,
    commands,
    keys,
    matches,
    profiles,
    ratings,
    reference_data,
    references,
    reports,
    status,
    tenants,
)


@get("/ops/v1/metrics", opt={"operator": True, "format": CONTENT_TYPE_LATEST})
async def show_metrics() -> Response[bytes]:
    """Counters and gauges of this process, as Prometheus reads them."""
    return Response(generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})


ROUTES = (
    *handlers_of(
        matches,
        commands,
        claims,
        ratings,
        reference_data,
        references,
        reports,
        alerts,
        tenants,
        profiles,
        keys,
        status,
    ),
    show_metrics,
)
