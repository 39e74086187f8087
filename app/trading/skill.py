"""How much better home is, as far as anybody knows: a distribution over a grid of skills.

The prior comes from the teams' ratings; every round of the match is weighed with how likely it was under
each skill. Prices are means over the grid: the chance of a round knows one skill, that of a map all of them.
Skills of a grid, not of the match, so that what follows from one is computed once for all matches.
"""

from math import ceil, exp, floor
from typing import NamedTuple

from app.domain.match import Match
from app.trading.half_walk import log_likelihood
from app.trading.map_scores import half_results, home_starts_ct, map_parameters
from app.trading.model import Skill
from app.trading.skill_prior import skill_prior

_STEP = 0.2  #: logits between two skills of the grid
_REACH = 3.5  #: standard deviations of the prior to either side
_NEGLIGIBLE = 1e-3  #: skills less likely than this are left out


class Case(NamedTuple):
    """A skill of home, in logits of a round, and how likely it is."""

    weight: float
    skill: float


def cases(match: Match) -> tuple[Case, ...]:
    """The skills that home may have after the rounds so far; weights sum to 1."""
    mean, variance = skill_prior(match)
    expected = Skill(mean, variance**0.5)
    found = {skill: -(((skill - expected.mean) / expected.spread) ** 2) / 2 for skill in _grid(expected)}
    for play in match.maps:
        starts_ct = home_starts_ct(play)
        if starts_ct is None:
            continue
        halves = list(half_results(play))
        for skill in found:
            parameters = map_parameters(play, skill, starts_ct)
            found[skill] += sum(
                log_likelihood(parameters.half(number), results) for number, results in halves
            )
    return _weighed(found)


def _grid(expected: Skill) -> list[float]:
    low, high = (expected.mean + sign * _REACH * expected.spread for sign in (-1, 1))
    return [round(step * _STEP, 6) for step in range(floor(low / _STEP), ceil(high / _STEP) + 1)]


def _weighed(log_weights: dict[float, float]) -> tuple[Case, ...]:
    top = max(log_weights.values())
    weights = {skill: exp(weight - top) for skill, weight in log_weights.items()}
    least = _NEGLIGIBLE * sum(weights.values())
    likely = {skill: weight for skill, weight in weights.items() if weight >= least}
    total = sum(likely.values())
    return tuple(Case(weight / total, skill) for skill, weight in likely.items())


def moments(found: tuple[Case, ...]) -> Skill:
    """Mean and standard deviation."""
    mean = sum(case.weight * case.skill for case in found)
    return Skill(mean, sum(case.weight * (case.skill - mean) ** 2 for case in found) ** 0.5)
