"""A whole match: one map or the best of three or five, as a stream of timestamped lines with its truth;
and the pace at which it is played."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from app.sandbox.simulator import log_lines
from app.sandbox.simulator.anomalies import NONE, Anomalies, LogLine, disorder
from app.sandbox.simulator.economy import SimulatedPlayer
from app.sandbox.simulator.fictional_world import FictionalTeam, fictional_world
from app.sandbox.simulator.incidents import Incidents
from app.sandbox.simulator.log_lines import Lines, LogWriter, TimestampStyle
from app.sandbox.simulator.map_play import play_map
from app.sandbox.simulator.map_state import ROUNDS, SimulatedTeam
from app.sandbox.simulator.truth import MapTruth, SeriesTruth, Team


@dataclass(frozen=True)
class Pace:
    """`speed` game seconds pass in a real second; up to `rush_until` (game seconds) `rush` of them do.

    A match that shall be in mid-play at once plays its first rounds at the speed `rush`.
    """

    speed: float = 1.0
    rush_until: float = 0.0
    rush: float = 150.0

    def seconds(self, at: float) -> float:
        """Real seconds from the log's start to the line at game second `at`."""
        rushed = min(at, self.rush_until)
        return rushed / self.rush + (at - rushed) / self.speed


REAL_TIME = Pace()


@dataclass(frozen=True)
class MatchPlan:
    """All that determines a match: the same plan gives the same lines.

    `begin` is the log's first moment (Unix ms). `pace` compresses the timestamps, so that a match played 20
    times as fast has the timestamps of the moments at which it is sent. `timestamps` is their style. `maps`
    names the maps in order (default: drawn from the pool). `knife` forces or forbids knife rounds (default:
    one map in two). `brief` cuts warm-up and pauses short. `rounds` are
    those of a map without overtimes. `anomalies`: what goes wrong.
    """

    home: FictionalTeam
    away: FictionalTeam
    seed: int
    begin: int
    best_of: int = 1
    pace: Pace = REAL_TIME
    timestamps: TimestampStyle = "plain"
    maps: tuple[str, ...] = ()
    knife: bool | None = None
    brief: bool = False
    rounds: int = ROUNDS
    anomalies: Anomalies = NONE


def play(plan: MatchPlan, truth: SeriesTruth) -> Iterator[LogLine]:
    """The match's lines in order; `truth` is filled as they are yielded, and complete after the last."""
    trouble = Random(f"what goes wrong in {plan.seed}")
    lines = (_stamped(plan, at, text, run) for at, text, run in unstamped(plan, trouble, truth))
    return disorder(lines, trouble, plan.anomalies, plan.pace.seconds)


def unstamped(plan: MatchPlan, trouble: Random, truth: SeriesTruth) -> Lines:
    """The lines as they happen, each with its time in seconds of play: not in disorder yet, nor stamped."""
    rng = Random(plan.seed)
    log = LogWriter()
    log.write('Log file started (file "logs/simulated.log") (game "csgo") (version "10603")')
    yield from _maps(plan, rng, trouble, log, truth)
    log.wait(3)
    yield log.now, "Log file closed", log.run


def _stamped(plan: MatchPlan, at: float, text: str, run: int) -> LogLine:
    at_ms = plan.begin + int(plan.pace.seconds(at) * 1000)
    return LogLine(at, log_lines.stamped(at_ms, text, plan.timestamps), run)


def simulate(plan: MatchPlan) -> tuple[list[LogLine], SeriesTruth]:
    """A whole match at once."""
    truth = new_truth(plan)
    return list(play(plan, truth)), truth


def new_truth(plan: MatchPlan) -> SeriesTruth:
    return SeriesTruth(plan.home.name, plan.away.name, plan.best_of)


def _maps(plan: MatchPlan, rng: Random, trouble: Random, log: LogWriter, truth: SeriesTruth) -> Lines:
    pool = {map_profile.name: map_profile for map_profile in fictional_world().maps}
    names = plan.maps or tuple(rng.sample(sorted(pool), plan.best_of))
    for name in names:
        knife = rng.random() < 0.5 if plan.knife is None else plan.knife
        played = MapTruth(name, knife=knife)
        truth.maps.append(played)
        home, away = _team("home", plan.home, 1), _team("away", plan.away, 6)
        incidents = Incidents(Random(trouble.random()), plan.anomalies, plan.pace.speed)
        yield from play_map(
            rng, log, pool[name], home, away, played, incidents, brief=plan.brief, rounds=plan.rounds
        )
        truth.winner = _decided(truth)
        if truth.winner:
            return
        log.wait(20 if plan.brief else 60)


def _decided(truth: SeriesTruth) -> Team | None:
    teams: tuple[Team, Team] = ("home", "away")
    return next((team for team in teams if 2 * truth.maps_won(team) > truth.best_of), None)


def _team(team: Team, profile: FictionalTeam, first_slot: int) -> SimulatedTeam:
    players = [SimulatedPlayer(profile, first_slot + index) for index, profile in enumerate(profile.players)]
    return SimulatedTeam(team, profile, players)
