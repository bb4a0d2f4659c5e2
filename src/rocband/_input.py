"""Labels, scores and rates as users pass them: checked, with one sentence for what is wrong."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["check_lengths", "check_rate", "check_scores", "check_weights", "positive_mask", "two_labels", "vector"]

_Array = npt.NDArray[Any]


def vector(values: npt.ArrayLike, name: str) -> _Array:
    array = np.asarray(values)
    if array.ndim != 1:
        hint = "; pass the scores of the positive class alone" if name == "y_score" else ""
        raise ValueError(f"{name} must be one-dimensional, got an array of shape {array.shape}{hint}.")
    return array


def check_lengths(labels: _Array, others: _Array, name: str) -> None:
    if len(labels) != len(others):
        raise ValueError(f"y_true has {len(labels)} entries but {name} has {len(others)}; pass one for each sample.")
    if len(labels) == 0:
        raise ValueError(f"y_true and {name} are empty; pass at least one positive and one negative.")


def check_scores(scores: _Array) -> None:
    if scores.dtype.kind not in "fiub":
        raise ValueError(f"y_score must hold real numbers, got an array of dtype {scores.dtype}.")
    # The extremes show every NaN and infinity without an array of booleans.
    if not (np.isfinite(scores.min()) and np.isfinite(scores.max())):
        first = int(np.argmin(np.isfinite(scores)))
        raise ValueError(f"y_score holds {scores[first]} at position {first}; remove or replace what is not finite.")


def check_weights(sample_weight: npt.ArrayLike, labels: _Array) -> _Array:
    weights = vector(sample_weight, "sample_weight")
    check_lengths(labels, weights, "sample_weight")
    if weights.dtype.kind not in "fiub":
        raise ValueError(f"sample_weight must hold real numbers, got an array of dtype {weights.dtype}.")
    if not (weights.min() >= 0 and np.isfinite(weights.max())):
        first = int(np.argmin((weights >= 0) & np.isfinite(weights)))
        raise ValueError(
            f"sample_weight holds {weights[first]} at position {first}; weights must be finite and at least 0."
        )
    return weights


def positive_mask(labels: _Array, pos_label: object) -> npt.NDArray[np.bool_]:
    low, high = two_labels(labels)
    if pos_label is None and not isinstance(high, Real):
        raise ValueError(f"y_true holds the labels {low!r} and {high!r}; say which is positive with pos_label.")
    if pos_label is not None and pos_label not in (low, high):
        raise ValueError(f"pos_label={pos_label!r} is not among the labels of y_true, {low!r} and {high!r}.")
    return np.asarray(labels == (high if pos_label is None else pos_label))


def two_labels(labels: _Array) -> tuple[Any, Any]:
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


def check_rate(fpr: object) -> float:
    if not isinstance(fpr, Real) or isinstance(fpr, bool) or not 0 <= float(fpr) <= 1:
        raise ValueError(f"fpr must be a number in [0, 1], got {fpr!r}.")
    return float(fpr)
