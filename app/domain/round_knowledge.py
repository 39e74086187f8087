"""What is known of the round in play beyond its events: the scoreboard, which is the loadouts of the players,
and what the log has shown (`match.RoundKnowledge`).

Settlements never rest on it. It is part of the match's state; loadouts have one row a player, and are deleted
at the end of the map. After missing data nothing is known but what is shown again.
"""

from typing import Any

from msgspec.structs import replace

from app.domain import facts as f
from app.domain import loadout
from app.domain.changes import MatchChanges
from app.domain.loadout import Loadouts, equipment_value, without_refunded
from app.domain.match import BombWork, Match, MatchPlayer, RoundKnowledge
from app.domain.series import map_in_play


def forget(match: Match) -> Match:
    """Drop what is known: data is missing, another source is followed, or the map begins anew."""
    rows = tuple(replace(row, money=None) if row.money is not None else row for row in match.loadouts)
    return replace(match, shown=RoundKnowledge(), loadouts=rows)


def forget_equipment(match: Match) -> Match:
    """Drop what is known of equipment: the round is played again from a backup, and players have what they
    had then."""
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
    """No plant or defuse is under way any more: the bomb is planted, defused or exploded."""
    shown = match.shown
    if shown.plant is None and shown.defuse is None:
        return match
    return replace(match, shown=replace(shown, plant=None, defuse=None))


def stop_bomb_work(match: Match, player: MatchPlayer) -> Match:
    """The player's plant or defuse has ended: they did what cannot be done meanwhile (shot, threw, or
    died)."""
    shown = match.shown
    if shown.plant is not None and shown.plant.player.key == player.key:
        shown = replace(shown, plant=None)
    if shown.defuse is not None and shown.defuse.player.key == player.key:
        shown = replace(shown, defuse=None)
    return match if shown is match.shown else replace(match, shown=shown)


def add_item(match: Match, fact: f.ItemAcquired) -> Match:
    match = show_items(match)
    if not (fact.item and _counts(match)):
        return match
    return _with_loadouts(match, loadout.with_item(match.loadouts, fact.player, fact.side, fact.item))


def equipped(match: Match, fact: f.Equipped, changes: MatchChanges) -> Match:
    if not _counts(match):
        return match
    match = show_equipment(show_items(_with_carried_value(match, fact)), fact.player)
    return _with_loadouts(match, loadout.with_items(match.loadouts, fact.player, fact.side, fact.items))


def _with_carried_value(match: Match, fact: f.Equipped) -> Match:
    """The log shows a player's equipment for the round when they first leave the buy zone."""
    current, who = match.current, fact.player.key
    if current is None or current.phase == "over" or any(carried[0] == who for carried in current.carried):
        return match
    carried = (*current.carried, (who, fact.side, equipment_value(fact.items)))
    return replace(match, current=replace(current, carried=carried))


def item_lost(match: Match, fact: f.ItemLost, changes: MatchChanges) -> Match:
    match = stop_bomb_work(match, fact.player)
    return _with_loadouts(match, loadout.without_item(match.loadouts, fact.player, fact.item))


def switch_side(match: Match, fact: f.SideSwitched) -> Match:
    if loadout.find_loadout(match.loadouts, fact.player) is None:
        return match
    return _with_loadouts(match, loadout.updated(match.loadouts, fact.player, fact.side))


def money_changed(match: Match, fact: f.MoneyChanged, changes: MatchChanges) -> Match:
    if not _counts(match):
        return match
    fields: dict[str, Any] = {"money": fact.money}
    known = loadout.find_loadout(match.loadouts, fact.player) if fact.refund else None
    if known is not None:
        fields |= without_refunded(known, fact.refund)
    return _with_loadouts(match, loadout.updated(match.loadouts, fact.player, fact.side, **fields))


def player_listed(match: Match, fact: f.PlayerListed) -> Match:
    if not _counts(match) or not fact.player.account:
        return match
    return _with_loadouts(match, loadout.updated(match.loadouts, fact.player, fact.side, money=fact.money))


def hurt(match: Match, fact: f.Hurt, changes: MatchChanges) -> Match:
    """A hit may be reported after the death that it caused; it does not revive the player."""
    match = show_hits(match)
    if fact.shooter is not None:
        match = stop_bomb_work(match, fact.shooter)
    current = match.current
    if not _counts(match) or current is None or current.phase == "freeze" or fact.victim in current.dead:
        return match
    loadouts = match.loadouts
    return _with_loadouts(
        match, loadout.updated(loadouts, fact.victim, fact.side, health=fact.health, armour=fact.armour)
    )


def _counts(match: Match) -> bool:
    return map_in_play(match) is not None and match.current is not None


def _with_loadouts(match: Match, loadouts: Loadouts) -> Match:
    return match if loadouts is match.loadouts else replace(match, loadouts=loadouts)
