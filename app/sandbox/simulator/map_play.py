"""One map from loading to Game Over: warm-up, sometimes a knife round, halves, overtime, pauses."""

import math
from collections.abc import Generator
from random import Random

from app.sandbox.simulator import log_lines
from app.sandbox.simulator.economy import OVERTIME_START, PICKED_UP, START, purchases
from app.sandbox.simulator.fictional_world import MapProfile
from app.sandbox.simulator.incidents import Incidents
from app.sandbox.simulator.log_lines import Lines, LogWriter
from app.sandbox.simulator.map_state import FREEZE, OVERTIME_ROUNDS, ROUNDS, SIDES, MapState, SimulatedTeam
from app.sandbox.simulator.round_plan import Fighter, PlayerRef, RoundPlan, RoundPlanner, edge_for
from app.sandbox.simulator.round_writer import RoundWriter, knife_round, load, warm_up
from app.sandbox.simulator.truth import MapTruth, Side, Team

POINTS_PER_LOGIT = 1500
_MOMENTUM, _LONGEST_STREAK = 0.04, 3
#: Spread of a team's form on a map, in logits.
FORM = 0.13
#: The part of a map's logit that is due to the map: its share of rounds contains the effect of money too.
_MAP = 0.85
_PAUSES = 0.025  #: how often a freeze has a pause or a time-out


def play_map(
    rng: Random,
    log: LogWriter,
    map_profile: MapProfile,
    home: SimulatedTeam,
    away: SimulatedTeam,
    truth: MapTruth,
    incidents: Incidents,
    *,
    brief: bool,
    rounds: int = ROUNDS,
) -> Lines:
    """The lines of one map of so many `rounds`; `truth` is filled as they are yielded.

    `brief` shortens warm-up and pauses. After the last line `truth` has the winner.
    """
    state = MapState(rng, log, map_profile, home, away, truth, home_side=rng.choice(SIDES), rounds=rounds)
    for team in state.teams:
        team.form = truth.form[team.team] = rng.gauss(0, FORM)
    started_at = log.now
    load(state)
    yield from log.drain()
    yield from warm_up(state, brief=brief)
    if truth.knife:
        yield from knife_round(state, brief=brief)
    state.start_half(START)
    _go_live(state)
    while winner(state) is None:
        incidents.back_up(state)
        finished = yield from _round(state, incidents, brief=brief)
        if finished and winner(state) is None:
            _switch_sides(state)
            yield from incidents.between_rounds(state)
    _finish_map(state, round((log.now - started_at) / 60))
    yield from log.drain()


def rounds_to_win(played: int, rounds: int = ROUNDS) -> int:
    """Rounds that win a map of so many, while this many have been played: 13 of 24, then 4 of each overtime's
    six."""
    overtimes = max(0, math.ceil((played - rounds + 1) / OVERTIME_ROUNDS)) if played >= rounds else 0
    return rounds // 2 + 1 + overtimes * OVERTIME_ROUNDS // 2


def winner(state: MapState) -> Team | None:
    needed = rounds_to_win(state.played - 1, state.rounds)
    if max(state.home_score, state.away_score) < needed or state.home_score == state.away_score:
        return None
    return "home" if state.home_score > state.away_score else "away"


def _go_live(state: MapState) -> None:
    state.write_freeze()
    state.write_match_start(0)


def _round(
    state: MapState, incidents: Incidents, *, brief: bool
) -> Generator[tuple[float, str, int], None, bool]:
    """Freeze with its purchases, the round, its result, and the seven seconds after it.

    Returns whether it was finished; if not, it was interrupted and play continues in the present state.
    """
    log = state.log
    if state.played:
        state.write_freeze()
        state.write_status(state.played)
    freeze_ends = log.now + FREEZE
    yield from _buy(state, freeze_ends)
    incidents.reconnect(state)
    if not brief:
        freeze_ends += _pause(state, state.rng, _PAUSES)
    freeze_ends += _pause(state, incidents.rng, incidents.anomalies.pause)
    log.until(freeze_ends)
    plan = incidents.silence_log(state, _plan_round(state, incidents.anomalies.overtimes))
    interruption = incidents.interruption(state)
    writer = RoundWriter(state, incidents.cut(plan) if interruption else plan)
    writer.write()
    if interruption:
        yield from incidents.resume_after(state, interruption)
        return False
    writer.finish()
    for ref in state.refs():
        if ref not in writer.alive:
            state.player(ref).lose_equipment(ref[0])
    log.wait(7)
    yield from log.drain()
    return True


