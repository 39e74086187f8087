"""Plots as SVG files: the same bytes for the same figures."""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot
from matplotlib.figure import Figure

matplotlib.rcParams.update(
    {"svg.hashsalt": "matchfeed", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}
)


def save(figure: Figure, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
