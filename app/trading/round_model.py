"""CT's chance to win a round, before it and in play, from what is known of it.

A logistic model for each phase, fitted to real rounds (`scripts/fit/rounds.py`), times what the clock or the
fuse leave possible; what is certain or impossible by the rules of the game is code. So are the last seconds:
published moments of rounds are 20 seconds apart and show no attempts, and a plant takes about 3.2 seconds, a
defuse 10, or 5 with a kit. Only the rates are fitted.
"""

from collections.abc import Callable, Mapping
from math import exp
from operator import mul

import msgspec

from app.domain.match import CurrentRound, MapPlay, TimelineEvent
from app.trading import model
from app.trading.coefficients import RoundCoefficients, RoundLimits, load
from app.trading.model import Skill
from app.trading.round_features import features
from app.trading.round_state import (
    DEFUSE_SECONDS,
    FULL_TEAM,
    KIT_SECONDS,
    PLANT_SECONDS,
    RoundPhase,
    RoundState,
    SideState,
    certain_winner,
)
from app.trading.skill import Case, by_skill

FUSE_SECONDS = 40.0


def t_share(state: RoundState, limits: RoundLimits) -> float:
    """How much of T's chance without a clock is left while no bomb is planted: T must plant in time, or kill
    every CT. 1 while the clock is not known."""
    left = state.seconds_left
    if left is None:
        return 1.0
    kills = at_least(state.ct.alive, limits.t_kills * state.t.alive * max(0.0, left))
    return 1 - (1 - plants(left, limits)) * (1 - kills)


def plants(left: float, limits: RoundLimits) -> float:
    """The chance that T, who want to plant, find the time for it."""
    return 1 - exp(-limits.plant * max(0.0, left - PLANT_SECONDS))


def ct_share(state: RoundState, limits: RoundLimits) -> float:
    """How much of CT's chance without a fuse is left after a plant, with T alive: there must be time to
    defuse. 1 while the fuse is not known."""
    left, kits = state.seconds_left, state.ct.kits
    if left is None:
        return 1.0
    if kits is None:
        return limits.kit * _defused(left, True, state, limits) + (1 - limits.kit) * _defused(
            left, False, state, limits
        )
    return _defused(left, kits > 0, state, limits)


def _defused(left: float, kit: bool, state: RoundState, limits: RoundLimits) -> float:
    """The share with or without a kit. Without sight of attempts a defuse may be under way."""
    needed = KIT_SECONDS if kit else DEFUSE_SECONDS
    in_time = 1 - exp(-limits.defuse * max(0.0, left - needed))
    if state.attempts_seen:
        return in_time
    return in_time + (1 - in_time) * limits.hidden_defuse * min(1.0, max(0.0, left) / DEFUSE_SECONDS)


def free_defuse(state: RoundState, limits: RoundLimits) -> float:
    """CT's chance to defuse with no T alive; nobody can stop a defuse that has begun."""
    left, needed = state.seconds_left, DEFUSE_SECONDS if state.ct.kits == 0 else KIT_SECONDS
    if state.defuse is not None:
        return float(left is None or state.defuse.seconds_left <= left)
    if left is None:
        return 1 - exp(-limits.free_defuse * FUSE_SECONDS / 2)
    if not state.attempts_seen:
        constant, slope = limits.unseen_defuse
        return 1 / (1 + exp(-constant - slope * (left - needed)))
    return 1 - exp(-limits.free_defuse * max(0.0, left - needed))


def unstopped(seconds: float, opponents: int, kills: float) -> float:
    """The chance that what takes so many seconds is not stopped by opponents who kill at this rate each."""
    return exp(-kills * opponents * max(0.0, seconds))


def at_least(count: int, mean: float) -> float:
    """The chance of so many or more of what comes at random, `mean` on average (Poisson)."""
    none = term = exp(-mean)
    for number in range(1, count):
        term *= mean / number
        none += term
    return max(0.0, 1 - none) if count else 1.0


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
    """CT's chance before the round is live, by `ct_logit`. Real rounds begin with full teams, so a missing
    player counts for as much as one does in play."""
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
    share = t_share(state, fitted.limits)

    def unplanted(ct_logit: float) -> float:
        return 1 - share / (1 + exp(base + slope * ct_logit))

    plant = state.plant_seconds_left
    if plant is None or not (state.seconds_left is None or plant <= state.seconds_left):
        return unplanted
    after = _planted(
        msgspec.structs.replace(state, phase="planted", seconds_left=FUSE_SECONDS, plant_seconds_left=None),
        fitted,
    )
    done = unstopped(plant, state.ct.alive, fitted.limits.ct_fights)

    def planting(ct_logit: float) -> float:
        before = unplanted(ct_logit)
        return before - done * max(0.0, before - after(ct_logit))

    return planting


def _planted(state: RoundState, fitted: RoundCoefficients) -> Callable[[float], float]:
    if not state.t.alive:
        free = free_defuse(state, fitted.limits)
        return lambda ct_logit: free
    base, slope = _linear(state, fitted)
    share, done, defuse = ct_share(state, fitted.limits), 0.0, state.defuse
    if defuse is not None and (state.seconds_left is None or defuse.seconds_left <= state.seconds_left):
        done = unstopped(defuse.seconds_left, state.t.alive, fitted.limits.t_fights)

    def chance(ct_logit: float) -> float:
        found = share / (1 + exp(-(base + slope * ct_logit)))
        return found + done * (1 - found)

    return chance


def _linear(state: RoundState, fitted: RoundCoefficients) -> tuple[float, float]:
    """The logit as a line in `ct_logit`: its value at 0, and its slope."""
    known, found = features(state)
    model = fitted.models[state.phase][known]
    return sum(map(mul, model.weights, found)), model.ct_logit


def state_before(play: MapPlay, number: int) -> RoundState:
    """A round of the map before it begins."""
    half, position = model.half_of(number - 1, play.max_rounds, play.overtime_rounds)
    return RoundState("freeze", SideState(), SideState(), number=position + 1, overtime=half > 1)


def basic_state(
    play: MapPlay, current: CurrentRound, home_is_ct: bool, plant: TimelineEvent | None, now: int
) -> RoundState:
    """The current round, of which only the players alive and the bomb are known."""
    both = [current.alive_home, current.alive_away]
    ct, t = (SideState(alive=alive) for alive in (both if home_is_ct else reversed(both)))
    half, position = model.half_of(current.number - 1, play.max_rounds, play.overtime_rounds)
    phase: RoundPhase = "freeze" if current.phase == "freeze" else "planted" if plant else "live"
    left = max(0.0, FUSE_SECONDS - (now - plant.at) / 1000) if plant else None
    return RoundState(phase, ct, t, left, position + 1, half > 1)


#: The chance of what the rules leave no doubt about; what follows from it stays finite in logits.
_CERTAIN = 1 - 1e-9


def home_wins_by_skill(
    state: RoundState, map_side: float, home_is_ct: bool, cases: tuple[Case, ...], expected: Skill
) -> Mapping[float, float]:
    """By the skill of each of the `cases`, whose moments are `expected`. `map_side`: the map's logit for CT,
    which pistol rounds do not have."""
    side = 0.0 if state.pistol else map_side
    ct_wins = ct_wins_by_logit(state)

    def home_wins(level: float) -> float:
        ct = ct_wins(side + (level if home_is_ct else -level))
        return min(max(ct if home_is_ct else 1 - ct, 1 - _CERTAIN), _CERTAIN)

    return by_skill(cases, expected, home_wins)
