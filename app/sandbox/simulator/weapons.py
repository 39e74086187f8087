"""Weapons and gear: what they cost, what a kill with them pays, what the log calls them."""

from dataclasses import dataclass
from typing import Literal

from app.sandbox.simulator.truth import Side

Kind = Literal["pistol", "smg", "shotgun", "rifle", "sniper", "knife"]


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
