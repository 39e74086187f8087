"""The open markets of one tenant's matches, in the few columns that a self-check compares."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from piccolo.columns.combination import WhereRaw
from piccolo.custom_types import Combinable
from piccolo.query import Select
from piccolo.querystring import QueryString

from app.domain.market import Market, market_name
from app.domain.match import Status
from app.domain.selfcheck import Quotes
from app.domain.tenant_offer import STANDARD, OfferRules
from app.domain.types_off import was_offered
from app.store import markets
from app.store.matches import MatchPosition
from app.store.prepared import prepared
from app.store.sql import OPEN_CODES, any_of, booked, exists
from app.store.statements import reads
from app.store.tables.match import Market as MarketTable
from app.store.tables.match import Match as MatchTable
from app.store.transaction import Tx


async def positions(
    tx: Tx,
    tenant_id: UUID,
    *,
    finished_only: bool,
    numbers: Collection[int],
    ids: Collection[UUID],
    everything: bool,
    unbooked: bool,
) -> list[MatchPosition]:
    """The booked matches with these numbers or ids, by number, or the unbooked ones; with `everything` also
    all others of these that have an open market."""
    query = _positions(
        *(tenant_id, list(numbers), list(ids)),
        finished_only=finished_only,
        everything=everything,
        unbooked=unbooked,
    )
    rows = await tx.run(query)
    return [MatchPosition(**row) for row in rows]


async def open_quotes(
    tx: Tx, match_ids: Collection[UUID], rules: OfferRules = STANDARD
) -> dict[UUID, Quotes]:
    """The open markets of these matches, by these rules; a match without any is omitted."""
    if rules.profile:
        present = await markets.open_of_matches(tx, match_ids)
        shown = {match_id: rules.markets_in_list(own) for match_id, own in present.items()}
        return {
            match_id: {market_name(*one.key): _quote(one) for one in own}
            for match_id, own in shown.items()
            if own
        }
    found: dict[UUID, Quotes] = {}
    off = rules.off
    for row in await tx.run(_open_quotes(list(match_ids), with_type=bool(off))):
        quote = row["quote"]
        if off and row["type_id"] in off:
            if not was_offered(off, row["type_id"], row["first_opened_at"]):
                continue
            quote = -abs(quote)
        found.setdefault(row["match_id"], {})[row["market"]] = quote
    return found


async def newest_of_tenant(tx: Tx, tenant_id: UUID, match_ids: Collection[UUID]) -> dict[UUID, int]:
    """For each of these matches the seq of the newest live message that is the tenant's alone (see
    `store.changes`); those without one after the match's last message are omitted."""
    rows = await tx.fetch(reads.NEWEST_OF_TENANT, list(match_ids), f"{tenant_id} ")
    return {row["match_id"]: row["seq"] for row in rows}


def _quote(market: Market) -> int:
    """The odds of an open market in thousandths, with the sign of its status."""
    return int(market.status) * int(market.odds * 1000)


@prepared
def _positions(
    tenant_id: UUID,
    numbers: Collection[int],
    ids: Collection[UUID],
    *,
    finished_only: bool,
    everything: bool,
    unbooked: bool,
) -> Select[Any]:
    wanted: Combinable = any_of(MatchTable.number, numbers) | any_of(MatchTable.id, ids)
    if everything:
        open_markets = MarketTable.select(MarketTable.match_id).where(
            MarketTable.match_id == MatchTable.id, MarketTable.status.is_in(OPEN_CODES)
        )
        wanted = wanted | WhereRaw("{}", exists(open_markets))
    query = MatchTable.select(MatchTable.id, MatchTable.number, MatchTable.last_seq.as_alias("seq"))
    own = booked(tenant_id)
    query = query.where(QueryString("NOT {}", own) if unbooked else own, wanted)
    if finished_only:
        query = query.where(MatchTable.status == Status.FINISHED)
    return query.order_by(MatchTable.number)


@prepared
def _open_quotes(match_ids: Collection[UUID], *, with_type: bool) -> Select[Any]:
    """The codes of open markets are 1 and -1, the sign in `Quotes`; names are `market_name`s."""
    name = QueryString("{} || ':' || {}", MarketTable.type_id, MarketTable.specifiers, alias="market")
    quote = QueryString("{} * ({} * 1000)::int", MarketTable.status, MarketTable.odds, alias="quote")
    query = MarketTable.select(
        MarketTable.match_id,
        name,
        quote,
        *((MarketTable.type_id, MarketTable.first_opened_at) if with_type else ()),
    )
    return query.where(any_of(MarketTable.match_id, match_ids), MarketTable.status.is_in(OPEN_CODES))
