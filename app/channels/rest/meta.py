"""The paths that concern no sport: /v1/alive, /v1/health, /v1/whoami, /v1/sports."""

from litestar import get
from litestar.di import NamedDependency

from app.channels.rest.reader import Reader
from app.domain.sports import LIVE, Sport
from app.http import answer, media
from app.http.answer import Answer
from app.http.auth import Caller
from app.http.door import siblings
from app.http.kept import NOTHING
from app.http.media import Format
from app.wire.envelopes import answers, feed
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

_SIBLING = {"sibling": True}
_WHOAMI = _SIBLING | {"kept": lambda grant, _: grant}


@get(siblings("/v1/alive"), opt=_SIBLING)
async def alive(request: Caller, reader: NamedDependency[Reader]) -> Answer[Single[AliveView]]:
    """Whether the service answers. Its XML is the feed's own `<alive>`."""
    now = reader.clock()
    if media.of(request.scope) is Format.XML:
        return answer.as_xml(feed.alive(reader.product, now, True))
    return answer.as_json(Single(alive_view(now)))


@get("/v1/health")
async def health(reader: NamedDependency[Reader]) -> Single[HealthView]:
    """Which part of the service is ill, if any."""
    return Single(health_view(await reader.health.parts()))


@get(siblings("/v1/whoami"), opt=_WHOAMI)
async def whoami(request: Caller) -> Answer[Single[WhoamiView]]:
    """Whom the key stands for and what it may do; the first call to make with a new key."""
    if media.of(request.scope) is Format.XML:
        return answer.as_xml(answers.bookmaker_details(request.auth), about=NOTHING)
    return answer.as_json(Single(whoami_view(request.auth)), about=NOTHING)


@get("/v1/sports")
async def sports() -> Many[Sport]:
    """The sport namespaces that are live."""
    return sports_view(LIVE)


HANDLERS = (alive, health, whoami, sports)
