"""Matches and what hangs on them, under /cs2/v1."""

from typing import Annotated

from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from app.channels.rest.listing import listing
from app.channels.rest.reader import Reader, visible
from app.channels.rest.telling import HOT, KEPT, opt, told
from app.domain import scopes
from app.domain.ids import match_urn
from app.domain.match import Match, summarize
from app.domain.tenant import Grant
from app.http import answer, media
from app.http.answer import Answer
from app.http.auth import Caller
from app.http.door import SIBLING, siblings
from app.http.media import Format
from app.store import history, markets, tenants
from app.store.transaction import Tx
from app.wire.envelopes import events, feed
from app.wire.fields import Group, Groups, groups
from app.wire.views.history import EventView, RoundView, event_view, round_view
from app.wire.views.match import (
    MatchParts,
    MatchView,
    SummaryView,
    match_view,
    summary_view,
)
from app.wire.views.meta import ListMeta, Many, Single
from app.wire.views.offers import MarketView, SettlementView, market_view, settlement_view

_SETTLEMENTS = 200


@get("/cs2/v1/matches/{match_id:str}", opt=opt(scopes.LIST, scopes.READ) | HOT)
async def detail(
    request: Caller, reader: NamedDependency[Reader], match_id: FromPath[str]
) -> Answer[Single[MatchView]]:
    """One match, with the fields that the key's scopes open. Its XML is the compact fixture."""
    opened = groups(request.auth.scopes)
    async with reader.store.snapshot() as tx:
        match = await visible(tx, request.auth, match_id.removesuffix(SIBLING))
        if media.of(request.scope) is Format.XML:
            (event,) = await told(tx, request.auth, [match], opened)
            return answer.as_xml(events.fixtures_fixture(event), about=match.id)
        parts = await _parts(tx, request.auth, match, opened)
    return answer.as_json(Single(match_view(parts, opened)), about=match.id)


@get(siblings("/cs2/v1/matches/{match_id:str}/summary"), opt=opt(scopes.READ) | HOT)
async def summary(
    request: Caller, reader: NamedDependency[Reader], match_id: FromPath[str]
) -> Answer[Single[SummaryView]]:
    """How a match stands or ended: score, winner, the score of each map, and when it was played."""
    async with reader.store.snapshot() as tx:
        match = await visible(tx, request.auth, match_id)
        if media.of(request.scope) is Format.XML:
            (event,) = await told(tx, request.auth, [match], groups(request.auth.scopes))
            return answer.as_xml(events.match_summary(event), about=match.id)
    return answer.as_json(Single(summary_view(match)), about=match.id)


async def _parts(tx: Tx, grant: Grant, match: Match, opened: Groups) -> MatchParts:
    """The match and as much of what hangs on it as is going to be seen."""
    seen, offered = Group.DETAIL in opened, Group.MARKETS in opened
    internal = Group.INTERNALS in opened
    booked = not internal or match.id in await tenants.booked(tx, grant.tenant.id, [match.id])
    return MatchParts(
        match,
        rounds=await history.rounds(tx, match.id) if seen else (),
        events=await history.timeline(tx, match.id) if seen else (),
        markets=await markets.active(tx, match.id) if offered else (),
        booked=booked,
    )


@get(siblings("/cs2/v1/matches/{match_id:str}/markets"), opt=opt(scopes.MARKETS) | HOT)
async def offers(
    request: Caller, reader: NamedDependency[Reader], match_id: FromPath[str]
) -> Answer[Many[MarketView]]:
    """The markets of a match that are on offer or suspended, by type and specifiers.

    Their XML is the feed's own `<odds_change>`, with the timestamp of the match's latest message; where the
    match stands is in it for keys that may read matches.
    """
    async with reader.store.snapshot() as tx:
        match = await visible(tx, request.auth, match_id)
        found = await markets.active(tx, match.id)
    if media.of(request.scope) is Format.XML:
        head = summarize(match) if Group.READ in groups(request.auth.scopes) else None
        name = match_urn(match.number)
        document = feed.odds_change(name, reader.product, match.last_stamp, head, found)
        return answer.as_xml(document, about=match.id)
    return answer.as_json(Many(tuple(map(market_view, found)), ListMeta(len(found))), about=match.id)


@get("/cs2/v1/matches/{match_id:str}/rounds", opt=opt(scopes.DETAIL) | KEPT)
async def rounds(
    request: Caller, reader: NamedDependency[Reader], match_id: FromPath[str]
) -> Answer[Many[RoundView]]:
    """The finished rounds of a match that count, in order."""
    async with reader.store.snapshot() as tx:
        match = await visible(tx, request.auth, match_id)
        found = [played for played in await history.rounds(tx, match.id) if not played.void]
    shown = Many(tuple(map(round_view, found)), ListMeta(len(found)))
    return answer.as_asked(request, shown, about=match.id)


@get("/cs2/v1/matches/{match_id:str}/timeline", opt=opt(scopes.DETAIL) | KEPT)
async def timeline(
    request: Caller, reader: NamedDependency[Reader], match_id: FromPath[str]
) -> Answer[Many[EventView]]:
    """Kills and bomb events of a match that count, in order."""
    async with reader.store.snapshot() as tx:
        match = await visible(tx, request.auth, match_id)
        found = [event for event in await history.timeline(tx, match.id) if not event.void]
    shown = Many(tuple(map(event_view, found)), ListMeta(len(found)))
    return answer.as_asked(request, shown, about=match.id)


@get("/cs2/v1/matches/{match_id:str}/settlements", opt=opt(scopes.SETTLEMENTS, query=("limit",)) | KEPT)
async def settlements(
    request: Caller,
    reader: NamedDependency[Reader],
    match_id: FromPath[str],
    limit: Annotated[int, QueryParameter(ge=1, le=1000, description="Entries at most.")] = _SETTLEMENTS,
) -> Answer[Many[SettlementView]]:
    """The first entries of a match's settlement ledger, oldest first; `total` says how many there are."""
    async with reader.store.snapshot() as tx:
        match = await visible(tx, request.auth, match_id)
        entries = await history.ledger(tx, match.id)
    shown = tuple(settlement_view(match.id, match.number, entry) for entry in entries[:limit])
    meta = ListMeta(len(shown), limit, len(entries))
    return answer.as_asked(request, Many(shown, meta), about=match.id)


HANDLERS = (listing, detail, summary, offers, rounds, timeline, settlements)
