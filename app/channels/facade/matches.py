"""Matches: single ones, as fixture and summary; lists of the tenant's booked matches: upcoming, live, of a
day; and of changed fixtures."""

from collections.abc import Hashable, Sequence
from typing import Annotated, Any

from litestar.params import FromPath, QueryParameter

from app.channels.facade.dependencies import (
    Facade,
    FacadeDependencies,
    cached,
    not_found,
    options,
    parse_day,
    parse_locale,
)
from app.domain import scopes
from app.domain.catalogue import Locale
from app.domain.entrants import MatchEntrants
from app.domain.match import Match, Status
from app.domain.tenant import Grant
from app.http import response
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.http.response import MATCH_LISTS, RenderedResponse
from app.store import listings, match_entrants, matches, tenants
from app.store.listings import ScheduleFilter
from app.wire.fields import Group, groups
from app.wire.xml import sport_events
from app.wire.xml.dialect import Dialect

_MOST = 1000
_UPCOMING = (Status.DISCOVERED, Status.UPCOMING)
_LIVE = (Status.LIVE,)
_ANY = tuple(Status)
_FINISHED = (Status.FINISHED,)
_RECENT_MILLIS = 86_400_000
_FAR = 2**62
#: Lists show only the fields of a match that every key with the list scope may see.
_FIELD_GROUPS = frozenset({Group.BASIC})


def _per_match(grant: Grant) -> Hashable:
    """What of a grant a match's documents depend on; the tenant decides whether it is booked."""
    return groups(grant.scopes), grant.finished_only, grant.tenant.id


def _per_list(grant: Grant) -> Hashable:
    """What of a grant the lists depend on; the tenant decides which matches are booked."""
    return grant.finished_only, grant.tenant.id


_SUMMARY = cached(scopes.READ, per=_per_match)
_FIXTURE = cached(scopes.LIST, scopes.READ, per=_per_match)
_LIST = cached(scopes.LIST, per=_per_list)


@get("/v1/sports/{locale:str}/sport_events/{event_id:str}/summary", opt=_SUMMARY)
async def get_facade_summary(
    request: AuthenticatedRequest, facade: Facade, locale: FromPath[str], event_id: FromPath[str]
) -> RenderedResponse[Any]:
    """One match with its status and score."""
    language = parse_locale(locale)
    found = await _event(facade, request.auth, event_id)
    if found is None:
        return not_found("match_summary")
    return facade.respond(sport_events.match_summary(found, language, facade.dialect), found.id)


@get("/v1/sports/{locale:str}/sport_events/{event_id:str}/fixture", opt=_FIXTURE)
async def get_facade_fixture(
    request: AuthenticatedRequest, facade: Facade, locale: FromPath[str], event_id: FromPath[str]
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


@get("/v1/sports/{locale:str}/schedules/pre/schedule", opt=_LIST)
async def get_facade_prematch_schedule(
    request: AuthenticatedRequest,
    facade: Facade,
    locale: FromPath[str],
    start: Annotated[int, QueryParameter(ge=0, le=_FAR, description="Matches to skip.")] = 0,
    limit: Annotated[int, QueryParameter(ge=1, le=_MOST, description="Matches at most.")] = _MOST,
) -> RenderedResponse[Any]:
    """A page of the upcoming matches, by scheduled start; one with fewer than `limit` is the last."""
    return await _schedule(request, facade, locale, ScheduleFilter(_UPCOMING), start, limit)


@get("/v1/sports/{locale:str}/schedules/live/schedule", opt=_LIST)
async def get_facade_live_schedule(
    request: AuthenticatedRequest, facade: Facade, locale: FromPath[str]
) -> RenderedResponse[Any]:
    """The live matches."""
    return await _schedule(request, facade, locale, ScheduleFilter(_LIVE))


@get("/v1/sports/{locale:str}/schedules/{day:str}/schedule", opt=_LIST)
async def get_facade_day_schedule(
    request: AuthenticatedRequest, facade: Facade, locale: FromPath[str], day: FromPath[str]
) -> RenderedResponse[Any]:
    """The matches scheduled on a day (UTC), in any status."""
    parse_locale(locale)
    return await _schedule(request, facade, locale, ScheduleFilter(_ANY, *parse_day(day)))


async def _schedule(
    request: AuthenticatedRequest,
    facade: FacadeDependencies,
    locale: str,
    wanted: ScheduleFilter,
    start: int = 0,
    limit: int | None = None,
) -> RenderedResponse[Any]:
    """The schedule, rendered once for all tenants with the same unbooked matches."""
    language, grant = parse_locale(locale), request.auth
    if grant.finished_only:
        left = tuple(status for status in wanted.statuses if status is Status.FINISHED)
        wanted = ScheduleFilter(left, wanted.since, wanted.until)
    async with facade.store.snapshot() as tx:
        unbooked = await listings.unbooked_digest(tx, grant.tenant.id)
        key = (facade.dialect, wanted, language, start, limit, unbooked)
        body = response.get_shared(request.scope, key)
        if body is not None:
            return RenderedResponse(body, invalidated_by=MATCH_LISTS)
        found = await listings.schedule(tx, grant.tenant.id, wanted, start=start, limit=limit)
        entered = await match_entrants.of_matches(tx, found)
    body = facade.body(_rendered(found, entered, language, facade.dialect))
    response.put_shared(request.scope, key, body, MATCH_LISTS)
    return RenderedResponse(body, invalidated_by=MATCH_LISTS)


def _rendered(
    found: Sequence[Match], entered: Sequence[MatchEntrants], locale: Locale, dialect: Dialect
) -> bytes:
    return sport_events.schedule(
        [
            sport_events.event(match, who.tournament, who.home, who.away, field_groups=_FIELD_GROUPS)
            for match, who in zip(found, entered, strict=True)
        ],
        locale,
        dialect,
    )


@get("/v1/sports/{locale:str}/fixtures/changes", opt=options(scopes.LIST))
async def get_facade_fixture_changes(
    request: AuthenticatedRequest,
    facade: Facade,
    locale: FromPath[str],
    after: Annotated[
        int | None, QueryParameter(ge=0, le=_FAR, description="Unix ms; one day ago by default.")
    ] = None,
) -> RenderedResponse[Any]:
    """The matches for which the feed has published a fixture change (kick-off, cancellation) since
    `after`."""
    parse_locale(locale)
    since = facade.clock() - _RECENT_MILLIS if after is None else after
    grant = request.auth
    async with facade.store.autocommit() as tx:
        found = await listings.fixture_changes(
            tx, grant.tenant.id, since, _FINISHED if grant.finished_only else _ANY
        )
    return facade.respond(sport_events.fixture_changes([sport_events.FixtureChanged(*one) for one in found]))
