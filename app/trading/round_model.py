"""CT's chance to win a round, before it and in play, from what is known of it.

A logistic model for each phase, fitted to real rounds (`scripts/fit/rounds.py`), times what the clock or the
fuse leave possible; what is certain or impossible by the rules of the game is code.
"""

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
    fitted = fitted or load().rounds
    winner = certain_winner(state)
    if winner is not None:
        return 1.0 if winner == "CT" else 0.0
    if state.phase == "freeze":
        return 1 / (1 + exp(-_before(state, ct_logit, fitted)))
    return _live(state, ct_logit, fitted) if state.phase == "live" else _planted(state, ct_logit, fitted)


def _before(state: RoundState, ct_logit: float, fitted: RoundCoefficients) -> float:
    """The logit before the round is live. Real rounds begin with full teams: what a missing player counts for
    is what one counts for in play."""
    logit = _logit(state, ct_logit, fitted)
    if state.ct.alive == state.t.alive == FULL_TEAM:
        return logit
    full = RoundState("live", SideState(), SideState(), number=state.number, overtime=state.overtime)
    short = msgspec.structs.replace(
        full, ct=SideState(alive=state.ct.alive), t=SideState(alive=state.t.alive)
    )
    return logit + _logit(short, 0.0, fitted) - _logit(full, 0.0, fitted)


def _live(state: RoundState, ct_logit: float, fitted: RoundCoefficients) -> float:
    t_wins = round_limits.t_share(state, fitted.limits) / (1 + exp(_logit(state, ct_logit, fitted)))
    if state.plant_seconds_left is not None and (
        state.seconds_left is None or state.plant_seconds_left <= state.seconds_left
    ):
        planted = msgspec.structs.replace(
            state, phase="planted", seconds_left=round_limits.FUSE_SECONDS, plant_seconds_left=None
        )
        done = round_limits.unstopped(state.plant_seconds_left, state.ct.alive, fitted.limits.ct_fights)
        t_wins += done * max(0.0, 1 - _planted(planted, ct_logit, fitted) - t_wins)
    return 1 - t_wins


def _planted(state: RoundState, ct_logit: float, fitted: RoundCoefficients) -> float:
    if not state.t.alive:
        return round_limits.free_defuse(state, fitted.limits)
    chance = round_limits.ct_share(state, fitted.limits) / (1 + exp(-_logit(state, ct_logit, fitted)))
    defuse = state.defuse
    if defuse is not None and (state.seconds_left is None or defuse.seconds_left <= state.seconds_left):
        done = round_limits.unstopped(defuse.seconds_left, state.t.alive, fitted.limits.t_fights)
        chance += done * (1 - chance)
    return chance


def _logit(state: RoundState, ct_logit: float, fitted: RoundCoefficients) -> float:
    known, found = features(state)
    model = fitted.models[state.phase][known]
    return sum(map(mul, model.weights, found), model.ct_logit * ct_logit)
