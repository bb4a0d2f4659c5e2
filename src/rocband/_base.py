"""What every estimator shares: labels, the threshold, tags and warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from rocband.anchor import anchor_coefficients, logistic_coefficients
from rocband.risks import SURROGATES, check_range
from rocband.risks.band import Band, FloatArray, top_values
from rocband.solvers.certified import Settings, Status, Step
from rocband.solvers.path import Fit, is_convex
from rocband.solvers.problem import Problem, Scores

__all__ = ["BandClassifier", "BandSVC", "CollapsedSolutionWarning", "check_number", "training_threshold"]


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


class BandSVC(BandClassifier):
    """What the trained models share: their parameters, the reference model, figures and warnings."""

    fpr_range: tuple[float, float]
    surrogate: str
    anchor: Any
    tol: float
    max_iter: int
    target_fpr: float | None
    random_state: Any
    verbose: int

    def _check_parameters(self) -> None:
        check_range(self.fpr_range)
        if not isinstance(self.surrogate, str) or self.surrogate not in SURROGATES:
            raise ValueError(f"surrogate must be one of {', '.join(map(repr, SURROGATES))}, got {self.surrogate!r}.")
        check_number("tol", self.tol, 0.0)
        check_number("max_iter", self.max_iter, 0, integer=True)
        if self.target_fpr is not None:
            check_number("target_fpr", self.target_fpr, 0.0, 1.0)

    def _seeds(self, count: int) -> list[int]:
        """Draw seeds; the same ones each time unless ``random_state`` is an instance that moves on."""
        state = check_random_state(0 if self.random_state is None else self.random_state)
        seeds: list[int] = state.randint(np.iinfo(np.int32).max, size=count).tolist()
        return seeds

    def _settings(self, seed: int, *, show: bool) -> Settings:
        random = np.random.default_rng(seed)
        return Settings(self.tol, self.max_iter, random, on_step=print_step if show else None)

    def _origin_and_start(self, problem: Problem, settings: Settings) -> tuple[FloatArray, FloatArray]:
        """Return what to shrink towards and, for a surrogate with local minima, a sensible model to start from."""
        origin = anchor_coefficients(self.anchor, problem, self.classes_, settings.quiet())
        if origin.any() or is_convex(self.surrogate, problem):
            return origin, origin
        return origin, logistic_coefficients(problem, settings.random)

    def _store_figures(
        self, fit: Fit, problem: Problem, scores: Scores, size: float, lower_bound: float, *, shrunk: bool, still: bool
    ) -> None:
        """Set the figures of a model with these scores whose squared distance from its origin is ``size``.

        ``shrunk`` says that the origin is 0, ``still`` that the model is.
        """
        risk = SURROGATES[self.surrogate](scores.positives, scores.negatives, problem.band).value
        self.objective_ = size / 2 + fit.C * risk
        self.lower_bound_ = lower_bound
        self.dual_gap_ = self.objective_ - self.lower_bound_
        self.converged_ = fit.status is Status.CONVERGED
        self.n_iter_ = problem.passes
        self.history_ = [asdict(step) for step in fit.history]
        constant = fit.C * (1 - min(self.tol, 1e-3))  # the objective of w = 0, less a little
        flat = shrunk and min(self.objective_, self.lower_bound_) >= constant
        self._collapsed = still or (flat and not self._gains_by_scale(scores, problem))

    def _gains_by_scale(self, scores: Scores, problem: Problem) -> bool:
        """Whether a multiple of the model beats the constant scorer: then a small C, not the data, holds it down."""
        risk = SURROGATES[self.surrogate]
        multiples = (Scores(factor * scores.positives, factor * scores.negatives) for factor in 4.0 ** np.arange(24))
        return any(risk(each.positives, each.negatives, problem.band).value < 1 - self.tol for each in multiples)

    @property
    def _target(self) -> float:
        return float(self.fpr_range[1] if self.target_fpr is None else self.target_fpr)

    def _warn(self, C: float) -> None:
        if not self.converged_:
            warnings.warn(
                f"The solver stopped after max_iter={self.max_iter} passes over the data before it reached tol="
                f"{self.tol:g}; raise max_iter or tol, scale the features, or lower C.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if self._collapsed:
            warnings.warn(self._collapse_message(C), CollapsedSolutionWarning, stacklevel=3)

    def _collapse_message(self, C: float) -> str:
        if not np.isfinite(self.lower_bound_):
            return (
                "The model gives every row the same score: no step away from it gained anything, so look whether the "
                "features tell the classes apart, raise C, or give an anchor."
            )
        return (
            f"The constant scorer is optimal for surrogate={self.surrogate!r} in this band (its objective {C:g} "
            f"is matched by the lower bound {self.lower_bound_:.6g}): use surrogate='ramp', a wider fpr_range, or "
            "an anchor."
        )


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
        return float(top_values(scores.negatives, n)[0]) - 1.0
    top = top_values(scores.negatives, allowed + 1)
    below = float(top[0])
    above = min(
        (float(group[group > below].min()) for group in (scores.positives, top) if (group > below).any()),
        default=below + 1.0,
    )
    return below + (above - below) / 2


def print_step(step: Step) -> None:
    """Print one readable line for a step of a solver."""
    line = f"[rocband] step {step.step:3d}  passes {step.passes:3d}  objective {step.objective:.6g}"
    if np.isfinite(step.lower_bound):
        line += f"  bound {step.lower_bound:.6g}  gap {step.gap:.2e}"
    print(f"{line}  {step.seconds:.2f} s", flush=True)
