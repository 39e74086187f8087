"""Whether both teams of a match are rated: until then nothing is offered, unless an operator allows it.

A price without ratings is a guess at evens, which anybody who knows the teams can beat. The doubt that stands
meanwhile is raised where the teams are named, and only there: a match that is on sale stays so.
"""

from msgspec.structs import replace

from app.domain.changes import MatchChanged
from app.domain.doubts import UNRATED, clear_doubt, raise_doubt
from app.domain.lifecycle import Moved, require_open
from app.domain.match import Match


def require_ratings(match: Match, *, allow_unrated: bool) -> Match:
    """The match, its teams just named, with the doubt if one of them is not rated and that is not allowed."""
    missing = _missing(match)
    if allow_unrated or not missing:
        return clear_doubt(match, UNRATED)
    return raise_doubt(match, UNRATED, f"no rating of {missing}")


def rate(match: Match, home: float | None, away: float | None, *, allow_unrated: bool) -> Moved:
    """Set strengths (None: it stays), or allow prices without them."""
    require_open(match, "rated")
    match = replace(
        match,
        home_strength=match.home_strength if home is None else home,
        away_strength=match.away_strength if away is None else away,
    )
    return rated(clear_doubt(match, UNRATED) if allow_unrated else match), (MatchChanged(),)


def unrated(match: Match) -> bool:
    """Nothing is offered because a team is not rated."""
    return any(doubt.kind == UNRATED for doubt in match.doubts)


def rated(match: Match) -> Match:
    """The match with its doubt, if that stands, as its strengths are now."""
    return require_ratings(match, allow_unrated=False) if unrated(match) else match


def _missing(match: Match) -> str:
    """Which teams have no rating, as operators call them."""
    strengths = {"team_a": match.home_strength, "team_b": match.away_strength}
    return " and ".join(team for team, strength in strengths.items() if not strength)
