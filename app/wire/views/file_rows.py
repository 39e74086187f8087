"""The rows of daily files: the fields that REST has of the same things, flat, with the match in front.

Cells are text, numbers, booleans, or None for what REST leaves out; times are Unix ms, odds have three
decimals at most.
"""

from collections.abc import Iterable
from operator import attrgetter
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from app.domain.daily_files import FileKind
from app.domain.ids import match_urn
from app.domain.market_changes import MarketChange
from app.domain.match import Round, TimelineEvent
from app.domain.settlement import LedgerEntry
from app.wire.views.history import event_view, round_view
from app.wire.views.offers import settlement_view
from app.wire.views.prices import price_views

FileColumnType = Literal["string", "integer", "decimal", "double", "boolean", "timestamp"]
FileRow = tuple[Any, ...]


class FileColumn(msgspec.Struct, frozen=True):
    """A column of a file. `decimal`: exact, with three decimals; `timestamp`: to the millisecond, UTC."""

    name: str
    type: FileColumnType


def _columns(**types: FileColumnType) -> tuple[FileColumn, ...]:
    return tuple(FileColumn(name, kind) for name, kind in types.items())


_PROBABILITY = "probability"
_COLUMNS = {
    FileKind.PRICES: _columns(
        match_urn="string",
        seq="integer",
        timestamp="timestamp",
        market_offer_id="string",
        market_id="integer",
        specifiers="string",
        status="string",
        odds="decimal",
        probability="double",
        suspended_reason="string",
        suspended_reason_code="string",
    ),
    FileKind.SETTLEMENTS: _columns(
        match_urn="string",
        id="integer",
        created_at="timestamp",
        message="string",
        market_offer_id="string",
        market_id="integer",
        specifiers="string",
        previous_status="string",
        new_status="string",
        outcome="string",
        settled_by="string",
        reason="string",
        is_resettlement="boolean",
        void_reason_id="integer",
        void_from="timestamp",
        void_until="timestamp",
        rests_on="string",
    ),
    FileKind.ROUNDS: _columns(
        match_urn="string",
        id="integer",
        map="integer",
        round="integer",
        winner="string",
        winning_side="string",
        win_reason="string",
        score_a="integer",
        score_b="integer",
        bomb_site="string",
        equipment_a="integer",
        equipment_b="integer",
        started_at="timestamp",
        ended_at="timestamp",
    ),
    FileKind.TIMELINE: _columns(
        match_urn="string",
        id="integer",
        type="string",
        map="integer",
        round="integer",
        actor="string",
        actor_team="string",
        side="string",
        target="string",
        target_team="string",
        victim_side="string",
        assister="string",
        weapon="string",
        headshot="boolean",
        penetrated="boolean",
        bomb_site="string",
        late="boolean",
        time="timestamp",
        time_offset_seconds="double",
    ),
}


def columns_of(kind: FileKind, *, probabilities: bool) -> tuple[FileColumn, ...]:
    """The columns of a file, in order; `probabilities`: it is for tenants that receive them."""
    return tuple(each for each in _COLUMNS[kind] if probabilities or each.name != _PROBABILITY)


def _fields(kind: FileKind, begin: int, end: int | None = None, *, probabilities: bool = True) -> Any:
    """Reads the fields of a view that these columns have."""
    names = [each.name for each in columns_of(kind, probabilities=probabilities)]
    return attrgetter(*names[begin:end])


_PRICE = {each: _fields(FileKind.PRICES, 1, probabilities=each) for each in (True, False)}
_SETTLED = _fields(FileKind.SETTLEMENTS, 4, 13)
_ROUND = _fields(FileKind.ROUNDS, 1, -2)
_EVENT = _fields(FileKind.TIMELINE, 1, -2)


def price_rows(number: int, changes: Iterable[MarketChange], *, probabilities: bool) -> list[FileRow]:
    """The prices and suspensions among changes of the match with this number, as a tenant received them."""
    urn, fields = match_urn(number), _PRICE[probabilities]
    views = price_views(changes, probabilities=probabilities, settlements=False)
    return [_row(urn, *fields(view)) for view in views]


def settlement_row(match_id: Any, number: int, entry: LedgerEntry) -> FileRow:
    """An entry of the ledger. What it rests on are numbers with a blank between them."""
    view, window = settlement_view(match_id, number, entry), entry.void_window
    about = (view.match_urn, view.id, entry.at, entry.message, *_SETTLED(view))
    period = (window.start_time, window.end_time) if window else (None, None)
    return _row(*about, view.void_reason_id, *period, " ".join(map(str, view.rests_on)) or None)


def round_row(number: int, played: Round) -> FileRow:
    """A finished round."""
    return _row(match_urn(number), *_ROUND(round_view(played)), played.started_at, played.ended_at)


def event_row(number: int, event: TimelineEvent) -> FileRow:
    """A kill or a bomb event."""
    view = event_view(event)
    return _row(match_urn(number), *_EVENT(view), event.at, view.time_offset_seconds)


def _row(*cells: Any) -> FileRow:
    return tuple([None if cell is UNSET else cell for cell in cells])
