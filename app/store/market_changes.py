"""What the change log has of one market: its prices, its suspensions and its settlement.

Read by the log's index on (match, seq): a read passes over the changes of that match's other markets, of two
hours by default. An index on markets would double what the log writes for each change.
"""

from collections.abc import Collection
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Select
from piccolo.querystring import QueryString

from app.domain.market import Market, MarketKey, MarketStatus, market_name
from app.domain.settlement import LedgerEntry
from app.domain.tenant import Tenant
from app.domain.types_off import Intervals, off_at_seq, suspended
from app.store.prepared import prepared, reading_optional_number
from app.store.sql import any_of, interval_columns, literals, offered
from app.store.tables.change import Change
from app.store.tenant_rows import TENANT_MARKET, tenant_market_key
from app.store.transaction import Row, Tx

_market = msgspec.json.Decoder(Market).decode
_entry = msgspec.json.Decoder(LedgerEntry).decode
_OF_MARKET = ("market", "settlement", TENANT_MARKET)


class MarketChange(msgspec.Struct, frozen=True):
    """A change of a market, or an entry about it in the ledger, at `at` (Unix ms)."""

    seq: int
    at: int
    what: Market | LedgerEntry


async def newest(
    tx: Tx, tenant: Tenant, match_id: UUID, key: MarketKey, *, before: int, limit: int
) -> list[MarketChange]:
    """At most `limit` changes of a market with a seq below `before`, newest first, as the tenant saw them:
    none from before it was offered, and none active while its type was off."""
    name, off = market_name(*key), interval_columns(tenant.types_off)
    names = [name, tenant_market_key(tenant.id, name)]
    rows = await tx.run(_newest(match_id, names, before, key[0], *off, limit=limit))
    return [MarketChange(row["seq"], row["at"], _seen(row, tenant.types_off)) for row in rows]


async def newest_of_all(
    tx: Tx, match_id: UUID, key: MarketKey, *, before: int, limit: int
) -> list[MarketChange]:
    """`newest`, as operators see them: every change."""
    rows = await tx.run(_newest(match_id, [market_name(*key)], before, key[0], limit=limit))
    return [MarketChange(row["seq"], row["at"], _seen(row, ())) for row in rows]


def _seen(row: Row, intervals: Intervals) -> Market | LedgerEntry:
    if row["entity"] == "settlement":
        return _entry(row["body"])
    market = _market(row["body"])
    off = market.type_id in off_at_seq(intervals, row["seq"])
    return suspended(market) if off and market.status is MarketStatus.ACTIVE else market


@reading_optional_number
def begins_at() -> Select[Any]:
    """The timestamp of the oldest change in the log (Unix ms); None while it is empty."""
    return Change.select(Change.at).order_by(Change.seq).limit(1)


@prepared
def _newest(
    match_id: UUID, names: Collection[str], before: int, type_id: int, *off: object, limit: int
) -> Select[Any]:
    query = Change.select(Change.seq, Change.at, Change.entity, Change.body)
    of_market = (any_of(Change.key, names), Change.entity.is_in(literals(_OF_MARKET)))
    query = query.where(Change.match_id == match_id, *of_market, Change.seq < before)
    if off:
        query = query.where(offered(off, QueryString("{}::int", type_id), Change.seq, Change.body))
    return query.order_by(Change.seq, ascending=False).limit(limit)
