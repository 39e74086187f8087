"""Matches of several maps with bookmakers' odds before play, in the form of cs2_series_odds_2026.csv."""

import csv
from collections.abc import Iterator
from pathlib import Path

import msgspec


class Series(msgspec.Struct, frozen=True):
    """`row` counts from 0. `points`: how many points of the public ranking team a is ahead, None where it
    is not known."""

    row: int
    date: str
    team_a: str
    team_b: str
    best_of: int
    lan: bool
    odds: tuple[float, float]
    points: float | None
    a_won: bool


def read(path: Path) -> Iterator[Series]:
    """The rows of a file, in its order."""
    with path.open(encoding="utf-8", newline="") as text:
        for row, cells in enumerate(csv.DictReader(text)):
            points = cells["valve_points_difference"]
            yield Series(
                row=row,
                date=cells["date"],
                team_a=cells["team_a"],
                team_b=cells["team_b"],
                best_of=int(cells["best_of"]),
                lan=cells["lan"] == "1",
                odds=(float(cells["odds_a"]), float(cells["odds_b"])),
                points=float(points) if points else None,
                a_won=cells["winner"] == cells["team_a"],
            )
