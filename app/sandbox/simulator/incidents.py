"""What goes wrong on the server in the middle of a map, and how play goes on afterwards.

Drawn from random numbers of its own: a map without incidents is the same map, line for line.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from app.sandbox.simulator import lines, opening
from app.sandbox.simulator.economy import START, Bank, Kit
from app.sandbox.simulator.log import Lines
from app.sandbox.simulator.oddities import Oddities
from app.sandbox.simulator.plot import Plot
from app.sandbox.simulator.stage import SIDES, Stage, Team
from app.sandbox.simulator.truth import Side

Break = Literal["restore", "restart", "crash"]
_BREAKS: tuple[Break, ...] = ("restore", "restart", "crash")
#: Longer than a service waits for a silent source, in real seconds.
_SILENCE = 45.0
#: How many breaks a map may see; a restart comes within the first rounds only.
_MOST_BREAKS, _RESTART_UNTIL, _DEEPEST = 3, 8, 5


@dataclass(frozen=True)
class _TeamBackup:
    bank: Bank
    streak: int
    kits: tuple[Kit, ...]


@dataclass(frozen=True)
class Backup:
    """A map at the beginning of a freeze, as the server keeps it in a file."""

    home_side: Side
    home_score: int
    away_score: int
    teams: tuple[_TeamBackup, ...]

    @property
    def played(self) -> int:
        return self.home_score + self.away_score

    def put_back(self, stage: Stage) -> None:
        """The stage as it was then, with whoever is connected now; the rounds since then are void."""
        if stage.home_side != self.home_side:
            stage.change_sides()
        stage.home_score, stage.away_score = self.home_score, self.away_score
        for team, kept in zip(stage.teams, self.teams, strict=True):
            team.bank, team.streak = replace(kept.bank), kept.streak
            team.kits = [
                replace(_copy(then), gamer=now.gamer, slot=now.slot)
                for then, now in zip(kept.kits, team.kits, strict=True)
            ]
        _void_since(stage, self.played)


def backup(stage: Stage) -> Backup:
    teams = tuple(
        _TeamBackup(replace(team.bank), team.streak, tuple(map(_copy, team.kits))) for team in stage.teams
    )
    return Backup(stage.home_side, stage.home_score, stage.away_score, teams)


def _copy(kit: Kit) -> Kit:
    return replace(kit, grenades=list(kit.grenades))


def _void_since(stage: Stage, played: int) -> None:
    rounds = stage.truth.rounds
    stage.truth.voided.extend(rounds[played:])
    del rounds[played:]


class Incidents:
    """Those of one map. `speed` is how many game seconds pass in a real one."""

    def __init__(self, rng: Random, oddities: Oddities, speed: float) -> None:
        self.rng, self.oddities, self.speed = rng, oddities, speed
        self.breaks = 0
        self.backups: dict[int, Backup] = {}

    def back_up(self, stage: Stage) -> None:
        self.backups[stage.played] = backup(stage)

    def broken_off(self, stage: Stage) -> Break | None:
        """What breaks this round off, if anything: half of all breaks come in mid-round."""
        return self._break(stage, 0.5)

    def between_rounds(self, stage: Stage) -> Lines:
        """After a round's end: perhaps it is to be played again."""
        self.back_up(stage)
        kind = self._break(stage, 0.5)
        if kind:
            yield from self.go_on_after(stage, kind)

    def _break(self, stage: Stage, share: float) -> Break | None:
        odds = self.oddities
        chances = (odds.restore, odds.restart * (stage.played < _RESTART_UNTIL), odds.crash)
        for kind, chance in zip(_BREAKS, chances, strict=True):
            if self.rng.random() < chance * share and self.breaks < _MOST_BREAKS:
                self.breaks += 1
                return kind
        return None

    def cut(self, plot: Plot) -> Plot:
        """The plot up to somewhere in its middle."""
        beats = plot.beats[: self.rng.randint(0, max(len(plot.beats) - 1, 0))]
        site = plot.site if any(beat.deed == "plant" for beat in beats) else ""
        return replace(plot, beats=beats, site=site, ends_at=beats[-1].at + 1 if beats else 5.0)

    def hold_up(self, stage: Stage, plot: Plot) -> Plot:
        """Perhaps the log falls silent in mid-round: nothing is written for a while, then play goes on."""
        if self.rng.random() >= self.oddities.silence:
            return plot
        stage.truth.oddities.append("silence")
        seconds = _SILENCE * self.speed
        at = self.rng.randint(0, len(plot.beats))
        late = [replace(beat, at=beat.at + seconds) for beat in plot.beats[at:]]
        return replace(
            plot,
            beats=[*plot.beats[:at], *late],
            ends_at=plot.ends_at + seconds,
            silence=(plot.beats[at - 1].at if at else 0.0, late[0].at if late else plot.ends_at + seconds),
        )

    def go_on_after(self, stage: Stage, kind: Break) -> Lines:
        """The lines up to the freeze of the round with which play goes on."""
        act: dict[Break, Callable[[Stage], Lines]] = {
            "restore": self._restore,
            "restart": self._restart,
            "crash": self._crash,
        }
        stage.truth.oddities.append(kind)
        stage.log.wait(self.rng.uniform(2, 6))
        yield from act[kind](stage)

    def _restore(self, stage: Stage) -> Lines:
        """Back to an earlier round or the one in hand, under a pause that ends as soon as all are ready."""
        log = stage.log
        back = self.rng.choice((0, 1, 1, 2, 3, _DEEPEST))
        log.write(lines.pause(True, "mp_pause_match"))
        log.wait(3)
        self._load_backup(stage, max(stage.played - back, 0))
        log.write(lines.pause(False, "mp_unpause_match"))
        yield from log.drain()

    def _load_backup(self, stage: Stage, played: int) -> None:
        stage.log.write(lines.restore(played))
        self.backups[played].put_back(stage)
        if not played:
            stage.tell_freeze()
            stage.tell_status(0)

    def _restart(self, stage: Stage) -> Lines:
        """The map from its beginning, with the sides as they are."""
        log = stage.log
        log.write(lines.world("Restart_Round_(1_second)"))
        log.wait(1)
        self._begin_again(stage)
        yield from log.drain()

    def _crash(self, stage: Stage) -> Lines:
        """The server dies and comes up again; mostly a backup is restored, else the map begins again."""
        log, played = stage.log, stage.played
        yield from log.drain()
        kept = backup(stage)
        log.wait(self.rng.uniform(20, 40))
        log.run += 1
        log.write('Log file started (file "logs/simulated.log") (game "csgo") (version "10603")')
        opening.load(stage)
        yield from opening.warm_up(stage, brief=True)
        self._begin_again(stage, void=False)
        if self.rng.random() < 0.75:
            log.wait(5)
            stage.home_score, stage.away_score = kept.home_score, kept.away_score
            self._load_backup(stage, played)
        else:
            _void_since(stage, 0)
        yield from log.drain()

    def _begin_again(self, stage: Stage, *, void: bool = True) -> None:
        stage.home_score = stage.away_score = 0
        if void:
            _void_since(stage, 0)
        stage.fresh_half(START)
        stage.tell_freeze()
        stage.tell_match_start(0)

    def reconnect(self, stage: Stage) -> None:
        """Perhaps a player drops out and comes back: a new slot, half of the time under another name."""
        if self.rng.random() >= self.oddities.reconnect:
            return
        stage.truth.oddities.append("reconnect")
        log, side = stage.log, self.rng.choice(SIDES)
        seat = (side, self.rng.randrange(5))
        kit = stage.kit(seat)
        log.write(lines.disconnected(stage.tag(seat)))
        log.wait(2)
        kit.slot = _free_slot(stage.teams)
        nobody = lines.player(kit.gamer.name, kit.slot, kit.gamer.account, None)
        log.write(*lines.connected(nobody))
        log.write(lines.joined(kit.gamer.name, kit.slot, kit.gamer.account, side))
        if self.rng.random() < 0.5:
            name = f"{kit.gamer.name}_{self.rng.randint(2, 99)}"
            log.write(f'{stage.tag(seat)} changed name to "{name}"')
            kit.gamer = replace(kit.gamer, name=name)


def _free_slot(teams: tuple[Team, Team]) -> int:
    return max(kit.slot for team in teams for kit in team.kits) + 1
