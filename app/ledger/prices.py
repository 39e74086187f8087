"""What a leaf says of its market's price history: the rows with standard odds, from when the market was first
opened up to the entry, one line each (`docs/ledger.md`)."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from uuid import UUID

import msgspec

from app.domain.market import market_name
from app.domain.settlement import LedgerEntry
from app.kit.grouping import grouped
from app.kit.heavy_work import run_in_thread
from app.store import price_rows
from app.store.price_rows import PriceRow
from app.store.transaction import Tx
from app.wire.views.offers import STATUS_NAMES

_THOUSANDTHS = Decimal(1000)


class PriceHistory(msgspec.Struct, frozen=True):
    """How many rows, the seq of the first one (0 without any), and their lines."""

    count: int
    first_seq: int
    lines: bytes


async def price_histories(
    tx: Tx, entries: Iterable[tuple[UUID, int, LedgerEntry]]
) -> Mapping[int, PriceHistory]:
    """The history before each of these entries, by its id. `tx` must be a snapshot."""
    found: dict[int, PriceHistory] = {}
    for match_id, own in grouped((match_id, entry) for match_id, _, entry in entries).items():
        names = {market_name(*entry.key) for entry in own}
        since = min(entry.first_opened_at for entry in own)
        rows = await price_rows.of_markets(tx, match_id, names, since)
        found |= await run_in_thread(_histories, rows, own)
    return found


def _histories(
    rows: Mapping[str, Sequence[PriceRow]], entries: Sequence[LedgerEntry]
) -> dict[int, PriceHistory]:
    return {entry.id: _history(rows.get(market_name(*entry.key), ()), entry) for entry in entries}


def _history(rows: Sequence[PriceRow], entry: LedgerEntry) -> PriceHistory:
    before = [row for row in rows if row.seq < entry.id and row.at >= entry.first_opened_at]
    lines = "".join(map(price_line, before)).encode()
    return PriceHistory(len(before), before[0].seq if before else 0, lines)


def price_line(row: PriceRow) -> str:
    """A row as the digest has it: seq, timestamp, status, and thousandths of the odds, 0 without any."""
    odds = 0 if row.odds is None else int(row.odds * _THOUSANDTHS)
    return f"{row.seq} {row.at} {STATUS_NAMES[row.status]} {odds}\n"
