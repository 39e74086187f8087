"""What is known of a round when it is priced: the input of the round model, whatever it was read from.

None stands for what the source does not show. The model then uses what it knows.
"""

from typing import Literal

import msgspec

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
