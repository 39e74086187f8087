"""How strong a team is and how sure that is, and what ratings follow from: played maps and given strengths.

Points are on the scale of the public ranking (about 800 to 2000), on which strengths are imported too. Only
differences of points mean anything. The structs are stored as JSON by field name: fields are never renamed.
"""

from typing import Literal

import msgspec

from app.domain.match import MapPlay, Match, Status

MILLIS_OF_DAY = 86_400_000
#: So many maps make a rating of a team that no strength is known of.
ENOUGH_MAPS = 10
#: A team's place in an event: the first or the second.
Place = Literal["a", "b"]


class TeamRating(msgspec.Struct, frozen=True):
    """`points` with their standard deviation `spread`, as of `at` (Unix ms), after `maps` results.

    `anchored`: it began with a strength, not as an unlisted team."""

    points: float
    spread: float
    at: int
    maps: int = 0
    anchored: bool = False

    @property
    def sufficient(self) -> bool:
        """Whether prices may rest on it."""
        return self.anchored or self.maps >= ENOUGH_MAPS


class DayForm(msgspec.Struct, frozen=True):
    """How much better the first team is on the day of this match than its rating says, in points."""

    points: float
    spread: float


class MapResult(msgspec.Struct, frozen=True):
    """A map that was won by team `a` or `b`. `rounds` is the score of a and b where it is known, `max_rounds`
    that of the format without overtime. `picked_by`: who chose the map, "" if nobody or unknown."""

    winner: Place
    rounds: tuple[int, int] | None = None
    max_rounds: int = 24
    picked_by: Place | Literal[""] = ""


class MapPlayed(msgspec.Struct, frozen=True, tag="map"):
    """A map that ended at `at` (Unix ms). `reference` is unique.

    Maps of one match have the same `series`; `a` is the team with the lower number."""

    reference: str
    at: int
    series: str
    a: int
    b: int
    result: MapResult
    map_name: str = ""

    @property
    def teams(self) -> tuple[int, ...]:
        return self.a, self.b


class StrengthGiven(msgspec.Struct, frozen=True, tag="strength"):
    """An operator's statement at `at` that a team has these points; its rating begins anew. `spread` 0: as
    unsure as points of the public ranking are."""

    reference: str
    at: int
    team: int
    points: float
    spread: float = 0.0

    @property
    def teams(self) -> tuple[int, ...]:
        return (self.team,)

    @property
    def series(self) -> str:
        return ""


RatingEvent = MapPlayed | StrengthGiven


def played_maps(match: Match) -> tuple[MapPlayed, ...]:
    """The maps of a match that count for ratings: those played to the end, if it was not cancelled."""
    if match.status is Status.CANCELLED or match.home_id is None or match.away_id is None:
        return ()
    return tuple(
        _played(match, play, match.home_id, match.away_id)
        for play in match.maps
        if play.status == "finished" and play.winner and not play.awarded and play.finished_at
    )


def _played(match: Match, play: MapPlay, home: int, away: int) -> MapPlayed:
    first = "home" if home < away else "away"
    rounds = (play.home_score, play.away_score) if first == "home" else (play.away_score, play.home_score)
    winner: Place = "a" if play.winner == first else "b"
    picker: Place | Literal[""] = "" if play.picked_by is None else "a" if play.picked_by == first else "b"
    consistent = rounds[0] > rounds[1] if winner == "a" else rounds[1] > rounds[0]
    return MapPlayed(
        reference=f"match:{match.id}:{play.number}",
        at=play.finished_at or 0,
        series=f"match:{match.id}",
        a=min(home, away),
        b=max(home, away),
        result=MapResult(winner, rounds if consistent else None, play.max_rounds, picker),
        map_name=play.name,
    )
