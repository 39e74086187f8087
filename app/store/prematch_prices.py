"""Our own prices before play of markets that have reference prices: a series beside theirs, and both at
moments before play, for the closing-line report.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from piccolo.query import Select

from app.domain.market import Market, MarketKey, MarketStatus, Result
from app.store.prepared import reading_rows
from app.store.sql import columns_of, exists
from app.store.statements import reads, writes
from app.store.tables.match import Match, ReferencePrice
from app.store.transaction import Row, Tx


class PrematchPrice(NamedTuple):
    """The probability that a market is priced by, that of our ratings alone (of a match's winner), and the
    odds on offer, None while it is suspended."""

    probability: float
    own: float | None
    odds: float | None


class Begun(NamedTuple):
    """A match that has begun and has reference prices."""

    id: UUID
    number: int
    home: str
    away: str
    started_at: int


#: A match, and a moment: so many ms before its play.
Moment = tuple[UUID, int]


async def record(
    tx: Tx, match_id: UUID, markets: Iterable[Market], own: dict[MarketKey, float], now: int
) -> None:
    """Record the present prices of those of these markets that have a reference price."""
    rows = [
        (*one.key, one.probability, own.get(one.key), _odds(one)) for one in markets if one.open and one.odds
    ]
    if rows:
        await tx.execute(writes.RECORD_PREMATCH_PRICES, match_id, now, *columns_of(rows))


def _odds(market: Market) -> float | None:
    return float(market.odds) if market.status is MarketStatus.ACTIVE else None


@reading_rows(lambda row: Begun(**row))
def begun(since: int, until: int, /, *, limit: int) -> Select[Any]:
    """The matches that began in [since, until) (Unix ms) and have reference prices, newest first."""
    referenced = ReferencePrice.select(ReferencePrice.match_id).where(ReferencePrice.match_id == Match.id)
    query = Match.select(Match.id, Match.number, Match.home, Match.away, Match.started_at)
    query = query.where(Match.started_at >= since, Match.started_at < until, exists(referenced))
    return query.order_by(Match.started_at, Match.number, ascending=False).limit(limit)


async def references_before(
    tx: Tx, ids: Collection[UUID], moments: Sequence[int], stale_millis: int
) -> dict[Moment, dict[tuple[str, MarketKey], float]]:
    """The newest odds of each source and market at each moment, none of them stale."""
    found: dict[Moment, dict[tuple[str, MarketKey], float]] = {}
    for row in await tx.fetch(reads.REFERENCES_BEFORE, list(ids), list(moments), stale_millis):
        found.setdefault(_moment(row), {})[row["source"], _key(row)] = row["odds"]
    return found


async def ours_before(
    tx: Tx, ids: Collection[UUID], moments: Sequence[int]
) -> dict[Moment, dict[MarketKey, PrematchPrice]]:
    """Our price of each market at each moment."""
    found: dict[Moment, dict[MarketKey, PrematchPrice]] = {}
    for row in await tx.fetch(reads.OURS_BEFORE, list(ids), list(moments)):
        price = PrematchPrice(row["probability"], row["own"], row["odds"])
        found.setdefault(_moment(row), {})[_key(row)] = price
    return found


async def results(tx: Tx, ids: Collection[UUID]) -> dict[UUID, dict[str, dict[MarketKey, Result | None]]]:
    """The results of the markets of each group in which one has a reference price, by match and group."""
    found: dict[UUID, dict[str, dict[MarketKey, Result | None]]] = {}
    for row in await tx.fetch(reads.REFERENCED_MARKETS, list(ids)):
        members = found.setdefault(row["match_id"], {}).setdefault(row["group"], {})
        members[_key(row)] = None if row["result"] is None else Result(row["result"])
    return found


def _moment(row: Row) -> Moment:
    return row["match_id"], row["millis"]


def _key(row: Row) -> MarketKey:
    return row["type_id"], row["specifiers"]
