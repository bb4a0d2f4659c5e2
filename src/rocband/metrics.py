"""Figures of the ROC curve inside a band of false- or true-positive rates.

The curve is the polyline through the points of all thresholds; scores that tie make a diagonal segment, as in
scikit-learn. Areas are integrated exactly, with interpolation where the band cuts a segment, and only the scores that
lie in the band are sorted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import make_scorer

from rocband.risks.band import Band, check_range

__all__ = ["empirical_partial_auc", "froc_band", "partial_auc_score", "partial_auc_scorer", "tpr_at_fpr_score"]

_Array = npt.NDArray[Any]
_Range = tuple[float, float]

_FULL = (0.0, 1.0)
# 0.29 * 100 falls short of 29 by rounding alone: a position counts as reached when it is this near, relatively.
_NOISE = 1e-9
_NORMALIZE = ("width", "none", "mcclish")


def partial_auc_score(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    fpr_range: tuple[float, float] = _FULL,
    tpr_range: tuple[float, float] | None = None,
    normalize: str = "width",
    sample_weight: npt.ArrayLike | None = None,
    pos_label: object = None,
) -> float:
    """Area under the ROC curve inside a band of false-positive rates, of true-positive rates, or both.

    The area is the part of the rectangle ``fpr_range`` x ``tpr_range`` that lies under the curve. With ``fpr_range``
    alone it is the integral of the TPR over that band of FPR; with ``tpr_range`` alone it is the integral of 1 - FPR
    over that band of TPR; with both it is the two-way partial AUC.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores, larger for what looks more positive.
    fpr_range, tpr_range : (float, float), default (0, 1)
        The band, with 0 <= low < high <= 1.
    normalize : {"width", "none", "mcclish"}, default "width"
        "width" divides by the area of the rectangle, so that a perfect curve has 1. "none" gives the area itself.
        "mcclish" rescales a band of one axis so that chance has 0.5 and a perfect curve 1 [1]_; this is what
        :func:`sklearn.metrics.roc_auc_score` returns for its ``max_fpr``.
    sample_weight : array-like of shape (n_samples,), optional
        Weights, finite and at least 0.
    pos_label : object, optional
        The label of the positives. The greater of two numbers by default; required for labels that are not numbers.

    Returns
    -------
    float

    References
    ----------
    .. [1] D. K. McClish (1989). Analyzing a portion of the ROC curve. Medical Decision Making 9(3), 190-195.

    Examples
    --------
    >>> from rocband.metrics import partial_auc_score
    >>> y_true = [0, 0, 0, 0, 1, 1]
    >>> y_score = [0.1, 0.2, 0.3, 0.6, 0.5, 0.7]
    >>> partial_auc_score(y_true, y_score, fpr_range=(0.0, 0.5))
    0.75
    >>> partial_auc_score(y_true, y_score, fpr_range=(0.0, 0.5), normalize="none")
    0.375
    >>> partial_auc_score(y_true, y_score, tpr_range=(0.5, 1.0))
    0.75
    """
    fpr, tpr = check_range(fpr_range), check_range(_FULL if tpr_range is None else tpr_range, "tpr_range")
    _check_normalize(normalize, fpr, tpr)
    positives, negatives = _split(y_true, y_score, sample_weight, pos_label)
    return _normalized(_share_under_curve(positives, negatives, fpr, tpr), fpr, tpr, normalize)


def empirical_partial_auc(
    y_true: npt.ArrayLike, y_score: npt.ArrayLike, *, fpr_range: tuple[float, float], pos_label: object = None
) -> float:
    """Share of pairs ranked correctly between the positives and the negatives whose ranks lie in the band.

    With n negatives, the band holds those from rank floor(n * low) + 1 to rank ceil(n * high) by falling score. A
    positive that ties with a negative counts as ranked wrongly. This is what training talks about; report
    :func:`partial_auc_score`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores, larger for what looks more positive.
    fpr_range : (float, float)
        The band of false-positive rates, with 0 <= low < high <= 1.
    pos_label : object, optional
        The label of the positives. The greater of two numbers by default; required for labels that are not numbers.

    Returns
    -------
    float

    Examples
    --------
    >>> from rocband.metrics import empirical_partial_auc
    >>> empirical_partial_auc([0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.5, 0.7], fpr_range=(0.0, 0.5))
    0.75
    """
    positives, negatives = _split(y_true, y_score, None, pos_label)
    n = len(negatives.scores)
    band = Band.from_range(fpr_range, n)
    # Ascending order holds rank j of the falling order at n - j.
    negatives.scores.partition((n - band.stop, n - band.start - 1))
    rivals = np.sort(negatives.scores[n - band.stop : n - band.start])
    beaten = np.searchsorted(rivals, positives.scores, side="left")
    return int(beaten.sum()) / (len(positives.scores) * band.width)


def tpr_at_fpr_score(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    fpr: float,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: object = None,
) -> float:
    """Height of the ROC curve, its true-positive rate, at one false-positive rate.

    Where the curve is vertical at ``fpr``, this is the upper end: the best TPR that a threshold with that FPR reaches.
    Between two points of the curve it is interpolated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores, larger for what looks more positive.
    fpr : float
        The false-positive rate, in [0, 1].
    sample_weight : array-like of shape (n_samples,), optional
        Weights, finite and at least 0.
    pos_label : object, optional
        The label of the positives. The greater of two numbers by default; required for labels that are not numbers.

    Returns
    -------
    float

    Examples
    --------
    >>> from rocband.metrics import tpr_at_fpr_score
    >>> tpr_at_fpr_score([0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.5, 0.7], fpr=0.25)
    1.0
    """
    rate = _check_rate(fpr)
    positives, negatives = _split(y_true, y_score, sample_weight, pos_label)
    if rate == 1.0:
        return 1.0
    threshold = negatives.first_beyond(rate)
    base, step = negatives.above(threshold), negatives.at(threshold)
    share = min(max(rate * negatives.total - base, 0.0) / step, 1.0)
    return (positives.above(threshold) + share * positives.at(threshold)) / positives.total


def partial_auc_scorer(
    fpr_range: tuple[float, float] = _FULL,
    *,
    tpr_range: tuple[float, float] | None = None,
    normalize: str = "width",
    pos_label: object = None,
) -> Callable[..., float]:
    """Make a scorer for model selection, such as the ``scoring`` of a grid search.

    Parameters
    ----------
    fpr_range, tpr_range, normalize, pos_label
        As in :func:`partial_auc_score`. Pass ``pos_label`` when the positives are not the greater label.

    Returns
    -------
    scorer : callable
        Called as ``scorer(estimator, X, y)``; it uses the estimator's ``decision_function`` or else ``predict_proba``.

    Notes
    -----
    Evaluate one ``pos_label`` at a time: given several scorers at once, scikit-learn computes an estimator's scores
    only once, for the positive label of the first.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from rocband.metrics import partial_auc_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scores = cross_val_score(GaussianNB(), X, y, cv=3, scoring=partial_auc_scorer((0.0, 0.1)))
    >>> scores.shape
    (3,)
    """
    fpr, tpr = check_range(fpr_range), check_range(_FULL if tpr_range is None else tpr_range, "tpr_range")
    _check_normalize(normalize, fpr, tpr)
    scorer: Callable[..., float] = make_scorer(
        partial_auc_score,
        response_method=("decision_function", "predict_proba"),
        fpr_range=fpr,
        tpr_range=tpr,
        normalize=normalize,
        pos_label=pos_label,
    )
    return scorer


def froc_band(
    false_positives_per_image: tuple[float, float], *, n_images: int, n_negatives: int
) -> tuple[float, float]:
    """Turn a range of false positives per image, the axis of a FROC curve, into a range of false-positive rates.

    Parameters
    ----------
    false_positives_per_image : (float, float)
        The range, with 0 <= low < high.
    n_images, n_negatives : int
        Number of images (patients, sessions, ...), and of negative candidates in all of them.

    Returns
    -------
    (float, float)
        The ``fpr_range`` for the same candidates.

    Examples
    --------
    The KDD Cup 2008 counted from 0.2 to 0.3 false alarms an image:

    >>> from rocband.metrics import froc_band
    >>> froc_band((0.2, 0.3), n_images=1000, n_negatives=50_000)
    (0.004, 0.006)
    """
    for name, number in (("n_images", n_images), ("n_negatives", n_negatives)):
        if not isinstance(number, Integral) or number < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {number!r}.")
    try:
        low, high = (float(rate) * n_images / n_negatives for rate in false_positives_per_image)
    except (TypeError, ValueError):
        raise ValueError(
            f"false_positives_per_image must be a pair (low, high) of numbers, got {false_positives_per_image!r}."
        ) from None
    if not 0 <= low < high <= 1:
        raise ValueError(
            f"false_positives_per_image must satisfy 0 <= low < high <= {n_negatives / n_images:g}, the negatives "
            f"in an image, got {false_positives_per_image!r}."
        )
    return low, high


@dataclass(frozen=True, slots=True)
class _Class:
    """Scores of one class, our own copy in no order, and their weights (None: each counts 1)."""

    scores: _Array
    weights: _Array | None
    total: float

    @classmethod
    def of(cls, scores: _Array, weights: _Array | None) -> _Class:
        return cls(scores, weights, float(len(scores) if weights is None else weights.sum(dtype=np.float64)))

    def amount(self, chosen: npt.NDArray[np.bool_]) -> float:
        """Weight of the chosen samples."""
        if self.weights is None:
            return float(np.count_nonzero(chosen))
        return float(self.weights.sum(where=chosen, dtype=np.float64))

    def above(self, score: object) -> float:
        return self.amount(self.scores > score)

    def at(self, score: object) -> float:
        return self.amount(self.scores == score)

    def between(self, low: object, high: object) -> _Class:
        chosen = (self.scores >= low) & (self.scores <= high)
        return _Class.of(self.scores[chosen], None if self.weights is None else self.weights[chosen])

    def span(self, low: float, high: float) -> tuple[Any, Any]:
        """Scores bottom <= top: at most the share ``low`` lies above top, at least ``high`` from bottom on."""
        if self.weights is not None:
            return self._weighted_bottom(self.weights, high), self.scores.max()
        n = len(self.scores)
        bottom, top = n - min(math.ceil(high * n), n), n - 1 - min(math.floor(low * n), n - 1)
        if (bottom, top) == (0, n - 1):
            return self.scores.min(), self.scores.max()
        self.scores.partition((bottom, top))
        return self.scores[bottom], self.scores[top]

    def _weighted_bottom(self, weights: _Array, high: float) -> Any:
        # There is no weighted partition: guess the rank from the count and double it until enough weight lies above.
        n = len(self.scores)
        rank = max(math.ceil(high * n), 1)
        while rank < n:
            bottom = np.partition(self.scores, n - rank)[n - rank]
            if self.amount(self.scores >= bottom) >= high * self.total:
                return bottom
            rank *= 2
        return self.scores.min()

    def first_beyond(self, rate: float) -> Any:
        """Largest score from which on more than ``rate`` of the class lies."""
        n = len(self.scores)
        if self.weights is None:
            index = n - 1 - min(math.floor(_past(rate * n)), n - 1)
            self.scores.partition(index)
            return self.scores[index]
        bottom = self._weighted_bottom(self.weights, min(_past(_past(rate)) + _NOISE, 1.0))
        ranked = _Ranked.of(self.between(bottom, self.scores.max()))
        rank = int(np.searchsorted(ranked.sums, _past(rate * self.total), side="right"))
        return ranked.scores[-min(rank, len(ranked.scores))]


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Sorted scores of one class, and the weight of the k largest for each k."""

    scores: _Array
    sums: _Array

    @classmethod
    def of(cls, sample: _Class) -> _Ranked:
        if sample.weights is None:
            return cls(np.sort(sample.scores), np.arange(len(sample.scores) + 1))
        order = np.argsort(sample.scores)
        falling = sample.weights[order[::-1]]
        return cls(sample.scores[order], np.concatenate(([0.0], np.cumsum(falling, dtype=np.float64))))

    def above_and_from(self, values: _Array) -> _Array:
        """For each value the weight above it, then the weight from it on: a, f, a, f, ..."""
        n = len(self.scores)
        ranks = np.empty(2 * len(values), dtype=np.intp)
        ranks[0::2] = n - np.searchsorted(self.scores, values, side="right")
        ranks[1::2] = n - np.searchsorted(self.scores, values, side="left")
        return self.sums[ranks]


