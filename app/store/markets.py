"""The present state of a match's markets."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any
from uuid import UUID

from piccolo.query import Select
from piccolo.querystring import QueryString

from app.domain.market import Book, Market, MarketKey, MarketStatus, Result
from app.domain.types_off import Intervals, markets_in_list, off_now
from app.store.prepared import prepared, reading_ids
from app.store.row_mapping import RowMapping, Stored
from app.store.sql import CLOSED_CODES, OPEN_CODES, any_of, interval_columns, offered
from app.store.statements import reads
from app.store.tables.match import Market as MarketTable
from app.store.transaction import Row, Tx, Write

_NOW = QueryString("9223372036854775807::bigint")  #: a place that is in the intervals without an end only
_ROWS = RowMapping(
    MarketTable,
    Market,
    ("match_id", "type_id", "specifiers"),
    beside=("match_id",),
    lasting=("first_opened_at",),
    stored={
        "status": Stored(int, MarketStatus),
        "result": Stored(lambda result: result, lambda text: Result(text) if text else None),
        "rests_on": Stored(lambda ids: " ".join(map(str, ids)), lambda text: tuple(map(int, text.split()))),
    },
)


async def book(tx: Tx, match_id: UUID) -> Book:
    """All markets that the match ever had, by key."""
    cached = tx.cache.book(match_id) if tx.cache else None
    if cached is not None:
        return cached
    markets = map(_ROWS.read, await tx.run(_of_match(match_id, only_open=False)))
    return {market.key: market for market in markets}


async def open_of_match(tx: Tx, match_id: UUID) -> list[Market]:
    """The match's open markets, by type and specifiers."""
    rows = await tx.run(_of_match(match_id, only_open=True))
    return [_ROWS.read(row) for row in rows]


async def open_of_matches(tx: Tx, match_ids: Collection[UUID]) -> dict[UUID, list[Market]]:
    """`open_of_match`, for many matches; those without any are omitted."""
    return await _of(tx, match_ids, are_open=True)


async def closed_of_matches(tx: Tx, match_ids: Collection[UUID]) -> dict[UUID, list[Market]]:
    """The closed markets of these matches, by type and specifiers."""
    return await _of(tx, match_ids, are_open=False)


async def page_of_match(
    tx: Tx, match_id: UUID, types_off: Intervals = (), *, after: MarketKey, limit: int
) -> Sequence[Market]:
    """At most `limit` markets that the match ever had, after the one with that key, by type and
    specifiers, as a tenant sees them for which types were off in these intervals."""
    off = interval_columns(types_off)
    rows = await tx.run(_page_of_match(match_id, *after, *off, limit=limit))
    return markets_in_list([_ROWS.read(row) for row in rows], off_now(types_off))


async def get(tx: Tx, match_id: UUID, key: MarketKey) -> Market | None:
    row = await tx.first(_get(match_id, *key))
    return _ROWS.read(row) if row else None


async def open_of_types(tx: Tx, type_ids: Collection[int]) -> dict[UUID, list[Market]]:
    """The open markets of these types, by match."""
    return _by_match(await tx.run(_open_of_types(list(type_ids))))


async def newest_opened(tx: Tx, type_ids: Collection[int], now: int) -> dict[int, int]:
    """For each of these types when its newest market was first opened (Unix ms); types without a market in
    matches that are not over, or have just ended, are omitted."""
    rows = await tx.fetch(reads.NEWEST_OPENED, list(type_ids), now)
    return {row["type_id"]: row["at"] for row in rows}


@reading_ids
def matches_with_active() -> Select[Any]:
    """The matches with an active market."""
    active = MarketTable.status == QueryString(f"{MarketStatus.ACTIVE:d}")
    return MarketTable.select(MarketTable.match_id).where(active).distinct()


async def _of(tx: Tx, match_ids: Collection[UUID], *, are_open: bool) -> dict[UUID, list[Market]]:
    return _by_match(await tx.run(_of_matches(list(match_ids), are_open=are_open)))


def _by_match(rows: Iterable[Row]) -> dict[UUID, list[Market]]:
    found: dict[UUID, list[Market]] = {}
    for row in rows:
        found.setdefault(row["match_id"], []).append(_ROWS.read(row))
    return found


def save_statements(match_id: UUID, markets: Iterable[Market]) -> list[Write]:
    """The statement that inserts or updates these markets; of two with one key the later is written."""
    return _ROWS.save({market.key: market for market in markets}.values(), match_id)


@prepared
def _of_match(match_id: UUID, *, only_open: bool) -> Select[Any]:
    query = MarketTable.select(*_ROWS.columns).where(MarketTable.match_id == match_id)
    if not only_open:
        return query
    query = query.where(MarketTable.status.is_in(OPEN_CODES))
    return query.order_by(MarketTable.type_id, MarketTable.specifiers)


@prepared
def _page_of_match(match_id: UUID, type_id: int, specifiers: str, *off: object, limit: int) -> Select[Any]:
    place = (MarketTable.type_id, MarketTable.specifiers)
    later = QueryString("({}, {}) > ({}, {})", *place, type_id, specifiers)
    query = MarketTable.select(*_ROWS.columns).where(MarketTable.match_id == match_id, later)
    if off:
        query = query.where(offered(off, MarketTable.type_id, _NOW, MarketTable.first_opened_at))
    return query.order_by(*place).limit(limit)


@prepared
def _get(match_id: UUID, type_id: int, specifiers: str) -> Select[Any]:
    key = (MarketTable.type_id == type_id, MarketTable.specifiers == specifiers)
    return MarketTable.select(*_ROWS.columns).where(MarketTable.match_id == match_id, *key)


@prepared
def _of_matches(match_ids: Collection[UUID], *, are_open: bool) -> Select[Any]:
    codes = MarketTable.status.is_in(OPEN_CODES if are_open else CLOSED_CODES)
    query = MarketTable.select(MarketTable.match_id, *_ROWS.columns)
    query = query.where(any_of(MarketTable.match_id, match_ids), codes)
    return query.order_by(MarketTable.match_id, MarketTable.type_id, MarketTable.specifiers)


@prepared
def _open_of_types(type_ids: Collection[int]) -> Select[Any]:
    query = MarketTable.select(MarketTable.match_id, *_ROWS.columns)
    query = query.where(MarketTable.status.is_in(OPEN_CODES), any_of(MarketTable.type_id, type_ids))
    return query.order_by(MarketTable.match_id, MarketTable.type_id, MarketTable.specifiers)
