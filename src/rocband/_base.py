"""What every estimator shares: labels, the threshold, tags and warnings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from enum import Enum
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from rocband._errors import ParameterError
from rocband._hints import hint_at_few_negatives, hint_at_scales
from rocband._input import positive_label
from rocband._progress import tell
from rocband._types import AnyArray, BoolArray, FloatArray
from rocband._warnings import CollapsedSolutionWarning, warn
from rocband.anchor import anchor_coefficients, auc_coefficients
from rocband.problems.base import Problem
from rocband.ranks import check_range, ranks_reached
from rocband.risks import Band, BandRisk, Risk, Scores, Surrogate, check_surrogate, risk_for
from rocband.solvers import certified
from rocband.solvers.objective import Objective
from rocband.solvers.result import Result, Settings, Status, Step

__all__ = ["BandClassifier", "BandSVC", "Constancy", "check_number", "tell_step", "training_threshold"]

# A bound within this part of the constant scorer's objective is taken to match it, if the tolerance is no finer.
_FLAT = 1e-3
# Multiples of scores that are 1 apart at most, up to 4^12, some 1e7: where classes are nearer to each other than that
# part of all scores, rounding decides.
_MULTIPLES = 4.0 ** np.arange(13)
# A model to start from, where there are local minima, need not be exact.
_ROUGH = 1e-2
# Before a collapse is claimed, so many times as much is asked of a model, for at most so many passes: where it is C
# alone that keeps the model near 0, some steps away from it show that.
_LARGER_C = 1e4
_MORE_PASSES = 30
# Scores that differ by no more than this part of their size differ by rounding alone.
_ROUNDING = 1e-12


class Constancy(Enum):
    """Why a model is no better than the constant scorer."""

    OPTIMAL = "no model beats the constant scorer"
    SMALL_C = "C asks for nothing else"
    UNEXPLAINED = "all scores are the same and nothing is proved"


class BandClassifier(ClassifierMixin, BaseEstimator):
    """A binary classifier that predicts the positive class where ``decision_function`` is above 0."""

    pos_label: object
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
        """Set ``classes_``, the positive class last, and return which rows are positives."""
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind not in ("binary", "multiclass"):
            raise ValueError(f"Unknown label type: {kind}; y must hold two classes.")
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}: "
                f"y holds {len(classes)} classes; keep two, or mark one as positive and the rest as negative."
            )
        if len(classes) < 2:
            raise ValueError(f"y holds only one class, {classes[0]!s}; training needs rows of two classes.")
        low, high = classes.tolist()
        greater = positive_label(low, high, self.pos_label, "y") == high
        self.classes_ = classes if greater else classes[::-1]
        positive: BoolArray = codes == int(greater)
        return positive

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
        return Settings(float(self.tol), self.max_iter, random, on_step=tell_step if show else None)

    def _look_at(self, problem: Problem) -> None:
        """Say what is to be said about the data before the training."""
        hint_at_few_negatives(self.fpr_range, problem.n_negatives)
        hint_at_scales(problem, self._feature_names)

    @property
    def _feature_names(self) -> AnyArray | None:
        names: AnyArray | None = getattr(self, "feature_names_in_", None)
        return names

    def _risk(self, problem: Problem) -> BandRisk:
        return risk_for(self.surrogate, Band.from_range(self.fpr_range, problem.n_negatives))

    def _origin(self, problem: Problem, settings: Settings, names: AnyArray | None) -> FloatArray:
        """Return what to shrink towards; ``names`` are those of the problem's features."""
        return anchor_coefficients(self.anchor, problem, self.classes_, names, settings.quiet())

    def _start(self, objective: Objective, settings: Settings) -> FloatArray:
        """Return where to start: the origin or, where that is 0 and a local minimum is looked for, a better model.

        An SVM_AUC with the same C is the same model whatever the unit of the features and however often each row
        comes, so that the minimum it leads to is too.
        """
        if objective.origin.any() or objective.risk.convex:
            return objective.origin
        rough = replace(settings.quiet(), tol=max(_ROUGH, settings.tol))
        return auc_coefficients(objective.problem, rough, objective.C)

    def _store_figures(
        self, result: Result, objective: Objective, scores: Scores, size: float, lower_bound: float
    ) -> Constancy | None:
        """Set the figures of a model with these scores whose squared distance from its origin is ``size``.

        Returned is why the model is no better than the constant scorer, if it is not.
        """
        C = objective.C
        self.objective_ = size / 2 + C * objective.risk.value(scores)
        self.lower_bound_ = lower_bound
        self.dual_gap_ = self.objective_ - self.lower_bound_
        self.converged_ = result.status is Status.CONVERGED
        # To store a model may cost precision: where there is a bound, what is stored is held to it.
        self._lost_precision = self.converged_ and self.dual_gap_ > C * self.tol
        if np.isfinite(lower_bound):
            self.converged_ = bool(self.dual_gap_ <= C * self.tol)
        self.n_iter_ = objective.problem.passes
        self.history_ = [asdict(step) for step in result.history]
        return self._constancy(scores, objective, result)

    def _constancy(self, scores: Scores, objective: Objective, result: Result) -> Constancy | None:
        risk = objective.risk
        from_zero = not objective.origin.any()
        # What the constant scorer w = 0 has, when the origin is 0 too; a little less is no better.
        at_constant = objective.C * risk.value(scores.scaled(0.0))
        limit = at_constant * (1 - self._flat)
        bounded = self.converged_ and self.lower_bound_ >= limit and from_zero
        if bounded and not self._gains_further_out(scores, risk) and not self._gains_by_C(objective, result):
            return Constancy.OPTIMAL
        if _spread(scores) > 0:
            return None
        return Constancy.SMALL_C if risk.convex and from_zero else Constancy.UNEXPLAINED

    @property
    def _flat(self) -> float:
        """The part of the constant scorer's objective that is no gain."""
        return float(min(self.tol, _FLAT))

    def _gains_by_C(self, objective: Objective, result: Result) -> bool:
        """Whether a few more passes with a much larger C find a model that beats the constant scorer."""
        larger = replace(objective, C=_LARGER_C * objective.C)
        settings = Settings(tol=self._flat / 2, max_passes=_MORE_PASSES)
        found = certified.minimize(larger, settings, warm=result)
        return self._gains_further_out(found.scores, objective.risk)

    def _gains_further_out(self, scores: Scores, risk: Risk) -> bool:
        """Whether a multiple of a model beats the constant scorer: then a small C, not the data, holds it down."""
        spread = _spread(scores)
        if spread == 0:
            return False
        unit = scores.scaled(1 / spread)
        at_constant = risk.value(scores.scaled(0.0))
        return any(risk.value(unit.scaled(factor)) < (1 - self._flat) * at_constant for factor in _MULTIPLES)

    @property
    def _target(self) -> float:
        return float(self.fpr_range[1] if self.target_fpr is None else self.target_fpr)

    def _warn(self, C: float, constancy: Constancy | None) -> None:
        if not self.converged_:
            warn(self._unconverged_message(C, constancy), ConvergenceWarning)
        elif constancy is Constancy.SMALL_C:
            message = (
                f"The model gives every row the same score because C={C:g} is too small, or tol={self.tol:g} too "
                "large, for any other to pay, which says nothing about the data: raise C or lower tol."
            )
            warn(message, UserWarning)
        elif constancy is not None:
            warn(self._collapse_message(C, constancy), CollapsedSolutionWarning)

    def _unconverged_message(self, C: float, constancy: Constancy | None) -> str:
        if self._lost_precision:
            return (
                f"The model as stored has a gap of {self.dual_gap_:.3g}, more than C * tol = {C * self.tol:.3g}, since "
                "rounding has cost more: pass X in double precision, centre and scale the features, or raise tol."
            )
        message = (
            f"The solver stopped after max_iter={self.max_iter} passes over the data before it reached tol="
            f"{self.tol:g}; raise max_iter or tol, scale the features, or lower C."
        )
        if constancy is None:
            return message
        return f"{message} Until then the model gives every row the same score, whatever the data allow."

    def _collapse_message(self, C: float, constancy: Constancy) -> str:
        if constancy is Constancy.OPTIMAL:
            return (
                f"The constant scorer is optimal for surrogate={_name(self.surrogate)} in this band (its objective "
                f"{C:g} is matched by the lower bound {self.lower_bound_:.6g}): use surrogate='ramp', a wider "
                "fpr_range, or an anchor."
            )
        return (
            "The model gives every row the same score: no step away from it gained anything, so look whether the "
            "features tell the classes apart, raise C, or give an anchor."
        )


def check_number(name: str, value: Any, low: float, high: float = np.inf, *, integer: bool = False) -> float:
    """Return ``value`` in double precision, or say in one sentence why it is not a number with low < value <= high."""
    kind = Integral if integer else Real
    is_number = isinstance(value, kind) and not isinstance(value, bool)
    if is_number and low < float(value) <= high and value != np.inf:
        return float(value)
    what = "a whole number" if integer else "a finite number"
    upper = f" and at most {high:g}" if high < np.inf else ""
    raise ParameterError(name, f"must be {what} above {low:g}{upper}, got {value!r}.")


def _spread(scores: Scores) -> float:
    """How far apart the scores are; 0 where it is only by rounding."""
    highest = max(float(scores.positives.max()), float(scores.negatives.highest_values(1)[0]))
    lowest_negative = -float(scores.negatives.scaled(-1.0).highest_values(1)[0])
    lowest = min(float(scores.positives.min()), lowest_negative)
    spread = highest - lowest
    return spread if spread > _ROUNDING * max(abs(highest), abs(lowest)) else 0.0


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
