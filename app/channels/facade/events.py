"""Single matches: fixture and summary."""

from collections.abc import Hashable
from typing import Any

from litestar.di import NamedDependency
from litestar.params import FromPath

from app.channels.facade import route_options
from app.channels.facade.dependencies import FacadeDependencies, not_found
from app.channels.facade.path_parameters import parse_locale
from app.domain import scopes
from app.domain.tenant import Grant
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.http.response import RenderedResponse
from app.store import match_entrants, matches, tenants
from app.wire.fields import groups
from app.wire.xml import sport_events


def _cached_per(grant: Grant) -> Hashable:
    """What of a grant the documents depend on; the tenant decides whether the match is booked."""
    return groups(grant.scopes), grant.finished_only, grant.tenant.id


_SUMMARY = route_options.cached(scopes.READ, per=_cached_per)
_FIXTURE = route_options.cached(scopes.LIST, scopes.READ, per=_cached_per)


@get("/v1/sports/{locale:str}/sport_events/{event_id:str}/summary", opt=_SUMMARY)
async def get_facade_summary(
    request: AuthenticatedRequest,
    facade: NamedDependency[FacadeDependencies],
    locale: FromPath[str],
    event_id: FromPath[str],
) -> RenderedResponse[Any]:
    """One match with its status and score."""
    language = parse_locale(locale)
    found = await _event(facade, request.auth, event_id)
    if found is None:
        return not_found("match_summary")
    return facade.respond(sport_events.match_summary(found, language, facade.dialect), found.id)


@get("/v1/sports/{locale:str}/sport_events/{event_id:str}/fixture", opt=_FIXTURE)
async def get_facade_fixture(
    request: AuthenticatedRequest,
    facade: NamedDependency[FacadeDependencies],
    locale: FromPath[str],
    event_id: FromPath[str],
) -> RenderedResponse[Any]:
    """One match: who meets when, in which format, and where to watch it."""
    language = parse_locale(locale)
    found = await _event(facade, request.auth, event_id)
    if found is None:
        return not_found("fixtures_fixture")
    return facade.respond(sport_events.fixtures_fixture(found, language, facade.dialect), found.id)


async def _event(facade: FacadeDependencies, grant: Grant, ref: str) -> sport_events.SportEvent | None:
    """The match that `ref` names, as this key sees it; None for one that it may not see."""
    async with facade.store.snapshot() as tx:
        match = await matches.find(tx, ref, finished_only=grant.finished_only)
        if match is None:
            return None
        (who,) = await match_entrants.of_matches(tx, [match])
        booked = bool(await tenants.booked(tx, grant.tenant.id, [match.id]))
    field_groups = groups(grant.scopes)
    return sport_events.event(
        match, who.tournament, who.home, who.away, field_groups=field_groups, booked=booked
    )
