"""What REST costs against how much is stored, as a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib import pyplot

from scripts.svg import save


def draw(points: Sequence[tuple[int, Mapping[str, float]]], path: Path) -> None:
    """A line for each request: milliseconds by stored matches; both axes by tens."""
    figure, axes = pyplot.subplots(figsize=(7.2, 4.2))
    sizes = [size for size, _ in points]
    for name in points[0][1]:
        axes.plot(sizes, [millis[name] for _, millis in points], marker="o", markersize=3, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("stored matches (25 timeline rows each)")
    axes.set_ylabel("ms an answer (the quickest tenth)")
    axes.legend(fontsize=7, ncols=2)
    axes.grid(linewidth=0.3)
    save(figure, path)
