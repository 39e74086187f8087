"""Simulated maps between teams that a tournament would put together, each by its seed."""

from random import Random
from uuid import UUID

from app.domain.match import Match
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan

BEGIN = 1_790_000_000_000


def plan_of(seed: int) -> MatchPlan:
    home, away = fictional_world().pair(Random(seed))
    return MatchPlan(home, away, seed, BEGIN, brief=True, knife=False)


def match_of(plan: MatchPlan) -> Match:
    """The match before it begins, with what the ratings say of its teams."""
    return Match(
        id=UUID(int=1),
        number=1,
        home=plan.home.name,
        away=plan.away.name,
        event="",
        home_strength=plan.home.points,
        away_strength=plan.away.points,
    )
