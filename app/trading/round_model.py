"""CT's chance to win a round, before it and in play, from what is known of it.

A logistic model for each phase, fitted to real rounds (`scripts/fit/rounds.py`), times what the clock or the
fuse leave possible; what is certain or impossible by the rules of the game is code.
"""

from collections.abc import Callable
from math import exp
from operator import mul

import msgspec

from app.trading import round_limits
from app.trading.coefficients import RoundCoefficients, load
from app.trading.round_clock import certain_winner
from app.trading.round_features import features
from app.trading.round_state import FULL_TEAM, RoundState, SideState


def ct_wins(state: RoundState, ct_logit: float, fitted: RoundCoefficients | None = None) -> float:
    """CT's chance to win the round from `state` on. `ct_logit`: logits for CT from skill and the map's side,
    without money.

    `fitted`: other coefficients than the package's.
    """
    return ct_wins_by_logit(state, fitted)(ct_logit)


def ct_wins_by_logit(state: RoundState, fitted: RoundCoefficients | None = None) -> Callable[[float], float]:
    """`ct_wins` of this state as a function of `ct_logit`: what the state alone says is computed once."""
    fitted = fitted or load().rounds
    winner = certain_winner(state)
    if winner is not None:
        certain = 1.0 if winner == "CT" else 0.0
        return lambda ct_logit: certain
    if state.phase == "freeze":
        return _before(state, fitted)
    return _live(state, fitted) if state.phase == "live" else _planted(state, fitted)


def _before(state: RoundState, fitted: RoundCoefficients) -> Callable[[float], float]:
    """Before the round is live. Real rounds begin with full teams: what a missing player counts for is what
    one counts for in play."""
    base, slope = _linear(state, fitted)
    if not state.ct.alive == state.t.alive == FULL_TEAM:
        full = RoundState("live", SideState(), SideState(), number=state.number, overtime=state.overtime)
        short = msgspec.structs.replace(
            full, ct=SideState(alive=state.ct.alive), t=SideState(alive=state.t.alive)
        )
        base += _linear(short, fitted)[0] - _linear(full, fitted)[0]
    return lambda ct_logit: 1 / (1 + exp(-(base + slope * ct_logit)))


def _live(state: RoundState, fitted: RoundCoefficients) -> Callable[[float], float]:
    base, slope = _linear(state, fitted)
    share = round_limits.t_share(state, fitted.limits)

    def unplanted(ct_logit: float) -> float:
        return 1 - share / (1 + exp(base + slope * ct_logit))

    plant = state.plant_seconds_left
    if plant is None or not (state.seconds_left is None or plant <= state.seconds_left):
        return unplanted
    after = _planted(
        msgspec.structs.replace(
            state, phase="planted", seconds_left=round_limits.FUSE_SECONDS, plant_seconds_left=None
        ),
        fitted,
    )
    done = round_limits.unstopped(plant, state.ct.alive, fitted.limits.ct_fights)

    def planting(ct_logit: float) -> float:
        before = unplanted(ct_logit)
        return before - done * max(0.0, before - after(ct_logit))

    return planting


def _planted(state: RoundState, fitted: RoundCoefficients) -> Callable[[float], float]:
    if not state.t.alive:
        free = round_limits.free_defuse(state, fitted.limits)
        return lambda ct_logit: free
    base, slope = _linear(state, fitted)
    share, done, defuse = round_limits.ct_share(state, fitted.limits), 0.0, state.defuse
    if defuse is not None and (state.seconds_left is None or defuse.seconds_left <= state.seconds_left):
        done = round_limits.unstopped(defuse.seconds_left, state.t.alive, fitted.limits.t_fights)

    def chance(ct_logit: float) -> float:
        found = share / (1 + exp(-(base + slope * ct_logit)))
        return found + done * (1 - found)

    return chance


def _linear(state: RoundState, fitted: RoundCoefficients) -> tuple[float, float]:
    """The logit as a line in `ct_logit`: its value at 0, and its slope."""
    known, found = features(state)
    model = fitted.models[state.phase][known]
    return sum(map(mul, model.weights, found)), model.ct_logit
