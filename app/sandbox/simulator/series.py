"""A whole match: one map or the best of three or five, as a stream of stamped lines with its truth."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from app.sandbox.simulator import lines
from app.sandbox.simulator.contest import play_map
from app.sandbox.simulator.economy import Kit
from app.sandbox.simulator.incidents import Incidents
from app.sandbox.simulator.lines import Dress
from app.sandbox.simulator.log import Lines, Log
from app.sandbox.simulator.oddities import NONE, Line, Oddities, disordered
from app.sandbox.simulator.pace import REAL_TIME, Pace
from app.sandbox.simulator.stage import Team
from app.sandbox.simulator.truth import MapTruth, SeriesTruth, Slot
from app.sandbox.simulator.world import Squad, world


@dataclass(frozen=True)
class Plan:
    """All that decides a match: the same plan gives the same lines.

    `begin` is the log's first moment (Unix ms). `pace` squeezes the time stamps, so that a
    match played 20 times as fast carries the stamps of the moments at which it is sent. `maps` names
    the maps in order (default: drawn from the pool). `knife` forces or forbids knife rounds
    (default: one map in two). `brief` cuts warm-up and pauses short. `oddities` say what goes wrong.
    """

    home: Squad
    away: Squad
    seed: int
    begin: int
    best_of: int = 1
    pace: Pace = REAL_TIME
    dress: Dress = "plain"
    maps: tuple[str, ...] = ()
    knife: bool | None = None
    brief: bool = False
    oddities: Oddities = NONE


def play(plan: Plan, truth: SeriesTruth) -> Iterator[Line]:
    """The match's lines in order; `truth` is filled while they are taken, complete after the last."""
    trouble = Random(f"what goes wrong in {plan.seed}")
    return disordered(_lines(plan, trouble, truth), trouble, plan.oddities, plan.pace.seconds)


def _lines(plan: Plan, trouble: Random, truth: SeriesTruth) -> Iterator[Line]:
    rng = Random(plan.seed)
    log = Log()
    log.write('Log file started (file "logs/simulated.log") (game "csgo") (version "10603")')
    for at, text, run in _maps(plan, rng, trouble, log, truth):
        yield _line(plan, at, text, run)
    log.wait(3)
    yield _line(plan, log.now, "Log file closed", log.run)


def _line(plan: Plan, at: float, text: str, run: int) -> Line:
    return Line(at, lines.stamped(plan.begin + int(plan.pace.seconds(at) * 1000), text, plan.dress), run)


def simulate(plan: Plan) -> tuple[list[Line], SeriesTruth]:
    """A whole match at once."""
    truth = new_truth(plan)
    return list(play(plan, truth)), truth


def new_truth(plan: Plan) -> SeriesTruth:
    return SeriesTruth(plan.home.name, plan.away.name, plan.best_of)


def _maps(plan: Plan, rng: Random, trouble: Random, log: Log, truth: SeriesTruth) -> Lines:
    pool = {arena.name: arena for arena in world().arenas}
    names = plan.maps or tuple(rng.sample(sorted(pool), plan.best_of))
    for name in names:
        knife = rng.random() < 0.5 if plan.knife is None else plan.knife
        played = MapTruth(name, knife=knife)
        truth.maps.append(played)
        home, away = _team("home", plan.home, 1), _team("away", plan.away, 6)
        incidents = Incidents(Random(trouble.random()), plan.oddities, plan.pace.speed)
        yield from play_map(rng, log, pool[name], home, away, played, incidents, brief=plan.brief)
        truth.winner = _decided(truth)
        if truth.winner:
            return
        log.wait(20 if plan.brief else 60)


def _decided(truth: SeriesTruth) -> Slot | None:
    slots: tuple[Slot, Slot] = ("home", "away")
    return next((slot for slot in slots if 2 * truth.maps_won(slot) > truth.best_of), None)


def _team(slot: Slot, squad: Squad, first_slot: int) -> Team:
    kits = [Kit(gamer, first_slot + index) for index, gamer in enumerate(squad.players)]
    return Team(slot, squad, kits)
