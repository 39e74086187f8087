"""Logistic regression by Newton's method, with a quadratic penalty. Deterministic: no random numbers."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_STEPS, _CLOSE, _LONGEST = 60, 1e-8, 6.0
_EDGE = 1e-9


def logistic(values: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(values / 2)))


def fit(
    features: Floats,
    outcomes: Floats,
    penalty: Floats | float = 1.0,
    share: Floats | float = 1.0,
    counts: Floats | float = 1.0,
    offset: Floats | float = 0.0,
) -> Floats:
    """The weights under which `outcomes` (0 to 1) are likeliest, when their chances are `share` times the
    logistic function of the weighted features.

    `penalty`, one for all or one each: of half the square of a weight.
    `counts`: how much each row counts. `offset`: logits that are known beforehand.
    """
    rows, columns = features.shape
    ridge = np.broadcast_to(np.asarray(penalty, dtype=float), (columns,)) + _EDGE
    shares, counted = (np.broadcast_to(np.asarray(one, dtype=float), (rows,)) for one in (share, counts))
    weights = np.zeros(columns)
    for _ in range(_STEPS):
        chances = logistic(features @ weights + offset)
        expected = np.clip(shares * chances, _EDGE, 1 - _EDGE)
        slope = shares * chances * (1 - chances)
        spread = expected * (1 - expected)
        gradient = features.T @ (counted * (outcomes - expected) / spread * slope) - ridge * weights
        curvature = (features * (counted * slope * slope / spread)[:, None]).T @ features + np.diag(ridge)
        step = np.linalg.solve(curvature, gradient)
        weights = weights + step * min(1.0, _LONGEST / (_EDGE + float(np.abs(features @ step).max())))
        if np.abs(step).max() < _CLOSE:
            break
    return weights


def scaled(features: Floats, penalty: float = 1.0) -> Floats:
    """The penalty on weights of features measured in their standard deviations; none on a constant."""
    return np.asarray(penalty * features.var(axis=0))


def loss(chances: Floats, outcomes: Floats) -> float:
    """The mean log loss."""
    inside = np.clip(chances, _EDGE, 1 - _EDGE)
    return float(-np.mean(outcomes * np.log(inside) + (1 - outcomes) * np.log(1 - inside)))
