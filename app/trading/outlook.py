"""How a map may end, under each skill: while none of its rounds is in progress, and after either result of
the current round.

While a round is played only its chance changes. So what depends on its result is computed once a round, and
each line of the log only changes the weights with which that is summed.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import mul
from typing import NamedTuple

from msgspec.structs import replace
from propcache.api import cached_property

from app.trading import map_scores
from app.trading.lines import Distribution, Finals, FinalScores, Measure, Score
from app.trading.map_scores import (
    MapParameters,
    MapState,
    Sides,
    finals,
    half_scores,
    reaches_first,
    wins_map,
)
from app.trading.skill import Case


class MapOutlook:
    """`sides` are the map's parameters, under any skill, with their probabilities."""

    def __init__(self, skills: Sequence[float], sides: Sides, state: MapState) -> None:
        self._skills, self._weights = skills, [weight for weight, _ in sides]
        self._ahead = [(replace(known, skill=skill), state) for skill in skills for _, known in sides]
        self._latest: dict[Measure, tuple[list[float], Distribution]] = {}

    def distribution(self, measure: Measure, cases: Sequence[float]) -> Distribution:
        """What `measure` of the final score may come to; `cases` are the weights of the skills."""
        weights = [case * weight for case in cases for weight in self._weights]
        known = self._latest.get(measure)
        if known is None or known[0] != weights:
            known = self._latest[measure] = weights, self._final_scores.measured(measure).under(weights)
        return known[1]

    def finals(self, cases: Sequence[float]) -> Finals:
        """Its final scores, with their probabilities; `cases` are the weights of the skills."""
        return self._final_scores.mean([case * weight for case in cases for weight in self._weights])

    @cached_property
    def _final_scores(self) -> FinalScores:
        return FinalScores.of(finals(*one) for one in self._ahead)

    @cached_property
    def wins(self) -> dict[float, float]:
        """Home's chance to win the map, by skill."""
        chances = iter([wins_map(*one) for one in self._ahead])
        return {skill: sum(weight * next(chances) for weight in self._weights) for skill in self._skills}


@lru_cache(maxsize=256)
def map_outlook(skills: tuple[float, ...], sides: Sides, state: MapState) -> MapOutlook:
    """The outlook of a map, computed once for these skills and sides and this state."""
    return MapOutlook(skills, sides, state)


Chances = Mapping[float, float]  #: home's of the current round, by skill
_Columns = tuple[list[Score], list[tuple[float, ...]]]  #: scores, and of each its chance in each case


class MapsAhead(NamedTuple):
    """The score of a match in maps before the present one, and home's chances of the maps after it, in each
    case."""

    score: Score
    best_of: int
    following: tuple[tuple[float, ...], ...]


class _MatchScores:
    """The final map scores of a match in each case, after a won map and, behind those, after a lost one."""

    def __init__(self, ahead: MapsAhead) -> None:
        cases = len(ahead.following)
        later = [2 * chances for chances in zip(*ahead.following, strict=True)]
        self._ends = map_scores.match_finals_by_case(
            ahead.score, ahead.best_of, 2 * cases, [[1.0] * cases + [0.0] * cases, *later]
        )

    @cached_property
    def by_score(self) -> _Columns:
        scores = sorted(self._ends)
        return scores, [tuple(self._ends[score]) for score in scores]

    @cached_property
    def final_scores(self) -> FinalScores:
        return FinalScores(self._ends)


