"""Scores of CS2 maps of early 2026 with their halves, as published: all tiers, on LAN and online."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from app.trading.coefficients import DataSet
from scripts.reality.place import data_set
from scripts.reality.snapshots import opened

RESULTS, MAPS = "cs2_results_2026.csv", "cs2_maps_2026_02.csv"
DATES = "2026"
MAX_ROUNDS = 24
_HALF = MAX_ROUNDS // 2
_HALVES = re.compile(r"\((\d+):(\d+); (\d+):(\d+)\)")
Rounds = tuple[int, int]  #: team a's, team b's


class MapScore(NamedTuple):
    """`half` is the score after the first half, `regulation` that after 24 rounds or at the map's end before,
    `final` that at its end; team a's rounds first. `row`: the file's data row, from 0; `number`: of the
    map in its match."""

    row: int
    match: str
    number: int
    map_name: str
    half: Rounds
    regulation: Rounds
    final: Rounds

    @property
    def turned(self) -> "MapScore":
        """The same map with the teams exchanged."""
        half, regulation, final = (score[::-1] for score in (self.half, self.regulation, self.final))
        return self._replace(half=half, regulation=regulation, final=final)

    @property
    def a_won(self) -> bool:
        return self.final[0] > self.final[1]

    @property
    def scores(self) -> tuple[str, Rounds, Rounds, Rounds]:
        """What two files say of the same map, which they number differently."""
        return self.map_name, self.half, self.regulation, self.final


def read_all(data: Path) -> tuple[list[MapScore], list[DataSet]]:
    """The maps of both files, those once that are in both, and the files."""
    results, others = list(read_results(data / RESULTS)), list(read_maps(data / MAPS))
    known = _by_match(results)
    sets = [data_set(data / RESULTS, len(results), DATES), data_set(data / MAPS, len(others), DATES)]
    return [*results, *(each for one in _by_match(others) for each in _new(one, known))], sets


def _by_match(maps: Iterable[MapScore]) -> list[dict[int, MapScore]]:
    """The maps of each match, by their number."""
    found: dict[str, dict[int, MapScore]] = {}
    for one in maps:
        found.setdefault(one.match, {})[one.number] = one
    return list(found.values())


def _new(match: Mapping[int, MapScore], known: Iterable[Mapping[int, MapScore]]) -> Iterator[MapScore]:
    """The maps of a match that are not among the known ones, under the name that it has there."""
    same = next((other for other in known if _same(match, other)), {})
    name = next((one.match for one in same.values()), None)
    return (one._replace(match=name or one.match) for number, one in match.items() if number not in same)


def _same(one: Mapping[int, MapScore], other: Mapping[int, MapScore]) -> bool:
    """Whether two matches are one: the files name teams differently, but maps of the same number do not
    differ. One common map would not do for most scores, so that all which both files have must agree."""
    shared = one.keys() & other.keys()
    return bool(shared) and all(one[number].scores == other[number].scores for number in shared)


def read_results(path: Path) -> Iterator[MapScore]:
    """The maps of a file as cs2_results_2026, in order, without rows that lack the scores of both halves."""
    for row, cells in _rows(path):
        found = _HALVES.match(cells["half_scores"])
        if found is None:
            continue
        first_a, first_b, second_a, second_b = (int(rounds) for rounds in found.groups())
        final = int(cells["score_a"]), int(cells["score_b"])
        name = f"de_{cells['map'].lower()}"
        if first_a + first_b == _HALF:
            regulation = first_a + second_a, first_b + second_b
            match, number = f"r{cells['match_id']}", int(cells["map_number"])
            yield MapScore(row, match, number, name, (first_a, first_b), regulation, final)


def read_maps(path: Path) -> Iterator[MapScore]:
    """The maps of a file as cs2_maps_2026_02, in order, without rows that lack the scores of both halves."""
    for row, cells in _rows(path):
        half1, half2 = (_rounds(cells, name) for name in ("half1", "half2"))
        final = _rounds(cells, "score")
        if half1 and half2 and final and sum(half1) == _HALF:
            regulation = half1[0] + half2[0], half1[1] + half2[1]
            match, number = f"m{cells['match']}", int(cells["map_number"])
            yield MapScore(row, match, number, cells["map"], half1, regulation, final)


def read_teams(path: Path) -> dict[int, tuple[int, int]]:
    """Both teams' numbers by the row of such a file."""
    return {row: (int(cells["team_a"]), int(cells["team_b"])) for row, cells in _rows(path)}


def read_half_times(path: Path) -> Iterator[tuple[int, Rounds | None]]:
    """Of each row of such a file: its number, and the score after the first half; None where it is not that
    of 12 rounds."""
    for row, cells in _rows(path):
        half = _rounds(cells, "half1")
        yield row, half if half and sum(half) == _HALF else None


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    with opened(path) as file:
        yield from enumerate(csv.DictReader(file))


def _rounds(cells: dict[str, str], name: str) -> Rounds | None:
    a, b = cells[f"{name}_a"], cells[f"{name}_b"]
    return (int(a), int(b)) if a and b else None
