"""The results of CS:GO maps with their scores, in order of time (csgo_maps_2021)."""

import csv
from collections.abc import Iterator
from pathlib import Path

import msgspec

MAX_ROUNDS = 30


class OldMap(msgspec.Struct, frozen=True):
    """One row: a map between two teams that had a winner."""

    date: str
    team_a: str
    team_b: str
    map_name: str
    rounds: tuple[int, int]


def read(path: Path) -> Iterator[OldMap]:
    """The maps of the file as published, in order; level ones are left out."""
    with path.open(encoding="utf-8", newline="") as text:
        for cells in csv.DictReader(text):
            rounds = int(cells["score_a"]), int(cells["score_b"])
            if rounds[0] != rounds[1]:
                yield OldMap(cells["date"], cells["team_a"], cells["team_b"], cells["map"], rounds)