def _share_under_curve(positives: _Class, negatives: _Class, fpr: _Range, tpr: _Range) -> float:
    """Share of the rectangle fpr x tpr that lies under the curve."""
    x, y = _polyline(positives, negatives, fpr, tpr)
    across, levels = _scaled(fpr, negatives.total), _scaled(tpr, positives.total)
    return min(_mean_height(x, y, across, levels) / (levels[1] - levels[0]), 1.0)


def _scaled(bounds: _Range, total: float) -> _Range:
    """Turn a range of rates into weights, low < high even where rounding would join them."""
    high = bounds[1] * total
    return min(bounds[0] * total, math.nextafter(high, 0.0)), high


def _polyline(positives: _Class, negatives: _Class, fpr: _Range, tpr: _Range) -> tuple[_Array, _Array]:
    """Points of the curve, as weights of negatives and positives, that decide the area in the rectangle.

    Before the curve has reached the low ends of both ranges nothing of it counts, and once it has passed either high
    end its shape no longer matters; so both parts are replaced by straight lines from (0, 0) and to the last corner.
    Between two scores of positives the curve is flat, so the positives' scores give all corners.
    """
    negative_span, positive_span = negatives.span(*fpr), positives.span(*tpr)
    bottom = max(negative_span[0], positive_span[0])
    top = max(min(negative_span[1], positive_span[1]), bottom)
    inner_positives, inner_negatives = (side.between(bottom, top) for side in (positives, negatives))
    ranked = _Ranked.of(inner_positives)
    corners = np.unique(ranked.scores)[::-1]
    x = _path(negatives, inner_negatives, top, _Ranked.of(inner_negatives).above_and_from(corners))
    y = _path(positives, inner_positives, top, ranked.above_and_from(corners))
    return x, y


