"""Whether both teams of a match have a strength: until then nothing is offered, unless an operator allows it.

A price without strengths is a guess at evens, which bettors who know the teams can beat. The doubt is raised
only when the teams are set: a match that is on offer stays so. The operators' API calls such a match unrated.
"""

from msgspec.structs import replace

from app.domain.changes import DetailsChanged
from app.domain.doubts import UNRATED, clear_doubt, raise_doubt
from app.domain.lifecycle import MatchAndChanges, require_not_over
from app.domain.match import Match


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
    """Clear the doubt or update its reason, if it stands, by the strengths now."""
    return require_strengths(match, allow_unrated=False) if is_unrated(match) else match


def _missing(match: Match) -> str:
    """The teams without a strength, by the operators' API's names."""
    strengths = {"team_a": match.home_strength, "team_b": match.away_strength}
    return " and ".join(team for team, strength in strengths.items() if not strength)
