"""The model of players' kills judged on maps that its fit has not seen: by cross-validation over matches, and
by time, the later half predicted by a fit to the earlier one.

    python -m scripts.fit.player_validation [--plot docs/player-kills.svg] [--folds 10]

Prints log losses of the count, beside those of one negative binomial for everybody that is fitted to the same
rows as the model, and of the simplest rule, the same with the mean moved by the player's own rate; with
intervals of whole maps.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import msgspec
import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes

from app.trading.lines import Distribution
from app.trading.player_kills import KillModel
from scripts.fit.players import fitted
from scripts.reality.judging import Judgement
from scripts.reality.place import real_data
from scripts.reality.player_predictions import KINDS, constant, judgement, losses, own_rates, predicted
from scripts.reality.player_rows import FILE, PlayerRow, earlier, read
from scripts.reality.scores import Floats, shown
from scripts.svg import save

matplotlib.rcParams.update({"svg.fonttype": "none"})

_TENTHS = np.linspace(0, 1, 11)
_BINS, _FEWEST, _SIGMAS = 20, 100, 2.0
_LINES = (-4, -2, 0, 2, 4)  #: from the line nearest to evens


class Held(msgspec.Struct, frozen=True):
    """Rows that a fit has not seen: their predictions by kind, and the log losses of the constant and of the
    simplest rule that were fitted to the same rows."""

    rows: list[PlayerRow]
    found: list[dict[str, Distribution]]
    references: dict[str, dict[str, Floats]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--folds", type=int, default=10)
    options = parser.parse_args()
    rows = list(read(real_data() / FILE))
    crossed = cross_validated(rows, options.folds)
    for title, one in {"over matches": crossed, "later half": held_out(rows, later(rows))}.items():
        for kind, found in judged(one).items():
            print(f"{title}, {kind}, {found.n}\n  ours     {shown(found.ours)}")
            for name, figures in found.references.items():
                print(f"  {name:8} {shown(figures)}")
    if options.plot:
        draw(crossed, options.plot)


def cross_validated(rows: Sequence[PlayerRow], folds: int) -> Held:
    """Each row predicted by a fit to the matches of the other folds."""
    return merged([held_out(rows, fold(rows, at, folds)) for at in range(folds)])


def fold(rows: Sequence[PlayerRow], at: int, folds: int) -> Floats:
    """Which rows are of this fold of the matches."""
    numbers = {match: number for number, match in enumerate(dict.fromkeys(one.match for one in rows))}
    return np.array([numbers[one.match] % folds == at for one in rows])


def later(rows: Sequence[PlayerRow]) -> Floats:
    """Which rows are of the later half of the matches."""
    numbers = {match: number for number, match in enumerate(dict.fromkeys(one.match for one in rows))}
    return np.array([numbers[one.match] >= len(numbers) / 2 for one in rows])


def held_out(rows: Sequence[PlayerRow], held: Floats) -> Held:
    """The rows that are held out, predicted by a fit to the others. What earlier rows show of a player comes
    from all of them, as when a file is predicted."""
    before = list(earlier(rows))
    others = [(row, known) for row, known, out in zip(rows, before, held, strict=True) if not out]
    known = [row for row, _ in others]
    every = predicted(rows, KillModel(fitted(known, [one for _, one in others])))
    chosen = [row for row, out in zip(rows, held, strict=True) if out]
    rate = sum(row.kills for row in known) / sum(row.rounds for row in known)
    own = own_rates([one for one, out in zip(before, held, strict=True) if out], rate)
    references = {
        kind: {"constant": constant(chosen, kind, known), "own rate": constant(chosen, kind, known, own)}
        for kind in KINDS
    }
    return Held(chosen, [one for one, out in zip(every, held, strict=True) if out], references)


def merged(parts: Sequence[Held]) -> Held:
    """The rows of all folds in the order of the file."""
    rows = [row for part in parts for row in part.rows]
    order = sorted(range(len(rows)), key=lambda at: rows[at].row)
    found = [one for part in parts for one in part.found]
    references = {
        kind: {
            name: np.concatenate([part.references[kind][name] for part in parts])[order]
            for name in parts[0].references[kind]
        }
        for kind in KINDS
    }
    return Held([rows[at] for at in order], [found[at] for at in order], references)


def judged(held: Held) -> dict[str, Judgement]:
    """By kind."""
    return {
        kind: judgement(
            held.rows, losses(held.rows, [one[kind] for one in held.found]), held.references[kind]
        )
        for kind in KINDS
    }


def draw(held: Held, path: Path) -> None:
    """For each kind where the counts lie in their distributions (all tenths alike when these are right), and
    how often lines near to evens were exceeded, with two standard errors of as many independent rows."""
    figure, panels = pyplot.subplots(1, 2 * len(KINDS), figsize=(11, 2.9))
    for at, kind in enumerate(KINDS):
        found = [one[kind] for one in held.found]
        _draw_places(panels[2 * at], held.rows, found, kind)
        _draw_lines(panels[2 * at + 1], held.rows, found, kind)
    save(figure, path)


def places(rows: Sequence[PlayerRow], found: Sequence[Distribution]) -> Floats:
    """The share of counts in each tenth of their distributions; a count lies evenly between the chances of
    fewer and of no more kills (C. Czado and others, "Predictive model assessment for count data", 2009)."""
    low = np.array([1 - one.over(row.kills - 0.5) for row, one in zip(rows, found, strict=True)])
    high = np.array([1 - one.over(row.kills + 0.5) for row, one in zip(rows, found, strict=True)])
    inside = np.clip((_TENTHS[:, None] - low) / np.maximum(high - low, 1e-12), 0, 1).mean(axis=1)
    return np.diff(inside)


def _draw_places(axes: Axes, rows: Sequence[PlayerRow], found: Sequence[Distribution], kind: str) -> None:
    axes.bar(_TENTHS[:-1] + 0.05, places(rows, found), width=0.09)
    axes.axhline(0.1, linewidth=0.8, color="grey")
    axes.set(title=f"{kind}: tenths", xlabel="of the distribution", ylim=(0, 0.15))


def lines(rows: Sequence[PlayerRow], found: Sequence[Distribution]) -> tuple[Floats, Floats]:
    """The chances to exceed lines near to evens, and whether they were exceeded."""
    chances, over = [], []
    for row, one in zip(rows, found, strict=True):
        evens = one.lines().first_at_most(0.5)
        for line in [max(evens + step, 0) + 0.5 for step in _LINES]:
            chances.append(one.over(line))
            over.append(float(row.kills > line))
    return np.array(chances), np.array(over)


def _draw_lines(axes: Axes, rows: Sequence[PlayerRow], found: Sequence[Distribution], kind: str) -> None:
    chances, over = lines(rows, found)
    bins = np.minimum((chances * _BINS).astype(int), _BINS - 1)
    counts = np.bincount(bins, minlength=_BINS)
    filled = np.flatnonzero(counts >= _FEWEST)
    predicted = np.bincount(bins, chances, _BINS)[filled] / counts[filled]
    observed = np.bincount(bins, over, _BINS)[filled] / counts[filled]
    axes.plot([0, 1], [0, 1], linewidth=0.8, color="grey")
    axes.errorbar(
        predicted, observed, _SIGMAS * np.sqrt(observed * (1 - observed) / counts[filled]), fmt="o", ms=3
    )
    axes.set(title=f"{kind}: lines", xlabel="predicted", ylabel="observed", xlim=(0, 1), ylim=(0, 1))


if __name__ == "__main__":
    main()
