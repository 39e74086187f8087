"""What the log has shown of the round in play: what is known of its state rests on it.

Which lines a server writes depends on its settings, and some may be missing. So a value counts as known only
while the log shows what changes it. Imported by the match; the functions that update it are in
`shown_updates`.
"""

import msgspec

from app.domain.player import MatchPlayer

_ROUND_SECONDS, _FREEZE_SECONDS, _FUSE_SECONDS = 115.0, 15.0, 40.0


class ClockRules(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the server's settings say about time, in seconds; None where the log has not named them.

    `round_time` is `mp_roundtime`, `defuse_round_time` is `mp_roundtime_defuse` (0 where it is unset), which
    replaces it on maps with a bomb.
    """

    round_time: float | None = None
    defuse_round_time: float | None = None
    freeze_time: float | None = None
    fuse_time: float | None = None

    @property
    def round_seconds(self) -> float:
        return self.defuse_round_time or self.round_time or _ROUND_SECONDS

    @property
    def freeze_seconds(self) -> float:
        return _FREEZE_SECONDS if self.freeze_time is None else self.freeze_time

    @property
    def fuse_seconds(self) -> float:
        return self.fuse_time or _FUSE_SECONDS


class BombWork(msgspec.Struct, frozen=True, omit_defaults=True):
    """A plant or a defuse that a player began, at Unix ms. `kit`: a defuse with one."""

    player: MatchPlayer
    at: int
    kit: bool = False


class RoundKnowledge(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of the round in play. `hits` and `items`: such lines have come on this map.
    `all_equipment_known`: that of all players has been followed since a half began, at which nobody has any;
    else `players` are those whose equipment is known (accounts, or names of bots). `froze_at` and `live_at`:
    when the freeze time's clock and the round's began (Unix ms), None where the line was not seen. `plant`
    and `defuse`: begun, and not known to have ended. `listed`: home's and away's players in the statistics
    block that is being read.
    """

    hits: bool = False
    items: bool = False
    all_equipment_known: bool = False
    players: tuple[int | str, ...] = ()
    froze_at: int | None = None
    live_at: int | None = None
    plant: BombWork | None = None
    defuse: BombWork | None = None
    listed: tuple[int, int] | None = None
