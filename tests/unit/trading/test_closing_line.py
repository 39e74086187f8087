"""Our prices beside the market's, by what came."""

from math import log
from random import Random

import pytest

from app.trading.closing_line import PricedGroup, PricedMarket, compared, fair_medians, slope
from app.trading.model import logistic

HOME, AWAY = (1, "team=home"), (1, "team=away")


def group(ours: float, theirs: float, odds: float | None, *, won: bool, millis: int = 0) -> PricedGroup:
    """A match's winner at a moment."""
    home = PricedMarket(HOME, ours, 0.5, odds, theirs, won)
    away = PricedMarket(AWAY, 1 - ours, 0.5, None, 1 - theirs, not won)
    return PricedGroup("match_winner", millis, (home, away))


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.6])
def test_the_slope_is_what_made_the_outcomes(factor: float) -> None:
    rng = Random(1)
    logits = [rng.gauss(0, 1) for _ in range(20_000)]
    forecasts = [(logistic(each), rng.random() < logistic(factor * each)) for each in logits]
    assert slope(forecasts) == pytest.approx(factor, abs=0.08)


def test_where_nothing_or_everything_fits_there_is_no_slope() -> None:
    assert slope([(0.6, True), (0.4, False)]) is None
    assert slope([(0.6, False), (0.4, True)]) is None
    assert slope([(0.5, True), (0.5, False)]) is None
    assert slope([]) is None


def test_families_are_compared_at_each_moment() -> None:
    found = compared(
        [
            group(0.6, 0.7, 1.5, won=True),
            group(0.6, 0.7, 1.4, won=False),
            group(0.5, 0.7, None, won=True, millis=3_600_000),
        ]
    )
    assert [(one.millis, one.groups) for one in found] == [(3_600_000, 1), (0, 2)]
    early, late = found
    assert late.ours == pytest.approx(-(log(0.6) + log(0.4)) / 2)
    assert late.theirs == pytest.approx(-(log(0.7) + log(0.3)) / 2)
    assert late.own == pytest.approx(log(2))
    assert (late.value_share, late.value) == (0.5, pytest.approx(0.025))
    assert (early.value_share, early.value, early.slope) == (0, 0, None)


def test_the_market_is_the_median_of_the_sources_that_have_the_whole_group() -> None:
    odds = {("a", HOME): 1.5, ("a", AWAY): 2.6, ("b", HOME): 1.6, ("b", AWAY): 2.4, ("c", HOME): 9.0}
    found = fair_medians(odds, (HOME, AWAY))
    assert sum(found.values()) == pytest.approx(1)
    assert found[HOME] == pytest.approx((1 / 1.55) / (1 / 1.55 + 1 / 2.5), abs=0.01)
    assert fair_medians(odds | {("d", HOME): 1.01, ("d", AWAY): 1.01}, (HOME, AWAY)) == found
    assert fair_medians({("c", HOME): 9.0}, (HOME, AWAY)) == {}
