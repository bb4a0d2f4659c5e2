"""Figures of the ROC curve inside a band of false- or true-positive rates.

The curve is the polyline through the points of all thresholds; scores that tie make a diagonal segment, as in
scikit-learn. Areas are integrated exactly, with interpolation where the band cuts a segment, and only the scores that
lie in the band are sorted.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.metrics import make_scorer

from rocband._errors import ParameterError
from rocband._input import check_rate, positive_label
from rocband.metrics.curve import share_under_curve, split_classes
from rocband.metrics.narrow import warn_if_narrow
from rocband.ranks import check_range, position
from rocband.risks.band import Band

__all__ = [
    "Normalize",
    "empirical_partial_auc",
    "froc_band",
    "partial_auc_score",
    "partial_auc_scorer",
    "tpr_at_fpr_score",
]

_Range = tuple[float, float]
_FULL = (0.0, 1.0)
Normalize = Literal["width", "none", "mcclish"]


def partial_auc_score(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    fpr_range: tuple[float, float] = _FULL,
    tpr_range: tuple[float, float] | None = None,
    normalize: Normalize = "width",
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
        The label of the positives. The greater of two numbers by default, with a `PositiveClassWarning` unless these
        are 0 and 1, or -1 and 1; required for labels that are not numbers.

    Returns
    -------
    float

    Warns
    -----
    NarrowBandWarning
        If the band holds less than one negative. The figure then rests on one or two of them. Given weights say nothing
        of how many there are, and there is no warning.

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
    fpr, tpr = _check_rectangle(fpr_range, tpr_range)
    _check_normalize(normalize, fpr, tpr)
    positives, negatives = split_classes(y_true, y_score, sample_weight, pos_label)
    if sample_weight is None:
        warn_if_narrow(fpr, len(negatives.scores), 1, "the figure rests on one or two of them", 3)
    share = share_under_curve(positives, negatives, fpr, tpr)
    return _normalized(share, fpr, tpr, normalize)


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
        The label of the positives. The greater of two numbers by default, with a `PositiveClassWarning` unless these
        are 0 and 1, or -1 and 1; required for labels that are not numbers.

    Returns
    -------
    float

    Examples
    --------
    >>> from rocband.metrics import empirical_partial_auc
    >>> empirical_partial_auc([0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.5, 0.7], fpr_range=(0.0, 0.5))
    0.75
    """
    positives, negatives = split_classes(y_true, y_score, None, pos_label)
    n = len(negatives.scores)
    band = Band.from_range(fpr_range, n)
    # Ascending order holds rank j of the falling order at n - j.
    lowest = n - band.stop
    highest = n - band.start - 1
    negatives.scores.partition((lowest, highest))
    rivals = np.sort(negatives.scores[lowest : highest + 1])
    # The left side counts the rivals strictly below: a tie is an error.
    n_beaten = np.searchsorted(rivals, positives.scores, side="left")
    n_pairs = len(positives.scores) * band.width
    return int(n_beaten.sum()) / n_pairs


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
        The label of the positives. The greater of two numbers by default, with a `PositiveClassWarning` unless these
        are 0 and 1, or -1 and 1; required for labels that are not numbers.

    Returns
    -------
    float

    Examples
    --------
    >>> from rocband.metrics import tpr_at_fpr_score
    >>> tpr_at_fpr_score([0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.5, 0.7], fpr=0.25)
    1.0
    """
    rate = check_rate(fpr)
    positives, negatives = split_classes(y_true, y_score, sample_weight, pos_label)
    if rate == 1.0:
        return 1.0
    threshold = negatives.first_beyond(rate)
    # The point lies on the segment of the scores that tie at the threshold: what share of it is to its left?
    missing = rate * negatives.total - negatives.above(threshold)
    share = min(max(missing, 0.0) / negatives.at(threshold), 1.0)
    height = positives.above(threshold) + share * positives.at(threshold)
    return height / positives.total


def partial_auc_scorer(
    fpr_range: tuple[float, float] = _FULL,
    *,
    tpr_range: tuple[float, float] | None = None,
    normalize: Normalize = "width",
    pos_label: object = None,
) -> Callable[..., float]:
    """Make a scorer for model selection, such as the ``scoring`` of a grid search.

    Parameters
    ----------
    fpr_range, tpr_range, normalize, pos_label
        As in :func:`partial_auc_score`, but ``pos_label`` is by default the second of the estimator's ``classes_``: the
        ``pos_label`` of an estimator that has one, or else the greater of two labels, with a `PositiveClassWarning`
        unless these are 0 and 1, -1 and 1, or False and True.

    Returns
    -------
    scorer : callable
        Called as ``scorer(estimator, X, y)``; it uses the estimator's ``decision_function`` or else ``predict_proba``.
        With scikit-learn's metadata routing it takes ``sample_weight``, where ``set_score_request`` asks for it.

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
    fpr, tpr = _check_rectangle(fpr_range, tpr_range)
    _check_normalize(normalize, fpr, tpr)
    return _PartialAUCScorer(pos_label, {"fpr_range": fpr, "tpr_range": tpr, "normalize": normalize})


