"""What goes wrong on the server in the middle of a map, and how play continues afterwards.

Incidents have random numbers of their own: a map without incidents is the same map, line for line.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from app.sandbox.simulator import log_lines, round_writer
from app.sandbox.simulator.anomalies import Anomalies
from app.sandbox.simulator.economy import START, LossBonus, SimulatedPlayer
from app.sandbox.simulator.log_lines import Lines
from app.sandbox.simulator.map_state import SIDES, MapState, SimulatedTeam
from app.sandbox.simulator.round_plan import RoundPlan
from app.sandbox.simulator.truth import Side

Interruption = Literal["restore", "restart", "crash"]
_INTERRUPTIONS: tuple[Interruption, ...] = ("restore", "restart", "crash")
#: Longer than a service waits for a silent source, in real seconds.
_SILENCE = 45.0
#: How many interruptions a map may see; a restart comes within the first rounds only.
_MAX_INTERRUPTIONS, _LAST_RESTART_ROUND, _MAX_ROUNDS_BACK = 3, 8, 5


@dataclass(frozen=True)
class _TeamBackup:
    loss_bonus: LossBonus
    streak: int
    players: tuple[SimulatedPlayer, ...]


@dataclass(frozen=True)
class Backup:
    """A map at the beginning of a freeze, as the server stores it in a file."""

    home_side: Side
    home_score: int
    away_score: int
    teams: tuple[_TeamBackup, ...]

    @property
    def played(self) -> int:
        return self.home_score + self.away_score

    def restore(self, state: MapState) -> None:
        """The state as it was then, with the players who are connected now; the rounds since then are
        void."""
        if state.home_side != self.home_side:
            state.change_sides()
        state.home_score, state.away_score = self.home_score, self.away_score
        for team, saved in zip(state.teams, self.teams, strict=True):
            team.loss_bonus, team.streak = replace(saved.loss_bonus), saved.streak
            team.players = [
                replace(_copy(then), profile=now.profile, slot=now.slot)
                for then, now in zip(saved.players, team.players, strict=True)
            ]
        _void_since(state, self.played)


def backup(state: MapState) -> Backup:
    teams = tuple(
        _TeamBackup(replace(team.loss_bonus), team.streak, tuple(map(_copy, team.players)))
        for team in state.teams
    )
    return Backup(state.home_side, state.home_score, state.away_score, teams)


def _copy(player: SimulatedPlayer) -> SimulatedPlayer:
    return replace(player, grenades=list(player.grenades))


def _void_since(state: MapState, played: int) -> None:
    rounds = state.truth.rounds
    state.truth.voided.extend(rounds[played:])
    del rounds[played:]


class Incidents:
    """The incidents of one map. `speed` is how many game seconds pass in a real one."""

    def __init__(self, rng: Random, anomalies: Anomalies, speed: float) -> None:
        self.rng, self.anomalies, self.speed = rng, anomalies, speed
        self.interruptions = 0
        self.backups: dict[int, Backup] = {}

    def back_up(self, state: MapState) -> None:
        if self.anomalies.restore or self.anomalies.crash:  # nothing else loads one
            self.backups[state.played] = backup(state)

    def between_rounds(self, state: MapState) -> Lines:
        """After a round's end: perhaps an interruption, with the lines up to the next freeze."""
        self.back_up(state)
        kind = self.interruption(state)
        if kind:
            yield from self.resume_after(state, kind)

    def interruption(self, state: MapState) -> Interruption | None:
        """What interrupts play at this point, if anything: half of all interruptions come in mid-round."""
        odds = self.anomalies
        chances = (odds.restore, odds.restart * (state.played < _LAST_RESTART_ROUND), odds.crash)
        for kind, chance in zip(_INTERRUPTIONS, chances, strict=True):
            if self.rng.random() < chance / 2 and self.interruptions < _MAX_INTERRUPTIONS:
                self.interruptions += 1
                return kind
        return None

    def cut(self, plan: RoundPlan) -> RoundPlan:
        """The plan up to a random event."""
        events = plan.events[: self.rng.randint(0, max(len(plan.events) - 1, 0))]
        site = plan.site if any(event.kind == "plant" for event in events) else ""
        return replace(plan, events=events, site=site, ends_at=events[-1].at + 1 if events else 5.0)

    def silence_log(self, state: MapState, plan: RoundPlan) -> RoundPlan:
        """Perhaps the log is silent in mid-round: nothing is written for a while, then play continues."""
        if self.rng.random() >= self.anomalies.silence:
            return plan
        state.truth.anomalies.append("silence")
        seconds = _SILENCE * self.speed
        at = self.rng.randint(0, len(plan.events))
        late = [replace(event, at=event.at + seconds) for event in plan.events[at:]]
        return replace(
            plan,
            events=[*plan.events[:at], *late],
            ends_at=plan.ends_at + seconds,
            silence=(plan.events[at - 1].at if at else 0.0, late[0].at if late else plan.ends_at + seconds),
        )

    def resume_after(self, state: MapState, kind: Interruption) -> Lines:
        """The lines up to the freeze of the round with which play continues."""
        act: dict[Interruption, Callable[[MapState], Lines]] = {
            "restore": self._restore,
            "restart": self._restart,
            "crash": self._crash,
        }
        state.truth.anomalies.append(kind)
        state.log.wait(self.rng.uniform(2, 6))
        yield from act[kind](state)

    def _restore(self, state: MapState) -> Lines:
        """Restore an earlier round or the present one, during a pause that ends as soon as all are ready."""
        log = state.log
        back = self.rng.choice((0, 1, 1, 2, 3, _MAX_ROUNDS_BACK))
        log.write(log_lines.pause(True, "mp_pause_match"))
        log.wait(3)
        self._load_backup(state, max(state.played - back, 0))
        log.write(log_lines.pause(False, "mp_unpause_match"))
        yield from log.drain()

    def _load_backup(self, state: MapState, played: int) -> None:
        state.log.write(log_lines.restore(played))
        self.backups[played].restore(state)
        if not played:
            state.write_freeze()
            state.write_status(0)

    def _restart(self, state: MapState) -> Lines:
        """Play the map from its beginning, with the sides as they are."""
        log = state.log
        log.write(log_lines.world_event("Restart_Round_(1_second)"))
        log.wait(1)
        self._restart_map(state)
        yield from log.drain()

    def _crash(self, state: MapState) -> Lines:
        """The server crashes and restarts; mostly a backup is restored, else the map begins again."""
        log, played = state.log, state.played
        yield from log.drain()
        saved = backup(state)
        log.wait(self.rng.uniform(20, 40))
        log.run += 1
        log.write('Log file started (file "logs/simulated.log") (game "csgo") (version "10603")')
        round_writer.load(state)
        yield from round_writer.warm_up(state, brief=True)
        self._restart_map(state, void=False)
        if self.rng.random() < 0.75:
            log.wait(5)
            state.home_score, state.away_score = saved.home_score, saved.away_score
            self._load_backup(state, played)
        else:
            _void_since(state, 0)
        yield from log.drain()

    def _restart_map(self, state: MapState, *, void: bool = True) -> None:
        state.home_score = state.away_score = 0
        if void:
            _void_since(state, 0)
        state.start_half(START)
        state.write_freeze()
        state.write_match_start(0)

    def reconnect(self, state: MapState) -> None:
        """Perhaps a player disconnects and returns, in another slot and half of the time under another
        name."""
        if self.rng.random() >= self.anomalies.reconnect:
            return
        state.truth.anomalies.append("reconnect")
        log, side = state.log, self.rng.choice(SIDES)
        ref = (side, self.rng.randrange(5))
        player = state.player(ref)
        log.write(log_lines.disconnected(state.tag(ref)))
        log.wait(2)
        player.slot = _free_slot(state.teams)
        nobody = log_lines.player(player.profile.name, player.slot, player.profile.account, None)
        log.write(*log_lines.connected(nobody))
        log.write(log_lines.joined(player.profile.name, player.slot, player.profile.account, side))
        if self.rng.random() < 0.5:
            name = f"{player.profile.name}_{self.rng.randint(2, 99)}"
            log.write(f'{state.tag(ref)} changed name to "{name}"')
            player.profile = replace(player.profile, name=name)


def _free_slot(teams: tuple[SimulatedTeam, SimulatedTeam]) -> int:
    return max(player.slot for team in teams for player in team.players) + 1
