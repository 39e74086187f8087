"""What the clock alone decides in a round: rules of the game, no estimates.

Fewer seconds are left than it takes to plant, or to defuse, or none at all. A side that is counted as
certain to win here wins whatever else happens in the round.
"""

from app.domain.match import Side
from app.trading.round_state import RoundState

#: Seconds of a defuse with a kit and without, and of a plant.
KIT_SECONDS, DEFUSE_SECONDS, PLANT_SECONDS = 5.0, 10.0, 3.2


def is_over(state: RoundState) -> bool:
    """Whether the round has ended by the clock, although no line has shown it yet: nothing more counts."""
    if state.phase == "freeze" or state.seconds_left is None:
        return False
    defused = state.defuse is not None and state.defuse.seconds_left <= 0
    return state.seconds_left <= 0 or defused


def certain_winner(state: RoundState) -> Side | None:
    """The side that can no longer lose.

    A living CT without a kit may pick up one, so five seconds of fuse are enough while any is left. A defuse
    that has begun can be stopped only by a living T. One that should have succeeded by now may have been
    stopped: no line shows that.
    """
    if state.phase == "freeze":
        return None
    if not state.ct.alive:
        return "T"
    left = state.seconds_left
    if state.phase == "live":
        return "CT" if not state.t.alive or left == 0 else None
    if left is None:
        return None
    if state.defuse is not None and state.defuse.seconds_left <= left:
        return None if state.t.alive else "CT"
    return "T" if left < KIT_SECONDS and state.attempts_seen else None
