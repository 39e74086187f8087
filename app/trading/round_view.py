"""A match's current round as the round model sees it.

What the log has not shown is None, never 0: a price must know how little it knows. Health is known while hits
are logged, money while it was shown of every player who can play, equipment while the log has shown all that
each living player has (`domain.round_knowledge`).
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from app.domain.loadout import FULL_HEALTH, GRENADES, Loadout, equipment_value, team_equipment_values
from app.domain.match import BombWork, CurrentRound, MapPlay, Match, Side, Team
from app.domain.presence import available_players
from app.domain.sides import team_on
from app.trading import model
from app.trading.kept import kept_by_key
from app.trading.map_scores import MapParameters, MapState
from app.trading.round_state import (
    DEFUSE_SECONDS,
    FULL_TEAM,
    KIT_SECONDS,
    PLANT_SECONDS,
    Defuse,
    RoundPhase,
    RoundState,
    SideState,
)

#: Seconds by which a time may be wrong and a line late: the log has whole seconds, and comes once a second.
CLOCK_ERROR = 1.5
_ARMOUR, _HELMET, _KIT = (equipment_value([item]) or 0 for item in ("vest", "helmet", "defuser"))
_FIRST_LOSSES, _MOST_LOSSES = 1, 4


class _Players(msgspec.Struct):
    """A side's rows of the scoreboard: of all who can play, and of those alive."""

    side: Side
    alive: int
    available: int
    rows: list[Loadout]
    living: list[Loadout]
    losses: int | None


class RoundClock(NamedTuple):
    """The clock of a round: it runs for `seconds` from `since` on (Unix ms; None: unknown, or it is
    stopped)."""

    phase: RoundPhase
    seconds: float
    since: int | None


def round_state(match: Match, now: int) -> RoundState | None:
    """The current round at `now` (Unix ms); None outside freeze time and play, or while sides are unknown."""
    play, current = match.map, match.current
    if (
        play is None
        or current is None
        or current.phase == "over"
        or current.pending_result
        or play.home_side is None
    ):
        return None
    half, position = model.half_of(current.number - 1, play.max_rounds, play.overtime_rounds)
    ct, t = _both(match, play, current)
    state = RoundState(
        phase="freeze",
        ct=_side(match, current, ct),
        t=_side(match, current, t),
        number=position + 1,
        overtime=half > 1,
    )
    return seen_at(match, current, state, now)


def seen_at(match: Match, current: CurrentRound, state: RoundState, now: int) -> RoundState:
    """The same state of both sides, with phase, clock and what is being done at `now`."""
    clock, shown = round_clock(match, current), match.shown
    phase, since = clock.phase, clock.since
    return RoundState(
        phase=phase,
        ct=state.ct,
        t=state.t,
        seconds_left=None if since is None else max(0.0, clock.seconds - max(0, now - since) / 1000),
        number=state.number,
        overtime=state.overtime,
        defuse=_defuse(shown.defuse, now) if phase == "planted" else None,
        plant_seconds_left=_work_left(shown.plant, PLANT_SECONDS, now) if phase == "live" else None,
    )


def round_clock(match: Match, current: CurrentRound) -> RoundClock:
    """The clock of the match's current round, running or stopped."""
    shown, rules = match.shown, match.clock_rules
    if current.phase == "freeze":
        return RoundClock("freeze", rules.freeze_seconds, None if match.pause else shown.froze_at)
    for event in current.events + current.withheld:
        if event.type == "bomb_planted":
            return RoundClock("planted", rules.fuse_seconds, event.at)
    return RoundClock("live", rules.round_seconds, shown.live_at)


def _work_left(work: BombWork | None, seconds: float, now: int) -> float | None:
    """None as well when it should have succeeded by now: it was stopped without a line."""
    if work is None:
        return None
    left = seconds - max(0, now - work.at) / 1000
    return max(0.0, left) if left > -CLOCK_ERROR else None


def _defuse(work: BombWork | None, now: int) -> Defuse | None:
    left = _work_left(work, KIT_SECONDS if work and work.kit else DEFUSE_SECONDS, now)
    return None if work is None or left is None else Defuse(seconds_left=left, kit=work.kit)


def _both(match: Match, play: MapPlay, current: CurrentRound) -> tuple[_Players, _Players]:
    gone = {member.player.account or member.player.name for member in match.presence.absent}
    dead = {player.account or player.name for player in current.dead}
    found: dict[Side, tuple[list[Loadout], list[Loadout]]] = {"CT": ([], []), "T": ([], [])}
    for row in match.loadouts:
        key = row.account or row.name
        if key in gone:
            continue
        rows, living = found[row.side]
        rows.append(row)
        if key not in dead:
            living.append(row)
    ct, t = found["CT"], found["T"]
    return _players(match, play, current, "CT", *ct), _players(match, play, current, "T", *t)


