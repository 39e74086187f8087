"""Matches and what hangs on them, under /cs2/v1."""

from typing import Annotated, Any, Literal

from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from app.channels.rest.reader import Reader, visible
from app.domain import scopes
from app.domain.match import Match, Status
from app.domain.tenant import Grant
from app.http.auth import Caller
from app.store import history, markets, matches, tenants
from app.store.transaction import Tx
from app.wire.fields import Group, Groups, groups
from app.wire.views.history import EventView, RoundView, event_view, round_view
from app.wire.views.match import MatchParts, MatchView, basic_view, match_view
from app.wire.views.meta import ListMeta, Many, Single
from app.wire.views.offers import MarketView, SettlementView, market_view, settlement_view

Filter = Literal["upcoming", "live", "finished", "cancelled"]
_BUCKETS: dict[str, tuple[Status, ...]] = {
    "live": (Status.LIVE,),
    "upcoming": (Status.UPCOMING, Status.DISCOVERED),
    "finished": (Status.FINISHED,),
    "cancelled": (Status.CANCELLED,),
}
_UNFILTERED = ("live", "upcoming", "finished")
_SETTLEMENTS = 200


def _opt(*needed: str, query: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"sport": "cs2", "scopes": needed, "query": query}


@get("/cs2/v1/matches", opt=_opt(scopes.LIST, query=("status", "limit")))
async def listing(
    request: Caller,
    reader: NamedDependency[Reader],
    status: Annotated[Filter | None, QueryParameter(description="Matches in this state only.")] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=200, description="Rows at most.")] = 50,
) -> Many[MatchView]:
    """Matches in their basic shape: live, then upcoming, then finished ones, or one state only."""
    buckets = _UNFILTERED if status is None else (status,)
    async with reader.store.snapshot() as tx:
        found = await _fill(tx, request.auth, buckets, limit)
        total = await _total(tx, request.auth, buckets)
    return Many(tuple(map(basic_view, found)), ListMeta(len(found), limit, total))


async def _fill(tx: Tx, grant: Grant, buckets: tuple[str, ...], limit: int) -> list[Match]:
    found: list[Match] = []
    for name in buckets:
        if len(found) < limit:
            found += await matches.listing(
                tx,
                statuses=_BUCKETS[name],
                limit=limit - len(found),
                finished_only=grant.finished_only,
                newest_first=name in ("finished", "cancelled"),
            )
    return found


async def _total(tx: Tx, grant: Grant, buckets: tuple[str, ...]) -> int:
    counts = await matches.counts(tx)
    statuses = [status for name in buckets for status in _BUCKETS[name]]
    return sum(counts[one] for one in statuses if one is Status.FINISHED or not grant.finished_only)


@get("/cs2/v1/matches/{match_id:str}", opt=_opt(scopes.LIST, scopes.READ))
async def detail(
    request: Caller, reader: NamedDependency[Reader], match_id: FromPath[str]
) -> Single[MatchView]:
    """One match, with the fields that the key's scopes open."""
    opened = groups(request.auth.scopes)
    async with reader.store.snapshot() as tx:
        match = await visible(tx, request.auth, match_id)
        parts = await _parts(tx, request.auth, match, opened)
    return Single(match_view(parts, opened))


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


@get("/cs2/v1/matches/{match_id:str}/markets", opt=_opt(scopes.MARKETS))
async def offers(
    request: Caller, reader: NamedDependency[Reader], match_id: FromPath[str]
) -> Many[MarketView]:
    """The markets of a match that are on offer or suspended, by type and specifiers."""
    async with reader.store.snapshot() as tx:
        match = await visible(tx, request.auth, match_id)
        found = await markets.active(tx, match.id)
    return Many(tuple(map(market_view, found)), ListMeta(len(found)))


@get("/cs2/v1/matches/{match_id:str}/rounds", opt=_opt(scopes.DETAIL))
async def rounds(
    request: Caller, reader: NamedDependency[Reader], match_id: FromPath[str]
) -> Many[RoundView]:
    """The finished rounds of a match that count, in order."""
    async with reader.store.snapshot() as tx:
        match = await visible(tx, request.auth, match_id)
        found = [played for played in await history.rounds(tx, match.id) if not played.void]
    return Many(tuple(map(round_view, found)), ListMeta(len(found)))


@get("/cs2/v1/matches/{match_id:str}/timeline", opt=_opt(scopes.DETAIL))
async def timeline(
    request: Caller, reader: NamedDependency[Reader], match_id: FromPath[str]
) -> Many[EventView]:
    """Kills and bomb events of a match that count, in order."""
    async with reader.store.snapshot() as tx:
        match = await visible(tx, request.auth, match_id)
        found = [event for event in await history.timeline(tx, match.id) if not event.void]
    return Many(tuple(map(event_view, found)), ListMeta(len(found)))


@get("/cs2/v1/matches/{match_id:str}/settlements", opt=_opt(scopes.SETTLEMENTS, query=("limit",)))
async def settlements(
    request: Caller,
    reader: NamedDependency[Reader],
    match_id: FromPath[str],
    limit: Annotated[int, QueryParameter(ge=1, le=1000, description="Entries at most.")] = _SETTLEMENTS,
) -> Many[SettlementView]:
    """The first entries of a match's settlement ledger, oldest first; `total` says how many there are."""
    async with reader.store.snapshot() as tx:
        match = await visible(tx, request.auth, match_id)
        entries = await history.ledger(tx, match.id)
    shown = tuple(settlement_view(match.id, entry) for entry in entries[:limit])
    return Many(shown, ListMeta(len(shown), limit, len(entries)))


HANDLERS = (listing, detail, offers, rounds, timeline, settlements)
