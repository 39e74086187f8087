"""Who wins a CS2 map, from its score at half-time alone, as prices have it between teams of which nothing is
known; and the references: a logistic curve of the difference, and one chance for every leader."""

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from uuid import UUID

import numpy as np
from msgspec.structs import replace

from app.domain.match import MapPlay, Match
from app.trading.map_scores import MapParameters, MapState, half_scores, map_parameters, wins_map
from app.trading.model import Skill
from app.trading.skill import Case, posterior, skill_prior
from scripts.fit.regression import Floats, logistic
from scripts.fit.regression import fit as regress
from scripts.reality.cs2_scores import MAX_ROUNDS, MapScore, Rounds, read_half_times, read_maps
from scripts.reality.judging import Judgement, Prediction, compared

KIND = "half"
FOLDS = 10
_UNKNOWN_MAP = ""


def of_halves(path: Path) -> tuple[list[Prediction], dict[str, Judgement]]:
    """The maps of a file as cs2_maps_2026_02, from the half's score alone: neither the map nor the teams are
    known."""
    predictions = [
        Prediction(row, KIND, a_wins(_UNKNOWN_MAP, half) if half else 0.5)
        for row, half in read_half_times(path)
    ]
    chances = {one.row: one.chance for one in predictions}
    maps = list(read_maps(path))
    judgement = compared(
        [chances[one.row] for one in maps],
        [float(one.a_won) for one in maps],
        match_numbers(maps).tolist(),
        {"curve": held_curve(maps), "leader": held_leader(maps)},
    )
    return predictions, {KIND: judgement}


@lru_cache(maxsize=1024)
def a_wins(map_name: str, half: Rounds) -> float:
    """Team a's chance at this score at half-time, of two teams without a rating."""
    nobody = Match(id=UUID(int=0), number=0, home="", away="", event="")
    play = MapPlay(number=1, name=map_name, max_rounds=MAX_ROUNDS)
    return wins_from_half(half, map_parameters(play, 0.0, True), skill_prior(nobody))


def wins_from_half(half: Rounds, even: MapParameters, expected: Skill) -> float:
    """Home's chance at this score at half-time, on a map with the parameters `even` but for skill. Which team
    began as CT is not known."""

    def starts(skill: float) -> list[MapParameters]:
        return [replace(even, skill=skill, home_starts_ct=first) for first in (True, False)]

    def reached(parameters: MapParameters) -> float:
        return dict(half_scores(parameters, MapState(0, 0)))[half]

    def wins(case: Case) -> float:
        found = [(reached(one), wins_map(one, MapState(*half))) for one in starts(case.skill)]
        return sum(chance * won for chance, won in found) / sum(chance for chance, _ in found)

    cases = posterior(expected, lambda skill: math.log(sum(map(reached, starts(skill))) / 2))
    return sum(case.weight * wins(case) for case in cases)


def match_numbers(maps: Sequence[MapScore]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The match of each map, numbered from 0."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(one.match for one in maps))}
    return np.array([numbers[one.match] for one in maps])


def held_curve(maps: Sequence[MapScore]) -> list[float]:
    """A logistic curve of the half's difference, each tenth of the matches by the others."""
    return _held(maps, np.array([float(one.half[0] - one.half[1]) for one in maps]))


def held_leader(maps: Sequence[MapScore]) -> list[float]:
    """The leader at half-time wins with one chance, each tenth of the matches by the others."""
    return _held(maps, np.sign([float(one.half[0] - one.half[1]) for one in maps]))


def _held(maps: Sequence[MapScore], feature: Floats) -> list[float]:
    """Logistic of this feature times a weight: without a constant, since the teams have no order."""
    fold, won = match_numbers(maps) % FOLDS, np.array([float(one.a_won) for one in maps])
    found = np.empty(len(maps))
    for number in range(FOLDS):
        held = fold == number
        weight = regress(feature[~held, None], won[~held], 0.0)
        found[held] = logistic(feature[held] * weight)
    return [float(chance) for chance in found]
