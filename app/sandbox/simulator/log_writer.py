"""Writes the log: a clock that only goes forward, and the lines that are not yet yielded."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from app.sandbox.simulator.log_lines import Position
from app.sandbox.simulator.truth import Side

#: Moments (game seconds), lines without timestamps, and numbers of the server runs that wrote them.
Lines = Iterator[tuple[float, str, int]]


@dataclass
class LogWriter:
    """`now` is in game seconds since the log's start; `drain` yields the pending lines and forgets them.

    `run` counts how often the server has restarted.
    """

    now: float = 0.0
    run: int = 0
    pending: list[tuple[float, str, int]] = field(default_factory=list)

    def write(self, *texts: str) -> None:
        self.pending.extend((self.now, text, self.run) for text in texts)

    def wait(self, seconds: float) -> None:
        self.now += seconds

    def until(self, at: float) -> None:
        self.now = max(self.now, at)

    def drain(self) -> Lines:
        yield from self.pending
        self.pending.clear()


#: Where a side tends to be: the middle of a box of map units, and how far it reaches.
_PLACES: dict[Side, tuple[Position, int]] = {"CT": ((1300, 900, 110), 800), "T": ((200, 500, 80), 700)}


def somewhere(rng: Random, side: Side) -> Position:
    """A random position where a player of this side could stand."""
    (x, y, z), reach = _PLACES[side]
    return x + rng.randint(-reach, reach), y + rng.randint(-reach, reach), z + rng.randint(-50, 60)
