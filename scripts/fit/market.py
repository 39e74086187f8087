"""What reference prices are worth beside our own chance to win a match (`market_anchor`).

On cs2_series_odds_2026, in logits of winning the series:

- `own_error`: the mean square of the difference between our chance, from the public ranking's points, and
  the fair probability of the odds. What the odds are off by themselves is small beside it: with the odds as
  they are the log loss of these series is the least that any blend of both reaches.
- `source_error`: what the odds of one bookmaker leave open, because their margin can be taken out in more
  than one way: the mean square of the difference between the power method and proportional inverse odds.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from app.trading.coefficients import DataSet, MarketCoefficients
from app.trading.model import logit
from app.trading.ratings import rating_model
from app.trading.reference_prices import fair
from scripts.reality import series
from scripts.reality.place import data_set
from scripts.reality.series import Series, map_scores

FILE = "cs2_series_odds_2026.csv"
_DIGITS = 4


def fit(data: Path) -> tuple[MarketCoefficients, list[DataSet]]:
    """The section `market`."""
    rows = list(series.read(data / FILE))
    found = data_set(data / FILE, len(rows), "2026-01-13 to 2026-02-18")
    return fitted(rows), [found]


def fitted(rows: Sequence[Series]) -> MarketCoefficients:
    """The coefficients that these rows give."""
    listed = [(one, one.points) for one in rows if one.points is not None]
    ours = (logit(by_points(one, points)) - logit(fair(one.odds)[0]) for one, points in listed)
    methods = (logit(fair(one.odds)[0]) - logit(_proportional(one.odds)) for one in rows)
    return MarketCoefficients(
        own_error=round(_mean_square(ours), _DIGITS), source_error=round(_mean_square(methods), _DIGITS)
    )


def by_points(one: Series, points: float) -> float:
    """Our chance that team a wins, from how many points of the public ranking it is ahead."""
    ends = map_scores(rating_model().of_points(points), one.best_of)
    return sum(chance for (a, b), chance in ends.items() if a > b)


def _proportional(odds: tuple[float, float]) -> float:
    a, b = (1 / each for each in odds)
    return a / (a + b)


def _mean_square(values: Iterable[float]) -> float:
    found = [value**2 for value in values]
    return sum(found) / len(found)
