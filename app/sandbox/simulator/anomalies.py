"""How often the simulated server has the problems of real ones.

Lines may come late or twice in any match; what happens to a map (`incidents`) is drawn round by round.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import NamedTuple


class LogLine(NamedTuple):
    """`at` counts game seconds since the log was opened, `run` how often the server has restarted."""

    at: float
    text: str
    run: int = 0


@dataclass(frozen=True)
class Anomalies:
    """Chances, from 0 to 1. A round: `restore` from a backup, `restart` of the map, `crash` of the server,
    `silence` of the log, `pause`, `reconnect` of a player. A line: `late`, `repeat`. `overtimes`: at least so
    many are played."""

    restore: float = 0.0
    restart: float = 0.0
    crash: float = 0.0
    silence: float = 0.0
    pause: float = 0.0
    reconnect: float = 0.0
    late: float = 0.0
    repeat: float = 0.0
    overtimes: int = 0


NONE = Anomalies()
#: Nothing that suspends markets.
GENTLE = Anomalies(reconnect=0.01, late=0.002, repeat=0.002)
#: About one match in three is suspended at some time.
RARE = Anomalies(
    restore=0.008,
    restart=0.002,
    crash=0.004,
    silence=0.002,
    pause=0.012,
    reconnect=0.01,
    late=0.002,
    repeat=0.002,
)
#: Every match has some.
COMMON = Anomalies(
    restore=0.06, restart=0.03, crash=0.02, silence=0.01, pause=0.04, reconnect=0.05, late=0.02, repeat=0.01
)

_LATE_SECONDS = 1.0
_REPEATED = 12
#: Lines that may come a moment late without a change of meaning.
_IDLE = (" attacked ", " money change ", " purchased ", " picked up ", " threw ", " left buyzone ")


def disorder(
    lines: Iterable[LogLine], rng: Random, anomalies: Anomalies, seconds: Callable[[float], float]
) -> Iterator[LogLine]:
    """The lines as they arrive: some a second late, some twice. `seconds` turns game seconds to real ones."""
    late = _late(lines, rng, anomalies.late, seconds) if anomalies.late else lines
    return _repeated(late, rng, anomalies.repeat, seconds) if anomalies.repeat else iter(late)


def _late(
    lines: Iterable[LogLine], rng: Random, chance: float, seconds: Callable[[float], float]
) -> Iterator[LogLine]:
    """Idle lines and kills are overtaken by idle lines of up to a second later."""
    delayed: LogLine | None = None
    for line in lines:
        if delayed is None:
            if _may_be_late(line.text) and rng.random() < chance:
                delayed = line
            else:
                yield line
            continue
        gap = seconds(line.at) - seconds(delayed.at)
        if gap > _LATE_SECONDS or not _idle(line.text):
            yield from (delayed, line)
            delayed = None
            continue
        yield line
        if gap > 0:
            yield delayed._replace(at=line.at)
            delayed = None
    if delayed:
        yield delayed


def _idle(text: str) -> bool:
    return any(words in text for words in _IDLE)


def _may_be_late(text: str) -> bool:
    return _idle(text) or " killed " in text


def _repeated(
    lines: Iterable[LogLine], rng: Random, chance: float, seconds: Callable[[float], float]
) -> Iterator[LogLine]:
    """Sometimes the last few lines, all of the last second, come a second time."""
    recent: list[LogLine] = []
    for line in lines:
        recent = [*recent[1 - _REPEATED :], line]
        yield line
        if rng.random() < chance:
            again = recent[-rng.randint(1, _REPEATED) :]
            yield from (
                old._replace(at=line.at)
                for old in again
                if old.run == line.run and seconds(line.at) - seconds(old.at) <= _LATE_SECONDS
            )
