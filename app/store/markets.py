"""The present state of a match's markets."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any
from uuid import UUID

from piccolo.query import Select
from piccolo.querystring import QueryString

from app.domain.market import Book, Market, MarketKey, MarketStatus
from app.domain.tenant_offer import NO_CHANGES, TenantOffer
from app.domain.types_off import Intervals, entry_offered
from app.kit.grouping import grouped
from app.store import history
from app.store.prepared import prepared, reading, reading_ids, reading_rows
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
        "rests_on": Stored(lambda ids: " ".join(map(str, ids)), lambda text: tuple(map(int, text.split()))),
    },
)
_PLACE = (MarketTable.type_id, MarketTable.specifiers)
_OPEN = MarketTable.status.is_in(OPEN_CODES)


def _by_match(rows: Iterable[Row]) -> dict[UUID, list[Market]]:
    return grouped((row["match_id"], _ROWS.read(row)) for row in rows)


async def book(tx: Tx, match_id: UUID) -> Book:
    """All markets that the match ever had, by key."""
    cached = tx.cache.book(match_id) if tx.cache else None
    if cached is not None:
        return cached
    markets = map(_ROWS.read, await tx.run(_of_match(match_id)))
    return {market.key: market for market in markets}


@reading_rows(_ROWS.read)
def open_of_match(match_id: UUID, /) -> Select[Any]:
    """The match's open markets, by type and specifiers."""
    query = MarketTable.select(*_ROWS.columns).where(MarketTable.match_id == match_id, _OPEN)
    return query.order_by(*_PLACE)


@reading(_by_match)
def open_of_matches(match_ids: Collection[UUID], /) -> Select[Any]:
    """`open_of_match`, for many matches; those without any are omitted."""
    return _many().where(any_of(MarketTable.match_id, match_ids), _OPEN)


@reading(_by_match)
def open_of_matches_and_type(match_ids: Collection[UUID], type_id: int, /) -> Select[Any]:
    """The open markets of one type, of these matches; those without any are omitted."""
    of_type = (any_of(MarketTable.match_id, match_ids), MarketTable.type_id == type_id)
    return _many().where(*of_type, _OPEN)


@reading(_by_match)
def closed_of_matches(match_ids: Collection[UUID], /) -> Select[Any]:
    """The closed markets of these matches, by type and specifiers."""
    return _many().where(any_of(MarketTable.match_id, match_ids), MarketTable.status.is_in(CLOSED_CODES))


@reading(_by_match)
def open_of_types(type_ids: Collection[int], /) -> Select[Any]:
    """The open markets of these types, by match."""
    return _many().where(_OPEN, any_of(MarketTable.type_id, type_ids))


@reading(_by_match)
def open_by_match() -> Select[Any]:
    """Every open market, by match."""
    return _many().where(_OPEN)


async def page_of_match(
    tx: Tx, match_id: UUID, offer: TenantOffer = NO_CHANGES, *, after: MarketKey, limit: int
) -> Sequence[Market]:
    """At most `limit` markets that the match ever had, after the one with that key, by type and
    specifiers, as a tenant with this offer sees them."""
    off = interval_columns(offer.types_off)
    rows = await tx.run(_page_of_match(match_id, *after, *off, limit=limit))
    return offer.now.markets_in_list([_ROWS.read(row) for row in rows])


async def seen_of_match(
    tx: Tx, match_id: UUID, offer: TenantOffer = NO_CHANGES, *, with_closed: bool
) -> list[Market]:
    """The match's open markets as a tenant with this offer sees them, and `with_closed` those of which a
    result was published to it; by type and specifiers."""
    found = list(offer.now.markets_in_list(await open_of_match(tx, match_id)))
    if with_closed:
        closed = (await closed_of_matches(tx, [match_id])).get(match_id, [])
        found += await _published(tx, match_id, closed, offer.types_off)
    return sorted(found, key=lambda market: market.key)


async def seen(tx: Tx, match_id: UUID, key: MarketKey, offer: TenantOffer = NO_CHANGES) -> Market | None:
    """The open or closed market with that key as such a tenant sees it."""
    market = await get(tx, match_id, key)
    if market is None or market.open:
        return market and offer.now.market_in_list(market)
    published = await _published(tx, match_id, [market] if market.closed else [], offer.types_off)
    return published[0] if published else None


async def _published(
    tx: Tx, match_id: UUID, closed: Sequence[Market], types_off: Intervals
) -> Sequence[Market]:
    """Those of the closed markets of which the result was published to the tenant."""
    if not (closed and types_off):
        return closed
    entries = await history.ledger(tx, match_id)
    latest = {entry.key: entry for entry in entries if entry.void_window is None}
    return [one for one in closed if one.key in latest and entry_offered(latest[one.key], types_off)]


async def get(tx: Tx, match_id: UUID, key: MarketKey) -> Market | None:
    row = await tx.first(_get(match_id, *key))
    return _ROWS.read(row) if row else None


async def offered_now(tx: Tx, match_id: UUID, key: MarketKey, offer: TenantOffer) -> Market | None:
    """The market as a tenant with this offer sees it now; None also for one that was never offered to it."""
    found = await get(tx, match_id, key)
    return found and offer.now.market_in_list(found)


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


def save_statements(match_id: UUID, markets: Iterable[Market]) -> list[Write]:
    """The statement that inserts or updates these markets; of two with one key the later is written."""
    return _ROWS.save({market.key: market for market in markets}.values(), match_id)


def _many() -> Select[Any]:
    """Markets of several matches, to be read by `_by_match`."""
    query = MarketTable.select(MarketTable.match_id, *_ROWS.columns)
    return query.order_by(MarketTable.match_id, *_PLACE)


@prepared
def _of_match(match_id: UUID) -> Select[Any]:
    return MarketTable.select(*_ROWS.columns).where(MarketTable.match_id == match_id)


@prepared
def _page_of_match(match_id: UUID, type_id: int, specifiers: str, *off: object, limit: int) -> Select[Any]:
    later = QueryString("({}, {}) > ({}, {})", *_PLACE, type_id, specifiers)
    query = MarketTable.select(*_ROWS.columns).where(MarketTable.match_id == match_id, later)
    if off:
        query = query.where(offered(off, MarketTable.type_id, _NOW, MarketTable.first_opened_at))
    return query.order_by(*_PLACE).limit(limit)


@prepared
def _get(match_id: UUID, type_id: int, specifiers: str) -> Select[Any]:
    key = (MarketTable.type_id == type_id, MarketTable.specifiers == specifiers)
    return MarketTable.select(*_ROWS.columns).where(MarketTable.match_id == match_id, *key)
