"""What a player has in the round being played, as far as the log tells; pure functions over a team sheet."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from app.domain.player import Player, Side

FULL_HEALTH = 100
_MOST_PLAYERS, _MOST_ITEMS = 12, 12
_HELMETS = frozenset(("vesthelm", "assaultsuit", "helmet"))
_ARMOUR = _HELMETS | {"vest", "kevlar"}
#: Both sides' fire grenades are thrown under one name.
_TWINS = {"molotov": "incgrenade"}
_KITS = frozenset(("defuser", "cutters"))


class Loadout(msgspec.Struct, frozen=True, array_like=True):
    """`account` is 0 for a bot, which is then told apart by name. `money` is None until the log names it;
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


Sheet = tuple[Loadout, ...]


def updated(sheet: Sheet, player: Player, side: Side, **fields: Any) -> Sheet:
    """The sheet with something new about a player, who is added when not on it."""
    for index, known in enumerate(sheet):
        if known.key == (player.account or player.name):
            if known.name == player.name or not player.name:
                changed = replace(known, side=side, **fields)
            else:
                changed = replace(known, name=player.name, side=side, **fields)
            return sheet if changed == known else (*sheet[:index], changed, *sheet[index + 1 :])
    if not player.name:
        return sheet
    added = Loadout(account=player.account, name=player.name, side=side, **fields)
    return (*sheet, added)[-_MOST_PLAYERS:]


def find(sheet: Sheet, player: Player) -> Loadout | None:
    return next((known for known in sheet if known.key == (player.account or player.name)), None)


def with_item(sheet: Sheet, player: Player, side: Side, item: str) -> Sheet:
    """The player has one thing more: a weapon, a grenade, or something to wear."""
    known = find(sheet, player)
    name = plain(item)
    if worn := _worn(name):
        return updated(sheet, player, side, **worn)
    weapons = known.weapons if known else ()
    if is_knife(name) or (name in weapons and name != "flashbang") or len(weapons) >= _MOST_ITEMS:
        return updated(sheet, player, side)
    return updated(sheet, player, side, weapons=(*weapons, name))


def with_items(sheet: Sheet, player: Player, side: Side, items: Iterable[str]) -> Sheet:
    """The player has these things and no others; armour that is not named is left as it was told."""
    names = [plain(item) for item in items]
    worn: dict[str, Any] = {}
    for name in names:
        worn |= _worn(name)
    weapons = tuple(name for name in names if not (is_knife(name) or _worn(name)))[:_MOST_ITEMS]
    return updated(sheet, player, side, weapons=weapons, **worn)


def without_item(sheet: Sheet, player: Player, item: str) -> Sheet:
    known, name = find(sheet, player), plain(item)
    if known is not None and name not in known.weapons:
        name = _TWINS.get(name, name)
    if known is None or name not in known.weapons:
        return sheet
    at = known.weapons.index(name)
    return updated(sheet, player, known.side, weapons=known.weapons[:at] + known.weapons[at + 1 :])


def fallen(sheet: Sheet, player: Player) -> Sheet:
    """The player is dead and has lost everything but the money."""
    known = find(sheet, player)
    if known is None:
        return sheet
    lost: dict[str, Any] = {"armour": 0, "helmet": False, "kit": False, "weapons": ()}
    return updated(sheet, player, known.side, health=0, **lost)


def stood_up(sheet: Sheet, *, bare: bool) -> Sheet:
    """Everybody lives again; `bare` at the start of a half, when nobody keeps anything."""
    if bare:
        return tuple(Loadout(known.account, known.name, known.side) for known in sheet)
    return tuple(replace(known, health=FULL_HEALTH) for known in sheet)


def plain(item: str) -> str:
    """``weapon_ak47``, ``item_kevlar`` and ``kevlar(100)`` by their bare names."""
    return item.removeprefix("weapon_").removeprefix("item_").partition("(")[0].lower()


def is_knife(name: str) -> bool:
    return name.startswith("knife") or name == "bayonet"


def _worn(name: str) -> dict[str, Any]:
    """What wearing this changes; nothing for a weapon."""
    if name in _KITS:
        return {"kit": True}
    if name == "helmet":
        return {"helmet": True}
    if name not in _ARMOUR:
        return {}
    return {"armour": 100} | ({"helmet": True} if name in _HELMETS else {})
