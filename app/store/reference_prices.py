"""Reference prices of matches: what each source offered and when, a series that is never overwritten."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Select, Update

from app.domain.match import Status
from app.store.prepared import reading_ids, reading_rows, writing
from app.store.row_mapping import RowMapping
from app.store.sql import literals
from app.store.statements import reads, writes
from app.store.tables.match import Match
from app.store.tables.match import ReferencePrice as PriceTable
from app.store.transaction import Tx

_KEY = ("match_id", "source", "type_id", "specifiers", "at")


class ReferencePrice(msgspec.Struct, frozen=True):
    """A source's decimal odds of one market of a match, set `at` and received then (Unix ms), by whom."""

    match_id: UUID
    source: str
    type_id: int
    specifiers: str
    at: int
    odds: float
    received_at: int
    received_by: str

    @property
    def key(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in _KEY)


_ROWS = RowMapping(PriceTable, ReferencePrice, _KEY)


async def known_odds(tx: Tx, prices: Sequence[ReferencePrice]) -> dict[int, float]:
    """The stored odds of those of these prices that are stored, by their place among them."""
    rows = await tx.fetch(reads.KNOWN_REFERENCE_PRICES, *_columns(prices)[: len(_KEY)])
    return {row["place"] - 1: row["odds"] for row in rows}


async def add(tx: Tx, prices: Sequence[ReferencePrice], *, by: str, now: int) -> dict[UUID, int]:
    """Store the prices that are not stored yet; how many those are of each match that has any."""
    rows = await tx.fetch(writes.ADD_REFERENCE_PRICES, *_columns(prices), now, by)
    return {row["match_id"]: row["prices"] for row in rows}


def _columns(prices: Sequence[ReferencePrice]) -> list[list[object]]:
    return [[getattr(one, name) for one in prices] for name in (*_KEY, "odds")]


async def mark_due(tx: Tx, match_ids: Sequence[UUID], now: int) -> None:
    """Have the reference prices of those of these matches looked at that are before play."""
    await tx.execute(writes.REFERENCES_DUE, match_ids, now)


@reading_rows(_ROWS.read)
def newest(match_id: UUID, received_since: int, until: int, /) -> Select[Any]:
    """The newest price of each source and market of a match that was set by `until` and received since then
    (Unix ms)."""
    market = (PriceTable.source, PriceTable.type_id, PriceTable.specifiers)
    query = PriceTable.select(*_ROWS.columns).distinct(on=list(market))
    query = query.where(
        PriceTable.match_id == match_id, PriceTable.received_at >= received_since, PriceTable.at <= until
    )
    return query.order_by(*market).order_by(PriceTable.at, ascending=False)


@reading_ids
def due(now: int, /, *, limit: int) -> Select[Any]:
    """Matches before play whose reference prices must be looked at by `now` (ms); earliest first."""
    waiting = Match.status.is_in(literals((Status.DISCOVERED, Status.UPCOMING)))
    query = Match.select(Match.id).where(waiting, Match.references_due_at <= now)
    return query.order_by(Match.references_due_at).limit(limit)


@writing
def set_due(match_id: UUID, at: int | None, /) -> Update[Any]:
    """Record when reference prices of a locked match must be looked at again."""
    return Match.update({Match.references_due_at: at}).where(Match.id == match_id)
