"""Matches and their parts, under /cs2/v1, and the settlement ledger of all matches."""

from bisect import bisect_right
from operator import attrgetter
from typing import Annotated

from litestar.params import FromPath, QueryParameter
from msgspec import UNSET

from app.channels.rest.dependencies import (
    CACHED,
    CACHED_WITH_SIBLING,
    EntryCursor,
    Limit,
    Rest,
    options,
    visible_match,
    visible_sport_events,
)
from app.domain import scopes
from app.domain.ids import match_urn
from app.domain.match import Match, summarize
from app.domain.tenant import Grant
from app.domain.types_off import offered_entries
from app.http import response
from app.http.auth import AuthenticatedRequest
from app.http.handlers import XML_SUFFIX, get, siblings
from app.http.representation import Format, response_format
from app.http.response import RenderedResponse
from app.store import history, markets, match_entrants, tenants
from app.store.transaction import Tx
from app.wire.fields import Group, Groups, groups
from app.wire.views.history import EventView, RoundView, event_view, round_view
from app.wire.views.match import (
    MatchParts,
    MatchView,
    SummaryView,
    match_view,
    summary_view,
)
from app.wire.views.meta import Many, Single, many
from app.wire.views.offers import MarketView, SettlementView, market_view, settlement_view
from app.wire.xml import feed, sport_events

_SETTLEMENTS = 200


@get("/cs2/v1/matches/{match_id:str}", opt=options(scopes.LIST, scopes.READ) | CACHED_WITH_SIBLING)
async def get_match(
    request: AuthenticatedRequest, rest: Rest, match_id: FromPath[str]
) -> RenderedResponse[Single[MatchView]]:
    """One match, with the fields that the key's scopes open. Its XML is the compact fixture."""
    field_groups = groups(request.auth.scopes)
    async with rest.store.snapshot() as tx:
        match = await visible_match(tx, request.auth, match_id.removesuffix(XML_SUFFIX))
        if response_format(request.scope) is Format.XML:
            (event,) = await visible_sport_events(tx, request.auth, [match], field_groups)
            return response.as_xml(sport_events.fixtures_fixture(event), invalidated_by=match.id)
        parts = await _parts(tx, request.auth, match, field_groups)
    return response.as_json(Single(match_view(parts, field_groups)), invalidated_by=match.id)


@get(siblings("/cs2/v1/matches/{match_id:str}/summary"), opt=options(scopes.READ) | CACHED_WITH_SIBLING)
async def get_match_summary(
    request: AuthenticatedRequest, rest: Rest, match_id: FromPath[str]
) -> RenderedResponse[Single[SummaryView]]:
    """A match's score, winner, score of each map, and when it was played."""
    async with rest.store.snapshot() as tx:
        match = await visible_match(tx, request.auth, match_id)
        if response_format(request.scope) is Format.XML:
            (event,) = await visible_sport_events(tx, request.auth, [match], groups(request.auth.scopes))
            return response.as_xml(sport_events.match_summary(event), invalidated_by=match.id)
    return response.as_json(Single(summary_view(match)), invalidated_by=match.id)


async def _parts(tx: Tx, grant: Grant, match: Match, field_groups: Groups) -> MatchParts:
    """The match with the parts that its view shows."""
    detailed, offered = Group.DETAIL in field_groups, Group.MARKETS in field_groups
    internal = Group.INTERNALS in field_groups
    booked = not internal or match.id in await tenants.booked(tx, grant.tenant.id, [match.id])
    logos = await match_entrants.logos_of(tx, [match]) if Group.BASIC in field_groups else {}
    found = await markets.open_of_match(tx, match.id) if offered else ()
    rounds, events = await history.standing(tx, match.id) if detailed else ((), ())
    return MatchParts(
        match,
        rounds=rounds,
        events=events,
        markets=grant.tenant.offer.now.markets_in_list(found),
        booked=booked,
        logos=logos.get(match.id),
    )


