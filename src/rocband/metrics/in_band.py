"""The partial AUC from the few scores that decide it, wherever the others are."""

from __future__ import annotations

import numpy as np

from rocband._types import FloatArray
from rocband.metrics.scores import Normalize, partial_auc_score
from rocband.ranks import ranks_touched
from rocband.risks.scores import Scores

__all__ = ["area_from_top", "partial_auc_of", "ranks_in_band"]


def partial_auc_of(scores: Scores, fpr_range: tuple[float, float]) -> float:
    """Return the partial AUC of scores of the two classes; only the highest negatives are asked for."""
    n_positives = len(scores.positives)
    n_negatives = len(scores.negatives)
    top = scores.negatives.reaching(ranks_in_band(fpr_range, n_negatives))
    return area_from_top(scores.positives, top, (n_positives, n_negatives), fpr_range)


def ranks_in_band(fpr_range: tuple[float, float], n_negatives: int) -> int:
    """How many of the highest negatives decide the area."""
    return max(ranks_touched(fpr_range[1], n_negatives), 1)


def area_from_top(
    positives: FloatArray,
    top: FloatArray,
    sizes: tuple[int, int],
    fpr_range: tuple[float, float],
    normalize: Normalize = "width",
) -> float:
    """Partial AUC from the scores of the highest negatives and of the positives that reach them.

    All others, ``sizes`` less these, lie lower and beyond the band: one score of that weight stands for each class. So
    ``top`` must hold all negatives that tie with the lowest of it: they share one segment of the curve.
    """
    lowest = float(top.min())
    reaching = positives[positives >= lowest]
    counts = (len(reaching), len(top))
    lower = np.full(2, np.nextafter(lowest, -np.inf))
    scores = np.concatenate([reaching, top, lower])
    labels = np.concatenate([np.repeat([1, 0], counts), [1, 0]])
    weights = np.concatenate([np.ones(sum(counts)), np.subtract(sizes, counts)])
    return partial_auc_score(
        labels, scores, fpr_range=fpr_range, normalize=normalize, sample_weight=weights, pos_label=1
    )
