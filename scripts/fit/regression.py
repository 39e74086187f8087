"""Logistic regression by Newton's method, with a quadratic penalty. Deterministic: no random numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_STEPS, _CLOSE = 60, 1e-9


def logistic(values: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(values / 2)))


def fit(features: Floats, outcomes: Floats, penalty: Floats | float, start: Any = None) -> Floats:
    """The weights that maximise the likelihood of `outcomes` (0 to 1) less half the weighted squares of
    weights.

    `penalty`: one for all features, or one each (0 leaves it free).
    """
    count = features.shape[1]
    ridge = np.broadcast_to(np.asarray(penalty, dtype=float), (count,))
    weights = np.zeros(count) if start is None else np.array(start, dtype=float)
    for _ in range(_STEPS):
        chances = logistic(features @ weights)
        gradient = features.T @ (outcomes - chances) - ridge * weights
        curvature = (features * (chances * (1 - chances))[:, None]).T @ features + np.diag(ridge + 1e-9)
        step = np.linalg.solve(curvature, gradient)
        weights = weights + step * min(1.0, 8.0 / (1e-12 + float(np.abs(features @ step).max())))
        if np.abs(step).max() < _CLOSE:
            break
    return weights
