"""The scoreboard: how the players of the round being played are doing. It decides nothing.

Kept in the match's state and small: one short row a player, forgotten with the map.
"""

from msgspec.structs import replace

from app.domain import facts as f
from app.domain import loadout
from app.domain.changes import Changes
from app.domain.equipment_value import worth
from app.domain.loadout import Sheet
from app.domain.match import Match
from app.domain.series import playing


def gained(match: Match, fact: f.ItemAcquired) -> Match:
    if not (fact.item and _counts(match)):
        return match
    return _with(match, loadout.with_item(match.loadouts, fact.player, fact.side, fact.item))


def equipped(match: Match, fact: f.Equipped, changes: Changes) -> Match:
    if not _counts(match):
        return match
    match = _carrying(match, fact)
    return _with(match, loadout.with_items(match.loadouts, fact.player, fact.side, fact.items))


def _carrying(match: Match, fact: f.Equipped) -> Match:
    """What a player takes into the round is told when they first leave the place where it is bought."""
    current, who = match.current, fact.player.account or fact.player.name
    if current is None or current.phase == "over" or any(carried[0] == who for carried in current.carried):
        return match
    carried = (*current.carried, (who, fact.side, worth(fact.items)))
    return replace(match, current=replace(current, carried=carried))


def parted(match: Match, fact: f.ItemLost, changes: Changes) -> Match:
    return _with(match, loadout.without_item(match.loadouts, fact.player, fact.item))


def paid(match: Match, fact: f.MoneyChanged, changes: Changes) -> Match:
    if not _counts(match):
        return match
    return _with(match, loadout.updated(match.loadouts, fact.player, fact.side, money=fact.money))


def hurt(match: Match, fact: f.Hurt, changes: Changes) -> Match:
    """A hit may be told after the death that it caused; nobody comes back to life by it."""
    current = match.current
    if not _counts(match) or current is None or current.phase == "freeze" or fact.victim in current.dead:
        return match
    sheet = match.loadouts
    return _with(
        match, loadout.updated(sheet, fact.victim, fact.side, health=fact.health, armour=fact.armour)
    )


def _counts(match: Match) -> bool:
    return playing(match) is not None and match.current is not None


def _with(match: Match, sheet: Sheet) -> Match:
    return match if sheet is match.loadouts else replace(match, loadouts=sheet)
