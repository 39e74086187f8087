"""How strong a team is, how sure that is, and what a map between two teams showed about it.

Points are on the scale of the public ranking (about 800 to 2000), on which strengths are imported too. Only
differences of points mean anything.
"""

from typing import Literal

import msgspec

MILLIS_OF_DAY = 86_400_000


class TeamRating(msgspec.Struct, frozen=True):
    """`points` with their standard deviation `spread`, as of `at` (Unix ms), after `maps` results."""

    points: float
    spread: float
    at: int
    maps: int = 0


class DayForm(msgspec.Struct, frozen=True):
    """How much better the first team is on the day of this match than its rating says, in points."""

    points: float
    spread: float


class MapResult(msgspec.Struct, frozen=True):
    """A map that was won by team `a` or `b`. `rounds` is the score of a and b where it is known, `max_rounds`
    that of the format without overtime. `picked_by`: who chose the map, "" if nobody or unknown."""

    winner: Literal["a", "b"]
    rounds: tuple[int, int] | None = None
    max_rounds: int = 24
    picked_by: Literal["a", "b", ""] = ""
