"""The round model judged by cross-validation over maps: each tenth of them is predicted by a fit to the
others.

    python -m scripts.fit.validation [--plot docs/reliability.svg] [--folds 10]

Prints log loss, Brier score, AUC and calibration error with intervals (whole maps drawn again), by phase, and
what each absent line costs in log loss.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import matplotlib
import msgspec
import numpy as np
from matplotlib import pyplot

from app.trading.coefficients import RoundCoefficients
from app.trading.round_features import GROUPS
from app.trading.round_model import ct_wins
from app.trading.round_state import RoundPhase
from scripts.fit.phases import everything, without
from scripts.fit.rounds import FILE, NAME, Winners, fitted
from scripts.reality.labels import round_winners
from scripts.reality.place import real_data
from scripts.reality.round_predictions import IN_ROUND_SECONDS, RoundPredictor
from scripts.reality.scores import Predictions, log_loss, measured, shown
from scripts.reality.snapshots import Snapshot, read
from scripts.svg import save

matplotlib.rcParams.update({"svg.fonttype": "none"})

_EDGE = 1e-6
_BINS, _FEWEST, _SIGMAS = 20, 30, 2.0  #: of the picture
#: What is judged: the title, and which rows.
KINDS: dict[str, Callable[[Snapshot], bool]] = {
    "before the round": lambda row: row.opens_round,
    "in the round": lambda row: row.time_left <= IN_ROUND_SECONDS,
    "before a plant": lambda row: row.time_left <= IN_ROUND_SECONDS and row.state.phase == "live",
    "after a plant": lambda row: row.state.phase == "planted",
}


class Held(msgspec.Struct, frozen=True):
    """A row that its fit has not seen: CT's chance, and without each group of what may be unknown."""

    row: Snapshot
    chance: float
    absent: dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--folds", type=int, default=10)
    options = parser.parse_args()
    snapshots = list(read(real_data() / FILE))
    winners = round_winners(snapshots)
    held = [one for fold in range(options.folds) for one in _held(snapshots, winners, fold, options.folds)]
    judged = {
        kind: _judged([one for one in held if chosen(one.row)], winners) for kind, chosen in KINDS.items()
    }
    for kind, found in judged.items():
        print(f"{kind}, {len(found.chances)}: {shown(measured(found))}")
    _print_costs(held, winners)
    if options.plot:
        draw(judged, options.plot)


def _held(snapshots: Sequence[Snapshot], winners: Winners, fold: int, folds: int) -> Iterator[Held]:
    """The rows of every tenth map, predicted by a fit to the others."""
    coefficients = fitted([one for one in snapshots if one.map_index % folds != fold], winners, _subsets)
    predictor = RoundPredictor(coefficients, NAME)
    for row in snapshots:
        if row.map_index % folds == fold:
            chance = predictor.follow(row)
            yield Held(row, chance, _absent(row, predictor.ct_logit, coefficients))


def _subsets(phase: RoundPhase) -> list[int]:
    """All known, all but one group, and nothing."""
    known = everything(phase)
    return [known, 0, *(known & ~(1 << bit) for bit in range(len(GROUPS[phase])) if known & ~(1 << bit))]


def _absent(row: Snapshot, ct_logit: float, coefficients: RoundCoefficients) -> dict[str, float]:
    groups, known = GROUPS[row.state.phase], everything(row.state.phase)
    masks = {group: known & ~(1 << bit) for bit, group in enumerate(groups)} | {"all of these": 0}
    return {group: ct_wins(without(row.state, mask), ct_logit, coefficients) for group, mask in masks.items()}


def _judged(held: Sequence[Held], winners: Winners, absent: str | None = None) -> Predictions:
    chances = np.array([one.chance if absent is None else one.absent[absent] for one in held])
    return Predictions(
        np.clip(chances, _EDGE, 1 - _EDGE),
        np.array([float(winners[one.row.key]) for one in held]),
        np.array([one.row.map_index for one in held]),
    )


def draw(judged: Mapping[str, Predictions], path: Path) -> None:
    """One panel for each kind: a dot for each twentieth of the scale, larger for more predictions, with two
    standard errors of as many independent ones."""
    figure, panels = pyplot.subplots(1, len(judged), figsize=(2.6 * len(judged), 2.9), sharey=True)
    for axes, (title, found) in zip(np.atleast_1d(panels), judged.items(), strict=True):
        bins = np.minimum((found.chances * _BINS).astype(int), _BINS - 1)
        counts = np.bincount(bins, minlength=_BINS)
        filled = np.flatnonzero(counts >= _FEWEST)
        predicted = np.bincount(bins, found.chances, _BINS)[filled] / counts[filled]
        observed = np.bincount(bins, found.outcomes, _BINS)[filled] / counts[filled]
        errors = _SIGMAS * np.sqrt(observed * (1 - observed) / counts[filled])
        axes.plot([0, 1], [0, 1], linewidth=0.8, color="grey")
        axes.errorbar(predicted, observed, errors, fmt="none", linewidth=0.8)
        axes.scatter(predicted, observed, s=6 + 90 * counts[filled] / counts.max(), alpha=0.7)
        axes.set(title=title, xlim=(0, 1), ylim=(0, 1), xlabel="predicted")
    np.atleast_1d(panels)[0].set_ylabel("observed")
    save(figure, path)


def _print_costs(held: Sequence[Held], winners: Winners) -> None:
    """What each absent line costs in log loss."""
    for kind, chosen in KINDS.items():
        rows = [one for one in held if chosen(one.row)]
        if kind == "in the round":
            continue
        least = log_loss(_judged(rows, winners))
        costs = {
            group: log_loss(_judged([one for one in rows if group in one.absent], winners, group)) - least
            for group in rows[0].absent
        }
        print(f"{kind}, without: " + ", ".join(f"{group} {cost:+.4f}" for group, cost in costs.items()))


if __name__ == "__main__":
    main()
