"""The value of the equipment that players carry into a round, and the buy type that it makes.

Prices are the game's, in its money; the pistol that every player starts with counts like a bought one.
"""

from collections.abc import Iterable
from typing import Any, Literal

from app.domain.loadout import Loadout, item_name
from app.domain.map_play import CarriedValue, Side, other_side

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
