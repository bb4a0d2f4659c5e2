"""The asymmetric support vector machine, ASVM."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rocband._base import check_number, tell_step, training_threshold
from rocband._errors import ParameterError
from rocband._hints import hint_at_scales
from rocband._warnings import CollapsedSolutionWarning, warn
from rocband.baselines.asymmetric_risk import AsymmetricRisk
from rocband.linear import LinearBandClassifier
from rocband.problems.base import Problem
from rocband.risks import Smoothing
from rocband.solvers import certified
from rocband.solvers.objective import Objective
from rocband.solvers.planes import Planes
from rocband.solvers.result import Result, Step

__all__ = ["AsymmetricSVC"]

# Below this share of what the class means alone would give, the best model is taken to be 0.
_COLLAPSED = 1e-8
# A share that the classes cannot give by more than rounding is refused.
_ROUNDING = 1e-9
# The false-positive rate of predictions by default: that of the band that the other models have by default.
_TARGET = 0.05
# When the tolerance turns out to be too loose, it is tightened at least so much.
_TIGHTER = 0.1


class AsymmetricSVC(LinearBandClassifier):
    r"""Asymmetric support vector machine (ASVM) with a linear kernel, solved in the primal.

    It [1]_ maximises a margin between the classes and, weighted by ``tau``, how far the positives lie from the origin.
    With N rows it minimises over w, p and q

    .. math:: \tfrac{1}{2} \|w\|^2 - (\mu + \tau) p + \mu q
              + \tfrac{1}{N} \Big( \sum_{i \in +} (p - w \cdot x_i)_+ + \sum_{j \in -} (w \cdot x_j - q)_+ \Big),

    which is :math:`\tfrac{1}{2} \|w\|^2 - (\mu + \tau) A(w) + \mu B(w)`, where A is the mean of the lowest
    :math:`(\mu + \tau) N` scores of the positives and B that of the highest :math:`\mu N` of the negatives.

    Parameters
    ----------
    mu : float, default 0.05
        Share of all rows that the highest negatives make up which count; at most the share of the negatives. Where the
        classes overlap, a small ``mu`` leaves no margin and w = 0 is best.
    tau : float, default 0.01
        What the positives' share, ``mu + tau``, has more; at most the share of the positives less ``mu``.
    pos_label : object, optional
        The label of the positives. By default the greater of 0 and 1, -1 and 1, or False and True; of other labels the
        greater too, with a `PositiveClassWarning`.
    tol : float, default 1e-3
        It stops when the gap to the lower bound is at most ``tol`` times the objective's size; the coefficients are
        then within about ``sqrt(tol)`` of the best ones, relatively.
    max_iter : int, default 500
        Most passes over the data.
    target_fpr : float, optional
        The false-positive rate of `predict` on the training negatives; 0.05 by default.
    random_state : int, RandomState instance or None, default None
        Seeds the sample of rows that the curvature is estimated from; None and 0 give the same.
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
        The objective at ``coef_``, what no model can be below, and their difference. The minimum is at most 0.
    converged_ : bool
    history_ : list of dict
        For each step: step, passes, objective, lower_bound, gap, seconds.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)

    Notes
    -----
    The score depends on where the origin of the features lies; scale them first. Where the classes overlap, all that
    ``tau`` is left to gain may be a shift of all scores by a column that is almost constant, such as a rare indicator
    after standardisation: the ranking is then made of the small rest and hangs on ``tol``.

    The objective is convex and a maximum of linear functions, so that the solver of :class:`rocband.PartialAUCSVC`
    serves, with its certificate. A step costs one product with X, a sum of the rows in play and O(n + m log m) for m
    positives and n negatives; memory beyond X is O(n_samples). Sparse matrices stay sparse.

    References
    ----------
    .. [1] S.-H. Wu, K.-P. Lin, C.-M. Chen and M.-S. Chen (2008). Asymmetric support vector machines: low
       false-positive learning under the user tolerance. KDD 2008, 749-757.

    Examples
    --------
    >>> from rocband.baselines import AsymmetricSVC
    >>> from rocband.datasets import load_letter
    >>> X, y = load_letter("A", return_X_y=True)
    >>> model = AsymmetricSVC(mu=0.02, tau=0.01).fit(X / 15, y)
    >>> bool(model.dual_gap_ <= 1e-3 * abs(model.objective_))
    True
    """

    def __init__(
        self,
        mu: float = 0.05,
        tau: float = 0.01,
        *,
        pos_label: object = None,
        tol: float = 1e-3,
        max_iter: int = 500,
        target_fpr: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.mu = mu
        self.tau = tau
        self.pos_label = pos_label
        self.tol = tol
        self.max_iter = max_iter
        self.target_fpr = target_fpr
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> AsymmetricSVC:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features, float32 or float64 without a copy.
        y : array-like of shape (n_samples,)
            Labels of two classes; ``pos_label`` says which is positive.

        Returns
        -------
        AsymmetricSVC
        """
        for name in ("mu", "tau", "tol"):
            check_number(name, getattr(self, name), 0.0)
        check_number("max_iter", self.max_iter, 0, integer=True)
        if self.target_fpr is not None:
            check_number("target_fpr", self.target_fpr, 0.0, 1.0)
        problem = self._data(X, y).problem()
        hint_at_scales(problem, self._feature_names)
        risk = self._shares(problem)
        result, least = self._solve(problem, risk)
        self._store_result(result, problem, risk, least)
        self._warn_of_result()
        return self

    @property
    def _target(self) -> float:
        return float(_TARGET if self.target_fpr is None else self.target_fpr)

    def _shares(self, problem: Problem) -> AsymmetricRisk:
        """Turn mu and tau into the risk, whose counts are at most those of the classes."""
        n_rows = problem.n_positives + problem.n_negatives
        size = self.mu + self.tau
        _check_share("mu + tau", size, problem.n_positives / n_rows, "positives")
        _check_share("mu", self.mu, problem.n_negatives / n_rows, "negatives")
        lowest = min(size * n_rows, problem.n_positives)
        highest = min(self.mu * n_rows, problem.n_negatives)
        return AsymmetricRisk(lowest, highest, self.mu / size)

    def _solve(self, problem: Problem, risk: AsymmetricRisk) -> tuple[Result, float]:
        """Minimise 1/2 |v|^2 + risk(v), where w = (mu + tau) v, until the gap is small beside the minimum.

        The minimum, -|v|^2 / 2, is not known before: the tolerance is first relative to what the class means give, and
        then to what was reached. Returned too is the least size of an objective that is told from 0.
        """
        origin = np.zeros(problem.n_features)
        objective = Objective(problem, risk, 1.0, origin)
        # Where all scores are the same, all shares are: the slope is the difference of the class means.
        means = problem.gradient(risk.plane(problem.scores(origin), Smoothing(1.0, 1.0)))
        scale = max(float(means @ means) / 2, np.finfo(float).tiny)
        planes = Planes(len(origin), means)
        settings = replace(self._settings(self._seeds(1)[0], show=False), on_step=self._note(problem))
        result = None
        tol = self.tol * scale
        while True:
            settings = replace(settings, tol=tol, max_passes=max(self.max_iter - problem.passes, 0))
            result = certified.minimize(objective, settings, planes=planes, warm=result)
            gap = result.objective - result.lower_bound
            size = max(-result.objective, _COLLAPSED * scale)
            self.converged_ = gap <= self.tol * size
            self._collapsed = self.converged_ and result.objective > -_COLLAPSED * scale
            if self.converged_ or problem.passes >= self.max_iter:
                return result, _COLLAPSED * scale
            tol = min(self.tol * size, _TIGHTER * tol)

    def _note(self, problem: Problem) -> Callable[[Step], None]:
        """Keep each step in ``history_``, its figures those of w."""
        self.history_: list[dict[str, Any]] = []
        began = time.perf_counter()
        unit = (self.mu + self.tau) ** 2

        def note(step: Step) -> None:
            objective = unit * step.objective
            bound = unit * step.lower_bound
            seconds = time.perf_counter() - began
            step = Step(len(self.history_), problem.passes, objective, bound, objective - bound, seconds)
            self.history_.append(asdict(step))
            if self.verbose:
                tell_step(step)

        return note

    def _store_result(self, result: Result, problem: Problem, risk: AsymmetricRisk, least: float) -> None:
        """Set the fitted attributes; figures are those of the coefficients as stored, in double precision."""
        size = self.mu + self.tau
        coefficients = (size * result.w).astype(self._dtype)
        w = coefficients.astype(np.float64)
        scores = problem.exact_scores(w)
        self.coef_ = coefficients[None, :]
        self.threshold_ = training_threshold(scores, self._target)
        self.intercept_ = np.array([-self.threshold_], dtype=self._dtype)
        self.objective_ = float(w @ w) / 2 + size * risk.value(scores)
        self.lower_bound_ = size**2 * result.lower_bound
        self.dual_gap_ = self.objective_ - self.lower_bound_
        accuracy = self.tol * max(-self.objective_, size**2 * least)
        self._lost_precision = self.converged_ and self.dual_gap_ > accuracy
        self.converged_ = bool(self.dual_gap_ <= accuracy)
        self.n_iter_ = problem.passes

    def _warn_of_result(self) -> None:
        if self._lost_precision:
            message = (
                f"The model as stored has a gap of {self.dual_gap_:.3g}, more than tol={self.tol:g} allows, since "
                "rounding has cost more: pass X in double precision, scale the features, or raise tol."
            )
            warn(message, ConvergenceWarning)
        elif not self.converged_:
            message = (
                f"The solver stopped after max_iter={self.max_iter} passes over the data before it reached tol="
                f"{self.tol:g}; raise max_iter or tol, or scale the features."
            )
            warn(message, ConvergenceWarning)
        elif self._collapsed:
            message = (
                "The constant scorer is optimal: the classes overlap too much for these shares; use a larger mu or tau."
            )
            warn(message, CollapsedSolutionWarning)


def _check_share(name: str, value: float, share: float, what: str) -> None:
    if value > share * (1 + _ROUNDING):
        raise ParameterError(name, f"must be at most the share of the {what}, {share:.6g} here, got {value:g}.")
