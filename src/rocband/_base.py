"""What every estimator shares: labels, the threshold, tags and warnings."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from rocband.risks.band import Band, FloatArray
from rocband.solvers.certified import Step
from rocband.solvers.problem import Scores

__all__ = ["BandClassifier", "CollapsedSolutionWarning", "check_number", "training_threshold"]


class CollapsedSolutionWarning(UserWarning):
    """The best model under a convex surrogate is the constant scorer; the solver has proved it."""


class BandClassifier(ClassifierMixin, BaseEstimator):
    """A binary classifier that predicts the positive class where ``decision_function`` is above 0."""

    classes_: npt.NDArray[Any]
    decision_function: Callable[[Any], FloatArray]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of each row at the threshold for ``target_fpr``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.classes_[(self.decision_function(X) > 0).astype(np.intp)]

    def _encode(self, y: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Set ``classes_`` and return which rows are positives: those of the greater label."""
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind not in ("binary", "multiclass"):
            raise ValueError(f"Unknown label type: {kind}; y must hold two classes.")
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}: "
                f"y holds {len(self.classes_)} classes; keep two, or mark one as positive and the rest as negative."
            )
        if len(self.classes_) < 2:
            raise ValueError(f"y holds only one class, {self.classes_[0]!s}; training needs rows of two classes.")
        return codes.astype(bool)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


def check_number(name: str, value: Any, low: float, high: float = np.inf, *, integer: bool = False) -> None:
    """Say in one sentence what is wrong when ``value`` is not a number with low < value <= high."""
    kind = Integral if integer else Real
    if not isinstance(value, kind) or isinstance(value, bool) or not low < float(value) <= high or value == np.inf:
        what = "a whole number" if integer else "a finite number"
        upper = f" and at most {high:g}" if high < np.inf else ""
        raise ValueError(f"{name} must be {what} above {low:g}{upper}, got {value!r}.")


def training_threshold(scores: Scores, target_fpr: float) -> float:
    """Find the score above which at most ``target_fpr`` of the training negatives lie.

    It is put half-way to the next score above, so that rounding in a later product cannot move a row across.
    """
    n = len(scores.negatives)
    allowed = Band.from_range((0.0, target_fpr), n).stop if target_fpr * n >= 1 else 0
    if allowed > target_fpr * n * (1 + 1e-9):
        allowed -= 1
    if allowed >= n:
        return float(scores.negatives.min()) - 1.0
    below = float(np.partition(scores.negatives, n - allowed - 1)[n - allowed - 1])
    above = min(
        (float(group[group > below].min()) for group in (scores.positives, scores.negatives) if (group > below).any()),
        default=below + 1.0,
    )
    return below + (above - below) / 2


def print_step(step: Step) -> None:
    """Print one readable line for a step of a solver."""
    line = f"[rocband] step {step.step:3d}  passes {step.passes:3d}  objective {step.objective:.6g}"
    if np.isfinite(step.lower_bound):
        line += f"  bound {step.lower_bound:.6g}  gap {step.gap:.2e}"
    print(f"{line}  {step.seconds:.2f} s", flush=True)
