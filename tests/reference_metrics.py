"""The ROC polyline in rational arithmetic, slow and exact."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

Point = tuple[Fraction, Fraction]
Range = tuple[float, float]


def roc_points(labels: Sequence[int], scores: Sequence[float], weights: Sequence[float] | None = None) -> list[Point]:
    """Corners of the ROC curve, one for each distinct threshold, from (0, 0) to (1, 1)."""
    amounts = [Fraction(1)] * len(labels) if weights is None else [Fraction(weight) for weight in weights]
    totals = [
        sum((w for w, label in zip(amounts, labels, strict=True) if label == side), Fraction(0)) for side in (0, 1)
    ]
    points = [(Fraction(0), Fraction(0))]
    for threshold in sorted(set(scores), reverse=True):
        steps = [Fraction(0), Fraction(0)]
        for label, score, weight in zip(labels, scores, amounts, strict=True):
            if score == threshold:
                steps[label] += weight
        x, y = points[-1]
        points.append((x + steps[0] / totals[0], y + steps[1] / totals[1]))
    return points


def area_in_rectangle(points: Sequence[Point], fpr_range: Range = (0, 1), tpr_range: Range = (0, 1)) -> Fraction:
    """Area under the polyline inside the rectangle, piece by piece."""
    left, right = map(Fraction, fpr_range)
    low, high = map(Fraction, tpr_range)
    area = Fraction(0)
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if x1 == x0:
            continue
        slope = (y1 - y0) / (x1 - x0)
        cuts = {x0, x1, left, right}
        if slope:
            cuts |= {x0 + (level - y0) / slope for level in (low, high)}
        inside = sorted(x for x in cuts if max(x0, left) <= x <= min(x1, right))
        for a, b in itertools.pairwise(inside):
            middle = y0 + slope * ((a + b) / 2 - x0)
            area += (b - a) * (min(max(middle, low), high) - low)
    return area


def height_at(points: Sequence[Point], fpr: Fraction) -> Fraction:
    """Upper end of the polyline at one false-positive rate."""
    best = Fraction(0)
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if x0 <= fpr <= x1:
            best = max(best, y1 if x1 == fpr else y0 + (y1 - y0) * (fpr - x0) / (x1 - x0))
    return best


def ranked_pairs(labels: Sequence[int], scores: Sequence[float], start: int, stop: int) -> Fraction:
    """Share of pairs ranked correctly, over the negatives of ranks start < j <= stop."""
    positives = [score for label, score in zip(labels, scores, strict=True) if label == 1]
    negatives = sorted((score for label, score in zip(labels, scores, strict=True) if label == 0), reverse=True)
    wins = sum(p > z for p in positives for z in negatives[start:stop])
    return Fraction(wins, len(positives) * (stop - start))