def _players(
    match: Match, play: MapPlay, current: CurrentRound, side: Side, rows: list[Loadout], living: list[Loadout]
) -> _Players:
    team = team_on(play, side) or "home"
    return _Players(
        side=side,
        alive=current.alive_home if team == "home" else current.alive_away,
        available=available_players(match, team),
        rows=rows,
        living=living,
        losses=_losses(play, team),
    )


def _side(match: Match, current: CurrentRound, players: _Players) -> SideState:
    money = _sum([row.money for row in players.rows], players.available)
    health = _health(match, current, players)
    if not _equipment_known(match, current, players):
        return SideState(alive=players.alive, health=health, money=money, losses=players.losses)
    worths = [_worth(row.weapons) for row in players.living]
    armour = sum([row.armour for row in players.living])
    helmets, kits = sum([row.helmet for row in players.living]), sum([row.kit for row in players.living])
    weapons = _sum([weapons for weapons, _ in worths], players.alive)
    worn = round(_ARMOUR * armour / 100) + _HELMET * helmets + _KIT * kits
    return SideState(
        alive=players.alive,
        health=health,
        armour=armour if _points_known(match, current) else None,
        helmets=helmets,
        weapons=None if weapons is None else weapons + worn,
        utility=_sum([utility for _, utility in worths], players.alive),
        money=money,
        kits=kits,
        losses=players.losses,
    )


def _health(match: Match, current: CurrentRound, players: _Players) -> int | None:
    """A living player without a row has not been hit."""
    if current.phase == "freeze":
        return FULL_HEALTH * players.alive
    if not match.shown.hits or current.gap or len(players.living) > players.alive:
        return None
    return FULL_HEALTH * (players.alive - len(players.living)) + sum([row.health for row in players.living])


def _equipment_known(match: Match, current: CurrentRound, players: _Players) -> bool:
    shown = match.shown
    if not shown.items or current.gap or len(players.living) != players.alive:
        return False
    return shown.all_equipment_known or all(row.key in shown.players for row in players.living)


def _points_known(match: Match, current: CurrentRound) -> bool:
    """Whether hits on armour are logged, or there were none."""
    return match.shown.hits or (current.phase == "freeze" and current.number == 1)


def _sum(values: Sequence[int | None], count: int) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) == count else None


@lru_cache(maxsize=4096)
def _worth(items: tuple[str, ...]) -> tuple[int | None, int | None]:
    """The value of a player's weapons, and of their grenades."""
    return (
        equipment_value(item for item in items if item not in GRENADES),
        equipment_value(item for item in items if item in GRENADES),
    )


@kept_by_key
def _losses(play: MapPlay, team: Team) -> int | None:
    """The counter of the loss bonus: one more for each round lost in this half, one fewer for each won."""
    _, position = model.half_of(play.rounds_won, play.max_rounds, play.overtime_rounds)
    of_half = [one for one in play.counted if one.number > play.rounds_won - position]
    if len(of_half) != position:
        return None
    losses = _FIRST_LOSSES
    for played in of_half:
        losses = max(0, losses - 1) if played.winner == team else min(_MOST_LOSSES, losses + 1)
    return losses


def side_means(current: CurrentRound, side: SideState, name: Side) -> int | None:
    """A side's money and equipment when the round began. Once it is live, what its players carried out of the
    buy zone counts; until all have left it, what they have, while all live."""
    if side.money is None:
        return None
    live = current.phase != "freeze"
    carried, _ = team_equipment_values(current.carried, name) if live else (None, None)
    if carried is None and not (live and side.alive < FULL_TEAM):
        carried = None if side.weapons is None or side.utility is None else side.weapons + side.utility
    return None if carried is None else side.money + carried


def economy_state(
    current: CurrentRound, state: RoundState, parameters: MapParameters, at: MapState
) -> int | None:
    """What both sides had when the round began, as a state of the map's economy; None where the log does not
    show it. `at` is the map before the round."""
    half, position = parameters.position(at.home, at.away)
    if parameters.half(half).economy is parameters.economies.rich or not position:
        return 0
    ct, t = side_means(current, state.ct, "CT"), side_means(current, state.t, "T")
    return None if ct is None or t is None else parameters.economies.state(ct, t)
