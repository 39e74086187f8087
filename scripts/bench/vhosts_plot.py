"""Start-up, fail-over and memory against the number of tenants, as a picture."""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib import pyplot

from scripts.svg import save

_SECONDS = (
    "all nodes started",
    "node started again",
    "feed serves all",
    "fail-over, median client",
    "fail-over, last client",
)
_MEMORY = ("broker, vhosts alone", "broker, with connections", "feed")


def draw(found: Mapping[int, Mapping[str, Sequence[float]]], path: Path) -> None:
    """Two panels, seconds and MiB by tenants: medians, with the range of the repetitions."""
    figure, panels = pyplot.subplots(1, 2, figsize=(9.6, 4))
    for axes, names, label in zip(panels, (_SECONDS, _MEMORY), ("seconds", "MiB"), strict=True):
        for name in names:
            values = [figures[name] for figures in found.values()]
            medians = [statistics.median(each) for each in values]
            below = [median - min(each) for median, each in zip(medians, values, strict=True)]
            above = [max(each) - median for median, each in zip(medians, values, strict=True)]
            axes.errorbar(
                list(found), medians, [below, above], marker="o", markersize=3, capsize=2, label=name
            )
        axes.set(xlabel="tenants", ylabel=label, xlim=(0, None), ylim=(0, None))
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize=7)
    save(figure, path)
