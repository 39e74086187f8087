"""How long messages took from the arrival of the log lines behind them until the broker confirmed them,
counted for the day in memory, and written with the samples of the delivery.

A process writes what it has counted so far, under a name of its own; a process that is killed loses its last
minute.
"""

from uuid import uuid4

from app.domain.daily_files import day_of
from app.domain.delays import Counts, bucket, no_counts
from app.kit.clock import Clock, system_clock
from app.store import status_days
from app.store.connections import Store

MESSAGES, RESULTS = "messages", "results"
OF_FAMILY = "results:"  #: followed by the family of a market
_DAY_MILLIS = 86_400_000


class DelayCounts:
    """The counts of the days that are not over, by day and figure."""

    def __init__(self, clock: Clock = system_clock) -> None:
        self._process = uuid4().hex
        self._clock = clock
        self._day, self._until = "", 0
        self._counted: dict[tuple[str, str], Counts] = {}
        self._unwritten: set[tuple[str, str]] = set()

    def add(self, seconds: float, families: tuple[str, ...]) -> None:
        """Count a message that took so long; `families` are those of the results in it, none without one."""
        now = self._clock()
        if now >= self._until:
            day = day_of(now)
            self._day, self._until = str(day), (now // _DAY_MILLIS + 1) * _DAY_MILLIS
        place = bucket(seconds)
        self._count(MESSAGES, place)
        if families:
            self._count(RESULTS, place)
            for family in families:
                self._count(OF_FAMILY + family, place)

    def _count(self, figure: str, place: int) -> None:
        key = self._day, figure
        counts = self._counted.get(key)
        if counts is None:
            counts = self._counted[key] = no_counts()
        counts[place] += 1
        self._unwritten.add(key)

    async def write(self, store: Store) -> None:
        """Write what has been counted since the last time; days before are then forgotten. Raises
        `Unavailable`: nothing is lost, and all of it is written at the next call."""
        ready, self._unwritten = self._unwritten, set()
        if not ready:
            return
        counted = {key: list(self._counted[key]) for key in ready}
        try:
            async with store.autocommit() as tx:  # a single statement is atomic
                await status_days.save_counts(tx, self._process, counted)
        except BaseException:
            self._unwritten |= ready
            raise
        for key in [key for key in self._counted if key[0] != self._day and key not in self._unwritten]:
            del self._counted[key]
