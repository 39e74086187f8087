"""One map from loading to Game Over: warm-up, sometimes a knife round, halves, overtime, pauses."""

import math
from collections.abc import Generator
from random import Random

from app.sandbox.simulator import lines
from app.sandbox.simulator.arms import PICKED_UP
from app.sandbox.simulator.economy import OVERTIME_START, START, shopping
from app.sandbox.simulator.incidents import Incidents
from app.sandbox.simulator.log import Lines, Log
from app.sandbox.simulator.opening import knife_round, load, warm_up
from app.sandbox.simulator.plot import Plot, Round, Seat, edge_for
from app.sandbox.simulator.scene import Scene
from app.sandbox.simulator.stage import FREEZE, OVERTIME_ROUNDS, ROUNDS, SIDES, Stage, Team
from app.sandbox.simulator.truth import MapTruth, Side, Slot
from app.sandbox.simulator.world import Arena

_POINTS_PER_LOGIT = 1500
_MOMENTUM, _LONGEST_STREAK = 0.04, 3
#: Spread of a team's form on a map, and what a large lead in equipment is worth, both in logits.
_FORM, _MONEY = 0.13, 1.75
#: CTs pay more for the same fire-power (kits, dearer rifles).
_CT_GEAR = 2400
#: Money makes a side's lead larger than the map alone does; the map's share is the sum of both.
_MAP = 0.85
_PAUSES = 0.025  #: how often a freeze has a pause or a time-out


def play_map(
    rng: Random,
    log: Log,
    arena: Arena,
    home: Team,
    away: Team,
    truth: MapTruth,
    incidents: Incidents,
    *,
    brief: bool,
) -> Lines:
    """Lines of one map, with their game seconds; `truth` is filled as they come.

    `brief` shortens what is not play (warm-up, pauses). The winner stands in `truth` once it has ended.
    """
    stage = Stage(rng, log, arena, home, away, truth, home_side=rng.choice(SIDES))
    for team in stage.teams:
        team.form = rng.gauss(0, _FORM)
    started_at = log.now
    load(stage)
    yield from log.drain()
    yield from warm_up(stage, brief=brief)
    if truth.knife:
        yield from knife_round(stage, brief=brief)
    stage.fresh_half(START)
    _go_live(stage)
    while winner(stage) is None:
        incidents.back_up(stage)
        finished = yield from _round(stage, incidents, brief=brief)
        if finished and winner(stage) is None:
            _turn_sides(stage)
            yield from incidents.between_rounds(stage)
    _close(stage, round((log.now - started_at) / 60))
    yield from log.drain()


def target(played: int) -> int:
    """Rounds that win the map, while this many have been played: 13, then 4 of each overtime's six."""
    overtimes = max(0, math.ceil((played - ROUNDS + 1) / OVERTIME_ROUNDS)) if played >= ROUNDS else 0
    return ROUNDS // 2 + 1 + overtimes * OVERTIME_ROUNDS // 2


def winner(stage: Stage) -> Slot | None:
    needed = target(stage.played - 1)
    if max(stage.home_score, stage.away_score) < needed or stage.home_score == stage.away_score:
        return None
    return "home" if stage.home_score > stage.away_score else "away"


def _go_live(stage: Stage) -> None:
    stage.tell_freeze()
    stage.tell_match_start(0)


def _round(
    stage: Stage, incidents: Incidents, *, brief: bool
) -> Generator[tuple[float, str, int], None, bool]:
    """Freeze with its purchases, the round, its result, and the seven seconds after it.

    Whether it came to its end: if not, it was broken off and play goes on from wherever the server is.
    """
    log = stage.log
    if stage.played:
        stage.tell_freeze()
        stage.tell_status(stage.played)
    freeze_ends = log.now + FREEZE
    yield from _shop(stage, freeze_ends)
    incidents.reconnect(stage)
    if not brief:
        freeze_ends += _pause(stage, stage.rng, _PAUSES)
    freeze_ends += _pause(stage, incidents.rng, incidents.oddities.pause)
    log.until(freeze_ends)
    plot = incidents.hold_up(stage, _plot(stage, incidents.oddities.overtimes))
    broken = incidents.broken_off(stage)
    scene = Scene(stage, incidents.cut(plot) if broken else plot)
    scene.write()
    if broken:
        yield from incidents.go_on_after(stage, broken)
        return False
    scene.finish()
    for seat in stage.seats():
        if seat not in scene.alive:
            stage.kit(seat).strip(seat[0])
    log.wait(7)
    yield from log.drain()
    return True


