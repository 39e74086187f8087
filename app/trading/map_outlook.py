"""How a map may end while none of its rounds is in progress, under each skill."""

from collections.abc import Sequence
from functools import lru_cache

from msgspec.structs import replace
from propcache.api import cached_property

from app.trading.lines import Distribution, FinalScores, Measure, Mixture
from app.trading.map_scores import MapParameters, MapState, finals, wins_map

Sides = tuple[tuple[float, MapParameters], ...]  #: one, or one for each side that home may begin on


class MapOutlook:
    """`sides` are the map's parameters, under any skill, with their probabilities."""

    def __init__(self, skills: Sequence[float], sides: Sides, state: MapState) -> None:
        self._skills, self._weights = skills, [weight for weight, _ in sides]
        self._ahead = [(replace(known, skill=skill), state) for skill in skills for _, known in sides]
        self._mixtures: dict[Measure, Mixture] = {}
        self._latest: dict[Measure, tuple[list[float], Distribution]] = {}

    def distribution(self, measure: Measure, cases: Sequence[float]) -> Distribution:
        """What `measure` of the final score may come to; `cases` are the weights of the skills."""
        weights = [case * weight for case in cases for weight in self._weights]
        known = self._latest.get(measure)
        if known is None or known[0] != weights:
            known = self._latest[measure] = weights, self._mixture(measure).under(weights)
        return known[1]

    def _mixture(self, measure: Measure) -> Mixture:
        known = self._mixtures.get(measure)
        if known is None:
            known = self._mixtures[measure] = self._final_scores.measured(measure)
        return known

    @cached_property
    def _final_scores(self) -> FinalScores:
        return FinalScores(finals(*one) for one in self._ahead)

    @cached_property
    def wins(self) -> dict[float, float]:
        """Home's chance to win the map, by skill."""
        chances = iter([wins_map(*one) for one in self._ahead])
        return {skill: sum(weight * next(chances) for weight in self._weights) for skill in self._skills}


@lru_cache(maxsize=256)
def map_outlook(skills: tuple[float, ...], sides: Sides, state: MapState) -> MapOutlook:
    """The outlook of a map, the same one for all reactions while its state and the skills are these."""
    return MapOutlook(skills, sides, state)
