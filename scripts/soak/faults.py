"""Which faults hit what when, two at a time, drawn from a seed: the same day can be repeated."""

import time
from random import Random
from typing import Literal

import msgspec

from scripts.soak.soaked_service import PROCESSES, WEB

How = Literal["SIGTERM", "SIGKILL", "SIGSTOP", "database", "Redis", "broker"]
#: The target of what hits every client of the broker.
BROKER = "broker"
#: Each fault with its target: a process, or the broker. Web processes alone use Redis.
KINDS: tuple[tuple[How, str], ...] = (
    *(("SIGTERM", name) for name in PROCESSES),
    *(("SIGKILL", name) for name in PROCESSES),
    *(("SIGSTOP", name) for name in PROCESSES),
    *(("database", name) for name in PROCESSES),
    *(("Redis", name) for name in WEB),
    ("broker", BROKER),
)
PAIR_SECONDS = 120.0  #: of the day for each pair: what it has caused is over when the next one begins
_BEGIN = (0.2, 0.5)  #: when in its part of the day a pair begins
_SECONDS = (4.0, 10.0)  #: how long a fault is on
_WORDS: dict[How, str] = {
    "SIGTERM": "{} gets SIGTERM",
    "SIGKILL": "{} gets SIGKILL",
    "SIGSTOP": "{} is stopped (SIGSTOP)",
    "database": "database sessions of {} are ended",
    "Redis": "Redis connections of {} are closed",
    "broker": "all connections to the {} are closed",
}


class Fault(msgspec.Struct, frozen=True):
    """From `at` on (seconds since the day began), for `seconds`, this happens to `target`. A process that has
    got a signal is started, or continued, after that time; connections are closed again every second."""

    at: float
    seconds: float
    how: How
    target: str

    @property
    def until(self) -> float:
        return self.at + self.seconds

    def __str__(self) -> str:
        return _WORDS[self.how].format(self.target)


Pair = tuple[Fault, Fault]


def pairs(seed: int, seconds: float) -> tuple[Pair, ...]:
    """The pairs of a day of so many seconds. The second fault of a pair has another target, and begins in
    the first half of the first one; every kind comes before one comes again."""
    rng, deck = Random(f"faults {seed}"), list[tuple[How, str]]()
    count = max(1, round(seconds / PAIR_SECONDS))
    part = seconds / count
    return tuple(_pair(rng, deck, part * (number + rng.uniform(*_BEGIN))) for number in range(count))


def _pair(rng: Random, deck: list[tuple[How, str]], at: float) -> Pair:
    first = Fault(at, rng.uniform(*_SECONDS), *_drawn(rng, deck))
    begin = at + rng.uniform(0.5, first.seconds / 2)
    return first, Fault(begin, rng.uniform(*_SECONDS), *_drawn(rng, deck, first.target))


def _drawn(rng: Random, deck: list[tuple[How, str]], other_than: str = "") -> tuple[How, str]:
    while True:
        for index, (_, target) in enumerate(deck):
            if target != other_than:
                return deck.pop(index)
        deck += rng.sample(KINDS, len(KINDS))


class Happened(msgspec.Struct, frozen=True):
    """A pair that has been: when it began, when both faults were over, and when the service reported that it
    was healthy again, in seconds since the day began; how many seconds both faults were on."""

    faults: Pair
    began: float
    ended: float
    healthy: float
    together: float


class FaultRecord:
    """The day's clock, and which faults have been. A pair is on until the service is healthy again."""

    def __init__(self) -> None:
        self.happened = list[Happened]()
        self._began = time.monotonic()
        self._on = False

    def now(self) -> float:
        """Seconds since the day began."""
        return time.monotonic() - self._began

    def begin(self) -> None:
        """A pair is on from now on."""
        self._on = True

    def end(self, pair: Happened) -> None:
        """It is over."""
        self.happened.append(pair)
        self._on = False

    def touched(self, since: float) -> bool:
        """Whether a pair has been on at any time since then."""
        return self._on or (bool(self.happened) and self.happened[-1].healthy >= since)
