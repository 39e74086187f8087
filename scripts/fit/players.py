"""Players' kills, fitted to published maps: the numbers under which the kills of all rows are likeliest, each
given the map's final score and what earlier rows show of the player.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from app.trading.coefficients import DataSet, PlayerCoefficients
from scripts.fit.simplex import Point, minimum
from scripts.reality.place import data_set
from scripts.reality.player_predictions import negative_binomial
from scripts.reality.player_rows import FILE, Earlier, PlayerRow, earlier, read

DATES = "January and February 2026"
_DIGITS = 4
#: Where the search begins, and its first steps; `rounds` in hundreds, to be of the size of the others.
_START, _FIRST = (0.9, 0.4, 1.5, 0.8, 1.2), (0.1, 0.1, 0.5, -0.2, 0.1)
_MATCHES = 12  #: of a player; older ones count nothing


def fit(data: Path) -> tuple[PlayerCoefficients, list[DataSet]]:
    """The section `players`."""
    rows = list(read(data / FILE))
    return fitted(rows, list(earlier(rows))), [data_set(data / FILE, len(rows), DATES)]


def fitted(rows: Sequence[PlayerRow], before: Sequence[Earlier]) -> PlayerCoefficients:
    """The coefficients that these rows, each with what came before it, are likeliest under."""
    columns = _Columns(rows, before)
    won, lost, rounds, decay, dispersion = (
        round(value, _DIGITS) for value in minimum(columns.loss, _START, _FIRST)
    )
    return PlayerCoefficients(won, lost, round(100 * rounds, 1), decay, dispersion)


class _Columns:
    """The rows as arrays."""

    def __init__(self, rows: Sequence[PlayerRow], before: Sequence[Earlier]) -> None:
        self._won, self._lost, self._kills = np.array(
            [(one.won, one.lost, one.kills) for one in rows], dtype=float
        ).T
        #: Kills and rounds by how many matches ago, and those of the same match with who won them.
        self._matches = np.zeros((len(rows), _MATCHES, 2))
        for index, one in enumerate(before):
            for age, match in enumerate(one.matches[:_MATCHES]):
                self._matches[index, age] = match
        self._maps = np.zeros((len(rows), 3))
        for index, one in enumerate(before):
            for played in one.maps:
                self._maps[index] += played.kills, played.won, played.lost

    def loss(self, point: Point) -> float:
        """The mean log loss of the rows' kills; as `player_kills` computes it, without its grid."""
        won, lost, rounds, decay, dispersion = point
        if min(won, lost, rounds) <= 0 or not 0 <= decay <= 1 or dispersion <= 1:
            return float("inf")
        kills, played = np.tensordot(self._matches, decay ** np.arange(1, _MATCHES + 1), axes=(1, 0)).T
        prior, mean = 100 * rounds * (won + lost) / 2, (won + lost) / 2
        expected = prior + mean * played + self._maps[:, 1:] @ (won, lost)
        levels = (prior + kills + self._maps[:, 0]) / expected
        means = levels * (won * self._won + lost * self._lost)
        return float(negative_binomial(means, dispersion, self._kills).mean())
