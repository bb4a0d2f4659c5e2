"""What the training data should be told about before a model is fitted to them."""

from __future__ import annotations

import math

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from rocband._types import AnyArray, FloatArray
from rocband._warnings import TrainingDataWarning, warn
from rocband.problems.base import Problem
from rocband.ranks import check_range, position

__all__ = ["hint_at_few_negatives", "hint_at_scales"]

# Below this the partial AUC of training counts pairs with a handful of rows, and another sample has quite other ones.
_FEWEST_NEGATIVES = 5
# Shrinkage sees a feature a thousand times smaller than another a million times less.
_MOST_UNEQUAL = 1e3
# So many rows tell scales well enough, and a million numbers are 8 MB.
_ROWS = 1000
_NUMBERS = 1_000_000


def hint_at_few_negatives(fpr_range: tuple[float, float], n_negatives: int) -> None:
    """Warn where a band holds so few of the training negatives that a model would follow single rows."""
    low, high = check_range(fpr_range)
    held = position(high - low, n_negatives)
    if held >= _FEWEST_NEGATIVES:
        return
    enough = math.ceil(position(1 / (high - low), _FEWEST_NEGATIVES))
    message = (
        f"fpr_range=({low:g}, {high:g}) holds {held:.3g} of the {n_negatives} training negatives; with fewer than "
        f"{_FEWEST_NEGATIVES} the model follows single rows: take a wider range, or at least {enough} negatives."
    )
    warn(message, TrainingDataWarning)


def hint_at_scales(problem: Problem, names: AnyArray | None) -> None:
    """Warn where the scales of features differ more than a thousandfold; a sample of the rows is looked at.

    Both the spread and the largest entry must differ so much: after a `StandardScaler` the first are the same, and
    after a `MaxAbsScaler`, or in indicators of rare categories, the second.
    """
    features = problem.features
    if features is None:
        return
    n_rows = problem.n_positives + problem.n_negatives
    count = max(min(n_rows, _ROWS, _NUMBERS // max(problem.n_features, 1)), 1)
    sample = features.take(np.linspace(0, n_rows - 1, count).astype(np.intp))
    with np.errstate(all="ignore"):  # squares may overflow, which is said elsewhere
        spread: FloatArray = np.sqrt(StandardScaler(with_mean=False).fit(sample).var_)
    largest: FloatArray = MaxAbsScaler().fit(sample).max_abs_
    varying = np.flatnonzero((spread > 0) & np.isfinite(spread))
    if not len(varying) or not _unequal(spread[varying]) or not _unequal(largest[varying]):
        return
    smallest = int(varying[spread[varying].argmin()])
    greatest = int(varying[spread[varying].argmax()])
    message = (
        f"Features differ in scale more than a thousandfold: {_name(greatest, names)} has a standard deviation of "
        f"{spread[greatest]:.3g}, {_name(smallest, names)} one of {spread[smallest]:.3g}. Scale them first, for "
        "instance with StandardScaler in a pipeline, or MaxAbsScaler where X is sparse."
    )
    warn(message, TrainingDataWarning)


def _unequal(sizes: FloatArray) -> bool:
    return bool(sizes.max() > _MOST_UNEQUAL * sizes.min())


def _name(feature: int, names: AnyArray | None) -> str:
    return f"feature {feature}" if names is None else repr(str(names[feature]))
