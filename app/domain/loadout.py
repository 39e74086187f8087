"""What each player has in the current round, as far as the log shows it, and what it is worth.

Prices are the game's, in its money; the pistol that every player starts with counts like a bought one.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from app.domain.map_play import CarriedValue, MatchPlayer, Side, other_side

FULL_HEALTH = 100
_FULL_ARMOUR = 100
_MOST_PLAYERS, _MOST_ITEMS = 12, 12
#: What is worn, under all its names: the fields that it sets.
_WORN: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("vest", "kevlar"), {"armour": _FULL_ARMOUR}),
    **dict.fromkeys(("vesthelm", "assaultsuit"), {"armour": _FULL_ARMOUR, "helmet": True}),
    **dict.fromkeys(("defuser", "cutters"), {"kit": True}),
    "helmet": {"helmet": True},
}
#: Both sides' fire grenades are thrown under one name.
_TWINS = {"molotov": "incgrenade"}
GRENADES = frozenset(("flashbang", "hegrenade", "smokegrenade", "molotov", "incgrenade", "decoy"))
PISTOLS = frozenset(
    ("glock", "hkp2000", "usp_silencer", "elite", "p250", "cz75a", "fiveseven", "tec9", "revolver", "deagle")
)
_BESIDE = GRENADES | PISTOLS | {"c4", "taser", "healthshot"}  #: what may be carried beside a larger weapon


class Loadout(msgspec.Struct, frozen=True, array_like=True):
    """`account` is 0 for a bot, which its name then identifies. `money` is None until the log reports it;
    `weapons` are as the game spells them, without `weapon_`, knives left out; `kit`: a defuser."""

    account: int
    name: str
    side: Side
    health: int = FULL_HEALTH
    money: int | None = None
    armour: int = 0
    helmet: bool = False
    kit: bool = False
    weapons: tuple[str, ...] = ()

    @property
    def key(self) -> int | str:
        return self.account or self.name


Loadouts = tuple[Loadout, ...]


def updated(loadouts: Loadouts, player: MatchPlayer, side: Side, **fields: Any) -> Loadouts:
    """Change fields of a player's loadout; a player without one gets one."""
    return _updated(loadouts, _place(loadouts, player), player, side, fields)


def _updated(
    loadouts: Loadouts, place: int | None, player: MatchPlayer, side: Side, fields: dict[str, Any]
) -> Loadouts:
    if place is None:
        if not player.name:
            return loadouts
        added = Loadout(account=player.account, name=player.name, side=side, **fields)
        return (*loadouts, added)[-_MOST_PLAYERS:]
    known = loadouts[place]
    if known.name == player.name or not player.name:
        changed = replace(known, side=side, **fields)
    else:
        changed = replace(known, name=player.name, side=side, **fields)
    return loadouts if changed == known else (*loadouts[:place], changed, *loadouts[place + 1 :])


def _place(loadouts: Loadouts, player: MatchPlayer) -> int | None:
    """The index of the player's loadout. A plain loop, for speed: three of four log lines need it."""
    account, name = player.account, player.name
    for place, known in enumerate(loadouts):
        if known.account == account and (account or known.name == name):
            return place
    return None


def find_loadout(loadouts: Loadouts, player: MatchPlayer) -> Loadout | None:
    place = _place(loadouts, player)
    return None if place is None else loadouts[place]


def with_item(loadouts: Loadouts, player: MatchPlayer, side: Side, item: str) -> Loadouts:
    """The player has one more item: a weapon, a grenade, or armour. One pistol and one larger weapon can be
    carried; the one that a player had is dropped without a line."""
    place, name = _place(loadouts, player), item_name(item)
    if worn := _WORN.get(name):
        return _updated(loadouts, place, player, side, worn)
    weapons = () if place is None else loadouts[place].weapons
    if is_knife(name) or (name in weapons and name != "flashbang") or len(weapons) >= _MOST_ITEMS:
        return _updated(loadouts, place, player, side, {})
    return _updated(loadouts, place, player, side, {"weapons": (*_beside(weapons, name), name)})