class RoundOutlook:
    """`known` are the map's parameters under any skill, `state` is that before the round, `economy` the state
    of the economy in it, None where it was not seen."""

    def __init__(
        self, cases: Sequence[Case], known: MapParameters, state: MapState, economy: int | None
    ) -> None:
        self._cases = cases
        parameters = [replace(known, skill=case.skill) for case in cases]
        #: Parameters and state of each case: all after a won round, then all after a lost one.
        self._ahead = [(one, state.after(one, won, economy)) for won in (True, False) for one in parameters]
        self._latest: tuple[Chances, list[float]] = {}, []
        self._races: dict[int, list[float]] = {}
        self._latest_of_match: tuple[Chances, list[float]] = {}, []
        self._matches: dict[MapsAhead, _MatchScores] = {}
        self._latest_ahead: tuple[object, MapsAhead] | None = None

    def distribution(self, measure: Measure, chances: Chances) -> Distribution:
        """What `measure` of the map's final score may come to."""
        return self._final_scores.measured(measure).under(self._weights(chances))

    def finals(self, chances: Chances) -> Finals:
        """The map's final scores, with their probabilities."""
        return self._final_scores.mean(self._weights(chances))

    def match_finals(self, ahead: MapsAhead, chances: Chances) -> Finals:
        """Final map scores of the match, with their probabilities."""
        return _mean(self._match_scores(ahead).by_score, self._match_weights(chances))

    def match_distribution(self, measure: Measure, ahead: MapsAhead, chances: Chances) -> Distribution:
        """What `measure` of the match's final map score may come to."""
        ends = self._match_scores(ahead).final_scores
        return ends.measured(measure).under(self._match_weights(chances))

    def maps_ahead(self, score: Score, best_of: int, wins: Sequence[Mapping[float, float]]) -> MapsAhead:
        """The maps after this one, of which `wins` are home's chances by skill; made once for the same."""
        key = score, best_of, wins
        if self._latest_ahead is None or self._latest_ahead[0] != key:
            following = tuple([tuple([by_skill[level] for by_skill in wins]) for _, level in self._cases])
            self._latest_ahead = key, MapsAhead(score, best_of, following)
        return self._latest_ahead[1]

    def _match_scores(self, ahead: MapsAhead) -> _MatchScores:
        known = self._matches.get(ahead)
        if known is None:
            known = self._matches[ahead] = _MatchScores(ahead)
        return known

    def half_scores(self, chances: Chances) -> Finals:
        """The scores that its first half can end with, with their probabilities."""
        return _mean(self._half_scores, self._weights(chances))

    def reaches_first(self, target: int, chances: Chances) -> float:
        """The chance that home has so many rounds before away has."""
        known = self._races.get(target)
        if known is None:
            known = [reaches_first(*one, target) for one in self._ahead]
            self._races[target] = known
        chance: float = sum(map(mul, self._weights(chances), known))
        return chance

    def map_wins(self, chances: Chances) -> dict[float, float]:
        """Home's chance to win the map, by skill."""
        won, lost = self._wins[: len(self._cases)], self._wins[len(self._cases) :]
        return {
            skill: chances[skill] * up + (1 - chances[skill]) * down
            for (_, skill), up, down in zip(self._cases, won, lost, strict=True)
        }

    @cached_property
    def _half_scores(self) -> _Columns:
        return _columns([half_scores(*one) for one in self._ahead])

    @cached_property
    def _wins(self) -> list[float]:
        return [wins_map(*one) for one in self._ahead]

    @cached_property
    def _final_scores(self) -> FinalScores:
        return FinalScores.of(finals(*one) for one in self._ahead)

    def _weights(self, chances: Chances) -> list[float]:
        """The weights of the cases after a won round, then after a lost one; computed once for the same
        chances."""
        if self._latest[0] is not chances:
            self._latest = chances, self._won_and_lost(chances)
        return self._latest[1]

    def _match_weights(self, chances: Chances) -> list[float]:
        """The weights of the cases after a won map, then after a lost one; computed once for the same
        chances."""
        if self._latest_of_match[0] is not chances:
            self._latest_of_match = chances, self._won_and_lost(self.map_wins(chances))
        return self._latest_of_match[1]

    def _won_and_lost(self, chances: Chances) -> list[float]:
        won = [weight * chances[skill] for weight, skill in self._cases]
        return won + [weight - up for (weight, _), up in zip(self._cases, won, strict=True)]


def _mean(found: _Columns, weights: Sequence[float]) -> Finals:
    scores, columns = found
    return tuple(
        [(score, sum(map(mul, weights, column))) for score, column in zip(scores, columns, strict=True)]
    )


def _columns(distributions: Sequence[Finals]) -> _Columns:
    """All scores, and of each its chance in each distribution."""
    scores = sorted({score for distribution in distributions for score, _ in distribution})
    by_score = [dict(distribution) for distribution in distributions]
    return scores, [tuple([known.get(score, 0.0) for known in by_score]) for score in scores]


@lru_cache(maxsize=512)
def round_outlook(
    cases: tuple[Case, ...], known: MapParameters, state: MapState, economy: int | None
) -> RoundOutlook:
    """The outlook of a round, computed once for all of its lines."""
    return RoundOutlook(cases, known, state, economy)