def _plan_round(state: MapState, overtimes: int) -> RoundPlan:
    """The plan of the round; nobody wins the map before so many overtimes have begun."""
    edge = edge_for(chance(state))
    early = bool(overtimes) and state.played < state.rounds + (overtimes - 1) * OVERTIME_ROUNDS
    needed = rounds_to_win(state.played, state.rounds)
    while True:
        plan = RoundPlanner(state.rng, edge, _fighters(state)).play()
        if not early or state.score(plan.winner) + 1 < needed:
            return plan


def chance(state: MapState) -> float:
    """CT's chance to win the round with equal equipment: the map, both teams' strength, form and momentum."""
    ct, t = state.team_on("CT"), state.team_on("T")
    logit = _MAP * math.log(state.map_profile.ct_share / (1 - state.map_profile.ct_share))
    logit += (ct.profile.points - t.profile.points) / POINTS_PER_LOGIT + ct.form - t.form
    logit += _MOMENTUM * (min(ct.streak, _LONGEST_STREAK) - min(t.streak, _LONGEST_STREAK))
    return 1 / (1 + math.exp(-logit))


def _fighters(state: MapState) -> dict[Side, list[Fighter]]:
    return {
        side: [
            Fighter(player.weight, player.weapon.damage, player.defuser)
            for player in state.team_on(side).players
        ]
        for side in SIDES
    }


def _buy(state: MapState, until: float) -> Lines:
    """Purchases spread over the freeze; then everybody respawns with their equipment."""
    rng, log = state.rng, state.log
    last = state.played in (state.rounds // 2 - 1, state.rounds - 1)
    buys = [
        (player, item, price)
        for side in SIDES
        for player, item, price in purchases(
            rng,
            side,
            state.team_on(side).players,
            won_last=state.team_on(side).streak > 0,
            last_of_half=last,
        )
    ]
    step = max(until - log.now - 4, 1) / (len(buys) + 1)
    refs = {id(state.player(ref)): ref for ref in state.refs()}
    for player, item, price in sorted(buys, key=lambda _: rng.random()):
        log.wait(step)
        _write_purchase(state, refs[id(player)], item, price)
        yield from log.drain()
    for ref in state.refs():
        state.player(ref).respawn()


def _write_purchase(state: MapState, ref: PlayerRef, item: str, price: int) -> None:
    bare = item.removeprefix("item_")
    name = item if item.startswith("item_") else f"weapon_{bare}"
    state.pay(ref, -price, name)
    tag = state.tag(ref)
    state.log.write(f'{tag} picked up "{PICKED_UP.get(item, bare)}"', f'{tag} purchased "{item}"')


def _pause(state: MapState, rng: Random, often: float) -> float:
    """Sometimes a pause or time-out in the freeze; the seconds that it takes."""
    log, what = state.log, rng.random()
    if what >= often:
        return 0.0
    side = rng.choice(SIDES)
    on, off, seconds = (
        ("mp_pause_match", "mp_unpause_match", 70.0) if what < often / 3 else (f"TimeOut{side}s", "", 30.0)
    )
    log.write(log_lines.pause(True, on))
    log.wait(seconds)
    log.write(log_lines.pause(False, off or on))
    return seconds


def _switch_sides(state: MapState) -> None:
    """Half-time, the start of an overtime, and the middle of one."""
    played, rounds = state.played, state.rounds
    if played == rounds // 2:
        state.change_sides()
        state.start_half(START)
    elif played >= rounds and (played - rounds) % (OVERTIME_ROUNDS // 2) == 0:
        if (played - rounds) % OVERTIME_ROUNDS:
            state.change_sides()
        state.start_half(OVERTIME_START)


def _finish_map(state: MapState, minutes: int) -> None:
    truth, scores = state.truth, (state.score("CT"), state.score("T"))
    truth.home_score, truth.away_score, truth.winner = state.home_score, state.away_score, winner(state)
    state.write_status(state.played)
    state.log.write(log_lines.game_over(state.map_profile.name, *scores, minutes))
