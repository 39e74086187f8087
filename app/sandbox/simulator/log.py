"""The log being written: a clock that only goes forward, and the lines not yet handed on."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from app.sandbox.simulator.lines import Spot
from app.sandbox.simulator.truth import Side

#: Moments (game seconds), lines without their stamps, and the server runs that wrote them.
Lines = Iterator[tuple[float, str, int]]


@dataclass
class Log:
    """`now` is in game seconds since the log's start; `drain` hands over what was written since.

    `run` counts how often the server was started again.
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
_PLACES: dict[Side, tuple[Spot, int]] = {"CT": ((1300, 900, 110), 800), "T": ((200, 500, 80), 700)}


def somewhere(rng: Random, side: Side) -> Spot:
    """A position that this side could stand at."""
    (x, y, z), reach = _PLACES[side]
    return x + rng.randint(-reach, reach), y + rng.randint(-reach, reach), z + rng.randint(-50, 60)