class _PartialAUCScorer:
    """A scorer that asks the estimator which class is the positive one; scikit-learn's own look at the labels alone."""

    def __init__(self, pos_label: object, options: dict[str, object]) -> None:
        self._pos_label = pos_label
        self._options = options
        self._requests = self._scorer(pos_label)

    def __call__(self, estimator: Any, X: Any, y_true: Any, sample_weight: Any = None, **params: Any) -> float:
        """Return the partial AUC of an estimator's scores."""
        label = _positive_class(estimator) if self._pos_label is None else self._pos_label
        area: float = self._scorer(label)(estimator, X, y_true, sample_weight=sample_weight, **params)
        return area

    def set_score_request(self, **requests: bool | str | None) -> _PartialAUCScorer:
        """Say which metadata the scorer takes when scikit-learn routes them."""
        self._requests.set_score_request(**requests)
        return self

    def get_metadata_routing(self) -> Any:
        """Return which metadata the scorer takes."""
        return self._requests.get_metadata_routing()

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self._options.items())
        return f"partial_auc_scorer({options}, pos_label={self._pos_label!r})"

    def _scorer(self, pos_label: object) -> Any:
        methods = ("decision_function", "predict_proba")
        return make_scorer(partial_auc_score, response_method=methods, pos_label=pos_label, **self._options)


def _positive_class(estimator: Any) -> object:
    """Return the second of an estimator's classes, with a warning where nobody has said that it is the positive one."""
    classes = np.asarray(getattr(estimator, "classes_", ())).tolist()
    if len(classes) != 2:
        return None  # it is the labels or the scores that will be refused
    first, second = classes
    # Only where somebody has said so does the greater class come first.
    if getattr(estimator, "pos_label", None) is not None or first > second:
        return second
    return positive_label(first, second, None, "y")


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
    _check_count("n_images", n_images)
    _check_count("n_negatives", n_negatives)
    try:
        low, high = (float(count) for count in false_positives_per_image)
    except (TypeError, ValueError):
        problem = f"must be a pair (low, high) of numbers, got {false_positives_per_image!r}."
        raise ParameterError("false_positives_per_image", problem) from None
    lowest_rate = position(low, n_images) / n_negatives
    highest_rate = position(high, n_images) / n_negatives
    if not 0 <= lowest_rate < highest_rate <= 1:
        problem = (
            f"must satisfy 0 <= low < high <= {n_negatives / n_images:g}, the negatives in an image, "
            f"got {false_positives_per_image!r}."
        )
        raise ParameterError("false_positives_per_image", problem)
    return lowest_rate, highest_rate


def _check_count(name: str, number: object) -> None:
    if not isinstance(number, Integral) or number < 1:
        raise ParameterError(name, f"must be a whole number of at least 1, got {number!r}.")


def _check_rectangle(fpr_range: _Range, tpr_range: _Range | None) -> tuple[_Range, _Range]:
    fpr = check_range(fpr_range)
    tpr = _FULL if tpr_range is None else check_range(tpr_range, "tpr_range")
    return fpr, tpr


def _check_normalize(normalize: str, fpr: _Range, tpr: _Range) -> None:
    if normalize not in ("width", "none", "mcclish"):
        raise ParameterError("normalize", f"must be 'width', 'none' or 'mcclish', got {normalize!r}.")
    if normalize == "mcclish" and _FULL not in (fpr, tpr):
        problem = (
            "'mcclish' is defined for a band of one axis only; leave fpr_range or tpr_range at (0, 1), "
            "or use normalize='width'."
        )
        raise ParameterError("normalize", problem)


def _normalized(share: float, fpr: _Range, tpr: _Range, normalize: Normalize) -> float:
    if normalize == "width":
        return share
    if normalize == "none":
        return share * (fpr[1] - fpr[0]) * (tpr[1] - tpr[0])
    # Of the diagonal, the curve of chance, the mean TPR over a band of FPR, or the mean 1 - FPR over a band of TPR.
    chance = sum(fpr) / 2 if tpr == _FULL else 1 - sum(tpr) / 2
    return (1 + (share - chance) / (1 - chance)) / 2
