"""What the change log has of one market: its prices, its suspensions and its settlement.

Read by the log's index on (match, seq): a read passes over the changes of that match's other markets, of two
hours by default. An index on markets would double what the log writes for each change.
"""

from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Select

from app.domain.market import Market
from app.domain.settlement import LedgerEntry
from app.store.prepared import prepared
from app.store.sql import literals
from app.store.tables.change import Change
from app.store.transaction import Tx

_market = msgspec.json.Decoder(Market).decode
_entry = msgspec.json.Decoder(LedgerEntry).decode


class MarketChange(msgspec.Struct, frozen=True):
    """A change of a market, or an entry about it in the ledger, at `at` (Unix ms)."""

    seq: int
    at: int
    what: Market | LedgerEntry


async def newest(tx: Tx, match_id: UUID, name: str, *, before: int, limit: int) -> list[MarketChange]:
    """At most `limit` changes of the market called `name` (`market_name`) with a seq below `before`, newest
    first."""
    rows = await tx.run(_newest(match_id, name, before, limit=limit))
    return [
        MarketChange(row["seq"], row["at"], (_market if row["entity"] == "market" else _entry)(row["body"]))
        for row in rows
    ]


async def begins_at(tx: Tx) -> int | None:
    """The timestamp of the oldest change in the log (Unix ms); None while it is empty."""
    found: int | None = await tx.one_value(_oldest())
    return found


@prepared
def _newest(match_id: UUID, name: str, before: int, *, limit: int) -> Select[Any]:
    query = Change.select(Change.seq, Change.at, Change.entity, Change.body)
    of_market = (Change.key == name, Change.entity.is_in(literals(("market", "settlement"))))
    query = query.where(Change.match_id == match_id, *of_market, Change.seq < before)
    return query.order_by(Change.seq, ascending=False).limit(limit)


@prepared
def _oldest() -> Select[Any]:
    return Change.select(Change.at).order_by(Change.seq).limit(1)
