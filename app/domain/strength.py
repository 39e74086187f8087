"""How strong a team is and how sure that is: ratings, what they follow from (played maps and given
strengths), and the strengths that a match is priced by.

Points are on the scale of the public ranking (about 800 to 2000), on which strengths are imported too. Only
differences of points mean anything. The structs are stored as JSON by field name: fields are never renamed.

Until both teams of a match have a strength nothing is offered, unless an operator allows it: a price without
strengths is a guess at evens, which bettors who know the teams can beat. The doubt is raised only when the
teams are set: a match that is on offer stays so. The operators' API calls such a match unrated.
"""

from typing import Literal

import msgspec
from msgspec.structs import replace

from app.domain.changes import DetailsChanged, MatchAndChanges
from app.domain.doubts import UNRATED, clear_doubt, raise_doubt
from app.domain.lifecycle import require_not_over
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
    """An operator's statement at `at` that a team has these points. With a `spread` its rating begins anew.
    With 0 they are points of the public ranking, as unsure as those are, and inform a rating that began with
    a strength."""

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


def require_strengths(match: Match, *, allow_unrated: bool) -> Match:
    """Raise the doubt if a team, just set, has no strength and that is not allowed; else clear it."""
    missing = _missing(match)
    if allow_unrated or not missing:
        return clear_doubt(match, UNRATED)
    return raise_doubt(match, UNRATED, f"no rating of {missing}")


def set_strengths(
    match: Match, home: float | None, away: float | None, *, allow_unrated: bool
) -> MatchAndChanges:
    """Set strengths (None: unchanged), or allow prices without them."""
    require_not_over(match, "rated")
    if home is not None:
        match = replace(match, home_strength=home, home_strength_sd=0.0)
    if away is not None:
        match = replace(match, away_strength=away, away_strength_sd=0.0)
    set_now = {team for team, strength in (("home", home), ("away", away)) if strength is not None}
    match = replace(
        match, follows_ratings=tuple(team for team in match.follows_ratings if team not in set_now)
    )
    return check_strengths(clear_doubt(match, UNRATED) if allow_unrated else match), (DetailsChanged(),)


def is_unrated(match: Match) -> bool:
    """Whether nothing is offered because a team has no strength."""
    return any(doubt.kind == UNRATED for doubt in match.doubts)


def check_strengths(match: Match) -> Match:
    """If the match has the doubt, clear it or update its reason by the present strengths."""
    return require_strengths(match, allow_unrated=False) if is_unrated(match) else match


def _missing(match: Match) -> str:
    """The teams without a strength, as the operators' API names them."""
    strengths = {"team_a": match.home_strength, "team_b": match.away_strength}
    return " and ".join(team for team, strength in strengths.items() if not strength)