def _path(side: _Class, inner: _Class, top: object, corners: _Array) -> _Array:
    """One coordinate of the points: the origin, where the band starts, its corners, where it ends, the far corner."""
    base = side.above(top)
    return np.concatenate(([0.0, base], corners + base, [base + inner.total, side.total]))


def _mean_height(x: _Array, y: _Array, across: _Range, levels: _Range) -> float:
    """Mean over ``across`` of the polyline's height, cut to ``levels`` and counted from the lower one."""
    left, right = np.maximum(x[:-1], across[0]), np.minimum(x[1:], across[1])
    chosen = np.flatnonzero(right > left)
    left, right = left[chosen], right[chosen]
    x0, x1, y0, y1 = x[chosen], x[chosen + 1], y[chosen], y[chosen + 1]
    slope = (y1 - y0) / (x1 - x0)
    start, stop = y0 + slope * (left - x0), y1 - slope * (x1 - right)
    heights, widths = _mean_cut(start, stop, *levels), right - left
    # The sum of the widths carries the same rounding as the pieces; high - low would not, in a very narrow band.
    return float((widths * heights).sum() / widths.sum())


def _mean_cut(start: _Array, stop: _Array, low: float | _Array, high: float | _Array) -> _Array:
    """Mean of min(max(h, low), high) - low along lines that rise from ``start`` to ``stop``, or are flat."""
    first, last = np.clip(start, low, high), np.clip(stop, low, high)
    inside, above = last - first, np.maximum(stop - np.maximum(start, high), 0)
    mean: _Array = (first - low + (last - low)) / 2
    np.divide(inside * mean + above * (high - low), stop - start, out=mean, where=stop > start)
    return mean


