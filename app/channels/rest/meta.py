"""The paths that concern no sport: /v1/alive, /v1/health, /v1/whoami, /v1/sports."""

from litestar import get
from litestar.di import NamedDependency

from app.channels.rest.reader import Reader
from app.domain.sports import LIVE, Sport
from app.http.auth import Caller
from app.wire.views.meta import (
    AliveView,
    HealthView,
    Many,
    Single,
    WhoamiView,
    alive_view,
    health_view,
    sports_view,
    whoami_view,
)


@get("/v1/alive")
async def alive(reader: NamedDependency[Reader]) -> Single[AliveView]:
    """Whether the service answers."""
    return Single(alive_view(reader.clock()))


@get("/v1/health")
async def health(reader: NamedDependency[Reader]) -> Single[HealthView]:
    """Which part of the service is ill, if any."""
    return Single(health_view(await reader.health.parts()))


@get("/v1/whoami")
async def whoami(request: Caller) -> Single[WhoamiView]:
    """Whom the key stands for and what it may do; the first call to make with a new key."""
    return Single(whoami_view(request.auth))


@get("/v1/sports")
async def sports() -> Many[Sport]:
    """The sport namespaces that are live."""
    return sports_view(LIVE)


HANDLERS = (alive, health, whoami, sports)
