"""Slow resampling and numerical derivatives, one sample at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rocband.metrics import partial_auc_score, tpr_at_fpr_score

Score = Callable[..., float]


def scorer(**figure) -> Score:
    """The metric for ``fpr=...`` or for ranges."""
    metric = tpr_at_fpr_score if "fpr" in figure else partial_auc_score
    return lambda y, scores, **options: metric(y, scores, **figure, **options)


def resampled(y, scores, counts, **figure) -> float:
    """The figure of a sample in which each member appears so many times."""
    return scorer(**figure)(np.repeat(y, counts), np.repeat(scores, counts))


def derivative(y, scores, index, step=1e-6, **figure) -> float:
    """How the figure changes with the weight of one sample."""
    score = scorer(**figure)
    weights = np.ones(len(y))
    values = []
    for sign in (1, -1):
        weights[index] = 1 + sign * step
        values.append(score(y, scores, sample_weight=weights))
    return (values[0] - values[1]) / (2 * step)


def delong_variance(positives, negatives) -> float:
    """DeLong's variance of the AUC from all pairs."""
    wins = (positives[:, None] > negatives) + 0.5 * (positives[:, None] == negatives)
    return wins.mean(axis=1).var(ddof=1) / len(positives) + wins.mean(axis=0).var(ddof=1) / len(negatives)


def spaced_curve(positives, negatives, positive_gaps, negative_gaps):
    """Points of the curve whose gaps between sorted scores are given, for scores without ties, by falling score."""
    merged = sorted([(-s, 1) for s in positives] + [(-s, 0) for s in negatives])
    labels = [label for _, label in merged]
    points = []
    for axis, gaps in ((1, positive_gaps), (0, negative_gaps)):
        ends = [k + 1 for k, label in enumerate(labels) if label == axis]
        places, rates = [0, *ends, len(labels) + 1], np.concatenate(([0.0], np.cumsum(gaps)))
        points.append(np.interp(np.arange(len(labels) + 2), places, rates))
    return points[1], points[0]


def bowed_curve(positives, negatives, positive_gaps, negative_gaps):
    """Points of the highest curve with these gaps, or of the lowest for a scorer that is worse than chance.

    Between two negatives the curve is at most as high as at the next positive below both, and at least as high as at
    the last positive above both.
    """
    across, up = (np.concatenate(([0.0], np.cumsum(gaps))) for gaps in (negative_gaps, positive_gaps))
    above = [sum(p > n for p in positives) for n in sorted(negatives, reverse=True)]
    better = 2 * sum(above) >= len(positives) * len(negatives)
    heights = [*(up[k + 1] for k in above), up[-1]] if better else [0.0, *(up[k] for k in above)]
    return np.repeat(across, 2)[1:-1], np.repeat(heights, 2)


def rank_ranges(scores):
    """The ranks among all samples that each shares with those it ties with: how many are above, how many not below."""
    scores = np.asarray(scores)
    return [(int((scores > s).sum()), int((scores >= s).sum())) for s in scores]


def spread_sample(y, ranges):
    """One row for each rank of each sample, so that a sample counts 1 in all: labels, scores, weights, owners."""
    rows = [
        (y[k], -rank, 1 / (stop - start), k) for k, (start, stop) in enumerate(ranges) for rank in range(start, stop)
    ]
    return (np.array(column) for column in zip(*rows, strict=True))


def exchanged_statistic(y, first, second, exchanged, **figure) -> tuple[float, float]:
    """The difference after some samples exchanged their ranks, and its standard error, from numerical derivatives."""
    pairs = [(b, a) if swap else (a, b) for a, b, swap in zip(first, second, exchanged, strict=True)]
    values, slopes = [], []
    for column in range(2):
        labels, scores, weights, owners = spread_sample(y, [pair[column] for pair in pairs])
        score = scorer(**figure)
        values.append(score(labels, scores, sample_weight=weights))
        slopes.append([_slope(score, labels, scores, weights, owners == k) for k in range(len(y))])
    influence = np.subtract(*slopes)
    parts = [influence[y == side] for side in (1, 0)]
    variance = sum(np.sum((part - part.mean()) ** 2) * len(part) / (len(part) - 1) for part in parts)
    return values[0] - values[1], np.sqrt(variance)


def _slope(score, labels, scores, weights, chosen, step=1e-6):
    ends = [score(labels, scores, sample_weight=weights * (1 + sign * step * chosen)) for sign in (1, -1)]
    return (ends[0] - ends[1]) / (2 * step)
