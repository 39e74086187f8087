"""What somebody wins who sees play earlier, by how much earlier, as a picture."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from matplotlib import pyplot
from matplotlib.axes import Axes

from app.trading.registry import RULES
from scripts.svg import save

#: Panel titles, and the market types in each.
PANELS: dict[str, tuple[int, ...]] = {
    "round winner, kills": (13, 19, 20),
    "first kill of the round": (14, 15, 16),
    "how a round ends": (17, 18, 21, 29, 30),
    "match, map, races": (1, 6, 11, 22, 23),
    "handicap, totals": (7, 8, 9, 10, 25, 26, 27, 28),
    "pistol rounds": (12, 24),
}
_STYLES = ("-", "--")


class Measured(Protocol):
    @property
    def mean(self) -> float: ...

    @property
    def error(self) -> float: ...


def draw(by_source: Mapping[str, Mapping[int, Mapping[int, Measured]]], path: Path) -> None:
    """One panel a family; solid lines are the first source, dashed ones the second."""
    figure, panels = pyplot.subplots(2, 3, figsize=(11, 7), sharex=True, sharey=True)
    for axes, (title, types) in zip(panels.flat, PANELS.items(), strict=True):
        axes.axhline(0, linewidth=0.8, color="grey")
        axes.axvline(2, linewidth=0.8, color="grey", linestyle=":")
        for index, type_id in enumerate(types):
            for style, (source, returns) in zip(_STYLES, by_source.items(), strict=False):
                _line(axes, returns.get(type_id, {}), f"C{index}", style, _label(type_id, source, style))
        axes.set(title=title, ylim=(-1.05, 1.5))
        axes.grid(visible=True, alpha=0.3)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=7, loc="upper left")
    figure.supxlabel("seconds that the bettor is ahead of our log")
    figure.supylabel("mean return of a bet")
    save(figure, path)


def _label(type_id: int, source: str, style: str) -> str:
    return RULES[type_id].key if style == _STYLES[0] else f"{RULES[type_id].key}, {source}"


def _line(axes: Axes, by_lead: Mapping[int, Measured], colour: str, style: str, label: str) -> None:
    if not by_lead:
        return
    leads = list(by_lead)
    means = [one.mean for one in by_lead.values()]
    errors = [0.0 if math.isnan(one.error) else one.error for one in by_lead.values()]
    axes.plot(leads, means, style, color=colour, marker=".", linewidth=1, label=label)
    axes.fill_between(
        leads,
        [mean - error for mean, error in zip(means, errors, strict=True)],
        [mean + error for mean, error in zip(means, errors, strict=True)],
        color=colour,
        alpha=0.15,
        linewidth=0,
    )