def _normalized(share: float, fpr: _Range, tpr: _Range, normalize: str) -> float:
    if normalize == "width":
        return share
    if normalize == "none":
        return share * (fpr[1] - fpr[0]) * (tpr[1] - tpr[0])
    chance = sum(fpr) / 2 if tpr == _FULL else 1 - sum(tpr) / 2
    return (1 + (share - chance) / (1 - chance)) / 2


def _past(position: float) -> float:
    return position * (1 + _NOISE)


def _check_normalize(normalize: str, fpr: _Range, tpr: _Range) -> None:
    if normalize not in _NORMALIZE:
        raise ValueError(f"normalize must be 'width', 'none' or 'mcclish', got {normalize!r}.")
    if normalize == "mcclish" and _FULL not in (fpr, tpr):
        raise ValueError(
            "normalize='mcclish' is defined for a band of one axis only; "
            "leave fpr_range or tpr_range at (0, 1), or use normalize='width'."
        )


def _check_rate(fpr: object) -> float:
    if not isinstance(fpr, Real) or isinstance(fpr, bool) or not 0 <= float(fpr) <= 1:
        raise ValueError(f"fpr must be a number in [0, 1], got {fpr!r}.")
    return float(fpr)


def _split(
    y_true: npt.ArrayLike, y_score: npt.ArrayLike, sample_weight: npt.ArrayLike | None, pos_label: object
) -> tuple[_Class, _Class]:
    """Check the input and part it into positives and negatives."""
    labels, scores = _vector(y_true, "y_true"), _vector(y_score, "y_score")
    _check_lengths(labels, scores, "y_score")
    _check_scores(scores)
    weights = None if sample_weight is None else _check_weights(sample_weight, labels)
    positive = _positive_mask(labels, pos_label)
    return _one_class(positive, scores, weights, "positives"), _one_class(~positive, scores, weights, "negatives")


