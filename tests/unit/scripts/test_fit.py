"""Fits find what made the data, and judgements say how good predictions are."""

from pathlib import Path

import numpy as np
import pytest

from app.domain.references import MarketAnchor
from app.trading.market_anchor import blend
from app.trading.reference_prices import fair
from scripts.fit import market
from scripts.fit.regression import fit, logistic, loss, scaled
from scripts.reality import series
from scripts.reality.scores import Predictions, auc, brier, calibration_error, log_loss, measured

WEIGHTS = np.array([0.3, -1.2, 0.8])


def sample(count: int, share: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    features = np.column_stack([np.ones(count), random.normal(size=(count, 2))])
    chances = share * logistic(features @ WEIGHTS)
    return features, (random.random(count) < chances).astype(float)


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_a_regression_finds_the_weights(share: float) -> None:
    features, outcomes = sample(40_000, share)
    assert fit(features, outcomes, share=share) == pytest.approx(WEIGHTS, abs=0.07)


def test_a_regression_gives_the_same_each_time() -> None:
    features, outcomes = sample(500)
    assert (fit(features, outcomes) == fit(features, outcomes)).all()


def test_a_penalty_shrinks_all_but_the_constant() -> None:
    features, outcomes = sample(2_000)
    shrunk = fit(features, outcomes, scaled(features, 1e6))
    assert np.abs(shrunk[1:]).max() < 0.01
    assert logistic(shrunk[:1])[0] == pytest.approx(outcomes.mean(), abs=0.01)


def predictions(chances: list[float], outcomes: list[float]) -> Predictions:
    return Predictions(np.array(chances), np.array(outcomes), np.arange(len(chances)) // 2)


def test_measures_of_known_predictions() -> None:
    found = predictions([0.9, 0.8, 0.3, 0.2], [1.0, 1.0, 1.0, 0.0])
    assert log_loss(found) == pytest.approx(-np.log([0.9, 0.8, 0.3, 0.8]).mean())
    assert log_loss(found) == pytest.approx(loss(found.chances, found.outcomes))
    assert brier(found) == pytest.approx((0.01 + 0.04 + 0.49 + 0.04) / 4)
    assert auc(found) == 1.0
    assert calibration_error(found) == pytest.approx((0.1 + 0.2 + 0.7 + 0.2) / 4)


def test_ties_and_draws_count_half() -> None:
    assert auc(predictions([0.5, 0.5], [1.0, 0.0])) == 0.5
    assert auc(predictions([0.6, 0.4], [0.5, 0.5])) == 0.5


def test_an_interval_holds_its_value() -> None:
    random = np.random.default_rng(1)
    chances = random.random(400)
    found = predictions(list(chances), list((random.random(400) < chances).astype(float)))
    figures = measured(found)
    assert all(figure.low <= figure.high for figure in figures.values())
    assert figures["log_loss"].low <= figures["log_loss"].value <= figures["log_loss"].high


def test_odds_beat_public_points_and_the_blend_is_near_the_odds(data: Path) -> None:
    """On each half of the series by what the other half was fitted to."""
    path = data / "real" / market.FILE
    if not path.exists():
        pytest.skip(f"needs published series with odds; {path} is missing")
    rows = [one for one in series.read(path) if one.points is not None]
    for fitted, judged in ((rows[::2], rows[1::2]), (rows[1::2], rows[::2])):
        found = market.fitted(fitted)
        weight = found.own_error / (found.own_error + found.source_error)
        ours = [market.by_points(one, one.points or 0.0) for one in judged]
        theirs = [fair(one.odds)[0] for one in judged]
        anchors = (MarketAnchor(each, weight, 1, 0) for each in theirs)
        blended = [blend(own, anchor) for own, anchor in zip(ours, anchors, strict=True)]
        losses = [
            loss(np.array(each), np.array([one.a_won for one in judged])) for each in (ours, theirs, blended)
        ]
        assert losses[2] < losses[0] and losses[2] < losses[1] + 0.01
