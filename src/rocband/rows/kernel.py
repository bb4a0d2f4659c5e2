"""Rows in the feature space of a kernel: known by their products with each other, never written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import lsqr
from sklearn.metrics.pairwise import pairwise_kernels

from rocband.risks.band import FloatArray, IndexArray
from rocband.rows.base import double
from rocband.rows.dense import DenseRows

__all__ = ["Kernel", "KernelRows", "check_gram", "kernel_scores", "tiles"]

# Numbers in a tile of kernel values, in double precision.
_TILE = 1 << 20
# Beyond this many times the budget, computing the products again and again takes hours.
_MOST_BUDGETS = 64
_LANCZOS_STEPS = 40


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel function with scikit-learn's names and meanings; its values come in double precision.

    Attributes
    ----------
    function : str or callable
        "linear", "rbf", "poly", "sigmoid", "precomputed", or a callable that is given two blocks of rows and returns
        the matrix of their products.
    gamma, degree, coef0 : float
        As in `sklearn.svm.SVC`.
    """

    function: Any
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    def __call__(self, A: Any, B: Any) -> FloatArray:
        """Return the products of the rows of A with those of B."""
        if not (A.shape[0] and B.shape[0]):
            return np.zeros((A.shape[0], B.shape[0]))
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._called(A, B) if callable(self.function) else self._named(A, B)
        if not np.isfinite(values).all():
            raise ValueError("The kernel has values that are not finite; scale the features, or use a whole degree.")
        return values

    def _named(self, A: Any, B: Any) -> FloatArray:
        A, B = A.astype(np.float64, copy=False), B.astype(np.float64, copy=False)
        parameters = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        values: FloatArray = pairwise_kernels(A, B, metric=self.function, filter_params=True, **parameters)
        return values

    def _called(self, A: Any, B: Any) -> FloatArray:
        try:
            values = np.asarray(self.function(A, B), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"The kernel function failed on two blocks of rows: {error}") from error
        if values.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"The kernel function returned an array of shape {values.shape} for blocks of {A.shape[0]} and "
                f"{B.shape[0]} rows; it must return one of shape {(A.shape[0], B.shape[0])}."
            )
        return values

    @property
    def definite(self) -> bool:
        """Whether the kernel is positive semi-definite whatever the rows are."""
        if self.function == "poly":
            return self.gamma > 0 and self.coef0 >= 0 and float(self.degree).is_integer()
        return isinstance(self.function, str) and self.function in ("linear", "rbf")


