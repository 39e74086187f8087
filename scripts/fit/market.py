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
from app.trading.model import Skill, logit
from app.trading.ratings import rating_model
from app.trading.reference_prices import fair
from app.trading.skill import Format, match_chance
from scripts.reality import series_odds
from scripts.reality.place import data_set
from scripts.reality.series_odds import Series

FILE = "cs2_series_odds_2026.csv"
_ROUNDS, _OVERTIME = 24, 6
_DIGITS = 4


def fit(data: Path) -> tuple[MarketCoefficients, list[DataSet]]:
    """The section `market`."""
    rows = list(series_odds.read(data / FILE))
    found = data_set(data / FILE, len(rows), f"{rows[0].date} to {rows[-1].date}")
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
    model = rating_model()
    mean, variance = model.skill(model.of_strength(points, 0), model.of_strength(0.0, 0), _ROUNDS)
    return match_chance(Format(one.best_of, _ROUNDS, _OVERTIME), Skill(mean, variance**0.5))


def _proportional(odds: tuple[float, float]) -> float:
    a, b = (1 / each for each in odds)
    return a / (a + b)


def _mean_square(values: Iterable[float]) -> float:
    found = [value**2 for value in values]
    return sum(found) / len(found)
