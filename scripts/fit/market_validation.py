"""Our chances to win a series beside the market's, without odds and with them as reference prices.

    python -m scripts.fit.market_validation [--plot docs/market.svg]

The series of cs2_series_odds_2026, ours by ratings from the maps of cs2_maps_2025_06_12 and by public points.
Two numbers of the blend were fitted to these series; ours without odds rest on them by the scale of points.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot

from app.trading.model import logit
from app.trading.reference_prices import fair
from scripts.fit import market, ratings
from scripts.reality import series, team_maps
from scripts.reality.place import real_data
from scripts.reality.series import KINDS, Series
from scripts.svg import save

matplotlib.rcParams.update({"svg.fonttype": "none"})
Chances = Mapping[str, Sequence[float]]  #: of team a, by what they rest on


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    rows = list(series.read(real_data() / market.FILE))
    chances = by_kind(rows)
    theirs = [logit(fair(one.odds)[0]) for one in rows]
    for kind, ours in chances.items():
        apart = np.array([logit(one) for one in ours]) - theirs
        far = [f"{(np.abs(apart) >= limit).sum()} of {len(rows)} by {limit}" for limit in (0.5, 1.2, 2.0)]
        print(f"{kind}: mean square of the difference in logits {np.mean(apart**2):.3f}; {', '.join(far)}")
    if options.plot:
        draw(rows, chances, options.plot)


def by_kind(rows: Sequence[Series]) -> Chances:
    """Our chances without odds and with them."""
    maps = list(team_maps.read(real_data() / ratings.LATER))
    found = list(series.predictions(rows, maps, KINDS))
    return {kind: [one.chance for one in found if one.kind == kind] for kind in KINDS}


def draw(rows: Sequence[Series], chances: Chances, path: Path) -> None:
    """A dot for each series: the market's chance and ours; filled where team a won."""
    theirs = np.array([fair(one.odds)[0] for one in rows])
    won = np.array([one.a_won for one in rows])
    figure, panels = pyplot.subplots(1, len(chances), figsize=(3.4 * len(chances), 3.3), sharey=True)
    for axes, (kind, ours) in zip(panels, chances.items(), strict=True):
        axes.plot([0, 1], [0, 1], linewidth=0.8, color="grey")
        for came, face in ((True, "C0"), (False, "none")):
            axes.scatter(theirs[won == came], np.array(ours)[won == came], s=18, color=face, edgecolor="C0")
        axes.set(title=kind, xlabel="market", xlim=(0, 1), ylim=(0, 1))
    panels[0].set_ylabel("ours")
    save(figure, path)


if __name__ == "__main__":
    main()
