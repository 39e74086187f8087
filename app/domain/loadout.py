"""What each player has in the current round, as far as the log shows it."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from app.domain.player import MatchPlayer, Side

FULL_HEALTH = 100
_MOST_PLAYERS, _MOST_ITEMS = 12, 12
_HELMETS = frozenset(("vesthelm", "assaultsuit", "helmet"))
_ARMOUR = _HELMETS | {"vest", "kevlar"}
#: Both sides' fire grenades are thrown under one name.
_TWINS = {"molotov": "incgrenade"}
_KITS = frozenset(("defuser", "cutters"))


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
    for index, known in enumerate(loadouts):
        if known.key == (player.account or player.name):
            if known.name == player.name or not player.name:
                changed = replace(known, side=side, **fields)
            else:
                changed = replace(known, name=player.name, side=side, **fields)
            return loadouts if changed == known else (*loadouts[:index], changed, *loadouts[index + 1 :])
    if not player.name:
        return loadouts
    added = Loadout(account=player.account, name=player.name, side=side, **fields)
    return (*loadouts, added)[-_MOST_PLAYERS:]


def find_loadout(loadouts: Loadouts, player: MatchPlayer) -> Loadout | None:
    return next((known for known in loadouts if known.key == (player.account or player.name)), None)


def with_item(loadouts: Loadouts, player: MatchPlayer, side: Side, item: str) -> Loadouts:
    """The player has one more item: a weapon, a grenade, or armour."""
    known = find_loadout(loadouts, player)
    name = item_name(item)
    if worn := _worn_fields(name):
        return updated(loadouts, player, side, **worn)
    weapons = known.weapons if known else ()
    if is_knife(name) or (name in weapons and name != "flashbang") or len(weapons) >= _MOST_ITEMS:
        return updated(loadouts, player, side)
    return updated(loadouts, player, side, weapons=(*weapons, name))


def with_items(loadouts: Loadouts, player: MatchPlayer, side: Side, items: Iterable[str]) -> Loadouts:
    """The player has these items and no others; armour that is not listed stays as it was."""
    names = [item_name(item) for item in items]
    worn: dict[str, Any] = {}
    for name in names:
        worn |= _worn_fields(name)
    weapons = tuple(name for name in names if not (is_knife(name) or _worn_fields(name)))[:_MOST_ITEMS]
    return updated(loadouts, player, side, weapons=weapons, **worn)


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


def for_new_round(loadouts: Loadouts, *, bare: bool) -> Loadouts:
    """All players are alive again; `bare` at the start of a half, when all equipment is reset."""
    if bare:
        return tuple(Loadout(known.account, known.name, known.side) for known in loadouts)
    return tuple(replace(known, health=FULL_HEALTH) for known in loadouts)


def item_name(item: str) -> str:
    """``weapon_ak47``, ``item_kevlar`` and ``kevlar(100)`` without prefix and suffix."""
    return item.removeprefix("weapon_").removeprefix("item_").partition("(")[0].lower()


def is_knife(name: str) -> bool:
    return name.startswith("knife") or name == "bayonet"


def _worn_fields(name: str) -> dict[str, Any]:
    """The fields that this item sets; none for a weapon."""
    if name in _KITS:
        return {"kit": True}
    if name == "helmet":
        return {"helmet": True}
    if name not in _ARMOUR:
        return {}
    return {"armour": 100} | ({"helmet": True} if name in _HELMETS else {})
