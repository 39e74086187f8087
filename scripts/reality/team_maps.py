"""The results of CS2 maps in order of time (cs2_maps_2025), and the reference: Elo with K 24."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from scripts.reality.judging import Prediction
from scripts.reality.snapshots import opened

_K, _START, _SCALE = 24.0, 1500.0, 400.0


class TeamMap(msgspec.Struct, frozen=True):
    """One row: a map between two teams. `scored`: it is to be predicted, not only learnt from."""

    row: int
    date: str
    match: str
    team_a: str
    team_b: str
    rank_a: int | None
    rank_b: int | None
    picked_by: str
    a_won: bool
    scored: bool


def read(path: Path) -> Iterator[TeamMap]:
    """The maps of a file as published, plain or gzipped, in order."""
    with opened(path) as text:
        for row, cells in enumerate(csv.DictReader(text)):
            yield TeamMap(
                row=row,
                date=cells["date"],
                match=cells["match_id"],
                team_a=cells["team_a"],
                team_b=cells["team_b"],
                rank_a=_rank(cells["team_a_rank"]),
                rank_b=_rank(cells["team_b_rank"]),
                picked_by=cells["picked_by"],
                a_won=cells["winner"] == cells["team_a"],
                scored=cells["scored"] == "1",
            )


def _rank(cell: str) -> int | None:
    return int(float(cell)) if cell else None


def elo(maps: Iterable[TeamMap]) -> Iterator[Prediction]:
    """The reference: every team begins at the same rating; each map moves it by up to K points."""
    ratings: dict[str, float] = defaultdict(lambda: _START)
    for one in maps:
        chance = 1 / (1 + 10 ** ((ratings[one.team_b] - ratings[one.team_a]) / _SCALE))
        if one.scored:
            yield Prediction(one.row, "map", chance)
        ratings[one.team_a] += _K * (one.a_won - chance)
        ratings[one.team_b] -= _K * (one.a_won - chance)
