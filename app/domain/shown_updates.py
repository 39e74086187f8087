"""How facts change what is known of the round in play (`shown.ShownOfRound`).

After missing data nothing is known but what is shown again.
"""

from msgspec.structs import replace

from app.domain import facts as f
from app.domain.changes import Changes
from app.domain.match import Match, MatchPlayer
from app.domain.shown import BombWork, ShownOfRound


def forget(match: Match) -> Match:
    """Data is missing, another source is followed, or the map begins anew."""
    rows = tuple(replace(row, money=None) if row.money is not None else row for row in match.loadouts)
    return replace(match, shown=ShownOfRound(), loadouts=rows)


def forget_equipment(match: Match) -> Match:
    """The round is played again from a backup: players have what they had then."""
    return replace(match, shown=replace(match.shown, whole=False, players=()))


def begin_freeze(match: Match, at: int, *, bare: bool) -> Match:
    """A freeze time begins. `bare`: all equipment is reset, so that everybody's is known from now on."""
    shown = match.shown
    whole = bare or shown.whole
    return replace(
        match,
        shown=replace(shown, whole=whole, froze_at=at, live_at=None, plant=None, defuse=None),
    )


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
    shown, who = match.shown, player.account or player.name
    if shown.whole or who in shown.players:
        return match
    return replace(match, shown=replace(shown, players=(*shown.players, who)))


def plant_begun(match: Match, fact: f.PlantBegun, changes: Changes) -> Match:
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
    if shown.plant is not None and _same(shown.plant.player, player):
        shown = replace(shown, plant=None)
    if shown.defuse is not None and _same(shown.defuse.player, player):
        shown = replace(shown, defuse=None)
    return match if shown is match.shown else replace(match, shown=shown)


def _same(one: MatchPlayer, other: MatchPlayer) -> bool:
    return (one.account or one.name) == (other.account or other.name)