def _one_class(chosen: npt.NDArray[np.bool_], scores: _Array, weights: _Array | None, name: str) -> _Class:
    side = _Class.of(scores[chosen], None if weights is None else weights[chosen])
    if side.total == 0:
        raise ValueError(f"The sample weights of the {name} sum to zero; give at least one of them a positive weight.")
    return side


def _vector(values: npt.ArrayLike, name: str) -> _Array:
    array = np.asarray(values)
    if array.ndim != 1:
        hint = "; pass the scores of the positive class alone" if name == "y_score" else ""
        raise ValueError(f"{name} must be one-dimensional, got an array of shape {array.shape}{hint}.")
    return array


def _check_lengths(labels: _Array, others: _Array, name: str) -> None:
    if len(labels) != len(others):
        raise ValueError(f"y_true has {len(labels)} entries but {name} has {len(others)}; pass one for each sample.")
    if len(labels) == 0:
        raise ValueError(f"y_true and {name} are empty; pass at least one positive and one negative.")


def _check_scores(scores: _Array) -> None:
    if scores.dtype.kind not in "fiub":
        raise ValueError(f"y_score must hold real numbers, got an array of dtype {scores.dtype}.")
    # The extremes show every NaN and infinity without an array of booleans.
    if not (np.isfinite(scores.min()) and np.isfinite(scores.max())):
        first = int(np.argmin(np.isfinite(scores)))
        raise ValueError(f"y_score holds {scores[first]} at position {first}; remove or replace what is not finite.")


def _check_weights(sample_weight: npt.ArrayLike, labels: _Array) -> _Array:
    weights = _vector(sample_weight, "sample_weight")
    _check_lengths(labels, weights, "sample_weight")
    if weights.dtype.kind not in "fiub":
        raise ValueError(f"sample_weight must hold real numbers, got an array of dtype {weights.dtype}.")
    if not (weights.min() >= 0 and np.isfinite(weights.max())):
        first = int(np.argmin((weights >= 0) & np.isfinite(weights)))
        raise ValueError(
            f"sample_weight holds {weights[first]} at position {first}; weights must be finite and at least 0."
        )
    return weights


def _positive_mask(labels: _Array, pos_label: object) -> npt.NDArray[np.bool_]:
    low, high = _two_labels(labels)
    if pos_label is None and not isinstance(high, Real):
        raise ValueError(f"y_true holds the labels {low!r} and {high!r}; say which is positive with pos_label.")
    if pos_label is not None and pos_label not in (low, high):
        raise ValueError(f"pos_label={pos_label!r} is not among the labels of y_true, {low!r} and {high!r}.")
    return np.asarray(labels == (high if pos_label is None else pos_label))


def _two_labels(labels: _Array) -> tuple[Any, Any]:
    """Return the two labels, the lesser first."""
    # Sorting millions of labels would cost more than the metric: for numbers, the extremes tell.
    if labels.dtype.kind in "biuf":
        low, high = labels.min().item(), labels.max().item()
    else:
        low, high = _extremes(labels)
    if isinstance(low, float) and math.isnan(low):
        raise ValueError("y_true holds NaN; pass the labels of two classes.")
    if low == high:
        raise ValueError(f"y_true holds only the label {low!r}; a ROC curve needs positives and negatives.")
    others = len(labels) - np.count_nonzero(labels == low) - np.count_nonzero(labels == high)
    if others:
        raise ValueError(
            f"y_true holds more labels than {low!r} and {high!r}, in {others} of {len(labels)} entries; "
            "pass the labels of two classes."
        )
    return low, high


def _extremes(labels: _Array) -> tuple[Any, Any]:
    try:
        distinct = np.unique(labels).tolist()
    except TypeError:
        raise ValueError("y_true mixes labels that cannot be compared; pass labels of one type.") from None
    return distinct[0], distinct[-1]
