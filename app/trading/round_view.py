"""A match's current round as the round model sees it.

What the log has not shown is None, never 0: a price must know how little it knows.
"""

from collections.abc import Sequence

from app.domain.equipment_value import equipment_value
from app.domain.loadout import Loadout
from app.domain.match import CurrentRound, MapPlay, Match, Side, Team, other_team
from app.domain.presence import TEAM
from app.domain.sides import team_on
from app.trading import model
from app.trading.round_state import RoundPhase, RoundState, SideState

#: Seconds of a round and of the fuse, by the game's competitive rules.
ROUND_SECONDS, FUSE_SECONDS = 115.0, 40.0
_GRENADES = frozenset(("flashbang", "hegrenade", "smokegrenade", "molotov", "incgrenade", "decoy"))
_ARMOUR, _HELMET, _KIT = 650, 350, 400
_FIRST_LOSSES, _MOST_LOSSES = 1, 4


def round_state(match: Match, now: int) -> RoundState | None:
    """The current round at `now` (Unix ms); None outside freeze time and play, or while sides are unknown."""
    play, current = match.map, match.current
    if play is None or current is None or current.phase == "over" or current.won or play.home_side is None:
        return None
    half, position = model.half_of(current.number - 1, play.max_rounds, play.overtime_rounds)
    phase, seconds_left = _clock(current, now)
    return RoundState(
        phase=phase,
        ct=_side(match, play, current, "CT"),
        t=_side(match, play, current, "T"),
        seconds_left=seconds_left,
        number=position + 1,
        overtime=half > 1,
    )


def _clock(current: CurrentRound, now: int) -> tuple[RoundPhase, float | None]:
    if current.phase == "freeze":
        return "freeze", None
    for event in current.events + current.withheld:
        if event.type == "bomb_planted":
            return "planted", _left(FUSE_SECONDS, event.at, now)
    return "live", _left(ROUND_SECONDS, current.started_at, now)


def _left(seconds: float, since: int | None, now: int) -> float | None:
    return None if since is None else max(0.0, seconds - max(0, now - since) / 1000)


def _side(match: Match, play: MapPlay, current: CurrentRound, side: Side) -> SideState:
    team: Team = team_on(play, side) or "home"
    players = [one for one in match.loadouts if _side_of(match, play, one) == side]
    living = [one for one in players if one.health > 0]
    alive = current.alive_home if team == "home" else current.alive_away
    losses = _losses(play, team)
    money = _sum([one.money for one in players], TEAM)
    if len(living) != alive:
        return SideState(alive=alive, money=money, losses=losses)
    return SideState(
        alive=alive,
        health=sum(one.health for one in living),
        armour=sum(one.armour for one in living),
        helmets=sum(one.helmet for one in living),
        weapons=_sum([_weapons(one) for one in living], alive),
        utility=_sum([equipment_value(_utility(one)) for one in living], alive),
        money=money,
        kits=sum(one.kit for one in living),
        losses=losses,
    )


def _side_of(match: Match, play: MapPlay, loadout: Loadout) -> Side:
    """The side of the player's team: after a half the log names a player's new side late."""
    for known in match.roster:
        if known.account == loadout.account and loadout.account:
            return "CT" if team_on(play, "CT") == known.team else "T"
    return loadout.side


def _sum(values: Sequence[int | None], count: int) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) == count else None


def _weapons(loadout: Loadout) -> int | None:
    value = equipment_value(item for item in loadout.weapons if item not in _GRENADES)
    worn = _ARMOUR * (loadout.armour > 0) + _HELMET * loadout.helmet + _KIT * loadout.kit
    return None if value is None else value + worn


def _utility(loadout: Loadout) -> list[str]:
    return [item for item in loadout.weapons if item in _GRENADES]


def _losses(play: MapPlay, team: Team) -> int | None:
    """The counter of the loss bonus: one more for each round lost in this half, one fewer for each won."""
    _, position = model.half_of(play.rounds_won, play.max_rounds, play.overtime_rounds)
    of_half = [one for one in play.counted if one.number > play.rounds_won - position]
    if len(of_half) != position:
        return None
    losses = _FIRST_LOSSES
    for played in of_half:
        losses += 1 if played.winner == other_team(team) else -1
        losses = min(_MOST_LOSSES, max(0, losses))
    return losses
