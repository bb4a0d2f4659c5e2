"""An objective for gradient boosters: the logistic loss of the pairs of positives and the band's negatives.

It is what a user of XGBoost or LightGBM would write. The band's negatives are those that the scores so far put there,
so the first half of the trees is grown with the log-loss and the objective takes over from their scores.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from rocband.risks import Band as Ranks

_PAIRS = 2_000_000  # at a time
_FLOOR = 1e-6  # of second derivatives: rows outside the band have none


def in_band(y: np.ndarray, scores: np.ndarray, fpr_range: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the positives and of the negatives whose ranks lie in the band."""
    positives = np.flatnonzero(y == 1)
    negatives = np.flatnonzero(y != 1)
    ranks = Ranks.from_range(fpr_range, len(negatives))
    order = negatives[np.argsort(-scores[negatives], kind="stable")]
    return positives, order[ranks.start : ranks.stop]


def band_objective(
    fpr_range: tuple[float, float],
) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return what gives first and second derivatives, in the scores, of the pair loss.

    That is the sum over the positives s of the mean of log(1 + exp(z - s)) over the band's negatives z.
    """

    def derivatives(y: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        positives, chosen = in_band(y, scores, fpr_range)
        first = np.zeros(len(y))
        second = np.full(len(y), _FLOOR)
        step = max(_PAIRS // len(chosen), 1)
        for start in range(0, len(positives), step):
            rows = positives[start : start + step]
            wrong = expit(scores[chosen] - scores[rows, None])
            curved = wrong * (1 - wrong)
            first[rows] -= wrong.mean(axis=1)
            first[chosen] += wrong.sum(axis=0) / len(chosen)
            second[rows] += curved.mean(axis=1)
            second[chosen] += curved.sum(axis=0) / len(chosen)
        return first, second

    return derivatives
