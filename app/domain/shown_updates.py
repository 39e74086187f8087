"""How facts change what is known of the round in play (`shown.RoundKnowledge`).

After missing data nothing is known but what is shown again.
"""

from msgspec.structs import replace

from app.domain import facts as f
from app.domain.changes import MatchChanges
from app.domain.match import BombWork, Match, MatchPlayer, RoundKnowledge


def forget(match: Match) -> Match:
    """Data is missing, another source is followed, or the map begins anew."""
    rows = tuple(replace(row, money=None) if row.money is not None else row for row in match.loadouts)
    return replace(match, shown=RoundKnowledge(), loadouts=rows)


def forget_equipment(match: Match) -> Match:
    """The round is played again from a backup: players have what they had then."""
    return replace(match, shown=replace(match.shown, all_equipment_known=False, players=()))


def begin_freeze(match: Match, at: int, *, begins_half: bool) -> Match:
    """A freeze time begins. At the beginning of a half all equipment is reset: everybody's is known from then
    on."""
    known = begins_half or match.shown.all_equipment_known
    shown = replace(
        match.shown, all_equipment_known=known, froze_at=at, live_at=None, plant=None, defuse=None
    )
    return replace(match, shown=shown)


def begin_round(match: Match, at: int) -> Match:
    """`Round_Start`: the round's clock runs."""
    return replace(match, shown=replace(match.shown, live_at=at, plant=None, defuse=None))


def restart_freeze_clock(match: Match, at: int) -> Match:
    """After a pause the freeze time begins anew."""
    if match.current is None or match.current.phase != "freeze":
        return match
    return replace(match, shown=replace(match.shown, froze_at=at))


def show_items(match: Match) -> Match:
    return match if match.shown.items else replace(match, shown=replace(match.shown, items=True))


def show_hits(match: Match) -> Match:
    return match if match.shown.hits else replace(match, shown=replace(match.shown, hits=True))


def show_equipment(match: Match, player: MatchPlayer) -> Match:
    """All that the player carries is known: the log listed it, or they are dead."""
    shown, who = match.shown, player.key
    if shown.all_equipment_known or who in shown.players:
        return match
    return replace(match, shown=replace(shown, players=(*shown.players, who)))


def plant_begun(match: Match, fact: f.PlantBegun, changes: MatchChanges) -> Match:
    return replace(match, shown=replace(match.shown, plant=BombWork(fact.player, fact.at)))


def defuse_work_begun(match: Match, fact: f.DefuseBegun) -> Match:
    return replace(match, shown=replace(match.shown, defuse=BombWork(fact.player, fact.at, fact.kit)))


def end_bomb_work(match: Match) -> Match:
    """The bomb is planted, defused or exploded."""
    shown = match.shown
    if shown.plant is None and shown.defuse is None:
        return match
    return replace(match, shown=replace(shown, plant=None, defuse=None))


def stop_bomb_work(match: Match, player: MatchPlayer) -> Match:
    """The player did what cannot be done while planting or defusing: shot, threw, or died."""
    shown = match.shown
    if shown.plant is not None and shown.plant.player.key == player.key:
        shown = replace(shown, plant=None)
    if shown.defuse is not None and shown.defuse.player.key == player.key:
        shown = replace(shown, defuse=None)
    return match if shown is match.shown else replace(match, shown=shown)
