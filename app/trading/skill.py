"""How much better home is, as far as anybody knows: a distribution over a grid of skills.

The prior comes from the teams' ratings; each skill is then weighed with how likely it makes the rounds of the
match so far. Prices are means over the grid: the chance of a round knows one skill, that of a map all of
them. The grid is the same for all matches, so that what follows from a skill is computed once for all of
them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from math import ceil, exp, floor
from typing import NamedTuple

from msgspec.structs import replace

from app.domain.match import MapPlay, Match
from app.domain.references import MarketAnchor
from app.domain.strength import TeamRating
from app.trading.coefficients import load
from app.trading.half_walk import Results, log_likelihood
from app.trading.kept import kept
from app.trading.map_scores import (
    MapParameters,
    MapState,
    half_results,
    home_starts_ct,
    map_parameters,
    match_finals,
    wins_map,
)
from app.trading.market_anchor import anchored
from app.trading.model import Skill, logit
from app.trading.ratings import Normal, rating_model

Points = tuple[float, float]  #: a team's strength and its standard deviation; 0 for a team without a rating


class Format(NamedTuple):
    """What the chance of a match depends on beside skill."""

    best_of: int
    max_rounds: int
    overtime_rounds: int


def skill_prior(match: Match) -> Skill:
    """How much better home is than away in a round: by the teams' ratings, and by the sources' reference
    prices where they are followed. A team without a rating counts as one that the public ranking does not
    list; if neither has one, they differ as much as teams of any tier do."""
    own = own_prior(match)
    if match.anchor is None:
        return own
    return _anchored(own, match.anchor, match_format(match))


def own_prior(match: Match) -> Skill:
    """The same by the ratings alone."""
    home, away = (match.home_strength, match.home_strength_sd), (match.away_strength, match.away_strength_sd)
    return _prior_of(home, away, match.max_rounds)


@lru_cache(maxsize=1024)
def _prior_of(home: Points, away: Points, max_rounds: int) -> Skill:
    if not (home[0] or away[0]):
        return Skill(0.0, load().maps.skill_spread)
    return _spread(rating_model().skill(_rated(*home), _rated(*away), max_rounds))


def match_format(match: Match) -> Format:
    return Format(match.best_of, match.max_rounds, match.overtime_rounds)


@lru_cache(maxsize=1024)
def _anchored(own: Skill, anchor: MarketAnchor, form: Format) -> Skill:
    exact = rating_model().of_strength(1.0, 0, _EXACT)
    day = _spread(rating_model().skill(exact, exact, form.max_rounds)).spread
    return anchored(own, max(day, _FINEST), anchor, partial(match_chance, form))


@lru_cache(maxsize=1024)
def match_chance(form: Format, expected: Skill) -> float:
    """Home's chance to win a match before it begins, while its maps and sides are not known."""
    cases = posterior(expected, lambda _: 0.0)
    return sum(weight * _match_chance(form, skill) for weight, skill in cases)


@lru_cache(maxsize=4096)
def _match_chance(form: Format, skill: float) -> float:
    play = MapPlay(number=1, max_rounds=form.max_rounds, overtime_rounds=form.overtime_rounds)
    start = MapState(0, 0)
    of_map = sum(wins_map(map_parameters(play, skill, ct), start) for ct in (True, False)) / 2
    ends = match_finals(0, 0, form.best_of, (of_map,) * form.best_of)
    return sum(
        chance * (1.0 if home > away else 0.5) for (home, away), chance in ends.items() if home >= away
    )


def _spread(normal: Normal) -> Skill:
    return Skill(normal.mean, normal.variance**0.5)


def skill_of_points(points: float, max_rounds: int) -> float:
    """How much better so many points make a team in a round, in logits."""
    model = rating_model()
    return model.skill(model.of_strength(points, 0), model.of_strength(0.0, 0), max_rounds).mean


def _rated(points: float, spread: float) -> TeamRating:
    return rating_model().of_strength(points, 0, spread) if points else rating_model().unlisted(0)


_STEP = 0.25  #: logits between two skills of the grid
_FINEST = 0.55 * _STEP  #: the least spread of skill that the grid can show
_EXACT = 1e-6  #: points: the spread of a strength that is known
_REACH = 3.5  #: standard deviations of the prior to either side
_NEGLIGIBLE = 1e-3  #: skills less likely than this are left out
Halves = tuple[tuple[int, Results], ...]  #: by number, from 0
_SURE = 1e-9  #: chances nearer to certainty have no logit of use


class Case(NamedTuple):
    """A skill of home, in logits of a round, and how likely it is."""

    weight: float
    skill: float


class Stretch(NamedTuple):
    """Rounds of a half (from 0) that were played at one strength: those of `until` that `before` lacks. The
    strength was shifted by `shifted_since` logits after them."""

    half: int
    before: Results
    until: Results
    shifted_since: float


Shift = tuple[int, int, float]  #: the map, the rounds won on it before, and by how many logits


