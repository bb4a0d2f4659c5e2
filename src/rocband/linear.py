"""Linear models for a band of false-positive rates."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from rocband._base import BandClassifier, CollapsedSolutionWarning, check_number, print_step, training_threshold
from rocband.anchor import anchor_coefficients, logistic_coefficients
from rocband.risks import SURROGATES, check_range
from rocband.risks.band import FloatArray
from rocband.rows import Rows, as_rows
from rocband.solvers.certified import Settings, Status
from rocband.solvers.path import Fit, is_convex, solve
from rocband.solvers.problem import Problem, Scores

__all__ = ["PartialAUCSVC"]


class LinearBandClassifier(BandClassifier):
    """What the linear estimators share: validation, the reference model, attributes and prediction."""

    fpr_range: tuple[float, float]
    surrogate: str
    anchor: Any
    tol: float
    max_iter: int
    target_fpr: float | None
    random_state: Any
    verbose: int

    def decision_function(self, X: Any) -> FloatArray:
        """Score each row; above 0 means positive at the threshold for ``target_fpr``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        scores: FloatArray = X @ self.coef_[0] + self.intercept_[0]
        return scores

    def _check_parameters(self) -> None:
        check_range(self.fpr_range)
        if not isinstance(self.surrogate, str) or self.surrogate not in SURROGATES:
            raise ValueError(f"surrogate must be one of {', '.join(map(repr, SURROGATES))}, got {self.surrogate!r}.")
        check_number("tol", self.tol, 0.0)
        check_number("max_iter", self.max_iter, 0, integer=True)
        if self.target_fpr is not None:
            check_number("target_fpr", self.target_fpr, 0.0, 1.0)

    def _validated(self, X: Any, y: Any) -> tuple[Rows, npt.NDArray[np.bool_]]:
        """Check the data without copying them."""
        checked, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        rows = as_rows(X if isinstance(X, np.memmap) and X.dtype == checked.dtype else checked)
        self._dtype = checked.dtype
        return rows, self._encode(y)

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

    def _store(self, fit: Fit, problem: Problem, origin: FloatArray) -> None:
        """Set the fitted attributes; figures are those of the coefficients as stored, at their precision."""
        coefficients = fit.w.astype(self._dtype)
        scores = problem.scores(coefficients.astype(np.float64))
        self.coef_ = coefficients[None, :]
        self.threshold_ = training_threshold(scores, self._target)
        self.intercept_ = np.array([-self.threshold_], dtype=self._dtype)
        self.objective_ = _objective(self.surrogate, fit.C, scores, problem, coefficients - origin)
        self.lower_bound_ = fit.lower_bound
        self.dual_gap_ = self.objective_ - self.lower_bound_
        self.converged_ = fit.status is Status.CONVERGED
        self.n_iter_ = problem.passes
        self.history_ = [asdict(step) for step in fit.history]
        constant = fit.C * (1 - min(self.tol, 1e-3))  # the objective of w = 0, less a little
        flat = min(self.objective_, self.lower_bound_) >= constant and not origin.any()
        self._collapsed = not coefficients.any() or (flat and not self._gains_by_scale(scores, problem))

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
            warnings.warn(
                f"The constant scorer is optimal for surrogate={self.surrogate!r} in this band (its objective {C:g} "
                f"is matched by the lower bound {self.lower_bound_:.6g}): use surrogate='ramp', a wider fpr_range, or "
                "an anchor.",
                CollapsedSolutionWarning,
                stacklevel=3,
            )


