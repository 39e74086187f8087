"""The present state of a match's markets."""

from collections.abc import Collection, Iterable
from uuid import UUID

from app.domain.market import CLOSED, Book, Market, MarketStatus, Result
from app.store.sql import OPEN_MARKETS
from app.store.transaction import Row, Tx, Write

_COLUMNS = """type_id, specifiers, status, odds, probability, complement, reason, result, void_reason_id,
    rests_on, settled_by, opened_at, priced_at, offered_until"""
_CLOSED = f"({', '.join(str(int(code)) for code in CLOSED)})"
_SELECT = f"SELECT {_COLUMNS} FROM market WHERE match_id = $1"
_UPSERT = f"""
INSERT INTO market (match_id, {_COLUMNS})
SELECT $1, * FROM unnest($2::int[], $3::text[], $4::smallint[], $5::numeric[], $6::float8[], $7::text[],
    $8::text[], $9::text[], $10::int[], $11::text[], $12::text[], $13::bigint[], $14::bigint[], $15::bigint[])
ON CONFLICT (match_id, type_id, specifiers) DO UPDATE SET
    status = excluded.status, odds = excluded.odds, probability = excluded.probability,
    complement = excluded.complement, reason = excluded.reason, result = excluded.result,
    void_reason_id = excluded.void_reason_id, rests_on = excluded.rests_on,
    settled_by = excluded.settled_by, opened_at = excluded.opened_at, priced_at = excluded.priced_at,
    offered_until = excluded.offered_until
"""


async def book(tx: Tx, match_id: UUID) -> Book:
    """All markets that the match ever had, by key."""
    markets = map(_market, await tx.fetch(_SELECT, match_id))
    return {market.key: market for market in markets}


async def open_of_match(tx: Tx, match_id: UUID) -> list[Market]:
    """The match's open markets, by type and specifiers."""
    rows = await tx.fetch(f"{_SELECT} AND status IN {OPEN_MARKETS} ORDER BY type_id, specifiers", match_id)
    return [_market(row) for row in rows]


async def open_of_matches(tx: Tx, match_ids: Collection[UUID]) -> dict[UUID, list[Market]]:
    """`open_of_match`, for many matches; those without any are omitted."""
    return await _of(tx, match_ids, OPEN_MARKETS)


async def closed_of_matches(tx: Tx, match_ids: Collection[UUID]) -> dict[UUID, list[Market]]:
    """The closed markets of these matches, by type and specifiers."""
    return await _of(tx, match_ids, _CLOSED)


async def matches_with_active(tx: Tx) -> list[UUID]:
    """The matches with an active market."""
    rows = await tx.fetch(f"SELECT DISTINCT match_id FROM market WHERE status = {MarketStatus.ACTIVE:d}")
    return [row["match_id"] for row in rows]


async def _of(tx: Tx, match_ids: Collection[UUID], statuses: str) -> dict[UUID, list[Market]]:
    found: dict[UUID, list[Market]] = {}
    for row in await tx.fetch(
        f"""
        SELECT match_id, {_COLUMNS} FROM market WHERE match_id = ANY($1) AND status IN {statuses}
        ORDER BY match_id, type_id, specifiers
        """,
        list(match_ids),
    ):
        found.setdefault(row["match_id"], []).append(_market(row))
    return found


def save_statements(match_id: UUID, markets: Iterable[Market]) -> list[Write]:
    """The statement that inserts or updates these markets; of two with one key the later is written."""
    rows = [_values(market) for market in {market.key: market for market in markets}.values()]
    columns = [list(column) for column in zip(*rows, strict=True)]
    return [Write(_UPSERT, (match_id, *columns))] if rows else []


def _values(market: Market) -> tuple[object, ...]:
    return (
        market.type_id,
        market.specifiers,
        int(market.status),
        market.odds,
        market.probability,
        market.group,
        market.reason,
        market.result,
        market.void_reason_id,
        " ".join(map(str, market.rests_on)),
        market.settled_by,
        market.opened_at,
        market.priced_at,
        market.offered_until,
    )


def _market(row: Row) -> Market:
    return Market(
        type_id=row["type_id"],
        specifiers=row["specifiers"],
        status=MarketStatus(row["status"]),
        odds=row["odds"],
        probability=row["probability"],
        group=row["complement"],
        reason=row["reason"],
        result=Result(row["result"]) if row["result"] else None,
        void_reason_id=row["void_reason_id"],
        rests_on=tuple(map(int, row["rests_on"].split())),
        settled_by=row["settled_by"],
        opened_at=row["opened_at"],
        priced_at=row["priced_at"],
        offered_until=row["offered_until"],
    )