def _plot(stage: Stage, overtimes: int) -> Plot:
    """What happens in the round; nobody wins the map before so many overtimes have begun."""
    edge, weights = edge_for(chance(stage)), _weights(stage)
    kits = [kit.defuser for kit in stage.on("CT").kits]
    early = bool(overtimes) and stage.played < ROUNDS + (overtimes - 1) * OVERTIME_ROUNDS
    needed = target(stage.played)
    while True:
        plot = Round(stage.rng, edge, weights, kits).play()
        if not early or stage.score(plot.winner) + 1 < needed:
            return plot


def chance(stage: Stage) -> float:
    """CT's chance to win the round: the map, both teams' strength, form and momentum, and the money."""
    ct, t = stage.on("CT"), stage.on("T")
    logit = _MAP * math.log(stage.arena.ct_share / (1 - stage.arena.ct_share))
    logit += (ct.squad.points - t.squad.points) / _POINTS_PER_LOGIT + ct.form - t.form
    logit += _MOMENTUM * (min(ct.streak, _LONGEST_STREAK) - min(t.streak, _LONGEST_STREAK))
    worth = [sum(kit.worth for kit in team.kits) for team in (ct, t)]
    logit += _MONEY * math.tanh((worth[0] - worth[1] - _CT_GEAR) / 17_000)
    return 1 / (1 + math.exp(-logit))


def _weights(stage: Stage) -> dict[Side, list[float]]:
    return {side: [kit.weight for kit in stage.on(side).kits] for side in SIDES}


def _shop(stage: Stage, until: float) -> Lines:
    """Purchases spread over the freeze; everybody stands up armed for the round."""
    rng, log = stage.rng, stage.log
    last = stage.played in (ROUNDS // 2 - 1, ROUNDS - 1)
    buys = [
        (side, kit, item, price)
        for side in SIDES
        for kit, item, price in shopping(rng, side, stage.on(side).kits, last_of_half=last)
    ]
    step = max(until - log.now - 4, 1) / (len(buys) + 1)
    for side, kit, item, price in sorted(buys, key=lambda _: rng.random()):
        log.wait(step)
        _bought(stage, (side, stage.on(side).kits.index(kit)), item, price)
        yield from log.drain()
    for seat in stage.seats():
        stage.kit(seat).stand_up()


def _bought(stage: Stage, seat: Seat, item: str, price: int) -> None:
    bare = item.removeprefix("item_")
    name = item if item.startswith("item_") else f"weapon_{bare}"
    stage.pay(seat, -price, name)
    stage.log.write(f'{stage.tag(seat)} picked up "{PICKED_UP.get(item, bare)}"')
    stage.log.write(f'{stage.tag(seat)} purchased "{item}"')


def _pause(stage: Stage, rng: Random, often: float) -> float:
    """Now and then play stands still in the freeze; the seconds that it takes."""
    log, what = stage.log, rng.random()
    if what >= often:
        return 0.0
    side = rng.choice(SIDES)
    on, off, seconds = (
        ("mp_pause_match", "mp_unpause_match", 70.0) if what < often / 3 else (f"TimeOut{side}s", "", 30.0)
    )
    log.write(lines.pause(True, on))
    log.wait(seconds)
    log.write(lines.pause(False, off or on))
    return seconds


def _turn_sides(stage: Stage) -> None:
    """Half-time, the start of an overtime, and the middle of one."""
    played = stage.played
    if played == ROUNDS // 2:
        stage.change_sides()
        stage.fresh_half(START)
    elif played >= ROUNDS and (played - ROUNDS) % (OVERTIME_ROUNDS // 2) == 0:
        if (played - ROUNDS) % OVERTIME_ROUNDS:
            stage.change_sides()
        stage.fresh_half(OVERTIME_START)


def _close(stage: Stage, minutes: int) -> None:
    truth, scores = stage.truth, (stage.score("CT"), stage.score("T"))
    truth.home_score, truth.away_score, truth.winner = stage.home_score, stage.away_score, winner(stage)
    stage.tell_status(stage.played)
    stage.log.write(lines.game_over(stage.arena.name, *scores, minutes))
