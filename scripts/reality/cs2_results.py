"""Scores of CS2 maps of early 2026 with their halves, as published: all tiers, on LAN and online."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DATES = "2026"
_HALVES = re.compile(r"\((\d+):(\d+); (\d+):(\d+)\)")
_HALF = 12


class MapScore(NamedTuple):
    """`half` is the score after the first half, `regulation` that after 24 rounds or at the map's end before,
    `final` that at its end; team a's rounds first."""

    half: tuple[int, int]
    regulation: tuple[int, int]
    final: tuple[int, int]

    @property
    def turned(self) -> "MapScore":
        """The same map with the teams exchanged."""
        half, regulation, final = (score[::-1] for score in (self.half, self.regulation, self.final))
        return self._replace(half=half, regulation=regulation, final=final)


def read(path: Path) -> Iterator[MapScore]:
    """The maps of the file, in order; rows without the scores of both halves are left out."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found = _HALVES.match(row["half_scores"])
            if found is None:
                continue
            first_a, first_b, second_a, second_b = (int(rounds) for rounds in found.groups())
            if first_a + first_b == _HALF:
                yield MapScore(
                    (first_a, first_b),
                    (first_a + second_a, first_b + second_b),
                    (int(row["score_a"]), int(row["score_b"])),
                )
