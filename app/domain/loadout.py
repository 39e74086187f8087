"""What a player has in the round being played, as far as the log tells."""

import msgspec

from app.domain.player import Side

FULL_HEALTH = 100


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
