"""The paths that concern no sport: /v1/alive, /v1/health, /v1/ready, /v1/whoami, /v1/sports."""

from typing import Annotated, Any

from litestar import Request
from litestar.params import QueryParameter

from app.channels.rest.dependencies import Rest
from app.domain.ids import LIVE_SPORTS, Sport
from app.http import response
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get, siblings
from app.http.health import FEED_PROCESS, OK
from app.http.representation import Format, response_format
from app.http.request_data import wrong_fields
from app.http.response import NOTHING, RenderedResponse
from app.kit.errors import Field, Invalid, Unavailable, with_others
from app.wire.views.meta import (
    ALERTS,
    AliveView,
    HealthView,
    Many,
    Single,
    WhoamiView,
    alive_view,
    health_view,
    many,
    whoami_view,
)
from app.wire.xml import feed, responses

_SIBLING = {"sibling": True}
_READY = {"handler_checks_query": True}  # the parts are those of this process
_RETRY_SECONDS = 5
_WHOAMI = _SIBLING | {"cached_per": lambda grant, _: grant}


@get(siblings("/v1/alive"), opt=_SIBLING)
async def get_alive(request: AuthenticatedRequest, rest: Rest) -> RenderedResponse[Single[AliveView]]:
    """Whether the service and its feed are up: while no feed process is alive, the status is `feed_down`, and
    the XML, which is the feed's own `<alive>`, has `subscribed="0"`."""
    now, fed = rest.clock(), await rest.health.ok(FEED_PROCESS)
    if response_format(request.scope) is Format.XML:
        return response.as_xml(feed.alive(rest.product, now, fed))
    return response.as_json(Single(alive_view(now, fed)))


@get("/v1/health")
async def get_health(rest: Rest) -> Single[HealthView]:
    """The state of each part of the service."""
    return Single(health_view(await rest.health.parts()))


@get("/v1/ready", opt=_READY)
async def get_readiness(
    request: Request[Any, Any, Any],
    rest: Rest,
    parts: Annotated[str, QueryParameter(description="Only these, separated by commas.")] = "",
) -> Single[HealthView]:
    """Readiness, for load balancers: 503 while a part is ill, of those in `parts` or of all except the
    alerts."""
    found = await rest.health.parts()
    wanted = {part for part in parts.split(",") if part} or set(found) - {ALERTS}
    wrong = wrong_fields(request.scope)
    if unknown := wanted - set(found):
        what = f"Known here: {', '.join(found)}."
        own = Field(("query", "parts"), what, "unknown_part", ",".join(sorted(unknown)))
        wrong = with_others(wrong, (own,))
    if wrong:
        raise Invalid(*wrong)
    ill = [f"{part}: {found[part]}" for part in sorted(wanted) if found[part] != OK]
    if ill:
        raise Unavailable(f"Not ready: {'; '.join(ill)}.", retry_after=_RETRY_SECONDS)
    return Single(health_view({part: found[part] for part in found if part in wanted}))


@get(siblings("/v1/whoami"), opt=_WHOAMI)
async def get_whoami(request: AuthenticatedRequest) -> RenderedResponse[Single[WhoamiView]]:
    """The tenant of the key and what it may do; the first call to make with a new key."""
    if response_format(request.scope) is Format.XML:
        return response.as_xml(responses.bookmaker_details(request.auth), invalidated_by=NOTHING)
    return response.as_json(Single(whoami_view(request.auth)), invalidated_by=NOTHING)


@get("/v1/sports")
async def list_sports() -> Many[Sport]:
    """The sport namespaces that are live."""
    return many(LIVE_SPORTS)
