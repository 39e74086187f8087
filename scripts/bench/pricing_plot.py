"""What was quoted against what came true, as a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from matplotlib import pyplot

from scripts.svg import save

#: Panel titles by phase and market type.
PANELS = {
    ("freeze", 13): "round winner before it begins",
    ("play", 13): "round winner in play",
    ("play", 19): "kills over, in play",
    ("freeze", 6): "map winner",
    ("freeze", 8): "total rounds over",
    ("freeze", 7): "round handicap",
}
_FEWEST = 50


class Counted(Protocol):
    count: int
    quoted: float
    won: int


def draw(bins: Mapping[tuple[str, int], Sequence[Counted]], path: Path) -> None:
    """One panel a market type; a dot a tenth of the scale, larger for more quotes."""
    figure, panels = pyplot.subplots(2, 3, figsize=(9.6, 6.4), sharex=True, sharey=True)
    for axes, (key, title) in zip(panels.flat, PANELS.items(), strict=True):
        filled = [one for one in bins.get(key, ()) if one.count >= _FEWEST]
        total = sum(one.count for one in filled)
        axes.plot([0, 1], [0, 1], linewidth=0.8, color="grey")
        axes.scatter(
            [one.quoted / one.count for one in filled],
            [one.won / one.count for one in filled],
            s=[12 + 240 * one.count / total for one in filled],
            alpha=0.7,
        )
        axes.set(title=title, xlim=(0, 1), ylim=(0, 1))
        axes.grid(visible=True, alpha=0.3)
    figure.supxlabel("quoted probability")
    figure.supylabel("share that came true")
    save(figure, path)
