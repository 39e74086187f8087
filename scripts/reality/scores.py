"""How good predictions are, with intervals: whole maps are drawn again (bootstrap), since rows of a map
depend on each other."""

from collections.abc import Callable, Iterator, Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BINS = 10
_TINY = 1e-12
_DRAWS, _SEED = 400, 20261122


class Predictions(msgspec.Struct, frozen=True):
    """Chances, what observed (0, 1, or half for a draw), and the map that each belongs to."""

    chances: Floats
    outcomes: Floats
    maps: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64]) -> "Predictions":
        return Predictions(self.chances[rows], self.outcomes[rows], self.maps[rows])


def log_loss(found: Predictions) -> float:
    chances = np.clip(found.chances, _TINY, 1 - _TINY)
    return float(-np.mean(found.outcomes * np.log(chances) + (1 - found.outcomes) * np.log(1 - chances)))


def brier(found: Predictions) -> float:
    return float(np.mean((found.chances - found.outcomes) ** 2))


def auc(found: Predictions) -> float:
    """How often a random winner was given the larger chance than a random loser; ties and draws count
    half."""
    order = np.argsort(found.chances, kind="stable")
    _, inverse, counts = np.unique(found.chances[order], return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks = (last - (counts - 1) / 2)[inverse]
    won = found.outcomes[order]
    winners = float(won.sum())
    losers = len(won) - winners
    if not winners or not losers:
        return 0.5
    return (float((ranks * won).sum()) - winners * (winners + 1) / 2) / (winners * losers)


def calibration_error(found: Predictions) -> float:
    """The mean distance of predicted chances and observed shares, over ten bins of equal width."""
    bins = np.minimum((found.chances * BINS).astype(int), BINS - 1)
    predicted = np.bincount(bins, found.chances, BINS)
    observed = np.bincount(bins, found.outcomes, BINS)
    return float(np.abs(predicted - observed).sum() / len(found.chances))


MEASURES: Mapping[str, Callable[[Predictions], float]] = {
    "log_loss": log_loss,
    "brier": brier,
    "auc": auc,
    "ece": calibration_error,
}


class Figure(msgspec.Struct, frozen=True):
    """A measure with the interval that holds 95 % of draws."""

    value: float
    low: float
    high: float


def measured(found: Predictions) -> dict[str, Figure]:
    """Every measure, with its interval."""
    values = {name: measure(found) for name, measure in MEASURES.items()}
    drawn = _drawn(found)
    return {
        name: Figure(
            round(value, 4), *(round(float(end), 4) for end in np.quantile(drawn[name], (0.025, 0.975)))
        )
        for name, value in values.items()
    }


def _drawn(found: Predictions) -> dict[str, list[float]]:
    """Every measure on each sample."""
    drawn: dict[str, list[float]] = {name: [] for name in MEASURES}
    for rows in samples(found):
        sample = found.take(rows)
        for name, measure in MEASURES.items():
            drawn[name].append(measure(sample))
    return drawn


def samples(found: Predictions) -> Iterator[NDArray[np.int64]]:
    """The rows of as many maps, drawn with replacement; the same draws each time."""
    random = np.random.default_rng(_SEED)
    order = np.argsort(found.maps, kind="stable")
    rows = np.split(order, np.flatnonzero(np.diff(found.maps[order])) + 1)
    for _ in range(_DRAWS):
        yield np.concatenate([rows[index] for index in random.integers(0, len(rows), len(rows))])


def shown(figures: Mapping[str, Figure]) -> str:
    """A line for a terminal."""
    return "  ".join(
        f"{name} {one.value:.4f} [{one.low:.4f}, {one.high:.4f}]" for name, one in figures.items()
    )