def _beside(weapons: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Those of the weapons that can be carried beside this one."""
    if name in PISTOLS:
        return tuple([other for other in weapons if other not in PISTOLS])
    return weapons if name in _BESIDE else tuple([other for other in weapons if other in _BESIDE])


def with_items(loadouts: Loadouts, player: MatchPlayer, side: Side, items: Iterable[str]) -> Loadouts:
    """The player has these items and no others; of two flashbangs the log lists one."""
    known = find_loadout(loadouts, player)
    worn: dict[str, Any] = {"armour": 0, "helmet": False, "kit": False}
    weapons: list[str] = []
    for item in items:
        name = item_name(item)
        if name in _WORN:
            worn |= _WORN[name] | _points(item)
        elif not (is_knife(name) or name in weapons):
            twice = name == "flashbang" and known is not None and known.weapons.count(name) > 1
            weapons += [name] * (1 + twice)
    return updated(loadouts, player, side, weapons=tuple(weapons[:_MOST_ITEMS]), **worn)


def _points(item: str) -> dict[str, Any]:
    """The armour's points, where the log shows them: ``kevlar(87)``."""
    points = item.partition("(")[2].removesuffix(")")
    return {"armour": min(int(points), _FULL_ARMOUR)} if points.isdecimal() else {}


def without_item(loadouts: Loadouts, player: MatchPlayer, item: str) -> Loadouts:
    known, name = find_loadout(loadouts, player), item_name(item)
    if known is not None and name not in known.weapons:
        name = _TWINS.get(name, name)
    if known is None or name not in known.weapons:
        return loadouts
    at = known.weapons.index(name)
    return updated(loadouts, player, known.side, weapons=known.weapons[:at] + known.weapons[at + 1 :])


def after_death(loadouts: Loadouts, player: MatchPlayer) -> Loadouts:
    """The player is dead and has lost all but the money."""
    known = find_loadout(loadouts, player)
    if known is None:
        return loadouts
    lost: dict[str, Any] = {"armour": 0, "helmet": False, "kit": False, "weapons": ()}
    return updated(loadouts, player, known.side, health=0, **lost)


def for_new_round(loadouts: Loadouts, *, begins_half: bool) -> Loadouts:
    """All players are alive again; when a half begins, all equipment is reset."""
    if begins_half:
        return tuple(Loadout(known.account, known.name, known.side) for known in loadouts)
    return tuple(replace(known, health=FULL_HEALTH) for known in loadouts)


@lru_cache(maxsize=1024)
def item_name(item: str) -> str:
    """``weapon_ak47``, ``item_kevlar`` and ``kevlar(100)`` without prefix and suffix."""
    return item.removeprefix("weapon_").removeprefix("item_").partition("(")[0].lower()


def is_knife(name: str) -> bool:
    return name.startswith("knife") or name == "bayonet"


Buy = Literal["eco", "force", "full"]
FORCE, FULL = 5_000, 20_000  #: a team that carries less saves; one that carries as much buys fully
_TEAM = 5
_FREE = ("knife", "bayonet", "c4")
_PRICES = {
    **dict.fromkeys(("glock", "hkp2000", "usp_silencer", "flashbang", "taser"), 200),
    **dict.fromkeys(("elite", "p250", "hegrenade", "smokegrenade"), 300),
    **dict.fromkeys(("cz75a", "fiveseven", "tec9", "incgrenade"), 500),
    **dict.fromkeys(("defuser", "cutters", "molotov"), 400),
    **dict.fromkeys(("mac10", "nova"), 1050),
    **{"mp7": 1400, "mp5sd": 1500},
    **dict.fromkeys(("negev", "ssg08"), 1700),
    **dict.fromkeys(("ak47",), 2700),
    **dict.fromkeys(("m4a1", "m4a1_silencer"), 2900),
    **dict.fromkeys(("g3sg1", "scar20"), 5000),
    **dict.fromkeys(("vesthelm", "assaultsuit"), 1000),
    **dict.fromkeys(("vest", "kevlar"), 650),
    **{"helmet": 350, "decoy": 50, "revolver": 600, "deagle": 700, "sawedoff": 1100, "ump45": 1200},
    **{"mp9": 1250, "bizon": 1300, "mag7": 1300, "galilar": 1800, "famas": 1950, "xm1014": 2000},
    **{"p90": 2350, "sg556": 3000, "aug": 3300, "awp": 4750, "m249": 5200},
}


def equipment_value(items: Iterable[str]) -> int | None:
    """What these items (in the game's spelling) cost together; None when one of them is not known."""
    total = 0
    for item in map(item_name, items):
        if item.startswith(_FREE):
            continue
        price = _PRICES.get(item)
        if price is None:
            return None
        total += price
    return total


def without_refunded(loadout: Loadout, refund: int) -> dict[str, Any]:
    """The fields of the loadout after its owner gave back, for this much, the newest item that costs it."""
    for place in range(len(loadout.weapons) - 1, -1, -1):
        if _PRICES.get(loadout.weapons[place]) == refund:
            return {"weapons": loadout.weapons[:place] + loadout.weapons[place + 1 :]}
    if refund == _PRICES["defuser"]:
        return {"kit": False}
    if refund == _PRICES["helmet"]:
        return {"helmet": False}
    return {"armour": 0, "helmet": False} if refund in (_PRICES["vest"], _PRICES["vesthelm"]) else {}


def team_equipment_values(carried: Iterable[CarriedValue], home_side: Side) -> tuple[int | None, int | None]:
    """Home's and away's value; None for a team without exactly five players with a known value."""
    values = list(carried)
    return _of_side(values, home_side), _of_side(values, other_side(home_side))


def _of_side(carried: Iterable[CarriedValue], side: Side) -> int | None:
    values = [value for _, of_side, value in carried if of_side == side]
    known = [value for value in values if value is not None]
    return sum(known) if len(values) == len(known) == _TEAM else None


def buy_type(value: int) -> Buy:
    """The buy type of a team with equipment of this value."""
    return "eco" if value < FORCE else "force" if value < FULL else "full"
