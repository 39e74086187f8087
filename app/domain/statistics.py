"""Totals derived from a match's timeline; nothing here is kept, all of it can be recomputed."""

from collections.abc import Iterable

import msgspec

from app.domain.match import Player, Slot, TimelineEvent


class PlayerLine(msgspec.Struct):
    """One player's totals. The name is the latest one they played under."""

    player: Player
    slot: Slot | None = None
    kills: int = 0
    deaths: int = 0
    assists: int = 0
    headshots: int = 0


def player_lines(events: Iterable[TimelineEvent]) -> list[PlayerLine]:
    """Totals per player over `events` (void ones left out by the caller), most kills first.

    Team kills count as deaths and not as kills, as the game's own scoreboard has it for bets.
    """
    lines: dict[int | str, PlayerLine] = {}
    for event in events:
        if event.type != "kill" or event.late:
            continue
        if event.target:
            _of(lines, event.target, event.target_slot).deaths += 1
        if not event.counts or event.actor is None:
            continue
        killer = _of(lines, event.actor, event.actor_slot)
        killer.kills += 1
        killer.headshots += event.headshot
        if event.assister:
            _of(lines, event.assister, event.actor_slot).assists += 1
    return sorted(lines.values(), key=lambda line: (-line.kills, line.deaths, line.player.name))


def _of(lines: dict[int | str, PlayerLine], player: Player, slot: Slot | None) -> PlayerLine:
    line = lines.setdefault(player.account or player.name, PlayerLine(player))
    line.player, line.slot = player, slot or line.slot
    return line
