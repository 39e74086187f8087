"""Which matches have rows in a day's files; their rows are read by `history` and `market_history`, a match at
a time."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Select
from piccolo.query.functions import Max, Min

from app.domain.daily_files import Seqs
from app.domain.match import Status
from app.store import changes
from app.store.prepared import prepared, reading_rows
from app.store.sql import any_of
from app.store.statements import change_log as statements
from app.store.tables.match import LedgerEntry
from app.store.tables.match import Match as MatchTable
from app.store.transaction import Tx

_SLACK_MILLIS = 3_600_000  #: timestamps of different matches are in the order of seqs, but for so much


class DayMatch(msgspec.Struct, frozen=True):
    """A match that has rows in a file. `after`: its changes of the day have a higher seq; `first`, `last`:
    none of the day has a lower or a higher one."""

    id: UUID
    number: int
    after: int = 0
    first: int = 0
    last: int = 0


async def changed(tx: Tx, begin: int, end: int) -> list[DayMatch]:
    """The matches with changes from `begin` until before `end` (Unix ms), and some without, by number."""
    rows = await tx.fetch(statements.CHANGED, begin, end, end + _SLACK_MILLIS, changes.NO_MATCH)
    return [DayMatch(**row) for row in rows]


async def lost(tx: Tx, begin: int, end: int) -> bool:
    """Whether the last changes of a match are missing, or all, that may have been between these moments."""
    found: bool = await tx.value(statements.LOST, begin, end)
    return found


@reading_rows(lambda row: DayMatch(**row))
def played(begin: int, end: int, /) -> Select[Any]:
    """The matches that were in play between these moments, and some that were not, by number."""
    over = MatchTable.finished_at.is_null() | (MatchTable.finished_at >= begin)
    return _matches().where(MatchTable.started_at < end, over)


@reading_rows(lambda row: DayMatch(**row))
def finished(begin: int, end: int, /) -> Select[Any]:
    """The matches that finished from `begin` until before `end`, by number."""
    when = (MatchTable.finished_at >= begin, MatchTable.finished_at < end)
    return _matches().where(MatchTable.status == Status.FINISHED, *when)


async def settled(tx: Tx, begin: int, end: int) -> list[DayMatch]:
    """The matches with entries of the ledger from `begin` until before `end`, by number."""
    ids = {row["match_id"] for row in await tx.run(_settled(begin, end))}
    return [DayMatch(**row) for row in await tx.run(_named(list(ids)))]


async def seqs(tx: Tx, begin: int, end: int) -> Seqs:
    """Between which seqs the changes and the entries of the ledger are that happened from `begin` until
    before `end`."""
    found = [(each.first, each.last) for each in await changed(tx, begin, end)]
    found += [(row["first"], row["last"]) for row in await tx.run(_entries(begin, end)) if row["first"]]
    return Seqs(min((one for one, _ in found), default=0), max((one for _, one in found), default=0))


@prepared
def _settled(begin: int, end: int) -> Select[Any]:
    entries = LedgerEntry
    return entries.select(entries.match_id).where(entries.at >= begin, entries.at < end).distinct()


@prepared
def _named(ids: Collection[UUID]) -> Select[Any]:
    return _matches().where(any_of(MatchTable.id, ids))


@prepared
def _entries(begin: int, end: int) -> Select[Any]:
    first, last = Min(LedgerEntry.id).as_alias("first"), Max(LedgerEntry.id).as_alias("last")
    return LedgerEntry.select(first, last).where(LedgerEntry.at >= begin, LedgerEntry.at < end)


def _matches() -> Select[Any]:
    return MatchTable.select(MatchTable.id, MatchTable.number).order_by(MatchTable.number)
