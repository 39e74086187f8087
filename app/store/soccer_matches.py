"""Soccer's matches, by number, and listed by day."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec
from piccolo.columns.combination import Where, WhereRaw
from piccolo.query import Select
from piccolo.query.functions import Coalesce, Max
from piccolo.querystring import QueryString

from app.domain.soccer import COUNTED, SoccerMatch
from app.store.prepared import prepared, reading, reading_number, reading_row, reading_rows
from app.store.row_mapping import RowMapping
from app.store.sql import any_of
from app.store.tables.reference import SoccerMatch as MatchTable
from app.store.transaction import Row, Tx

_MAX_INT = 2**31 - 1
_ROWS = RowMapping(MatchTable, SoccerMatch, derived={"body": msgspec.json.Encoder().encode})
_decode = msgspec.json.Decoder(SoccerMatch).decode
#: The filters of `listing`.
FILTERS: dict[str, Callable[[Any], Where | WhereRaw]] = {
    "tournament": lambda number: MatchTable.tournament_id == number,
    "team": lambda number: WhereRaw(
        "({} = {} OR {} = {})", MatchTable.home_id, number, MatchTable.away_id, number
    ),
    "season": lambda name: MatchTable.season == name,
    "statuses": lambda wanted: any_of(MatchTable.status, wanted),
    "first_day": lambda day: MatchTable.day >= day,
    # A match without a day is on none.
    "last_day": lambda day: WhereRaw("{} BETWEEN '0' AND {}", MatchTable.day, day),
}


class DayPlace(NamedTuple):
    """A match's place in a list: its day, then its number."""

    day: str = ""
    id: int = 0


def _read(row: Row) -> SoccerMatch:
    return _decode(row["body"])


async def put(tx: Tx, matches: Iterable[SoccerMatch]) -> None:
    """Insert these matches, replacing those with their numbers."""
    await tx.write(_ROWS.save(matches))


@reading_number
def highest() -> Select[Any]:
    """The highest number in use; 0 for none."""
    return MatchTable.select(Coalesce(Max(MatchTable.id), 0))


@reading_rows(_read)
def of_season(tournament: int, season: str, /) -> Select[Any]:
    """The matches of a season, by day and number."""
    query = _bodies().where(MatchTable.tournament_id == tournament, MatchTable.season == season)
    return query.order_by(MatchTable.day, MatchTable.id)


@reading(lambda rows: [str(row["season"]) for row in rows])
def seasons(tournament: int, /) -> Select[Any]:
    """The seasons of a tournament that have matches, the latest first."""
    query = MatchTable.select(MatchTable.season).where(MatchTable.tournament_id == tournament)
    return query.group_by(MatchTable.season).order_by(QueryString("max({})", MatchTable.day), ascending=False)


async def get(tx: Tx, number: int, *, finished_only: bool) -> SoccerMatch | None:
    """The match with that number; with `finished_only` if its result stands."""
    found = await _get(tx, number) if number <= _MAX_INT else None
    return None if found and finished_only and found.status not in COUNTED else found


async def listing(tx: Tx, *, after: DayPlace, limit: int, **wanted: Any) -> list[SoccerMatch]:
    """At most `limit` matches by day and number, after a place, that match the filters `wanted` (see
    `FILTERS`; None: any)."""
    filters = {name: value for name, value in wanted.items() if value is not None}
    rows = await tx.run(_page(*after, *filters.values(), match_filters=tuple(filters), limit=limit))
    return [_read(row) for row in rows]


def _bodies() -> Select[Any]:
    return MatchTable.select(MatchTable.body)


@reading_row(_read)
def _get(number: int, /) -> Select[Any]:
    return _bodies().where(MatchTable.id == number)


@prepared
def _page(day: str, number: int, *wanted: object, match_filters: tuple[str, ...], limit: int) -> Select[Any]:
    later = WhereRaw("({}, {}) > ({}, {})", MatchTable.day, MatchTable.id, day, number)
    query = _bodies().where(later)
    for name, value in zip(match_filters, wanted, strict=True):
        query = query.where(FILTERS[name](value))
    return query.order_by(MatchTable.day, MatchTable.id).limit(limit)
