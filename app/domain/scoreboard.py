"""The scoreboard: the loadouts of the players in the current round. Settlements never rest on it.

It is part of the match's state: one row a player, deleted at the end of the map.
"""

from typing import Any

from msgspec.structs import replace

from app.domain import facts as f
from app.domain import loadout
from app.domain.changes import MatchChanges
from app.domain.equipment_value import equipment_value, without_refunded
from app.domain.loadout import Loadouts
from app.domain.match import Match
from app.domain.series import map_in_play
from app.domain.shown_updates import show_equipment, show_hits, show_items, stop_bomb_work


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
