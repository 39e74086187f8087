"""Logs of simulated maps as a game server writes them that crashes and goes on from backups."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import NamedTuple

from app.sandbox.simulator.anomalies import Anomalies
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from tests.support.simulated import plan_between

_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
_FORM = "%m/%d/%Y - %H:%M:%S"
_STAMP = re.compile(r"L (\d\d/\d\d/\d{4} - \d\d:\d\d:\d\d): ")
_MOST_REPLAYED = 2  #: rounds that are played after a crash before a backup is loaded


class History(NamedTuple):
    """The runs of one server, and the log of one that did not crash and played the same in the end."""

    plan: MatchPlan
    plain: str
    runs: list[str]


def history(seed: int) -> History:
    """A map of 24 or 30 rounds, every third one with overtimes; its server crashes once to three times."""
    rng = Random(f"crashes of {seed}")
    plan = plan_between(
        seed % 40,
        (seed + 1 + seed % 7) % 40,
        seed,
        brief=True,
        rounds=(24, 30)[seed % 2],
        anomalies=Anomalies(overtimes=rng.randint(1, 2) if seed % 3 == 0 else 0),
    )
    lines = [line.text for line in simulate(plan)[0]]
    return History(plan, _joined(lines), _crashed(_Map(lines), rng))


class _Map:
    """The lines of a map: before its first round, of each of its rounds, and after them."""

    def __init__(self, lines: Sequence[str]) -> None:
        over = _index(lines, "Game Over: ")
        start = max(at for at in range(over) if 'triggered "Match_Start"' in lines[at])
        freezes = [at for at in range(over) if "Starting Freeze period" in lines[at]]
        begin = max(at for at in freezes if at < start)
        edges = [begin, *(at for at in freezes if at > start), len(lines)]
        self.before = list(lines[:begin])
        self.loading = self.before[_index(lines, "Loading map ") : _index(lines, "Started map ") + 1]
        self.rounds = [list(lines[a:b]) for a, b in zip(edges, edges[1:], strict=False)]

    @property
    def stamp(self) -> str:
        return self.before[0][: len("L 01/01/2026 - 00:00:00: ")]


def _crashed(played: _Map, rng: Random) -> list[str]:
    """Each run but the last ends within a round; the next begins the map anew, plays a while, and goes on
    with the backup of a round that was played."""
    runs, current, done = list[list[str]](), list(played.before), 0
    for _ in range(rng.randint(1, 3)):
        if done + 1 == len(played.rounds):
            break  # a crash in the last round went back to its beginning
        crash = rng.randint(done + 1, len(played.rounds) - 1)
        current += [*_flat(played.rounds[done:crash]), *_part(played.rounds[crash], rng)]
        restarts = rng.random() < 0.7
        if restarts:
            runs.append(current)
            current = [*played.loading]
        again = rng.randint(0, min(_MOST_REPLAYED, crash - 1))
        current += [*_flat(played.rounds[:again]), *_part(played.rounds[again], rng)]
        done = rng.randint(1, crash)
        load = f"mp_backup_restore_load_file backup_round{done:02d}.txt"
        current.append(f'{played.stamp}rcon from "192.0.2.1": command "{load}"')
    runs.append([*current, *_flat(played.rounds[done:])])
    return _moved_on(runs)


def _part(lines: list[str], rng: Random) -> list[str]:
    """The beginning of a round, as far as the server wrote it: not its result."""
    end = next((at for at, line in enumerate(lines) if "SFUI_Notice" in line), len(lines))
    return lines[: rng.randint(1, end)]


def _flat(rounds: Sequence[list[str]]) -> list[str]:
    return [line for lines in rounds for line in lines]


def _index(lines: Sequence[str], part: str) -> int:
    return next(at for at, line in enumerate(lines) if part in line)


def _moved_on(runs: Sequence[list[str]]) -> list[str]:
    """The runs, with times that never go back."""
    moved, shift, before = [], timedelta(), _LONG_AGO
    latest = before
    for run in runs:
        lines = []
        for line in run:
            found = _STAMP.match(line)
            assert found, line
            at = datetime.strptime(found[1], _FORM).replace(tzinfo=UTC)
            if at < before:
                shift = latest + timedelta(seconds=1) - at
            before, latest = at, at + shift
            lines.append(f"L {latest.strftime(_FORM)}: {line[found.end() :]}")
        moved.append(_joined(lines))
    return moved


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"
