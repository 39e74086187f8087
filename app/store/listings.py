"""Lists of matches: their rows, not whole matches, and their total."""

from collections.abc import Collection
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple

from piccolo.query import Count, Select
from piccolo.querystring import QueryString

from app.domain.match import MapPlay, Match, Status
from app.store.prepared import prepared
from app.store.sql import any_of, holds
from app.store.statements import reads
from app.store.tables.match import Match as MatchTable
from app.store.tables.match import MatchCount
from app.store.transaction import Row, Tx

UNKNOWN_START = 2**63 - 1  #: the position of matches whose start is unknown


class ListPosition(NamedTuple):
    """A match's position in a list: when it begins or began (Unix ms), then its number."""

    at: int
    number: int


class Window(NamedTuple):
    """Matches that begin or began between these moments (Unix ms), both included."""

    first: int = 0
    last: int = UNKNOWN_START

    @property
    def whole(self) -> bool:
        return self == Window()


async def page(
    tx: Tx,
    statuses: Collection[Status],
    *,
    limit: int,
    window: Window,
    after: ListPosition | None = None,
    newest_first: bool = False,
) -> list[tuple[Match, ListPosition]]:
    """At most `limit` matches in these states, in order of position, after `after`.

    They are outlines: no rounds, no rosters; of maps only the name of the current one. Matches that are over
    and were never played are omitted.
    """
    start = after or (ListPosition(UNKNOWN_START, UNKNOWN_START) if newest_first else ListPosition(-1, 0))
    # The page's start bounds `place` too, so that the index scan begins there.
    first = window.first if newest_first else max(window.first, start.at)
    last = min(window.last, start.at) if newest_first else window.last
    found = [
        await tx.fetch(
            reads.PAGE_BACKWARD if newest_first else reads.PAGE_FORWARD,
            *(status, first, last, *start, limit),
        )
        for status in statuses
    ]
    rows = islice(merge(*found, key=_position, reverse=newest_first), limit)
    return [(_outline(row), _position(row)) for row in rows]


async def total(tx: Tx, statuses: Collection[Status], window: Window) -> int:
    """How many matches `page` would return without a limit."""
    wanted = list(statuses)
    if window.whole:
        found: int = await tx.one_value(_all(wanted))
    else:
        found = await tx.one_value(_some(wanted, *window))
    return found


@prepared
def _all(statuses: Collection[str]) -> Select[Any]:
    total = QueryString("coalesce(sum({}), 0)::bigint", MatchCount.matches, alias="total")
    return MatchCount.select(total).where(any_of(MatchCount.status, statuses))


@prepared
def _some(statuses: Collection[str], first: int, last: int) -> Count:
    table = MatchTable
    within = (table.sort_time >= first, table.sort_time <= last)
    return table.count().where(holds(table.in_lists), any_of(table.status, statuses), *within)


def _position(row: Row) -> ListPosition:
    return ListPosition(row["sort_time"], row["number"])


def _outline(row: Row) -> Match:
    return Match(
        id=row["id"],
        number=row["number"],
        home=row["home"],
        away=row["away"],
        event=row["event"],
        best_of=row["best_of"],
        status=Status(row["status"]),
        scheduled_at=row["scheduled_at"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        score_home=row["score_home"],
        score_away=row["score_away"],
        maps=(MapPlay(1, row["map_name"], "live"),) if row["map_name"] else (),
        home_id=row["home_id"],
        away_id=row["away_id"],
        tournament_id=row["tournament_id"],
    )
