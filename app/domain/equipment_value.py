"""What players carry into a round is worth, and what kind of buy a team's worth makes it.

Prices are the game's, in its money; the pistol that everybody begins with counts like a bought one.
"""

from collections.abc import Iterable
from typing import Literal

from app.domain.loadout import plain
from app.domain.player import Side, other_side

Buy = Literal["eco", "force", "full"]
Carried = tuple[
    int | str, Side, int | None
]  #: who (account, or name of a bot), on which side, worth how much
FORCE, FULL = 5_000, 20_000  #: a team that carries less saves; one that carries as much buys fully
_TEAM = 5
_FREE = ("knife", "bayonet", "c4")
_PRICES = {
    **dict.fromkeys(("glock", "hkp2000", "usp_silencer", "flashbang", "taser"), 200),
    **dict.fromkeys(("elite", "p250", "hegrenade", "smokegrenade"), 300),
    **dict.fromkeys(("cz75a", "fiveseven", "tec9", "incgrenade"), 500),
    **dict.fromkeys(("defuser", "cutters", "molotov"), 400),
    **dict.fromkeys(("mac10", "nova"), 1050),
    **dict.fromkeys(("mp5sd", "mp7"), 1400),
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


def worth(items: Iterable[str]) -> int | None:
    """What these items (in the game's spelling) cost together; None when one of them is not known."""
    total = 0
    for item in map(plain, items):
        if item.startswith(_FREE):
            continue
        price = _PRICES.get(item)
        if price is None:
            return None
        total += price
    return total


def of_teams(carried: Iterable[Carried], home_side: Side) -> tuple[int | None, int | None]:
    """What home and away carry; None for a team of which not exactly five players were told of."""
    told = list(carried)
    return _of_side(told, home_side), _of_side(told, other_side(home_side))


def _of_side(told: Iterable[Carried], side: Side) -> int | None:
    values = [value for _, of_side, value in told if of_side == side]
    known = [value for value in values if value is not None]
    return sum(known) if len(values) == len(known) == _TEAM else None


def buy(value: int) -> Buy:
    """The kind of buy that a team's worth makes it."""
    return "eco" if value < FORCE else "force" if value < FULL else "full"
