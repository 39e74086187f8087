"""Which lines of a total or a handicap are on offer: those whose chance is nearest to evens.

The first of them is the main line. Lines follow the expectation, but not each of its moves: one that is on
offer gives way only when another is nearer by more than `_STAY`, and none is beyond `_LIMIT`.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from app.trading.forecast import Forecast
from app.trading.lines import Line, LineSequence
from app.trading.specifiers import Specifiers

#: How much nearer to evens a line must be to replace one that is on offer.
_STAY = 0.05
#: The farthest from evens that a line is on offer, and how much nearer it must be to come on.
_LIMIT, _ENTRY = 0.4, 0.02
_LOWEST, _HIGHEST = 0.5 - _LIMIT - 1e-9, 0.5 + _LIMIT + 1e-9


class Ladder(msgspec.Struct, frozen=True):
    """The lines of one type. For specifiers without a line, `lines` returns all that are not decided, each
    with the chance to exceed it, and `place` puts a line into them. `size` is how many are on offer, `ahead`
    how many on a map to come."""

    size: int
    lines: Callable[[Forecast, Specifiers], LineSequence]
    place: Callable[[Specifiers, float], Specifiers]
    ahead: int = 2


@lru_cache(maxsize=65_536)
def with_threshold(base: Specifiers, line: float) -> Specifiers:
    return replace(base, threshold=line)


@lru_cache(maxsize=65_536)
def with_handicap(base: Specifiers, line: float) -> Specifiers:
    """The handicap with which the team wins above or below home's lead of `line`."""
    return replace(base, handicap=-line if base.team == "home" else line)


def places_near(lines: LineSequence, size: int) -> Sequence[int]:
    """The places of so many of these lines on both sides of evens, and of two more; `lines` are in order, so
    that the chances to exceed them fall."""
    evens = lines.first_at_most(0.5)
    return lines.places[max(evens - size - 2, 0) : evens + size + 2]


def nearest(lines: LineSequence, size: int) -> list[Line]:
    """The lines `places_near` evens, without those that are too far from it to be on offer."""
    between, tails = lines.between, lines.tails
    return [
        (between[place], chance)
        for place in places_near(lines, size)
        if _LOWEST <= (chance := tails[place + 1]) <= _HIGHEST
    ]


def stays(chance: float) -> bool:
    """Whether a line with this chance to exceed it stays on offer while none comes on."""
    return round(abs(chance - 0.5), 9) <= _LIMIT


def choose(lines: Iterable[Line], on_offer: Collection[float], size: int) -> list[float]:
    """The lines to offer, given those that are: `size` of them, without any that comes on if it is 0."""
    ranked = []
    for line, chance in lines:
        distance = round(abs(chance - 0.5), 9)
        if line in on_offer and distance <= _LIMIT:
            ranked.append((distance - _STAY, abs(line), line))
        elif size and distance <= _LIMIT - _ENTRY:
            ranked.append((distance, abs(line), line))
    return sorted([line for *_, line in sorted(ranked)[: size or None]])
