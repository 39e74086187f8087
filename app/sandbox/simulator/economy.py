"""Money and what it buys: weapons and gear (what they cost, what a kill with them pays, what the log calls
them), the game's rules on income, and the buying habits of teams.

A team buys together: all save, all force or all buy fully. What was bought, and what its owner survives with,
decides the round's odds, which is why results come in streaks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from app.sandbox.simulator.fictional_world import FictionalPlayer
from app.sandbox.simulator.truth import Reason, Side

Kind = Literal["pistol", "smg", "shotgun", "rifle", "sniper", "knife"]
GEAR = {"item_kevlar": 650, "item_assaultsuit": 1000, "item_defuser": 400}
GRENADES = {"hegrenade": 300, "flashbang": 200, "smokegrenade": 300, "molotov": 400, "incgrenade": 500}
PICKED_UP = {"item_kevlar": "vest", "item_assaultsuit": "vesthelm", "item_defuser": "defuser"}
STARTING_PISTOL: dict[Side, str] = {"CT": "usp_silencer", "T": "glock"}
KNIFE: dict[Side, str] = {"CT": "knife", "T": "knife_t"}
RIFLES: dict[Side, tuple[str, ...]] = {"CT": ("m4a1_silencer", "m4a1"), "T": ("ak47",)}
CHEAP_RIFLES: dict[Side, str] = {"CT": "famas", "T": "galilar"}
SMGS: dict[Side, tuple[str, ...]] = {"CT": ("mp9", "mp7"), "T": ("mac10", "mp7")}
PISTOLS: dict[Side, tuple[str, ...]] = {
    "CT": ("p250", "fiveseven", "deagle"),
    "T": ("p250", "tec9", "deagle"),
}
FIRE: dict[Side, str] = {"CT": "incgrenade", "T": "molotov"}
START, OVERTIME_START, CAP = 800, 10_000, 16_000
_WIN: dict[Reason, int] = {"kills": 3250, "time": 3250, "bomb": 3500, "defuse": 3500}
_LOSS, _LOSS_STEP, _LOSS_STEPS = 1400, 500, 4
_PLANTED_BUT_LOST = 600
_CT_TEAM_KILL = 50
OBJECTIVE = 300
_ARMOURED = {"": 0.75, "item_kevlar": 0.95, "item_assaultsuit": 1.1}


@dataclass(frozen=True)
class Weapon:
    """`name` is that of `killed` lines; `hit_name` (in `attacked` and `picked up` lines) differs
    for weapons that the engine counts as variants of another. `damage` is a body hit's, before armour."""

    name: str
    kind: Kind
    price: int
    reward: int
    damage: int
    power: float
    hit_name: str = ""

    @property
    def log_name(self) -> str:
        return self.hit_name or self.name


_WEAPONS = (
    Weapon("glock", "pistol", 0, 300, 25, 0.9),
    Weapon("usp_silencer", "pistol", 0, 300, 30, 1.0, "hkp2000"),
    Weapon("p250", "pistol", 300, 300, 33, 1.1),
    Weapon("fiveseven", "pistol", 500, 300, 30, 1.15),
    Weapon("tec9", "pistol", 500, 300, 31, 1.15),
    Weapon("deagle", "pistol", 700, 300, 48, 1.3),
    Weapon("mac10", "smg", 1050, 600, 27, 1.6),
    Weapon("mp9", "smg", 1250, 600, 25, 1.7),
    Weapon("mp7", "smg", 1400, 600, 28, 1.7),
    Weapon("xm1014", "shotgun", 2000, 900, 40, 1.6),
    Weapon("galilar", "rifle", 1800, 300, 29, 2.2),
    Weapon("famas", "rifle", 1950, 300, 29, 2.2),
    Weapon("ak47", "rifle", 2700, 300, 35, 2.8),
    Weapon("m4a1", "rifle", 2900, 300, 32, 2.7),
    Weapon("m4a1_silencer", "rifle", 2900, 300, 37, 2.7, "m4a1"),
    Weapon("ssg08", "sniper", 1700, 300, 74, 1.8),
    Weapon("awp", "sniper", 4750, 100, 115, 3.2),
    Weapon("knife_t", "knife", 0, 1500, 55, 0.2, "knife"),
    Weapon("knife", "knife", 0, 1500, 55, 0.2),
)
WEAPONS = {weapon.name: weapon for weapon in _WEAPONS}