class PartialAUCSVC(LinearBandClassifier):
    r"""Linear classifier trained for the partial AUC in a band of false-positive rates.

    It minimises :math:`\frac{1}{2} \|w - w_0\|^2 + C \, R(w)`, where R is a surrogate of the share of pairs ranked
    wrongly between the positives and those negatives whose ranks lie in the band, and :math:`w_0` is the ``anchor``.

    Parameters
    ----------
    fpr_range : (float, float), default (0.0, 0.05)
        The band of false-positive rates, with 0 <= low < high <= 1. (0, 1) is the full AUC.
    surrogate : {"ramp", "tight", "hinge", "naive"}, default "ramp"
        What stands in for the partial AUC. "ramp" is the mean of min(1, hinge) over the pairs of the band: bounded,
        not convex, and what works best. "tight" is the convex surrogate of SVM_pAUC, with a certificate; it may
        collapse to a constant scorer. "hinge" is the mean hinge, convex when the band starts at 0 and else minimised
        by difference-of-convex programming (SVM_pAUC^dc). "naive" is a looser convex one, for comparison.
    C : float, default 100.0
        Weight of the risk; the smaller, the nearer the model stays to the anchor.
    anchor : {"logistic", "auc"}, None, array of shape (n_features,) or fitted linear model, default "logistic"
        What the model is shrunk towards: a logistic regression or an SVM_AUC fitted to the same data, 0 (None, as
        in the paper), or given coefficients.
    tol : float, default 1e-4
        For a convex surrogate it stops when ``dual_gap_ <= C * tol``; else when a step gains at most ``C * tol``.
        On separable data, where the risk is near 0, the first can leave the objective far from its minimum in relative
        terms: compare ``dual_gap_`` with ``objective_``.
    max_iter : int, default 500
        Most passes over the data of the solver; a rough first stage ("ramp") may add a quarter, the figures add one.
    target_fpr : float, optional
        The false-positive rate of `predict` on the training negatives; the band's upper end by default.
    warm_start : bool, default False
        Start from the coefficients of the last fit.
    random_state : int, RandomState instance or None, default None
        Seeds the sample of pairs that the curvature is estimated from. None and 0 give the same: a fit is
        repeatable unless a RandomState instance is passed.
    verbose : int, default 0
        1 prints a line for each step.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
    intercept_ : array of shape (1,)
        Minus ``threshold_``.
    threshold_ : float
        The score ``X @ coef_[0]`` above which a row is predicted positive.
    classes_ : array of shape (2,)
        The second is the positive class.
    n_iter_ : int
        Passes over the data.
    objective_, lower_bound_, dual_gap_ : float
        The objective at ``coef_``, what no model can be below, and their difference; the last two are nan where the
        surrogate is not convex.
    converged_ : bool
    history_ : list of dict
        For each step: step, passes, objective, lower_bound, gap, seconds.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)

    See Also
    --------
    rocband.metrics.partial_auc_score : What to measure the model with.

    Notes
    -----
    Features should be on similar scales. A step costs one product with X and a sum of the rows in play, besides
    O(n + (m + j) log j) for j negatives in the band; X is never copied. Memory beyond X is O(n_samples).

    Examples
    --------
    >>> from rocband import PartialAUCSVC
    >>> from rocband.datasets import make_band_problem
    >>> from rocband.metrics import partial_auc_score
    >>> X, y = make_band_problem(2000, random_state=0)
    >>> model = PartialAUCSVC(fpr_range=(0.0, 0.05)).fit(X, y)
    >>> bool(partial_auc_score(y, model.decision_function(X), fpr_range=(0.0, 0.05)) > 0.3)
    True
    """

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        *,
        surrogate: str = "ramp",
        C: float = 100.0,
        anchor: Any = "logistic",
        tol: float = 1e-4,
        max_iter: int = 500,
        target_fpr: float | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.fpr_range = fpr_range
        self.surrogate = surrogate
        self.C = C
        self.anchor = anchor
        self.tol = tol
        self.max_iter = max_iter
        self.target_fpr = target_fpr
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> PartialAUCSVC:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features, float32 or float64 without a copy; a memory map is read block by block.
        y : array-like of shape (n_samples,)
            Labels of two classes; the greater is the positive one.

        Returns
        -------
        PartialAUCSVC
        """
        self._check_parameters()
        check_number("C", self.C, 0.0)
        previous = self.coef_[0] if self.warm_start and hasattr(self, "coef_") else None
        rows, positive = self._validated(X, y)
        problem = Problem(rows, positive, self.fpr_range)
        settings = self._settings(self._seeds(1)[0], show=bool(self.verbose))
        origin, start = self._origin_and_start(problem, settings)
        if previous is not None and len(previous) == problem.n_features:
            start = previous.astype(np.float64)
        fit = solve(problem, self.surrogate, self.C, origin, settings, start)
        self._store(fit, problem, origin)
        self._warn(self.C)
        return self


def _objective(surrogate: str, C: float, scores: Scores, problem: Problem, away: npt.NDArray[Any]) -> float:
    away = away.astype(np.float64, copy=False)
    risk = SURROGATES[surrogate](scores.positives, scores.negatives, problem.band).value
    return float(away @ away) / 2 + C * risk
