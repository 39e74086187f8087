"""The prices of markets as they were published to tenants with standard odds: rows of the change log, pruned
ones that are kept (`store.kept_changes`) included."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from piccolo.query import Select

from app.domain.market import OPEN, MarketStatus
from app.store import kept_changes
from app.store.prepared import prepared
from app.store.sql import any_of, literals
from app.store.tables.change import Change, KeptChange
from app.store.transaction import Row, Tx

_MARKET = "market"  #: the `entity` of these rows


class PriceRow(NamedTuple):
    """A market as it was from `at` (Unix ms) on; `odds` are None while it is neither on offer nor
    suspended."""

    seq: int
    at: int
    status: MarketStatus
    odds: Decimal | None


class _Market(msgspec.Struct, frozen=True, gc=False):
    status: MarketStatus
    odds: Decimal


_market = msgspec.json.Decoder(_Market).decode


async def of_markets(
    tx: Tx, match_id: UUID, names: Collection[str], since: int
) -> Mapping[str, Sequence[PriceRow]]:
    """The rows of the markets of a match with these names, in order; of those from before `since` (Unix ms),
    some may be missing. `tx` must be a snapshot: rows may leave the log at any time."""
    parts = [part["body"] for part in await tx.run(_parts(match_id, since))]
    logged = await tx.run(_logged(match_id, list(names)))
    return await asyncio.to_thread(_read, frozenset(names), parts, logged)


def _read(
    names: Collection[str], parts: Sequence[bytes], logged: Sequence[Row]
) -> Mapping[str, Sequence[PriceRow]]:
    found: dict[str, list[PriceRow]] = defaultdict(list)
    for part in parts:
        for kept in kept_changes.unpack(part):
            if kept.entity == _MARKET and kept.key in names:
                found[kept.key].append(_price_row(kept.seq, kept.at, kept.body))
    for row in logged:
        found[row["key"]].append(_price_row(row["seq"], row["at"], row["body"]))
    return found


def _price_row(seq: int, at: int, body: bytes | msgspec.Raw) -> PriceRow:
    market = _market(body)
    return PriceRow(seq, at, market.status, market.odds if market.status in OPEN else None)


@prepared
def _parts(match_id: UUID, since: int) -> Select[Any]:
    query = KeptChange.select(KeptChange.body)
    query = query.where(KeptChange.match_id == match_id, KeptChange.at >= since)
    return query.order_by(KeptChange.last_seq)


@prepared
def _logged(match_id: UUID, names: Collection[str]) -> Select[Any]:
    query = Change.select(Change.seq, Change.key, Change.at, Change.body)
    of_markets = (any_of(Change.key, names), Change.entity.is_in(literals((_MARKET,))))
    return query.where(Change.match_id == match_id, *of_markets).order_by(Change.seq)
