"""Money and what it buys: the game's rules on income, and a team's habits of spending.

A team buys together: everybody saves, forces or buys fully. What was bought and what its owner survives
with decides the round's odds, which is why results come in streaks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from app.sandbox.simulator.arms import (
    ARMS,
    CHEAP_RIFLES,
    FIRE,
    GEAR,
    GRENADES,
    KNIFE,
    PISTOLS,
    RIFLES,
    SMGS,
    STARTING_PISTOL,
    Arm,
)
from app.sandbox.simulator.truth import Reason, Side
from app.sandbox.simulator.world import Gamer

START, OVERTIME_START, CAP = 800, 10_000, 16_000
_WIN: dict[Reason, int] = {"kills": 3250, "time": 3250, "bomb": 3500, "defuse": 3500}
_LOSS, _LOSS_STEP, _LOSS_STEPS = 1400, 500, 4
_PLANTED_BUT_LOST = 600
_CT_TEAM_KILL = 50
OBJECTIVE = 300
_ARMOURED = {"": 0.75, "item_kevlar": 0.95, "item_assaultsuit": 1.1}


@dataclass
class Kit:
    """A player in play: what they own, how they are, and the statistics of the map."""

    gamer: Gamer
    slot: int
    money: int = START
    pistol: str = "glock"
    primary: str = ""
    armour: str = ""
    defuser: bool = False
    grenades: list[str] = field(default_factory=list)
    health: int = 100
    plate: int = 0
    kills: int = 0
    deaths: int = 0
    assists: int = 0
    headshots: int = 0
    damage: int = 0
    first_kills: int = 0
    mvps: int = 0

    @property
    def arm(self) -> Arm:
        return ARMS[self.primary or self.pistol]

    @property
    def worth(self) -> int:
        """Price of what is carried."""
        gear = GEAR.get(self.armour, 0) + (GEAR["item_defuser"] if self.defuser else 0)
        return gear + self.arm.price + sum(GRENADES[name] for name in self.grenades)

    @property
    def weight(self) -> float:
        """How likely this player is to be the one who gets the next kill."""
        return self.gamer.skill * self.arm.power * _ARMOURED[self.armour]

    def carried(self, side: Side) -> list[str]:
        """Everything that is carried, as the log lists it."""
        arms = [KNIFE[side], self.pistol, *([self.primary] if self.primary else []), *self.grenades]
        worn = ["kevlar(100)"] if self.armour else []
        worn += ["helmet"] if self.armour == "item_assaultsuit" else []
        return [*(f"weapon_{name}" for name in arms), *(["defuser"] if self.defuser else []), *worn]

    def strip(self, side: Side) -> None:
        """Back to a knife and the side's pistol."""
        self.pistol, self.primary, self.armour, self.defuser = STARTING_PISTOL[side], "", "", False
        self.grenades = []

    def stand_up(self) -> None:
        """Alive and whole for the next round."""
        self.health, self.plate = 100, 100 if self.armour else 0

    def earn(self, amount: int) -> tuple[int, int]:
        """Money before and after an income or an expense, capped."""
        before = self.money
        self.money = max(min(before + amount, CAP), 0)
        return before, self.money


@dataclass
class Bank:
    """What a team is owed for losing; survives rounds, forgotten at every half."""

    losses: int = 1

    def lost(self) -> int:
        paid = _LOSS + _LOSS_STEP * self.losses
        self.losses = min(self.losses + 1, _LOSS_STEPS)
        return paid

    def won(self, reason: Reason) -> int:
        self.losses = max(self.losses - 1, 0)
        return _WIN[reason]


def round_bonus(side: Side, planted_but_lost: bool, enemies_killed: int) -> int:
    """What comes on top of the win or loss money."""
    if side == "CT":
        return _CT_TEAM_KILL * enemies_killed
    return _PLANTED_BUT_LOST if planted_but_lost else 0


def shopping(
    rng: Random, side: Side, team: Sequence[Kit], *, last_of_half: bool
) -> Iterator[tuple[Kit, str, int]]:
    """Buys for one freeze, each as (buyer, item as the log names it, price); the kits change."""
    purse = sum(kit.money + kit.worth for kit in team) / len(team)
    full = purse >= (4600 if side == "CT" else 4200)
    force = full or last_of_half or purse < 1200 or rng.random() < 0.22
    for kit in sorted(team, key=lambda _: rng.random()):
        for item, price in _list(rng, side, kit, full=full, force=force):
            if price <= kit.money:
                _take(kit, side, item)
                yield kit, item, price


def _list(rng: Random, side: Side, kit: Kit, *, full: bool, force: bool) -> Iterator[tuple[str, int]]:
    """What this player would like, dearest need first; what they cannot pay is passed over."""
    pistol_round = kit.money <= START and not kit.primary
    if full:
        yield from _primary(rng, side, kit)
    if pistol_round:
        wish = rng.choice(("item_kevlar", "item_kevlar", "utility", *PISTOLS[side]))
        if wish in GEAR:
            yield wish, GEAR[wish]
        elif wish in ARMS:
            yield wish, ARMS[wish].price
    elif force and not kit.armour:
        yield "item_assaultsuit", GEAR["item_assaultsuit"]
        if kit.armour == "":
            yield "item_kevlar", GEAR["item_kevlar"]
    if not full and force and not pistol_round and not kit.primary:
        yield from ((name, ARMS[name].price) for name in (rng.choice(SMGS[side]),) if kit.money > 1600)
    if not kit.primary and not pistol_round and kit.pistol == STARTING_PISTOL[side] and rng.random() < 0.5:
        wish = rng.choice(PISTOLS[side])
        yield wish, ARMS[wish].price
    if full and side == "CT" and not kit.defuser and rng.random() < 0.7:
        yield "item_defuser", GEAR["item_defuser"]
    if full or pistol_round:
        for name in rng.sample(("hegrenade", "flashbang", "smokegrenade", FIRE[side]), rng.randint(1, 4)):
            if name not in kit.grenades:
                yield name, GRENADES[name]


def _primary(rng: Random, side: Side, kit: Kit) -> Iterator[tuple[str, int]]:
    if kit.primary and ARMS[kit.primary].price >= 2700:
        return
    if kit.money >= 6200 and rng.random() < 0.3:
        yield "awp", ARMS["awp"].price
        if kit.primary == "awp":
            return
    rifle = rng.choice(RIFLES[side])
    if kit.money >= ARMS[rifle].price + 650:
        yield rifle, ARMS[rifle].price
    elif not kit.primary:
        name = CHEAP_RIFLES[side] if kit.money >= 2500 else rng.choice(SMGS[side])
        yield name, ARMS[name].price


def _take(kit: Kit, side: Side, item: str) -> None:
    if item == "item_defuser":
        kit.defuser = True
    elif item in GEAR:
        kit.armour, kit.plate = item, 100
    elif item in GRENADES:
        kit.grenades.append(item)
    elif ARMS[item].kind == "pistol":
        kit.pistol = item
    else:
        kit.primary = item
