"""What is measured of the service each day: delays as processes count them, and the figures of days that are
over. Days are those of UTC."""

from collections.abc import Mapping
from typing import Any

import msgspec
from piccolo.query import Delete, Select

from app.domain.delays import Counts, Percentiles
from app.domain.service_status import Part
from app.kit.grouping import grouped
from app.store.prepared import reading, reading_rows, writing
from app.store.statements import reads, writes
from app.store.tables.status import DelayCount, StatusDay
from app.store.transaction import Tx

_encode = msgspec.json.Encoder().encode
_counts = msgspec.json.Decoder(list[int]).decode


class Recoveries(msgspec.Struct, frozen=True):
    """Recoveries that ended: how many failed, and how long the completed ones took from their request."""

    failed: int
    completed: Percentiles


class DayFigures(msgspec.Struct, frozen=True):
    """The figures of a `day` (`2031-04-02`). `results`: from the arrival of the log lines that decided it
    until the broker confirmed the message with the result, all and by the market's family; `messages`: the
    same of every message, each tenant counted. `down_seconds`: how long each part was down, of
    `observed_seconds`, which are fewer than those of a day on the first one, and today."""

    day: str
    observed_seconds: float
    down_seconds: dict[Part, float]
    messages: Percentiles
    results: Percentiles
    results_by_family: dict[str, Percentiles]
    recoveries: Recoveries

    def availability(self, part: Part) -> float:
        """The share of the observed time in which the part was not down."""
        return 1 - self.down_seconds.get(part, 0) / self.observed_seconds if self.observed_seconds else 1.0


_decode = msgspec.json.Decoder(DayFigures).decode


async def save_counts(tx: Tx, process: str, counted: Mapping[tuple[str, str], Counts]) -> None:
    """Write what a process has counted so far, by day and figure, one at least; it never falls."""
    days, figures = zip(*counted, strict=True)
    totals, counts = map(sum, counted.values()), map(_encode, counted.values())
    arguments = map(list, (days, figures, totals, counts))
    await tx.execute(writes.SAVE_DELAY_COUNTS, process, *arguments)


@reading(lambda rows: grouped((row["figure"], _counts(row["counts"])) for row in rows))
def counts(day: str, /) -> Select[Any]:
    """The counts of a day by figure, one of each process."""
    return DelayCount.select(DelayCount.figure, DelayCount.counts).where(DelayCount.day == day)


@writing
def prune_counts(before: str, /) -> Delete:
    """Delete the counts of days before that one; how many rows."""
    return DelayCount.delete().where(DelayCount.day < before)


async def recovery_times(tx: Tx, begin: int, end: int) -> Recoveries:
    """The recoveries that ended from `begin` until before `end` (Unix ms)."""
    row = await tx.row(reads.RECOVERY_TIMES, begin, end)
    if row is None or not row["millis"]:
        return Recoveries(row["failed"] if row else 0, Percentiles(0))
    seconds = [round(each / 1000, 3) for each in row["millis"]]
    return Recoveries(row["failed"], Percentiles(row["completed"], *seconds))


async def add(tx: Tx, figures: DayFigures) -> None:
    """Store the figures of a day, unless another process has done so."""
    row = StatusDay(day=figures.day, body=_encode(figures))
    await tx.change(StatusDay.insert(row).on_conflict(action="DO NOTHING"))


@reading_rows(lambda row: _decode(row["body"]))
def days(*, limit: int) -> Select[Any]:
    """The figures of the newest `limit` days that are over, newest first."""
    return StatusDay.select(StatusDay.body).order_by(StatusDay.day, ascending=False).limit(limit)


@reading_rows(lambda row: row["day"])
def known_days(since: str, /) -> Select[Any]:
    """The days from `since` on whose figures are stored."""
    return StatusDay.select(StatusDay.day).where(StatusDay.day >= since)


@writing
def prune(before: str, /) -> Delete:
    """Delete the figures of days before that one; how many."""
    return StatusDay.delete().where(StatusDay.day < before)
