"""Lists of matches: pages of rows, not whole matches, and their total; a tenant's schedule; those that a team
played; those in play; and the names of matches, for lists of other things."""

from collections.abc import Collection, Sequence
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from piccolo.query import Count, Select
from piccolo.query.functions import Count as CountOf
from piccolo.querystring import QueryString

from app.domain.market import MarketStatus
from app.domain.match import MapPlay, Match, Status
from app.store.prepared import prepared, reading, reading_number
from app.store.row_mapping import RowMapping
from app.store.sql import OPEN_CODES, any_of, holds, literals
from app.store.statements import reads
from app.store.statistics import EVER
from app.store.tables.match import Market, MatchCount
from app.store.tables.match import Match as MatchTable
from app.store.tables.tenant import Unbooked
from app.store.transaction import Row, Tx

UNKNOWN_START = 2**63 - 1  #: the position of matches whose start is unknown
_decode = msgspec.json.Decoder(Match).decode


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
    return await _all(tx, wanted) if window.whole else await _some(tx, wanted, *window)


@reading_number
def _all(statuses: Collection[str], /) -> Select[Any]:
    total = QueryString("coalesce(sum({}), 0)::bigint", MatchCount.matches, alias="total")
    return MatchCount.select(total).where(any_of(MatchCount.status, statuses))


@reading_number
def _some(statuses: Collection[str], first: int, last: int, /) -> Count:
    table = MatchTable
    within = (table.sort_time >= first, table.sort_time <= last)
    return table.count().where(holds(table.in_lists), any_of(table.status, statuses), *within)


def _position(row: Row) -> ListPosition:
    return ListPosition(row["sort_time"], row["number"])


def _outline(row: Row) -> Match:
    """Field by field: a page is read often, and a dictionary of its fields takes half as long again."""
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


class ScheduleFilter(msgspec.Struct, frozen=True):
    """Which matches: those in these states, and, with `since`, scheduled from then until before `until`
    (Unix ms)."""

    statuses: tuple[Status, ...]
    since: int | None = None
    until: int | None = None


async def schedule(
    tx: Tx, tenant_id: UUID, wanted: ScheduleFilter, *, start: int = 0, limit: int | None = None
) -> list[Match]:
    """The tenant's matches by scheduled start, then number; `last_stamp` and `last_seq` are not set."""
    selection = (list(wanted.statuses), wanted.since, wanted.until)
    rows = await tx.fetch(reads.SCHEDULE, *selection, tenant_id, limit, start)
    return [_decode(row["state"]) for row in rows]


@reading(lambda rows: str(rows[0]["digest"]))
def unbooked_digest(tenant_id: UUID, /) -> Select[Any]:
    """A digest of the matches that the tenant has unbooked: "" when it has booked all."""
    ids = "coalesce(md5(string_agg({}::text, ' ' ORDER BY {})), '')"
    digest = QueryString(ids, Unbooked.match_id, Unbooked.match_id, alias="digest")
    return Unbooked.select(digest).where(Unbooked.tenant_id == tenant_id)


async def fixture_changes(
    tx: Tx, tenant_id: UUID, after: int, statuses: Sequence[Status]
) -> list[tuple[int, int]]:
    """The numbers of the tenant's matches in these states with a fixture change published after `after` (ms),
    each with the time of its latest one, in the order of these times. Published fixture changes are stored as
    long as a recovery may replay them."""
    rows = await tx.fetch(reads.CHANGED_FIXTURES, tenant_id, after, list(statuses))
    return [(row["number"], row["at"]) for row in rows]


async def head_to_head(
    tx: Tx, team: int, opponent: int, *, since: int = 0, until: int = EVER, limit: int
) -> list[Match]:
    """The newest `limit` finished matches of the two, newest first."""
    rows = await tx.fetch(reads.HEAD_TO_HEAD, team, since, until, limit, opponent)
    return _newest(rows, limit)


async def of_team(tx: Tx, team: int, *, since: int = 0, until: int = EVER, limit: int) -> list[Match]:
    """The newest `limit` finished matches of a team, newest first."""
    rows = await tx.fetch(reads.MATCHES_OF_TEAM, team, since, until, limit)
    return _newest(rows, limit)


def _newest(rows: Sequence[Row], limit: int) -> list[Match]:
    """The newest of these matches, newest first."""
    found = [_decode(row["state"]) for row in rows]
    found.sort(key=lambda match: (match.finished_at or 0, match.number), reverse=True)
    return found[:limit]


class MarketCount(NamedTuple):
    """How many open markets of a match have a status, for a reason."""

    status: MarketStatus
    reason: str
    markets: int


async def live_versions(tx: Tx) -> dict[UUID, str]:
    """The live matches, each with the version of its row. It differs after every change of the match or its
    markets, and on a restored or promoted server, which may assign the same numbers again."""
    return {row["id"]: f"{tx.history}/{row['version']}" for row in await tx.run(_live_versions())}


async def market_counts(tx: Tx, ids: Collection[UUID]) -> dict[UUID, list[MarketCount]]:
    """The open markets of each of these matches, counted; most frequent first."""
    found: dict[UUID, list[MarketCount]] = {one: [] for one in ids}
    if found:
        for row in await tx.run(_market_counts(list(ids))):
            count = MarketCount(MarketStatus(row["status"]), row["reason"], row["markets"])
            found[row["match_id"]].append(count)
    return found


class MatchName(msgspec.Struct, frozen=True):
    """A match as a heading shows it."""

    number: int
    home: str
    away: str


_NAMES = RowMapping(MatchTable, MatchName)


async def names_by_number(tx: Tx, numbers: Collection[int]) -> dict[int, MatchName]:
    """The names of those of these matches that exist, by number."""
    return await _names_by_number(tx, numbers) if numbers else {}


@reading(lambda rows: {row["number"]: _NAMES.read(row) for row in rows})
def _names_by_number(numbers: Collection[int], /) -> Select[Any]:
    return MatchTable.select(*_NAMES.columns).where(any_of(MatchTable.number, numbers))


async def names_by_id(tx: Tx, ids: Collection[UUID]) -> dict[UUID, MatchName]:
    """The names of those of these matches that exist, by id."""
    return await _names_by_id(tx, ids) if ids else {}


@reading(lambda rows: {row["id"]: _NAMES.read(row) for row in rows})
def _names_by_id(ids: Collection[UUID], /) -> Select[Any]:
    return MatchTable.select(MatchTable.id, *_NAMES.columns).where(any_of(MatchTable.id, ids))


@prepared
def _live_versions() -> Select[Any]:
    version = QueryString("xmin::text", alias="version")
    live = MatchTable.status.is_in(literals((Status.LIVE,)))
    return MatchTable.select(MatchTable.id, version).where(live)


@prepared
def _market_counts(ids: Collection[UUID]) -> Select[Any]:
    columns = (Market.match_id, Market.status, Market.reason)
    query = Market.select(*columns, CountOf(alias="markets")).where(any_of(Market.match_id, ids))
    query = query.where(Market.status.is_in(OPEN_CODES)).group_by(*columns)
    return query.order_by(QueryString("count(*) DESC, {}, {}", Market.status, Market.reason))
