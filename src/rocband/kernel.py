"""Non-linear models for a band of false-positive rates."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted, validate_data

from rocband._base import BandSVC, check_number, training_threshold
from rocband.anchor import auc_coefficients
from rocband.risks import SURROGATES
from rocband.risks.band import FloatArray, IndexArray
from rocband.rows import as_rows
from rocband.rows.kernel import Kernel, KernelRows, check_gram, kernel_scores, tiles
from rocband.rows.nystroem import NystroemFeatures, choose_landmarks
from rocband.solvers.certified import Settings
from rocband.solvers.kernel import KernelProblem
from rocband.solvers.path import Fit, is_convex, solve
from rocband.solvers.problem import Problem, Scores

__all__ = ["KernelPartialAUCSVC"]

_KERNELS = ("rbf", "poly", "sigmoid", "linear", "precomputed")
_PROGRESS = 10  # lines while many rows are scored
# Coefficients of at most this share of the largest are dropped, the first of these that leaves the gap closed.
_NEGLIGIBLE = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)


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
        Seeds the choice of landmarks and the sample of pairs that the curvature is estimated from. None and 0 give the
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
        The second is the positive class.
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
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        n_components: int | None = None,
        surrogate: str = "tight",
        C: float = 1000.0,
        anchor: Any = None,
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
            Labels of two classes; the greater is the positive one.

        Returns
        -------
        KernelPartialAUCSVC
        """
        self._check_parameters()
        X, positive = self._validated(X, y)
        self._kernel = Kernel(self.kernel, self._gamma(X), self.degree, self.coef0)
        seeds = self._seeds(2)
        settings = self._settings(seeds[0], show=bool(self.verbose))
        if self.n_components is None:
            self._fit_exact(X, positive, settings)
        else:
            self._fit_nystroem(X, positive, settings, np.random.default_rng(seeds[1]))
        self._warn(self.C)
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
        if not callable(self.kernel) and not (isinstance(self.kernel, str) and self.kernel in _KERNELS):
            names = ", ".join(map(repr, _KERNELS))
            raise ValueError(f"kernel must be one of {names} or a callable, got {self.kernel!r}.")
        if self.n_components is not None:
            check_number("n_components", self.n_components, 0, integer=True)
        if not (isinstance(self.gamma, str) and self.gamma in ("scale", "auto")):
            if isinstance(self.gamma, str) or not isinstance(self.gamma, Real):
                raise ValueError(f"gamma must be 'scale', 'auto' or a number above 0, got {self.gamma!r}.")
            check_number("gamma", self.gamma, 0.0)
        check_number("degree", self.degree, 0.0)
        check_number("coef0", self.coef0, -np.inf)

    def _validated(self, X: Any, y: Any) -> tuple[Any, npt.NDArray[np.bool_]]:
        X, y = validate_data(self, X, y, accept_sparse=self._accepted, dtype=[np.float64, np.float32])
        positive = self._encode(y)
        if self._precomputed:
            check_gram(X)
        if self.n_components is not None and self.n_components > X.shape[0]:
            raise ValueError(f"n_components={self.n_components} is more than the {X.shape[0]} rows of X.")
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

    def _fit_exact(self, X: Any, positive: npt.NDArray[np.bool_], settings: Settings) -> None:
        rows = KernelRows(self._kernel, X, self.cache_size * 2**20)
        problem = KernelProblem(rows, positive, self.fpr_range)
        origin, start = self._exact_origin_and_start(problem, positive, settings)
        fit = solve(problem, self.surrogate, self.C, origin, settings, start)
        coefficients = self._without_negligible(fit, problem, origin)[: len(positive)]
        self._keep(X, np.flatnonzero(coefficients), coefficients[coefficients != 0])
        scores = self._set_threshold(X, problem)
        # The rest takes the shift of an indefinite kernel into account, which new rows do not have.
        scores += rows.shift * coefficients
        away = np.concatenate([coefficients, scores]) - origin
        origins = {"shrunk": not origin.any(), "still": not coefficients.any()}
        size, bound = float(rows.inner(away, away)), _exact_bound(fit, rows, origin)
        self._store_figures(fit, problem, _by_class(scores, problem), size, bound, **origins)

    def _exact_origin_and_start(
        self, problem: KernelProblem, positive: npt.NDArray[np.bool_], settings: Settings
    ) -> tuple[FloatArray, FloatArray]:
        """Return what to shrink towards and where to start, as models of the kernel."""
        if self._kernel.function == "linear":
            explicit = Problem(as_rows(problem.gram.X), positive, self.fpr_range)
            origin, start = self._origin_and_start(explicit, settings)
            return problem.gram.from_features(origin), problem.gram.from_features(start)
        zero = np.zeros(problem.n_features)
        if self.anchor is None:
            if is_convex(self.surrogate, problem):
                return zero, zero
            rough = Settings(1e-2, self.max_iter, settings.random)
            return zero, auc_coefficients(problem, rough, self.C)
        if isinstance(self.anchor, str) and self.anchor == "auc":
            origin = auc_coefficients(problem, settings.quiet())
            return origin, origin
        raise ValueError(
            f"The anchor of an exact kernel must be None or 'auc', got {self.anchor!r}; logistic needs n_components."
        )

    def _without_negligible(self, fit: Fit, problem: KernelProblem, origin: FloatArray) -> FloatArray:
        """Drop small coefficients while the objective stays within the tolerance of the bound, or hardly rises.

        Where the rows outnumber the dimensions, coefficients are not unique, and a small one says little.
        """
        rows, n = problem.gram, problem.gram.shape[0]
        if rows.rank < n:
            return fit.w
        size = np.abs(fit.w[:n])
        limit = fit.objective + 1e-3 * self.C * self.tol
        if np.isfinite(fit.lower_bound):
            limit = max(limit, fit.lower_bound + self.C * self.tol)
        for share in _NEGLIGIBLE:
            index = np.flatnonzero((size > 0) & (size <= share * size.max()))
            w = fit.w - rows.accumulate(fit.w[index], index)
            w[index] = 0.0
            away, scores = w - origin, _by_class(rows.scores(w), problem)
            risk = SURROGATES[self.surrogate](scores.positives, scores.negatives, problem.band).value
            if float(rows.inner(away, away)) / 2 + self.C * risk <= limit:
                return w
        return fit.w

    def _fit_nystroem(
        self, X: Any, positive: npt.NDArray[np.bool_], settings: Settings, random: np.random.Generator
    ) -> None:
        count = int(self.n_components or 0)
        landmarks = choose_landmarks(positive, count, random)
        features = NystroemFeatures(self._kernel, X, landmarks)
        problem = Problem(as_rows(features.transform(X)), positive, self.fpr_range)
        origin, start = self._origin_and_start(problem, settings)
        fit = solve(problem, self.surrogate, self.C, origin, settings, start)
        self._keep(X, landmarks, features.weights(fit.w))
        scores = _by_class(self._set_threshold(X, problem), problem)
        away = fit.w - origin
        origins = {"shrunk": not origin.any(), "still": not fit.w.any()}
        self._store_figures(fit, problem, scores, float(away @ away), fit.lower_bound, **origins)

    def _keep(self, X: Any, index: IndexArray, weights: FloatArray) -> None:
        self.support_, self.dual_coef_ = index, weights[None, :]
        self.support_vectors_ = None if self._precomputed else X[index]

    def _set_threshold(self, X: Any, problem: Problem) -> FloatArray:
        """Score the training rows as new ones are scored, and set the threshold by them."""
        scores = self._scores(X)
        self.threshold_ = training_threshold(_by_class(scores, problem), self._target)
        self.intercept_ = np.array([-self.threshold_])
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._precomputed
        tags.input_tags.pairwise = self._precomputed
        return tags


