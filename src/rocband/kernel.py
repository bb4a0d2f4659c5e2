"""Non-linear models for a band of false-positive rates."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted, validate_data

from rocband._base import BandSVC, Constancy, check_number, training_threshold
from rocband._errors import ParameterError
from rocband._hints import hint_at_few_negatives, hint_at_scales
from rocband._progress import tell
from rocband._types import BoolArray, FloatArray, IndexArray
from rocband.anchor import auc_coefficients
from rocband.kernels.function import Kernel, KernelName, check_gram, kernel_scores, tiles
from rocband.kernels.gram import Gram
from rocband.kernels.nystroem import NystroemFeatures, choose_landmarks
from rocband.problems.gram import GramProblem
from rocband.problems.members import Members
from rocband.problems.rows import RowsProblem
from rocband.risks import BandRisk, Scores, Surrogate
from rocband.rows import as_rows
from rocband.solvers.objective import Objective
from rocband.solvers.result import Result, Settings
from rocband.solvers.solve import solve

__all__ = ["KernelPartialAUCSVC"]

_PROGRESS = 10  # lines while many rows are scored
# Coefficients of at most this share of the largest are dropped, the first of these that leaves the gap closed.
_NEGLIGIBLE = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)
# Where there is no gap to close, dropping them may cost this part of the tolerance.
_DROPPED_COST = 1e-3


class KernelPartialAUCSVC(BandSVC):
    r"""Kernel classifier trained for the partial AUC in a band of false-positive rates.

    It minimises :math:`\frac{1}{2} \|w - w_0\|^2 + C \, R(w)` as `PartialAUCSVC` does, where w is a function in the
    space of a kernel: exactly, or with the features of Nystroem's method in place of the kernel.

    Parameters
    ----------
    fpr_range : (float, float), default (0.0, 0.05)
        The band of false-positive rates, with 0 <= low < high <= 1. (0, 1) is the full AUC.
    kernel : {"rbf", "poly", "sigmoid", "linear", "precomputed"} or callable, default "rbf"
        As in `sklearn.svm.SVC`. A callable is given two blocks of rows and returns the matrix of their products. With
        "precomputed", X is the square matrix of the products of all training rows, and for prediction that of the new
        rows with all training rows.
    gamma : {"scale", "auto"} or float, default "scale"
        Of "rbf", "poly" and "sigmoid": 1 / (n_features * X.var()), 1 / n_features, or a number.
    degree : float, default 3
        Of "poly".
    coef0 : float, default 0.0
        Of "poly" and "sigmoid".
    n_components : int, optional
        None is the exact kernel; a number stands for that many landmarks of Nystroem's method.
    surrogate : {"tight", "ramp", "hinge", "naive"}, default "tight"
        As in `PartialAUCSVC`. In the space of a kernel the convex one rarely collapses, and has a certificate.
    C : float, default 1000.0
        Weight of the risk.
    anchor : {"auc", "logistic", "logistic_cv"}, None, array or fitted linear model, default None
        What the model is shrunk towards: 0, or an SVM_AUC with C = 1 or a logistic regression in the same space.
    pos_label : object, optional
        The label of the positives. By default the greater of 0 and 1, -1 and 1, or False and True; of other labels the
        greater too, with a `PositiveClassWarning`.
    tol : float, default 1e-4
        For a convex surrogate it stops when ``dual_gap_ <= C * tol``; else when a step gains at most ``C * tol``.
    max_iter : int, default 500
        Most steps of the solver.
    target_fpr : float, optional
        The false-positive rate of `predict` on the training negatives; the band's upper end by default.
    cache_size : float, default 500
        Megabytes for the Gram matrix of an exact kernel. It is kept in double precision where that fits (8,000 rows
        take 488), else in single precision (11,000 rows take 462), and is else computed again in every step. More than
        64 times as much is refused.
    random_state : int, RandomState instance or None, default None
        Seeds the choice of landmarks and the sample of rows that the curvature is estimated from. None and 0 give the
        same.
    verbose : int, default 0
        1 prints a line for each step, and for each tenth of a large number of rows to score.

    Attributes
    ----------
    support_ : array of shape (n_support,)
        The training rows that scores are made from: those with a weight, or the landmarks.
    support_vectors_ : array or CSR matrix of shape (n_support, n_features)
        These rows; None for a precomputed kernel.
    dual_coef_ : array of shape (1, n_support)
        Their weights.
    intercept_ : array of shape (1,)
        Minus ``threshold_``.
    threshold_ : float
        The score ``kernel(X, support_vectors_) @ dual_coef_[0]`` above which a row is predicted positive.
    classes_ : array of shape (2,)
        The second is the positive class, also where ``pos_label`` is the lesser of the two.
    n_iter_ : int
        Steps of the solver, or with ``n_components`` its passes over the features.
    objective_, lower_bound_, dual_gap_ : float
        The objective of the model, what no model in the same space can be below, and their difference; the last two are
        nan where the surrogate is not convex.
    converged_ : bool
    history_ : list of dict
        For each step: step, passes, objective, lower_bound, gap, seconds.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)

    See Also
    --------
    PartialAUCSVC : The linear model.

    Notes
    -----
    An exact kernel takes O(n_samples^2) time and memory for the Gram matrix. A step costs O(n_samples r + r^3) time for
    r rows in play, the positives and the negatives about the band, at most 2,000 of which enter the Newton system.
    Its figures are computed anew at the end from the kernel function in double precision.

    With c components, memory is 4 c bytes for each row; time O(n_samples c) for each pass and O(n_samples c^2) for the
    features. ``lower_bound_`` is that of the models with these features.

    Scoring takes O(n_support) products for each row and memory for a few tiles of 8 MB besides X and the scores.

    A kernel that is not positive semi-definite, such as "sigmoid", leaves the objective without a minimum. An exact
    model then adds to the Gram matrix as much of the identity as makes up for its smallest eigenvalue; its figures are
    those of the kernel thus changed. Nystroem's features need nothing of the kind.

    Examples
    --------
    >>> import numpy as np
    >>> from rocband import KernelPartialAUCSVC
    >>> from rocband.metrics import partial_auc_score
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(600, 2))
    >>> y = (np.hypot(X[:, 0], X[:, 1]) < 0.5).astype(int)  # a disc: no line separates it
    >>> model = KernelPartialAUCSVC((0.0, 0.05)).fit(X, y)
    >>> bool(partial_auc_score(y, model.decision_function(X), fpr_range=(0.0, 0.05)) > 0.9)
    True
    >>> quick = KernelPartialAUCSVC((0.0, 0.05), n_components=50).fit(X, y)
    >>> quick.dual_coef_.shape
    (1, 50)
    """

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        *,
        kernel: KernelName | Callable[[Any, Any], Any] = "rbf",
        gamma: Literal["scale", "auto"] | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        n_components: int | None = None,
        surrogate: Surrogate | type[BandRisk] = "tight",
        C: float = 1000.0,
        anchor: Any = None,
        pos_label: object = None,
        tol: float = 1e-4,
        max_iter: int = 500,
        target_fpr: float | None = None,
        cache_size: float = 500,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.fpr_range = fpr_range
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.surrogate = surrogate
        self.C = C
        self.anchor = anchor
        self.pos_label = pos_label
        self.tol = tol
        self.max_iter = max_iter
        self.target_fpr = target_fpr
        self.cache_size = cache_size
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> KernelPartialAUCSVC:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features, or the square Gram matrix for a precomputed kernel; float32 or float64 without a copy.
        y : array-like of shape (n_samples,)
            Labels of two classes; ``pos_label`` says which is positive.

        Returns
        -------
        KernelPartialAUCSVC
        """
        self._check_parameters()
        X, positive = self._validated(X, y)
        hint_at_few_negatives(self.fpr_range, int(np.count_nonzero(~positive)))
        if not self._precomputed:
            hint_at_scales(RowsProblem(as_rows(X), positive), self._feature_names)
        self._kernel = Kernel(self.kernel, self._gamma(X), self.degree, self.coef0)
        seeds = self._seeds(2)
        settings = self._settings(seeds[0], show=bool(self.verbose))
        if self.n_components is None:
            constancy = self._fit_exact(X, positive, settings)
        else:
            constancy = self._fit_nystroem(X, positive, settings, np.random.default_rng(seeds[1]))
        self._warn(float(self.C), constancy)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Score each row; above 0 means positive at the threshold for ``target_fpr``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features, or the products with all training rows for a precomputed kernel.

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=self._accepted, dtype=[np.float64, np.float32], reset=False)
        on_rows = _Progress(X.shape[0]) if self.verbose else None
        scores = self._scores(X, on_rows)
        scores -= self.threshold_
        return scores

    def _scores(self, X: Any, on_rows: _Progress | None = None) -> FloatArray:
        return kernel_scores(self._kernel, X, self.support_vectors_, self.support_, self.dual_coef_[0], on_rows)

    @property
    def _accepted(self) -> Any:
        return False if self._precomputed else "csr"

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("C", self.C, 0.0)
        check_number("cache_size", self.cache_size, 0.0)
        known = isinstance(self.kernel, str) and self.kernel in get_args(KernelName)
        if not known and not callable(self.kernel):
            names = ", ".join(repr(name) for name in get_args(KernelName))
            raise ParameterError("kernel", f"must be one of {names} or a callable, got {self.kernel!r}.")
        if self.n_components is not None:
            check_number("n_components", self.n_components, 0, integer=True)
        if isinstance(self.gamma, Real):
            check_number("gamma", self.gamma, 0.0)
        elif not isinstance(self.gamma, str) or self.gamma not in ("scale", "auto"):
            raise ParameterError("gamma", f"must be 'scale', 'auto' or a number above 0, got {self.gamma!r}.")
        check_number("degree", self.degree, 0.0)
        check_number("coef0", self.coef0, -np.inf)

    def _validated(self, X: Any, y: Any) -> tuple[Any, BoolArray]:
        X, y = validate_data(self, X, y, accept_sparse=self._accepted, dtype=[np.float64, np.float32])
        positive = self._encode(y)
        if self._precomputed:
            check_gram(X)
        n_rows = X.shape[0]
        if self.n_components is not None and self.n_components > n_rows:
            raise ParameterError("n_components", f"must be at most the {n_rows} rows of X, got {self.n_components}.")
        return X, positive

    def _gamma(self, X: Any) -> float:
        if self.gamma == "auto":
            return 1.0 / int(X.shape[1])
        if self.gamma != "scale":
            return float(self.gamma)
        if callable(self.kernel) or self._precomputed:
            return 1.0
        variance = _variance(X)
        return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0

    def _fit_exact(self, X: Any, positive: BoolArray, settings: Settings) -> Constancy | None:
        gram = Gram(self._kernel, X, self.cache_size * 2**20)
        problem = GramProblem(gram, positive)
        risk = self._risk(problem)
        origin = self._exact_origin(problem, positive, settings)
        objective = Objective(problem, risk, float(self.C), origin)
        result = solve(objective, settings, self._start(objective, settings))
        coefficients = problem.coefficients(self._without_negligible(result, objective, problem))
        self._keep(X, np.flatnonzero(coefficients), coefficients[coefficients != 0])
        scores = self._scores(X)
        self._set_threshold(problem.split(scores))
        # The rest takes the shift of an indefinite kernel into account, which new rows do not have.
        scores += gram.shift * coefficients
        away = np.concatenate([coefficients, scores]) - origin
        size = float(problem.inner(away, away))
        bound = _exact_bound(result, gram, origin)
        return self._store_figures(result, objective, problem.split(scores), size, bound)

    def _exact_origin(self, problem: GramProblem, positive: BoolArray, settings: Settings) -> FloatArray:
        """Return what to shrink towards, as a model of the kernel."""
        if self._kernel.function == "linear":
            explicit = RowsProblem(as_rows(problem.gram.X), positive)
            origin = self._origin(explicit, settings, self._feature_names)
            return problem.model(problem.gram.coefficients_of(origin))
        if self.anchor is None:
            return np.zeros(problem.n_features)
        if isinstance(self.anchor, str) and self.anchor == "auc":
            return auc_coefficients(problem, settings.quiet())
        problem_text = f"of an exact kernel must be None or 'auc', got {self.anchor!r}; logistic needs n_components."
        raise ParameterError("anchor", problem_text)

    def _without_negligible(self, result: Result, objective: Objective, problem: GramProblem) -> FloatArray:
        """Drop small coefficients while the objective stays within the tolerance of the bound, or hardly rises.

        Where the rows outnumber the dimensions, coefficients are not unique, and a small one says little.
        """
        if problem.dimension < problem.gram.n_rows:
            return result.w
        tolerance = objective.C * self.tol
        limit = result.objective + _DROPPED_COST * tolerance
        if np.isfinite(result.lower_bound):
            limit = max(limit, result.lower_bound + tolerance)
        size = np.abs(problem.coefficients(result.w))
        for share in _NEGLIGIBLE:
            negligible = np.flatnonzero((size > 0) & (size <= share * size.max()))
            smaller = problem.without(result.w, negligible)
            if objective.at(smaller, problem.carried_scores(smaller)).objective <= limit:
                return smaller
        return result.w

    def _fit_nystroem(
        self, X: Any, positive: BoolArray, settings: Settings, random: np.random.Generator
    ) -> Constancy | None:
        count = int(self.n_components or 0)
        landmarks = choose_landmarks(positive, count, random)
        features = NystroemFeatures(self._kernel, X, landmarks)
        problem = RowsProblem(as_rows(features.transform(X)), positive)
        risk = self._risk(problem)
        origin = self._origin(problem, settings, None)  # Nystroem's features have no names
        objective = Objective(problem, risk, float(self.C), origin)
        result = solve(objective, settings, self._start(objective, settings))
        self._keep(X, landmarks, features.weights(result.w))
        # Figures are those of the scores that new rows get, not of the features in single precision.
        scores = Members.among(positive).split(self._scores(X))
        self._set_threshold(scores)
        away = result.w - origin
        return self._store_figures(result, objective, scores, float(away @ away), result.lower_bound)

    def _keep(self, X: Any, index: IndexArray, weights: FloatArray) -> None:
        self.support_ = index
        self.dual_coef_ = weights[None, :]
        self.support_vectors_ = None if self._precomputed else X[index]

    def _set_threshold(self, scores: Scores) -> None:
        """Set the threshold by the training rows, scored as new ones are."""
        self.threshold_ = training_threshold(scores, self._target)
        self.intercept_ = np.array([-self.threshold_])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._precomputed
        tags.input_tags.pairwise = self._precomputed
        return tags


