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
from app.domain.types_off import NONE_OFF, OffTypes, was_offered
from app.store.matches import MatchPosition
from app.store.prepared import prepared
from app.store.sql import OPEN_CODES, any_of, booked, exists
from app.store.statements import reads
from app.store.tables.match import Market
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


async def open_quotes(tx: Tx, match_ids: Collection[UUID], off: OffTypes = NONE_OFF) -> dict[UUID, Quotes]:
    """The open markets of these matches, to a tenant for which these types are off; a match without any is
    omitted."""
    found: dict[UUID, Quotes] = {}
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
        open_markets = Market.select(Market.match_id).where(
            Market.match_id == MatchTable.id, Market.status.is_in(OPEN_CODES)
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
    name = QueryString("{} || ':' || {}", Market.type_id, Market.specifiers, alias="market")
    quote = QueryString("{} * ({} * 1000)::int", Market.status, Market.odds, alias="quote")
    query = Market.select(
        Market.match_id, name, quote, *((Market.type_id, Market.first_opened_at) if with_type else ())
    )
    return query.where(any_of(Market.match_id, match_ids), Market.status.is_in(OPEN_CODES))