def tiles(n_rows: int, width: int) -> Iterator[slice]:
    """Cut rows into runs that fill a tile when each has ``width`` numbers."""
    step = max(_TILE // max(width, 1), 1)
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def kernel_scores(
    kernel: Kernel,
    X: Any,
    vectors: Any,
    index: IndexArray,
    weights: FloatArray,
    on_rows: Callable[[int], None] | None = None,
) -> FloatArray:
    """Return sum_k weights[k] * kernel(x, vectors[k]) for the rows x of X, tile by tile.

    Where ``vectors`` is None, X holds the products already, and ``index`` says in which columns. ``on_rows`` is told
    how many rows are done. Memory beyond X and the vectors: some tiles, whatever the number of rows.
    """
    scores = np.empty(X.shape[0])
    for part in tiles(X.shape[0], len(index)):
        values = X[part][:, index] if vectors is None else kernel(X[part], vectors)
        scores[part] = values @ weights
        if on_rows is not None:
            on_rows(part.stop)
    return scores


class KernelRows:
    """Rows of X in the feature space of a kernel.

    A model is a combination of the rows, and is stored as 2 n numbers: the n coefficients, then the n scores that they
    give the rows. Both are linear in the model, and the inner product of two models is that of the coefficients of one
    with the scores of the other.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix of shape (n_rows, n_features), or of shape (n_rows, n_rows) for a precomputed kernel
        Not copied.
    budget : float
        Bytes for the Gram matrix. It is kept in double precision if that fits, else in single precision if that fits,
        and else not at all: the values in need are then computed in each pass. A precomputed matrix stays as it is.

    Notes
    -----
    A kernel that is not positive semi-definite leaves the objective without a minimum. As much of the identity is added
    to the Gram matrix as makes up for its smallest eigenvalue, `shift`. ``rank`` is the largest rank it can have.

    The weights of a gradient sum to 0, so that moving the origin of the features adds a constant to all scores and
    changes no product of models. For a linear kernel of dense rows it is moved to their mean, which saves digits.
    """

    def __init__(self, kernel: Kernel, X: Any, budget: float) -> None:
        n = X.shape[0]
        self.kernel, self.X, self.shift = kernel, X, 0.0
        self.shape: tuple[int, int] = (n, 2 * n)
        self.rank: int = min(n, X.shape[1]) if kernel.function == "linear" else n
        self._centre = X.mean(axis=0) if kernel.function == "linear" and isinstance(X, np.ndarray) else None
        self._gram = self._kept(budget)
        if not kernel.definite:
            self.shift = max(-smallest_eigenvalue(self.products, n), 0.0)

    def _kept(self, budget: float) -> npt.NDArray[Any] | None:
        if self._given:
            gram: npt.NDArray[Any] = self.X
            return gram
        n = self.shape[0]
        if 4 * n * n > _MOST_BUDGETS * budget:
            raise ValueError(_too_large(n, budget))
        if 4 * n * n > budget:
            return None
        try:
            gram = np.empty((n, n), dtype=np.float64 if 8 * n * n <= budget else np.float32)
        except MemoryError:
            raise ValueError(_too_large(n, budget)) from None
        for rows in tiles(n, int(np.sqrt(_TILE))):
            for columns in tiles(n, int(np.sqrt(_TILE))):
                if columns.start >= rows.start:
                    block = self._values(rows, columns)
                    gram[rows, columns], gram[columns, rows] = block, block.T
        return gram

    @property
    def _given(self) -> bool:
        return bool(self.kernel.function == "precomputed")

    def _values(self, rows: Any, columns: Any) -> FloatArray:
        return self.kernel(self._features(rows), self._features(columns))

    def _features(self, rows: Any) -> Any:
        return self.X[rows] if self._centre is None else self.X[rows] - self._centre

    def scores(self, w: FloatArray) -> FloatArray:
        """Return the scores that a model holds; no pass."""
        return w[self.shape[0] :]

    def accumulate(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        """Return the model sum_k weights[k] * row[index[k]]: a pass over the part of the Gram matrix in ``index``."""
        n = self.shape[0]
        coefficients = np.bincount(index, weights, minlength=n).astype(np.float64, copy=False)
        scores = self.products(weights, index)
        scores += self.shift * coefficients
        return np.concatenate([coefficients, scores])

    def inner(self, u: FloatArray, v: FloatArray) -> Any:
        """Inner product of two models, or of each in a stack ``u`` with ``v``."""
        n = self.shape[0]
        return u[..., :n] @ v[n:]

    def products(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        """Return sum_k weights[k] * kernel(row, row[index[k]]) for every row, in double precision."""
        if self._gram is not None:
            return DenseRows(self._gram).accumulate(weights, index)
        chosen = self._features(index)
        parts = [self.kernel(self._features(part), chosen) @ weights for part in tiles(self.shape[0], len(index))]
        return np.concatenate(parts)

    def exact_products(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        """Return the same from the kernel function itself, whatever precision the Gram matrix is kept in."""
        return kernel_scores(self.kernel, self.X, None if self._given else self.X[index], index, weights)

    def from_features(self, w: FloatArray) -> FloatArray:
        """Return a linear kernel's model that scores the rows as the coefficients ``w`` of the features do."""
        n = self.shape[0]
        if not w.any():
            return np.zeros(2 * n)
        coefficients = lsqr(self._features(slice(None)).T, w, atol=1e-15, btol=1e-15, iter_lim=10 * len(w))[0]
        return self.accumulate(coefficients, np.arange(n))

    def take(self, index: IndexArray) -> FloatArray:
        """Return the products of the rows in ``index`` with each other, in double precision."""
        values = self._values(index, index) if self._gram is None else double(self._gram[np.ix_(index, index)])
        values[np.diag_indices(len(index))] += self.shift
        return values

    def norms(self) -> FloatArray:
        """Take all rows to be equally long, as they are for an RBF kernel: lengths only guide which rows are drawn."""
        return np.ones(self.shape[0])


def check_gram(gram: npt.NDArray[Any]) -> None:
    """Say in one sentence what is wrong when a precomputed matrix cannot be a Gram matrix; finite it must be already.

    Time O(n^2), memory O(n).
    """
    n = gram.shape[0]
    if gram.shape != (n, n):
        raise ValueError(f"A precomputed kernel must be a square matrix, got one of shape {gram.shape}.")
    noise = 1e3 * float(np.finfo(gram.dtype).eps) * max(float(np.abs(np.diagonal(gram)).max()), 1e-300)
    for part in tiles(n, n):
        away = np.abs(gram[part] - gram[:, part].T)
        if away.max() > noise:
            row, column = np.unravel_index(int(away.argmax()), away.shape)
            raise ValueError(
                f"A precomputed kernel must be symmetric, but entry ({part.start + row}, {column}) differs from "
                f"({column}, {part.start + row}) by {away.max():.3g}."
            )


def smallest_eigenvalue(products: Callable[[FloatArray, IndexArray], FloatArray], n: int) -> float:
    """Bound the smallest eigenvalue of a symmetric matrix from below by Lanczos steps; 0 where it is but rounding."""
    everything, steps = np.arange(n), min(n, _LANCZOS_STEPS)
    basis, images = np.empty((steps, n)), np.empty((steps, n))
    vector = np.random.default_rng(0).standard_normal(n)
    for k in range(steps):
        for _ in range(2):
            vector -= basis[:k].T @ (basis[:k] @ vector)
        length = np.linalg.norm(vector)
        if length < 1e-12:
            basis, images = basis[:k], images[:k]
            break
        basis[k] = vector / length
        images[k] = vector = products(basis[k], everything)
        vector = vector.copy()
    values, vectors = np.linalg.eigh(basis @ images.T)
    residual = images.T @ vectors[:, 0] - values[0] * (basis.T @ vectors[:, 0])
    lowest = float(values[0]) - float(np.linalg.norm(residual))
    return lowest if values[0] < -1e-7 * np.abs(values).max() else 0.0


def _too_large(n: int, budget: float) -> str:
    return (
        f"The Gram matrix of {n:,} rows takes {4 * n * n / 2**20:,.0f} MB, far more than cache_size="
        f"{budget / 2**20:g} allows for an exact kernel: set n_components, for instance to 1000, or raise cache_size."
    )
