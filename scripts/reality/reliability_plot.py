"""Predicted chances against observed shares, as a picture."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot

from scripts.reality.scores import Predictions
from scripts.svg import save

matplotlib.rcParams.update({"svg.fonttype": "none"})

_BINS, _FEWEST, _SIGMAS = 20, 30, 2.0


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
        axes.grid(visible=True, alpha=0.3)
    np.atleast_1d(panels)[0].set_ylabel("observed")
    save(figure, path)
