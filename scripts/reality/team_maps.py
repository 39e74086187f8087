"""The results of CS2 maps in order of time (cs2_maps_2025, cs2_maps_2025_06_12, cs2_maps_2026_02), and the
reference: Elo with K 24."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from app.domain.strength import MILLIS_OF_DAY
from scripts.reality.judging import Prediction
from scripts.reality.snapshots import opened

MAX_ROUNDS = 24
ELO_START = 1500.0
_K, _SCALE = 24.0, 400.0
Team = TypeVar("Team")


class TeamMap(msgspec.Struct, frozen=True):
    """One row: a map between two teams. `at`: the beginning of its day in ms, of Unix time or, where the file
    has no dates, since its first day. `picked_by`: a team's name, or anything else. `rounds`: the score of a
    and b, where the file has it. `scored`: the row is to be predicted, not only learnt from."""

    row: int
    at: int
    match: str
    team_a: str
    team_b: str
    picked_by: str
    a_won: bool
    rounds: tuple[int, int] | None = None
    rank_a: int | None = None
    rank_b: int | None = None
    scored: bool = True


def read(path: Path) -> Iterator[TeamMap]:
    """The maps of a file as published, plain or gzipped, in order; its header tells which of the three it
    is."""
    with opened(path) as text:
        for row, cells in enumerate(csv.DictReader(text)):
            yield _with_day(row, cells) if "day" in cells else _with_date(row, cells)


def _with_date(row: int, cells: Mapping[str, str]) -> TeamMap:
    return TeamMap(
        row,
        millis(cells["date"]),
        cells["match_id"],
        cells["team_a"],
        cells["team_b"],
        cells["picked_by"],
        cells["winner"] == cells["team_a"],
        _rounds(cells) if "score_a" in cells else None,
        _rank(cells.get("team_a_rank")),
        _rank(cells.get("team_b_rank")),
        cells.get("scored", "1") == "1",
    )


def _with_day(row: int, cells: Mapping[str, str]) -> TeamMap:
    """Teams are numbers, the picker is `a` or `b`. The first matches have no day: they came first."""
    a, b = rounds = _rounds(cells)
    picker = {"a": cells["team_a"], "b": cells["team_b"]}.get(cells["picked_by"], "")
    at = int(float(cells["day"] or 0)) * MILLIS_OF_DAY
    return TeamMap(row, at, cells["match"], cells["team_a"], cells["team_b"], picker, a > b, rounds)


def _rounds(cells: Mapping[str, str]) -> tuple[int, int]:
    return int(float(cells["score_a"])), int(float(cells["score_b"]))


def _rank(cell: str | None) -> int | None:
    return int(float(cell)) if cell else None


def millis(date: str) -> int:
    """The beginning of that day, Unix ms."""
    return int(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp() * 1000)


def elo(maps: Iterable[TeamMap]) -> Iterator[Prediction]:
    """The reference: every team begins at the same rating; each map moves it by up to K points."""
    ratings: dict[str, float] = defaultdict(lambda: ELO_START)
    for one in maps:
        if one.scored:
            yield Prediction(one.row, "map", elo_chance(ratings, one.team_a, one.team_b))
        elo_learns(ratings, one.team_a, one.team_b, one.a_won)


def elo_chance(ratings: Mapping[Team, float], a: Team, b: Team) -> float:
    return 1 / (1 + 10 ** ((ratings[b] - ratings[a]) / _SCALE))


def elo_learns(ratings: dict[Team, float], a: Team, b: Team, a_won: bool) -> None:
    moved = _K * (a_won - elo_chance(ratings, a, b))
    ratings[a] += moved
    ratings[b] -= moved
