"""Labels, scores and rates as users pass them: checked, with one sentence for what is wrong."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from rocband._errors import ParameterError
from rocband._types import AnyArray, BoolArray
from rocband._warnings import PositiveClassWarning, warn

__all__ = [
    "check_lengths",
    "check_open",
    "check_rate",
    "check_scores",
    "check_weights",
    "positive_label",
    "positive_mask",
    "two_labels",
    "vector",
]

# Kinds of array whose entries are real numbers: floating point, integers with and without a sign, and booleans.
_REAL_KINDS = "fiub"
# Of these everybody takes the greater for the positive class; to Python, True is 1 and False is 0.
_PLAIN_PAIRS = ({0, 1}, {-1, 1})


def vector(values: npt.ArrayLike, name: str) -> AnyArray:
    """Return what was passed as ``name`` as a one-dimensional array."""
    array = np.asarray(values)
    if array.ndim != 1:
        hint = "; pass the scores of the positive class alone" if name == "y_score" else ""
        raise ParameterError(name, f"must be one-dimensional, got an array of shape {array.shape}{hint}.")
    return array


def check_lengths(labels: AnyArray, others: AnyArray, name: str) -> None:
    """Say so when there is not one of the others for each label, or no label at all."""
    if len(labels) != len(others):
        problem = f"has {len(labels)} entries but {name} has {len(others)}; pass one for each sample."
        raise ParameterError("y_true", problem)
    if len(labels) == 0:
        raise ParameterError("y_true", f"and {name} are empty; pass at least one positive and one negative.")


def check_scores(scores: AnyArray) -> None:
    """Say so when scores are not finite real numbers."""
    if scores.dtype.kind not in _REAL_KINDS:
        raise ParameterError("y_score", f"must hold real numbers, got an array of dtype {scores.dtype}.")
    # The extremes show every NaN and infinity without an array of booleans.
    if np.isfinite(scores.min()) and np.isfinite(scores.max()):
        return
    first = int(np.argmin(np.isfinite(scores)))
    problem = f"holds {scores[first]} at position {first}; remove or replace what is not finite."
    raise ParameterError("y_score", problem)


def check_weights(sample_weight: npt.ArrayLike, labels: AnyArray) -> AnyArray:
    """Return weights, one for each label, finite and at least 0."""
    weights = vector(sample_weight, "sample_weight")
    check_lengths(labels, weights, "sample_weight")
    if weights.dtype.kind not in _REAL_KINDS:
        raise ParameterError("sample_weight", f"must hold real numbers, got an array of dtype {weights.dtype}.")
    # Of a NaN both extremes are NaN, which is not at least 0.
    if weights.min() >= 0 and np.isfinite(weights.max()):
        return weights
    usable = (weights >= 0) & np.isfinite(weights)
    first = int(np.argmin(usable))
    problem = f"holds {weights[first]} at position {first}; weights must be finite and at least 0."
    raise ParameterError("sample_weight", problem)


def positive_mask(labels: AnyArray, pos_label: object) -> BoolArray:
    """Return which labels are positive: the greater of two numbers unless ``pos_label`` says otherwise."""
    low, high = two_labels(labels)
    if pos_label is None and not isinstance(high, Real):
        raise ParameterError("y_true", f"holds the labels {low!r} and {high!r}; say which is positive with pos_label.")
    positive: BoolArray = labels == positive_label(low, high, pos_label, "y_true")
    return positive


def positive_label(low: object, high: object, pos_label: object, name: str) -> object:
    """Return which of two labels is positive: ``pos_label``, or else the greater, with a warning unless that is plain.

    Parameters
    ----------
    low, high : object
        The lesser and the greater label, as Python's own objects.
    pos_label : object
        What the user says, None for nothing.
    name : str
        What the labels are called where they were passed.

    Examples
    --------
    >>> positive_label("cancer", "healthy", "cancer", "y")
    'cancer'
    >>> positive_label(-1, 1, None, "y")
    1
    """
    if pos_label is None:
        if {low, high} not in _PLAIN_PAIRS:
            message = (
                f"{name} holds the labels {low!r} and {high!r}, and {high!r}, the greater, is taken for the positive "
                f"class; say pos_label={high!r} or pos_label={low!r}."
            )
            warn(message, PositiveClassWarning)
        return high
    if pos_label == low:
        return low
    if pos_label == high:
        return high
    raise ParameterError("pos_label", f"{pos_label!r} is not among the labels of {name}, {low!r} and {high!r}.")


def two_labels(labels: AnyArray) -> tuple[Any, Any]:
    """Return the two labels, the lesser first."""
    low, high = _extremes(labels)
    if isinstance(low, float) and math.isnan(low):
        raise ParameterError("y_true", "holds NaN; pass the labels of two classes.")
    if low == high:
        raise ParameterError("y_true", f"holds only the label {low!r}; a ROC curve needs positives and negatives.")
    n_low = np.count_nonzero(labels == low)
    n_high = np.count_nonzero(labels == high)
    n_others = len(labels) - n_low - n_high
    if n_others:
        problem = (
            f"holds more labels than {low!r} and {high!r}, in {n_others} of {len(labels)} entries; "
            "pass the labels of two classes."
        )
        raise ParameterError("y_true", problem)
    return low, high


def _extremes(labels: AnyArray) -> tuple[Any, Any]:
    # Sorting millions of labels would cost more than the metric, and for numbers the extremes are quick to find.
    if labels.dtype.kind in _REAL_KINDS:
        return labels.min().item(), labels.max().item()
    try:
        distinct = np.unique(labels).tolist()
    except TypeError:
        raise ParameterError("y_true", "mixes labels that cannot be compared; pass labels of one type.") from None
    return distinct[0], distinct[-1]


def check_rate(fpr: object) -> float:
    """Return a rate from 0 to 1, both included."""
    if not _is_number(fpr) or not 0 <= fpr <= 1:
        raise ParameterError("fpr", f"must be a number in [0, 1], got {fpr!r}.")
    return float(fpr)


def check_open(value: object, name: str) -> float:
    """Return a rate strictly between 0 and 1."""
    if not _is_number(value) or not 0 < value < 1:
        raise ParameterError(name, f"must be a number between 0 and 1, both excluded, got {value!r}.")
    return float(value)


def _is_number(value: object) -> TypeGuard[float]:
    # True is a number for Python, but nobody means it as a rate.
    return isinstance(value, Real) and not isinstance(value, bool)
