"""CT's chance to win a round, before it and in play, from what is known of it.

Coefficients are fitted to real rounds (`scripts/fit/rounds.py`); what is certain or impossible by the rules
of the game is code.
"""

from math import exp

from app.trading.coefficients import RoundCoefficients, load
from app.trading.round_features import blocks
from app.trading.round_state import RoundState


def ct_wins(state: RoundState, lean: float, fitted: RoundCoefficients | None = None) -> float:
    """CT's chance to win the round from `state` on. `lean`: logits for CT from skill and the map's side.

    `fitted`: other coefficients than the package's.
    """
    return 1 / (1 + exp(-_logit(state, lean, fitted or load().rounds)))


def _logit(state: RoundState, lean: float, fitted: RoundCoefficients) -> float:
    known, features = blocks(state)
    model = fitted.models[state.phase][known]
    total = model.lean * lean
    for weight, feature in zip(model.weights, features, strict=True):
        total += weight * feature
    return total
