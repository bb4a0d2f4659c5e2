"""What every estimator shares: labels, the threshold, tags and warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from rocband._errors import ParameterError
from rocband._progress import tell
from rocband._types import AnyArray, BoolArray, FloatArray
from rocband.anchor import anchor_coefficients, logistic_coefficients
from rocband.problems.base import Problem
from rocband.ranks import check_range, ranks_reached
from rocband.risks import Band, BandRisk, Risk, Scores, Surrogate, check_surrogate, risk_for
from rocband.solvers.objective import Objective
from rocband.solvers.result import Result, Settings, Status, Step

__all__ = ["BandClassifier", "BandSVC", "CollapsedSolutionWarning", "check_number", "tell_step", "training_threshold"]

# A model whose objective is within this part of the constant scorer's is no better than it.
_FLAT = 1e-3
# Multiples 1, 4, 16, ... of a model up to 4^23, some 1e14: beyond, scores only grow.
_MULTIPLES = 4.0 ** np.arange(24)


class CollapsedSolutionWarning(UserWarning):
    """The best model under a convex surrogate is the constant scorer; the solver has proved it."""


class BandClassifier(ClassifierMixin, BaseEstimator):
    """A binary classifier that predicts the positive class where ``decision_function`` is above 0."""

    classes_: AnyArray
    decision_function: Callable[[Any], FloatArray]

    def predict(self, X: Any) -> AnyArray:
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

    def _encode(self, y: AnyArray) -> BoolArray:
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
    surrogate: Surrogate | type[BandRisk]
    anchor: Any
    tol: float
    max_iter: int
    target_fpr: float | None
    random_state: Any
    verbose: int

    def _check_parameters(self) -> None:
        check_range(self.fpr_range)
        check_surrogate(self.surrogate)
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
        return Settings(self.tol, self.max_iter, random, on_step=tell_step if show else None)

    def _risk(self, problem: Problem) -> BandRisk:
        return risk_for(self.surrogate, Band.from_range(self.fpr_range, problem.n_negatives))

    def _origin_and_start(self, problem: Problem, risk: Risk, settings: Settings) -> tuple[FloatArray, FloatArray]:
        """Return what to shrink towards and, for a surrogate with local minima, a sensible model to start from."""
        origin = anchor_coefficients(self.anchor, problem, self.classes_, settings.quiet())
        if origin.any() or risk.convex:
            return origin, origin
        return origin, logistic_coefficients(problem, settings.random)

    def _store_figures(
        self, result: Result, objective: Objective, scores: Scores, size: float, lower_bound: float, *, still: bool
    ) -> None:
        """Set the figures of a model with these scores whose squared distance from its origin is ``size``.

        ``still`` says that the model is 0.
        """
        C = objective.C
        risk = objective.risk
        self.objective_ = size / 2 + C * risk.value(scores)
        self.lower_bound_ = lower_bound
        self.dual_gap_ = self.objective_ - self.lower_bound_
        self.converged_ = result.status is Status.CONVERGED
        self.n_iter_ = objective.problem.passes
        self.history_ = [asdict(step) for step in result.history]
        # The constant scorer w = 0 has the objective C, when that is the origin too.
        constant = C * (1 - min(self.tol, _FLAT))
        flat = not objective.origin.any() and min(self.objective_, self.lower_bound_) >= constant
        self._collapsed = still or (flat and not self._gains_by_scale(scores, risk))

    def _gains_by_scale(self, scores: Scores, risk: Risk) -> bool:
        """Whether a multiple of the model beats the constant scorer: then a small C, not the data, holds it down."""
        return any(risk.value(scores.scaled(factor)) < 1 - self.tol for factor in _MULTIPLES)

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
            f"The constant scorer is optimal for surrogate={_name(self.surrogate)} in this band (its objective {C:g} "
            f"is matched by the lower bound {self.lower_bound_:.6g}): use surrogate='ramp', a wider fpr_range, or "
            "an anchor."
        )


def check_number(name: str, value: Any, low: float, high: float = np.inf, *, integer: bool = False) -> None:
    """Say in one sentence what is wrong when ``value`` is not a number with low < value <= high."""
    kind = Integral if integer else Real
    is_number = isinstance(value, kind) and not isinstance(value, bool)
    if is_number and low < float(value) <= high and value != np.inf:
        return
    what = "a whole number" if integer else "a finite number"
    upper = f" and at most {high:g}" if high < np.inf else ""
    raise ParameterError(name, f"must be {what} above {low:g}{upper}, got {value!r}.")


def training_threshold(scores: Scores, target_fpr: float) -> float:
    """Find the score above which at most ``target_fpr`` of the training negatives lie.

    It is put half-way to the next score above, so that rounding in a later product cannot move a row across.
    """
    n = len(scores.negatives)
    allowed = ranks_reached(target_fpr, n)
    if allowed >= n:
        lowest = scores.negatives.highest_values(n)[0]
        return float(lowest) - 1.0
    top = scores.negatives.highest_values(allowed + 1)
    below = float(top[0])  # the first negative that must not pass
    higher = np.concatenate([scores.positives[scores.positives > below], top[top > below]])
    above = float(higher.min()) if len(higher) else below + 1.0
    return below + (above - below) / 2


def tell_step(step: Step) -> None:
    """Tell of a step of a solver in one readable line."""
    line = f"step {step.step:3d}  passes {step.passes:3d}  objective {step.objective:.6g}"
    if np.isfinite(step.lower_bound):
        line += f"  bound {step.lower_bound:.6g}  gap {step.gap:.2e}"
    tell(f"{line}  {step.seconds:.2f} s")


def _name(surrogate: Surrogate | type[BandRisk]) -> str:
    return surrogate.__name__ if isinstance(surrogate, type) else repr(surrogate)
