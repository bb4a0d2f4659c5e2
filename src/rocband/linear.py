"""Linear models for a band of false-positive rates."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from rocband._base import BandSVC, Constancy, check_number, training_threshold
from rocband._types import FloatArray
from rocband.problems.base import Labelled
from rocband.problems.rows import LabelledRows
from rocband.risks import BandRisk, Surrogate
from rocband.rows import as_rows
from rocband.solvers.objective import Objective
from rocband.solvers.result import Result
from rocband.solvers.solve import solve

__all__ = ["PartialAUCSVC"]


class LinearBandClassifier(BandSVC):
    """What the linear estimators share: validation, the reference model, attributes and prediction."""

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
        return decisions(X, self.coef_[0], self.threshold_)

    def _data(self, X: Any, y: Any) -> Labelled:
        """Check the data without copying them."""
        checked, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        # Validation makes an array of a memory map, which would then be read whole rather than block by block.
        mapped = isinstance(X, np.memmap) and X.dtype == checked.dtype
        self._dtype = checked.dtype
        return LabelledRows(as_rows(X if mapped else checked), self._encode(y))

    def _store(self, result: Result, objective: Objective) -> Constancy | None:
        """Set the fitted attributes; figures are those of the coefficients as stored, in double precision.

        Returned is why the model is no better than the constant scorer, if it is not.
        """
        self.coef_ = result.w.astype(self._dtype)[None, :]
        stored = self.coef_[0].astype(np.float64)
        scores = objective.problem.exact_scores(stored)
        self.threshold_ = training_threshold(scores, self._target)
        self.intercept_ = np.array([-self.threshold_], dtype=self._dtype)
        away = stored - objective.origin
        return self._store_figures(result, objective, scores, float(away @ away), result.lower_bound)


def decisions(X: Any, coefficients: FloatArray, threshold: float) -> FloatArray:
    """Return how far the scores of rows lie above a threshold, at the precision of rows and coefficients.

    They are computed in double precision as the threshold was: in single precision, rows near it would be told apart by
    rounding, and more negatives than promised would pass.
    """
    scores = as_rows(X).exact_scores(coefficients.astype(np.float64, copy=False))
    scores -= threshold
    return scores.astype(np.result_type(X.dtype, coefficients.dtype), copy=False)


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
        by difference-of-convex programming (SVM_pAUC^dc). "naive" is a looser convex one, for comparison. A subclass
        of `rocband.risks.BandRisk` is a surrogate of your own.
    C : float, default 100.0
        Weight of the risk; the smaller, the nearer the model stays to the anchor.
    anchor : {"logistic", "logistic_cv", "auc"}, None, array (n_features,) or fitted linear model, default "logistic"
        What the model is shrunk towards: a logistic regression fitted to the same data, one with its regularisation
        chosen by cross-validation, an SVM_AUC, 0 (None, as in the paper), or given coefficients. Where features are
        many or noisy, "logistic_cv" is worth its time.
    pos_label : object, optional
        The label of the positives. By default the greater of 0 and 1, -1 and 1, or False and True; of other labels the
        greater too, with a `PositiveClassWarning`. Scorers that scikit-learn knows by name, such as "roc_auc", take the
        greater label for positive whatever a classifier says, and turn the figure over where this is the lesser one:
        measure with `rocband.metrics.partial_auc_scorer`, or recode y.
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
        Seeds the sample of rows that the curvature is estimated from. None and 0 give the same: a fit is
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
        The second is the positive class, also where ``pos_label`` is the lesser of the two.
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
        surrogate: Surrogate | type[BandRisk] = "ramp",
        C: float = 100.0,
        anchor: Any = "logistic",
        pos_label: object = None,
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
        self.pos_label = pos_label
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
            Labels of two classes; ``pos_label`` says which is positive.

        Returns
        -------
        PartialAUCSVC
        """
        self._check_parameters()
        C = check_number("C", self.C, 0.0)
        previous = self.coef_[0] if self.warm_start and hasattr(self, "coef_") else None
        problem = self._data(X, y).problem()
        self._look_at(problem)
        settings = self._settings(self._seeds(1)[0], show=bool(self.verbose))
        origin = self._origin(problem, settings, self._feature_names)
        objective = Objective(problem, self._risk(problem), C, origin)
        if previous is not None and len(previous) == problem.n_features:
            start = previous.astype(np.float64)
        else:
            start = self._start(objective, settings)
        constancy = self._store(solve(objective, settings, start), objective)
        self._warn(C, constancy)
        return self