def cases(match: Match) -> tuple[Case, ...]:
    """The skills that home may have after the rounds so far; weights sum to 1."""
    expected = skill_prior(match)
    if match.controls.shifts:
        return _after_shifts(match, expected)
    return _after(expected, tuple([found for play in match.maps if (found := _played(play)) is not None]))


@kept
def _played(play: MapPlay) -> tuple[MapParameters, Halves] | None:
    """A map as an even match would go on, and its rounds so far; None while sides are unknown."""
    starts_ct = home_starts_ct(play)
    return None if starts_ct is None else (map_parameters(play, 0.0, starts_ct), half_results(play))


def _after_shifts(match: Match, expected: Skill) -> tuple[Case, ...]:
    """The same where traders have shifted the strength: each round counts at the skill of its time, which
    differs from the present one by what has been shifted since."""
    shifts = [
        (one.map, one.rounds, skill_of_points(one.points, match.max_rounds)) for one in match.controls.shifts
    ]
    played = tuple(
        (map_parameters(play, 0.0, starts_ct), stretch)
        for play in match.maps
        if (starts_ct := home_starts_ct(play)) is not None
        for stretch in _stretches(play, shifts)
    )
    shifted = expected.mean + sum(by for _, _, by in shifts)
    return _after_stretches(Skill(shifted, expected.spread), played)


def _stretches(play: MapPlay, shifts: Sequence[Shift]) -> Iterator[Stretch]:
    """The rounds of a map, cut where halves begin and strength was shifted."""
    begin = 0
    for half, results in half_results(play):
        places = {at - begin for number, at, _ in shifts if number == play.number}
        cuts = sorted({0, len(results)} | {place for place in places if 0 < place < len(results)})
        for first, last in pairwise(cuts):
            since = (by for number, at, by in shifts if (number, at) > (play.number, begin + first))
            yield Stretch(half, results[:first], results[:last], sum(since))
        begin += len(results)


@lru_cache(maxsize=1024)
def _after_stretches(expected: Skill, played: tuple[tuple[MapParameters, Stretch], ...]) -> tuple[Case, ...]:
    def log_likelihood(skill: float) -> float:
        total = 0.0
        for known, stretch in played:
            parameters = replace(known, skill=skill - stretch.shifted_since)
            until = likelihood_of_rounds(parameters, [(stretch.half, stretch.until)])
            total += until - likelihood_of_rounds(parameters, [(stretch.half, stretch.before)])
        return total

    return posterior(expected, log_likelihood)


@lru_cache(maxsize=1024)
def _after(expected: Skill, played: tuple[tuple[MapParameters, Halves], ...]) -> tuple[Case, ...]:
    def log_likelihood(skill: float) -> float:
        return sum(likelihood_of_rounds(replace(known, skill=skill), halves) for known, halves in played)

    return posterior(expected, log_likelihood)


def likelihood_of_rounds(parameters: MapParameters, halves: Iterable[tuple[int, Results]]) -> float:
    """The logarithm of how likely the results of these halves (by number, from 0) were."""
    return sum(log_likelihood(parameters.half(number), results) for number, results in halves)


def posterior(expected: Skill, log_likelihood: Callable[[float], float]) -> tuple[Case, ...]:
    """The skills of the grid, each weighed with how likely it was before and what was seen under it."""
    found = {
        skill: log_likelihood(skill) - (((skill - expected.mean) / expected.spread) ** 2) / 2
        for skill in _grid(expected)
    }
    top = max(found.values())
    weights = {skill: exp(weight - top) for skill, weight in found.items()}
    least = _NEGLIGIBLE * sum(weights.values())
    likely = {skill: weight for skill, weight in weights.items() if weight >= least}
    total = sum(likely.values())
    return tuple(Case(weight / total, skill) for skill, weight in likely.items())


def _grid(expected: Skill) -> list[float]:
    low, high = (expected.mean + sign * _REACH * expected.spread for sign in (-1, 1))
    return [round(step * _STEP, 6) for step in range(floor(low / _STEP), ceil(high / _STEP) + 1)]


def moments(found: tuple[Case, ...]) -> Skill:
    """Mean and standard deviation."""
    mean = sum([weight * level for weight, level in found])
    return Skill(mean, sum([weight * (level - mean) ** 2 for weight, level in found]) ** 0.5)


def by_skill(
    found: tuple[Case, ...], expected: Skill, chance_at: Callable[[float], float]
) -> Mapping[float, float]:
    """The chance of something under each skill; `expected` are the moments of `found`. Its logit is taken to
    be linear in skill, so that `chance_at` is called for two skills only."""
    mean, spread = expected
    if not spread:
        return {skill: chance_at(skill) for _, skill in found}
    low, high = (logit(min(max(chance_at(at), _SURE), 1 - _SURE)) for at in (mean - spread, mean + spread))
    middle, slope = (low + high) / 2, (high - low) / (2 * spread)
    return {skill: 1 / (1 + exp(-(middle + slope * (skill - mean)))) for _, skill in found}
