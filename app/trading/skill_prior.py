"""The skill of a match before its first round, from the ratings of its teams."""

from app.domain.match import Match
from app.domain.team_rating import TeamRating
from app.trading.ratings import Normal, rating_model


def skill_prior(match: Match) -> Normal:
    """How much better home is than away in a round, in logits. A team without a rating counts as one that the
    public ranking does not list."""
    home = _rated(match.home_strength, match.home_strength_sd)
    away = _rated(match.away_strength, match.away_strength_sd)
    return rating_model().skill(home, away, match.max_rounds)


def skill_of_points(points: float, max_rounds: int) -> float:
    """How much better so many points make a team in a round, in logits."""
    model = rating_model()
    return model.skill(model.of_strength(points, 0), model.of_strength(0.0, 0), max_rounds).mean


def _rated(points: float, spread: float) -> TeamRating:
    return rating_model().of_strength(points, 0, spread) if points else rating_model().unlisted(0)
