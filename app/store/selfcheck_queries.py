"""The open markets of one tenant's matches, in the few columns that a self-check compares."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from piccolo.columns.combination import WhereRaw
from piccolo.custom_types import Combinable
from piccolo.query import Select
from piccolo.querystring import QueryString

from app.domain.match import Status
from app.domain.selfcheck import Quotes
from app.store.matches import MatchPosition
from app.store.prepared import prepared
from app.store.sql import OPEN_CODES, any_of, booked, exists
from app.store.tables.market import Market
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
) -> list[MatchPosition]:
    """The booked matches with these numbers or ids, by number; with `everything` also all other booked ones
    that have an open market."""
    query = _positions(
        *(tenant_id, list(numbers), list(ids)), finished_only=finished_only, everything=everything
    )
    rows = await tx.run(query)
    return [MatchPosition(**row) for row in rows]


async def open_quotes(tx: Tx, match_ids: Collection[UUID]) -> dict[UUID, Quotes]:
    """The open markets of these matches; a match without any is omitted."""
    found: dict[UUID, Quotes] = {}
    for row in await tx.run(_open_quotes(list(match_ids))):
        found.setdefault(row["match_id"], {})[row["market"]] = row["quote"]
    return found


@prepared
def _positions(
    tenant_id: UUID,
    numbers: Collection[int],
    ids: Collection[UUID],
    *,
    finished_only: bool,
    everything: bool,
) -> Select[Any]:
    wanted: Combinable = any_of(MatchTable.number, numbers) | any_of(MatchTable.id, ids)
    if everything:
        open_markets = Market.select(Market.match_id).where(
            Market.match_id == MatchTable.id, Market.status.is_in(OPEN_CODES)
        )
        wanted = wanted | WhereRaw("{}", exists(open_markets))
    query = MatchTable.select(MatchTable.id, MatchTable.number, MatchTable.last_seq.as_alias("seq"))
    query = query.where(booked(tenant_id), wanted)
    if finished_only:
        query = query.where(MatchTable.status == Status.FINISHED)
    return query.order_by(MatchTable.number)


@prepared
def _open_quotes(match_ids: Collection[UUID]) -> Select[Any]:
    """The codes of open markets are 1 and -1, the sign in `Quotes`; names are `market_name`s."""
    name = QueryString("{} || ':' || {}", Market.type_id, Market.specifiers, alias="market")
    quote = QueryString("{} * ({} * 1000)::int", Market.status, Market.odds, alias="quote")
    query = Market.select(Market.match_id, name, quote)
    return query.where(any_of(Market.match_id, match_ids), Market.status.is_in(OPEN_CODES))