class _Progress:
    """Prints a line for each tenth of a large number of rows."""

    def __init__(self, total: int) -> None:
        self.total, self.shown = total, 0

    def __call__(self, done: int) -> None:
        if done * _PROGRESS // self.total > self.shown:
            self.shown = done * _PROGRESS // self.total
            print(f"[rocband] scored {done:,} of {self.total:,} rows", flush=True)


def _variance(X: Any) -> float:
    """Variance of all numbers of X, without a copy of X."""
    mean, size = float(X.mean(dtype=np.float64)), float(np.prod(X.shape))
    stored: Any = X.data[:, None] if issparse(X) else X  # type: ignore[attr-defined]
    away = sum(float(np.square(stored[part] - mean).sum(dtype=np.float64)) for part in tiles(*stored.shape))
    return float((away + (size - stored.size) * mean**2) / size)


def _by_class(scores: FloatArray, problem: Problem) -> Scores:
    return Scores(scores[problem.positives], scores[problem.negatives])


def _exact_bound(fit: Fit, rows: KernelRows, origin: FloatArray) -> float:
    """Prove the bound again with products from the kernel function itself, in double precision."""
    if fit.certified is None:
        return np.nan
    proof, n = fit.certified.certificate, rows.shape[0]
    coefficients = proof.multipliers @ proof.slopes[:, :n]
    index = np.flatnonzero(coefficients)
    scores = rows.exact_products(coefficients[index], index) + rows.shift * coefficients
    height = float(proof.multipliers @ proof.offsets) + float(coefficients @ rows.scores(origin))
    return height - float(coefficients @ scores) / 2
