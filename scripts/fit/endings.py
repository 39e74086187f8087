"""How rounds end, given who wins them: one regression for each distinction between endings, by phase, with
and without the clock."""

from collections.abc import Callable, Mapping

import msgspec
import numpy as np

from app.trading.coefficients import RoundLimits
from app.trading.round_endings import features, kill_share, kind_of, plant_share
from app.trading.round_state import RoundState
from scripts.fit.phases import Rows
from scripts.fit.regression import Floats, scaled
from scripts.fit.regression import fit as regress
from scripts.reality.endings import Ending
from scripts.reality.labels import RoundKey

Weights = dict[str, dict[str, tuple[float, ...]]]
#: Which endings a regression distinguishes: among the first ones, the second ones from the rest.
_DISTINCTIONS: dict[str, tuple[tuple[Ending, ...], tuple[Ending, ...]]] = {
    "defuse": (("defuse", "time", "ct_kills"), ("defuse",)),
    "time": (("time", "ct_kills"), ("time",)),
    "planted": (("bomb", "t_kills", "late_kills"), ("bomb", "late_kills")),
    "bomb": (("bomb", "late_kills"), ("bomb",)),
}
_DIGITS = 5
_LEAST = 1e-6


def fitted(
    phases: Mapping[str, Rows],
    chances: Mapping[str, Floats],
    endings: Mapping[RoundKey, Ending],
    limits: RoundLimits,
) -> Weights:
    """The weights by kind of state and distinction. `chances`: CT's at the rows of each phase."""
    weights: Weights = {}
    for phase, found in phases.items():
        for clocked in (True, False) if phase != "freeze" else (True,):
            states = [one.state if clocked else _unclocked(one.state) for one in found.rows]
            known = [endings.get(one.key) for one in found.rows]
            names = ("bomb",) if phase == "planted" else tuple(_DISTINCTIONS)
            weights[kind_of(states[0])] = {
                distinction: _fitted(distinction, states, chances[phase], known, limits)
                for distinction in names
            }
    return weights


def _unclocked(state: RoundState) -> RoundState:
    return msgspec.structs.replace(state, seconds_left=None)


def _fitted(
    distinction: str,
    states: list[RoundState],
    chances: Floats,
    known: list[Ending | None],
    limits: RoundLimits,
) -> tuple[float, ...]:
    among, yes = _DISTINCTIONS[distinction]
    share = _SHARES[distinction, states[0].phase == "planted"]
    rows = [
        (features(state, float(chance)), share(state, limits), ending in yes)
        for state, chance, ending in zip(states, chances, known, strict=True)
        if ending in among
    ]
    possible = [row for row in rows if row[1] > _LEAST]
    seen, shares, answers = zip(*possible, strict=True)
    features_seen, offset = np.array(seen), np.log(np.array(shares))
    weights = regress(features_seen, np.array(answers, dtype=float), scaled(features_seen), offset=offset)
    return tuple(round(float(weight), _DIGITS) for weight in weights)


def _whole(state: RoundState, limits: RoundLimits) -> float:
    return 1.0


def _against_kills(state: RoundState, limits: RoundLimits) -> float:
    return 1 / max(kill_share(state, limits), _LEAST)


#: What the clock leaves of the odds of yes, by distinction and whether the bomb is planted.
_SHARES: dict[tuple[str, bool], Callable[[RoundState, RoundLimits], float]] = {
    ("defuse", False): plant_share,
    ("time", False): _against_kills,
    ("planted", False): plant_share,
    ("bomb", False): _whole,
    ("bomb", True): _against_kills,
}
