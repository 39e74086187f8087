"""What is known of a round when it is priced: the input of the round model, whatever it was read from; and
what the clock alone decides in it, by the rules of the game, without estimates.

What the source does not show is None. The model then uses what it knows.
"""

from typing import Literal

import msgspec

from app.domain.match import Side

#: `freeze`: players buy, nothing can happen yet; `live`: no bomb is planted; `planted`: the fuse burns.
RoundPhase = Literal["freeze", "live", "planted"]
FULL_TEAM = 5


class SideState(msgspec.Struct, frozen=True):
    """One side's living players together.

    `health` and `armour` are sums of points; `weapons` is the worth of their weapons, armour and kits in the
    game's money, `utility` that of their grenades; `money` is what the whole side has left, dead players
    included. `kits` counts defuse kits (CT's only). `losses` is the counter of the loss bonus, 0 to 4.
    """

    alive: int = FULL_TEAM
    health: int | None = None
    armour: int | None = None
    helmets: int | None = None
    weapons: int | None = None
    utility: int | None = None
    money: int | None = None
    kits: int | None = None
    losses: int | None = None


class Defuse(msgspec.Struct, frozen=True):
    """A defuse that has begun. `seconds_left`: until it succeeds if nothing stops it."""

    seconds_left: float
    kit: bool


class RoundState(msgspec.Struct, frozen=True):
    """A round at one moment.

    `seconds_left` is what is left of the freeze time, of the round's time, or of the fuse, by phase. `number`
    counts the rounds of the half from 1; `overtime` rounds begin with money for all. `plant_seconds_left`: a
    plant has begun and succeeds then if nothing stops it. `attempts_seen`: the source shows plants and
    defuses as they begin; otherwise one may be under way.
    """

    phase: RoundPhase
    ct: SideState
    t: SideState
    seconds_left: float | None = None
    number: int = 1
    overtime: bool = False
    defuse: Defuse | None = None
    plant_seconds_left: float | None = None
    attempts_seen: bool = True

    @property
    def pistol(self) -> bool:
        """The first round of a half of regulation time: all players start with the same little money."""
        return self.number == 1 and not self.overtime


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
