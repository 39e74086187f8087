"""What a difference of two teams' ratings is in a round: so much that our chain of rounds gives the first
team a map as often as ratings do."""

import math
from collections.abc import Sequence

from app.domain.match import MapPlay
from app.trading.map_scores import MapState, map_parameters, wins_map
from app.trading.model import logit
from scripts.fit.simplex import minimum
from scripts.reality.team_maps import MAX_ROUNDS

#: Logits of a map at which both are compared: how far the teams of a match are apart.
_LOGITS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5)


def round_skill() -> float:
    """Logits of a round for one of a map, times the root of the format's rounds."""

    def loss(point: Sequence[float]) -> float:
        return sum((_of_chain(point[0] * wanted / math.sqrt(MAX_ROUNDS)) - wanted) ** 2 for wanted in _LOGITS)

    return minimum(loss, (1.0,), (0.3,))[0]


def _of_chain(skill: float) -> float:
    """The logit of winning a map of which nothing is known."""
    play = MapPlay(number=1, name="", max_rounds=MAX_ROUNDS)
    starts = (map_parameters(play, round(skill, 6), starts_ct) for starts_ct in (True, False))
    return logit(sum(wins_map(parameters, MapState(0, 0)) for parameters in starts) / 2)
