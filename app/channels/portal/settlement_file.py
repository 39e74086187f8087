"""The settlement ledger as CSV (RFC 4180, UTF-8), for spreadsheets and reconciliation.

A cell that a spreadsheet would evaluate begins with an apostrophe instead: names of teams and players come
from outside.
"""

import csv
import io
from collections.abc import Iterable

from app.kit.clock import iso_seconds
from app.pages.settlement_rows import SettlementRow

COLUMNS = (
    *("id", "time", "match", "match_name", "market_id", "specifiers", "market", "entry", "result"),
    *("previous_status", "new_status", "void_reason_id", "void_reason", "reason", "settled_by"),
    *("is_resettlement", "void_from", "void_until", "rolled_back_by", "rests_on"),
)
_EVALUATED = ("=", "+", "-", "@", "\t", "\r")


def header() -> str:
    """The first line."""
    return _lines([COLUMNS])


def lines(rows: Iterable[SettlementRow]) -> str:
    """A line for each entry."""
    return _lines(map(_cells, rows))


def _lines(rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([_harmless(cell) for cell in row] for row in rows)
    return text.getvalue()


def _harmless(cell: object) -> str:
    text = "" if cell is None else str(cell)
    return f"'{text}" if text.startswith(_EVALUATED) else text


def _cells(row: SettlementRow) -> tuple[object, ...]:
    entry = row.entry
    window = entry.void_window
    return (
        *(entry.id, iso_seconds(entry.at), row.match_urn, row.match_name, entry.type_id, entry.specifiers),
        *(row.market, row.kind, entry.result, entry.previous_status, entry.new_status),
        *(entry.void_reason_id, row.void_reason, entry.reason, entry.settled_by),
        str(entry.is_resettlement).lower(),
        *(
            iso_seconds(window.start_time) if window else None,
            iso_seconds(window.end_time) if window else None,
        ),
        *(row.rolled_back_by, " ".join(map(str, entry.rests_on))),
    )
