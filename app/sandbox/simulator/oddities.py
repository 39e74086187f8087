"""How often what goes wrong on real servers goes wrong on a simulated one.

Lines may come late or twice in any match; what happens to a map (`incidents`) is drawn round by round.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import NamedTuple


class Line(NamedTuple):
    """`at` counts game seconds since the log was opened, `run` how often the server was started again."""

    at: float
    text: str
    run: int = 0


@dataclass(frozen=True)
class Oddities:
    """Chances, from 0 to 1. A round: `restore` from a backup, `restart` of the map, `crash` of the server,
    `silence` of the log, `pause`, `reconnect` of a player. A line: `late`, `repeat`. `overtimes` are how
    many a map is made to last at least."""

    restore: float = 0.0
    restart: float = 0.0
    crash: float = 0.0
    silence: float = 0.0
    pause: float = 0.0
    reconnect: float = 0.0
    late: float = 0.0
    repeat: float = 0.0
    overtimes: int = 0


NONE = Oddities()
#: What stops nothing: play goes on, and so do the markets.
GENTLE = Oddities(reconnect=0.01, late=0.002, repeat=0.002)
#: About one in three matches sees something that suspends it.
RARE = Oddities(
    restore=0.008,
    restart=0.002,
    crash=0.004,
    silence=0.002,
    pause=0.012,
    reconnect=0.01,
    late=0.002,
    repeat=0.002,
)
#: Every match has something of it.
COMMON = Oddities(
    restore=0.06, restart=0.03, crash=0.02, silence=0.01, pause=0.04, reconnect=0.05, late=0.02, repeat=0.01
)

_LATE_SECONDS = 1.0
_REPEATED = 12
#: What may come a moment late without a change of meaning.
_IDLE = (" attacked ", " money change ", " purchased ", " picked up ", " threw ", " left buyzone ")


def disordered(
    lines: Iterable[Line], rng: Random, oddities: Oddities, seconds: Callable[[float], float]
) -> Iterator[Line]:
    """The lines as they arrive: some a second late, some twice. `seconds` turns game seconds to real ones."""
    late = _late(lines, rng, oddities.late, seconds) if oddities.late else lines
    return _repeated(late, rng, oddities.repeat, seconds) if oddities.repeat else iter(late)


def _late(
    lines: Iterable[Line], rng: Random, chance: float, seconds: Callable[[float], float]
) -> Iterator[Line]:
    """Idle lines and kills are overtaken by idle lines of up to a second later."""
    held: Line | None = None
    for line in lines:
        if held is None:
            if _may_be_late(line.text) and rng.random() < chance:
                held = line
            else:
                yield line
            continue
        gap = seconds(line.at) - seconds(held.at)
        if gap > _LATE_SECONDS or not _idle(line.text):
            yield from (held, line)
            held = None
            continue
        yield line
        if gap > 0:
            yield held._replace(at=line.at)
            held = None
    if held:
        yield held


def _idle(text: str) -> bool:
    return any(deed in text for deed in _IDLE)


def _may_be_late(text: str) -> bool:
    return _idle(text) or " killed " in text


def _repeated(
    lines: Iterable[Line], rng: Random, chance: float, seconds: Callable[[float], float]
) -> Iterator[Line]:
    """Now and then the last few lines, all of the last second, come once more."""
    recent: list[Line] = []
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