class _Progress:
    """Tells of each tenth of a large number of rows."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._shown = 0

    def __call__(self, done: int) -> None:
        tenths = done * _PROGRESS // self._total
        if tenths > self._shown:
            self._shown = tenths
            tell(f"scored {done:,} of {self._total:,} rows")


def _variance(X: Any) -> float:
    """Variance of all numbers of X, without a copy of X."""
    mean = float(X.mean(dtype=np.float64))
    size = float(np.prod(X.shape))
    stored: Any = X.data[:, None] if issparse(X) else X  # type: ignore[attr-defined]
    away = 0.0
    for part in tiles(*stored.shape):
        away += float(np.square(stored[part] - mean).sum(dtype=np.float64))
    n_zeros = size - stored.size  # that a sparse matrix does not store
    return float((away + n_zeros * mean**2) / size)


def _exact_bound(result: Result, gram: Gram, origin: FloatArray) -> float:
    """Prove the bound again with products from the kernel function itself, in double precision."""
    proof = result.certificate
    if proof is None:
        return np.nan
    n = gram.n_rows
    coefficients = proof.multipliers @ proof.slopes[:, :n]
    used = np.flatnonzero(coefficients)
    scores = gram.exact_products(coefficients[used], used) + gram.shift * coefficients
    origin_scores = origin[n:]
    height = float(proof.multipliers @ proof.offsets) + float(coefficients @ origin_scores)
    return height - float(coefficients @ scores) / 2
