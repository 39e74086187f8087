"""The paths that concern no sport: /v1/alive, /v1/health, /v1/ready, /v1/whoami, /v1/sports."""

from typing import Annotated

from litestar import get
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from app.channels.rest.reader import Reader
from app.domain.sports import LIVE, Sport
from app.http import answer, media
from app.http.answer import Answer
from app.http.auth import Caller
from app.http.door import siblings
from app.http.health import FEED_PROCESS, OK
from app.http.kept import NOTHING
from app.http.media import Format
from app.kit.errors import Field, Invalid, Unavailable
from app.wire.envelopes import answers, feed
from app.wire.views.meta import (
    ALERTS,
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
_READY = {"query": ("parts",)}
_RETRY_SECONDS = 5
_WHOAMI = _SIBLING | {"kept": lambda grant, _: grant}


@get(siblings("/v1/alive"), opt=_SIBLING)
async def alive(request: Caller, reader: NamedDependency[Reader]) -> Answer[Single[AliveView]]:
    """Whether the service answers, and whether its feed does: while no feed process lives, the status is
    `feed_down`, and the XML, which is the feed's own `<alive>`, says `subscribed="0"`."""
    now, fed = reader.clock(), await reader.health.ok(FEED_PROCESS)
    if media.of(request.scope) is Format.XML:
        return answer.as_xml(feed.alive(reader.product, now, fed))
    return answer.as_json(Single(alive_view(now, fed)))


@get("/v1/health")
async def health(reader: NamedDependency[Reader]) -> Single[HealthView]:
    """Which part of the service is ill, if any."""
    return Single(health_view(await reader.health.parts()))


@get("/v1/ready", opt=_READY)
async def ready(
    reader: NamedDependency[Reader],
    parts: Annotated[str, QueryParameter(description="Only these, separated by commas.")] = "",
) -> Single[HealthView]:
    """The same for balancers: 503 while a part is ill, of those that are named or of all but the alerts."""
    found = await reader.health.parts()
    wanted = {part for part in parts.split(",") if part} or set(found) - {ALERTS}
    if unknown := wanted - set(found):
        what = f"Known here: {', '.join(found)}."
        raise Invalid(Field(("query", "parts"), what, "unknown_part", ",".join(sorted(unknown))))
    ill = [f"{part}: {found[part]}" for part in sorted(wanted) if found[part] != OK]
    if ill:
        raise Unavailable(f"Not ready: {'; '.join(ill)}.", retry_after=_RETRY_SECONDS)
    return Single(health_view({part: found[part] for part in found if part in wanted}))


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


HANDLERS = (alive, health, ready, whoami, sports)