@dataclass
class SimulatedPlayer:
    """A player on a map: equipment, health and the statistics of the map."""

    profile: FictionalPlayer
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
    def weapon(self) -> Weapon:
        return WEAPONS[self.primary or self.pistol]

    @property
    def worth(self) -> int:
        """Price of what is carried."""
        gear = GEAR.get(self.armour, 0) + (GEAR["item_defuser"] if self.defuser else 0)
        return gear + self.weapon.price + sum(GRENADES[name] for name in self.grenades)

    @property
    def weight(self) -> float:
        """How likely this player is to get the next kill."""
        return self.profile.skill * self.weapon.power * _ARMOURED[self.armour]

    def carried(self, side: Side) -> list[str]:
        """All equipment, as the log lists it."""
        weapons = [KNIFE[side], self.pistol, *([self.primary] if self.primary else []), *self.grenades]
        worn = ["kevlar(100)"] if self.armour else []
        worn += ["helmet"] if self.armour == "item_assaultsuit" else []
        return [*(f"weapon_{name}" for name in weapons), *(["defuser"] if self.defuser else []), *worn]

    def lose_equipment(self, side: Side) -> None:
        """Only a knife and the side's pistol remain."""
        self.pistol, self.primary, self.armour, self.defuser = STARTING_PISTOL[side], "", "", False
        self.grenades = []

    def respawn(self) -> None:
        """Full health and armour for the next round."""
        self.health, self.plate = 100, 100 if self.armour else 0

    def earn(self, amount: int) -> tuple[int, int]:
        """Money before and after an income or an expense, capped."""
        before = self.money
        self.money = max(min(before + amount, CAP), 0)
        return before, self.money


@dataclass
class LossBonus:
    """The rule that a team's income from lost rounds rises with each of them; reset at every half."""

    losses: int = 1

    def income_of_loss(self) -> int:
        paid = _LOSS + _LOSS_STEP * self.losses
        self.losses = min(self.losses + 1, _LOSS_STEPS)
        return paid

    def income_of_win(self, reason: Reason) -> int:
        self.losses = max(self.losses - 1, 0)
        return _WIN[reason]


def round_bonus(side: Side, planted_but_lost: bool, enemies_killed: int) -> int:
    """The income beside that of a win or loss."""
    if side == "CT":
        return _CT_TEAM_KILL * enemies_killed
    return _PLANTED_BUT_LOST if planted_but_lost else 0


def purchases(
    rng: Random, side: Side, team: Sequence[SimulatedPlayer], *, won_last: bool, last_of_half: bool
) -> Iterator[tuple[SimulatedPlayer, str, int]]:
    """Purchases of one freeze, each as (buyer, item as the log names it, price); the players are changed.

    The winners of the last round buy what their money allows, as in a forced buy.
    """
    funds = sum(player.money + player.worth for player in team) / len(team)
    full = funds >= (4600 if side == "CT" else 4200)
    force = full or last_of_half or won_last or funds < 1200 or rng.random() < 0.22
    for player in sorted(team, key=lambda _: rng.random()):
        for item, price in _wish_list(rng, side, player, full=full, force=force):
            if price <= player.money:
                _equip(player, item)
                yield player, item, price


def _wish_list(
    rng: Random, side: Side, player: SimulatedPlayer, *, full: bool, force: bool
) -> Iterator[tuple[str, int]]:
    """What this player would buy, most important first; the caller skips what costs too much."""
    pistol_round = player.money <= START and not player.primary
    if full:
        yield from _primary(rng, side, player)
    if pistol_round:
        wish = rng.choice(("item_kevlar", "item_kevlar", "utility", *PISTOLS[side]))
        if wish in GEAR:
            yield wish, GEAR[wish]
        elif wish in WEAPONS:
            yield wish, WEAPONS[wish].price
    elif force and not player.armour:
        yield "item_assaultsuit", GEAR["item_assaultsuit"]
        if player.armour == "":
            yield "item_kevlar", GEAR["item_kevlar"]
    if not full and force and not pistol_round and not player.primary:
        yield from ((name, WEAPONS[name].price) for name in (rng.choice(SMGS[side]),) if player.money > 1600)
    if (
        not player.primary
        and not pistol_round
        and player.pistol == STARTING_PISTOL[side]
        and rng.random() < 0.5
    ):
        wish = rng.choice(PISTOLS[side])
        yield wish, WEAPONS[wish].price
    if full and side == "CT" and not player.defuser and rng.random() < 0.7:
        yield "item_defuser", GEAR["item_defuser"]
    if full or pistol_round:
        utility = ("hegrenade", "flashbang", "flashbang", "smokegrenade", FIRE[side])
        for name in rng.sample(utility, rng.randint(4, 5) if full else rng.randint(1, 3)):
            if player.grenades.count(name) < utility.count(name):
                yield name, GRENADES[name]


def _primary(rng: Random, side: Side, player: SimulatedPlayer) -> Iterator[tuple[str, int]]:
    if player.primary and WEAPONS[player.primary].price >= 2700:
        return
    if player.money >= 5900 and rng.random() < 0.35:
        yield "awp", WEAPONS["awp"].price
        if player.primary == "awp":
            return
    rifle = rng.choice(RIFLES[side])
    if player.money >= WEAPONS[rifle].price + 650:
        yield rifle, WEAPONS[rifle].price
    elif not player.primary:
        name = CHEAP_RIFLES[side] if player.money >= 2500 else rng.choice(SMGS[side])
        yield name, WEAPONS[name].price


def _equip(player: SimulatedPlayer, item: str) -> None:
    if item == "item_defuser":
        player.defuser = True
    elif item in GEAR:
        player.armour, player.plate = item, 100
    elif item in GRENADES:
        player.grenades.append(item)
    elif WEAPONS[item].kind == "pistol":
        player.pistol = item
    else:
        player.primary = item