@get(siblings("/cs2/v1/matches/{match_id:str}/markets"), opt=options(scopes.MARKETS) | CACHED_WITH_SIBLING)
async def list_match_markets(
    request: AuthenticatedRequest, rest: Rest, match_id: FromPath[str]
) -> RenderedResponse[Many[MarketView]]:
    """The markets of a match that are on offer or suspended, by type and specifiers.

    The XML is the feed's own `<odds_change>`, with the timestamp of the match's latest message; it includes
    the match's status for keys that may read matches, and probabilities for tenants that receive them.
    """
    async with rest.store.snapshot() as tx:
        match = await visible_match(tx, request.auth, match_id)
        present = await markets.open_of_match(tx, match.id)
    found = request.auth.tenant.offer.now.markets_in_list(present)
    if response_format(request.scope) is Format.XML:
        head = summarize(match) if Group.READ in groups(request.auth.scopes) else None
        name = match_urn(match.number)
        document = feed.odds_change(
            name,
            rest.product,
            match.last_stamp,
            head,
            found,
            probabilities=request.auth.tenant.probabilities,
        )
        return response.as_xml(document, invalidated_by=match.id)
    return response.as_json(many(map(market_view, found)), invalidated_by=match.id)


@get("/cs2/v1/matches/{match_id:str}/rounds", opt=options(scopes.DETAIL) | CACHED)
async def list_match_rounds(
    request: AuthenticatedRequest, rest: Rest, match_id: FromPath[str]
) -> RenderedResponse[Many[RoundView]]:
    """The finished rounds of a match that count, in order."""
    async with rest.store.snapshot() as tx:
        match = await visible_match(tx, request.auth, match_id)
        found = [played for played in await history.rounds(tx, match.id) if not played.void]
    return response.negotiated(request, many(map(round_view, found)), invalidated_by=match.id)


@get("/cs2/v1/matches/{match_id:str}/timeline", opt=options(scopes.DETAIL) | CACHED)
async def list_match_events(
    request: AuthenticatedRequest, rest: Rest, match_id: FromPath[str]
) -> RenderedResponse[Many[EventView]]:
    """Kills and bomb events of a match that count, in order."""
    async with rest.store.snapshot() as tx:
        match = await visible_match(tx, request.auth, match_id)
        found = [event for event in await history.timeline(tx, match.id) if not event.void]
    internal = Group.INTERNALS in groups(request.auth.scopes)
    views = (event_view(event, match.info.streams, internal=internal) for event in found)
    return response.negotiated(request, many(views), invalidated_by=match.id)


@get(
    "/cs2/v1/matches/{match_id:str}/settlements",
    opt=options(scopes.SETTLEMENTS) | CACHED,
)
async def list_match_settlements(
    request: AuthenticatedRequest,
    rest: Rest,
    match_id: FromPath[str],
    limit: Annotated[int, QueryParameter(ge=1, le=1000, description="Entries at most.")] = _SETTLEMENTS,
    cursor: EntryCursor = None,
) -> RenderedResponse[Many[SettlementView]]:
    """The entries of a match's settlement ledger, oldest first. `total` is the number of all entries;
    `next_cursor` leads to the next page and is absent on the last."""
    async with rest.store.snapshot() as tx:
        match = await visible_match(tx, request.auth, match_id)
        entries = offered_entries(await history.ledger(tx, match.id), request.auth.tenant.types_off)
    begin = bisect_right(entries, int(cursor or 0), key=attrgetter("id"))
    shown = entries[begin : begin + limit]
    following = str(shown[-1].id) if begin + limit < len(entries) else UNSET
    views = (settlement_view(match.id, match.number, entry) for entry in shown)
    listed = many(views, limit, len(entries), next_cursor=following)
    return response.negotiated(request, listed, invalidated_by=match.id)


@get("/cs2/v1/settlements", opt=options(scopes.SETTLEMENTS))
async def list_settlements(
    request: AuthenticatedRequest,
    rest: Rest,
    since_id: Annotated[
        int,
        QueryParameter(ge=0, le=2**63 - 1, description="The `id` of the last entry that you have; 0: none."),
    ] = 0,
    limit: Limit = 50,
) -> Many[SettlementView]:
    """Entries after `since_id`, oldest first. Entries are only ever appended: the last row's `id` is the next
    `since_id`; without a row, repeat the same one."""
    async with rest.store.autocommit() as tx:
        found = await history.ledger_since(
            *(tx, since_id, limit, request.auth.tenant.types_off), finished_only=request.auth.finished_only
        )
    return many((settlement_view(*each) for each in found), limit)
