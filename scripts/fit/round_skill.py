"""What a difference of two teams' ratings is in a round: by the likelihood that our own chain of rounds gives
the final scores of csgo_maps_2021. The day's form is not in it: `day_spread` is what that and the map add."""

import math
from collections.abc import Sequence
from functools import lru_cache

from msgspec.structs import replace

from app.domain.match import MapPlay
from app.trading.coefficients import RatingCoefficients
from app.trading.lines import Score
from app.trading.map_scores import MapState, finals, map_parameters, mixture
from app.trading.ratings import Normal, RatingModel
from scripts.fit.simplex import minimum
from scripts.reality import rated_maps
from scripts.reality.old_maps import MAX_ROUNDS, OldMap

_WARM_UP = 500  #: maps until the teams are rated; these do not count
_STEP, _MOST = 0.05, 1.95  #: the skills that scores are computed for, in logits; between them, linear
_POINTS = ((0.0, 2 / 3), (-math.sqrt(3), 1 / 6), (math.sqrt(3), 1 / 6))
_RARE = 1e-6  #: the chance of a score that the chain does not list


def with_round_skill(found: RatingCoefficients, old: Sequence[OldMap]) -> RatingCoefficients:
    """With `round_skill` and `day_spread`."""
    model, form = RatingModel(found), found.form_spread**2
    played = rated_maps.play(model, rated_maps.old_maps(model, old))
    differences = [Normal(mean, variance - form) for _, (mean, variance) in played]
    rated = list(zip(old, differences, strict=True))[_WARM_UP:]

    def loss(point: Sequence[float]) -> float:
        slope, day = point[0] / math.sqrt(MAX_ROUNDS), math.exp(point[1])
        return -sum(math.log(_chance(one, difference, slope, day)) for one, difference in rated)

    skill, day = minimum(loss, (1.0, math.log(0.2)), (0.3, 0.3))
    return replace(found, round_skill=skill, day_spread=math.exp(day))


def _chance(one: OldMap, difference: Normal, slope: float, day: float) -> float:
    """The chance of this score, the mean over what skill may be (three points of Gauss's quadrature)."""
    mean, spread = slope * difference.mean, math.sqrt(slope**2 * difference.variance + day**2)
    return sum(weight * _chance_at(one, mean + step * spread) for step, weight in _POINTS)


def _chance_at(one: OldMap, skill: float) -> float:
    place, share = divmod(max(-_MOST, min(_MOST, skill)) / _STEP, 1)
    below, above = (_scores(one.map_name, int(place) + step).get(one.rounds, _RARE) for step in (0, 1))
    return (1 - share) * below + share * above


@lru_cache(maxsize=4096)
def _scores(map_name: str, step: int) -> dict[Score, float]:
    play = MapPlay(number=1, name=f"de_{map_name.lower()}", max_rounds=MAX_ROUNDS)
    starts = (map_parameters(play, round(step * _STEP, 6), starts_ct) for starts_ct in (True, False))
    return dict(mixture((0.5, finals(parameters, MapState(0, 0))) for parameters in starts))
