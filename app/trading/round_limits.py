"""What the rules of a round leave possible in the last seconds of its clock and of the fuse.

Published moments of rounds lie 20 seconds apart and show no attempts, so that this is code: a plant takes
about 3.2 seconds, a defuse 10, or 5 with a kit. Only the rates are fitted.
"""

from math import exp

from app.trading.coefficients import RoundLimits
from app.trading.round_clock import DEFUSE_SECONDS, KIT_SECONDS, PLANT_SECONDS
from app.trading.round_state import RoundState

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
