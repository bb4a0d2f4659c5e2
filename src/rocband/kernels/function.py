"""Kernel functions with scikit-learn's names and meanings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from rocband._types import AnyArray, FloatArray, IndexArray
from rocband.rows.base import batches

__all__ = ["Kernel", "KernelName", "check_gram", "kernel_scores", "tiles"]

KernelName = Literal["rbf", "poly", "sigmoid", "linear", "precomputed"]

# Numbers in a tile of kernel values, 8 MB in double precision: a tile and its exponentials stay near the processor
# (make bench ARGS=kernel).
TILE = 1 << 20
# Two halves of a symmetric matrix may differ by rounding: so many units in the last place of its diagonal.
_ULPS = 1e3


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel function; its values come in double precision.

    Attributes
    ----------
    function : str or callable
        "linear", "rbf", "poly", "sigmoid", "precomputed", or a callable that is given two blocks of rows and returns
        the matrix of their products.
    gamma, degree, coef0 : float
        As in `sklearn.svm.SVC`.
    """

    function: KernelName | Callable[[Any, Any], Any]
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    def __call__(self, A: Any, B: Any) -> FloatArray:
        """Return the products of the rows of A with those of B."""
        if not (A.shape[0] and B.shape[0]):
            return np.zeros((A.shape[0], B.shape[0]))
        with np.errstate(over="ignore", invalid="ignore"):
            values = _called(self.function, A, B) if callable(self.function) else self._named(A, B)
        if not np.isfinite(values).all():
            raise ValueError("The kernel has values that are not finite; scale the features, or use a whole degree.")
        return values

    def _named(self, A: Any, B: Any) -> FloatArray:
        A = A.astype(np.float64, copy=False)
        B = B.astype(np.float64, copy=False)
        parameters = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        values: FloatArray = pairwise_kernels(A, B, metric=self.function, filter_params=True, **parameters)
        return values

    @property
    def given(self) -> bool:
        """Whether X holds the products already."""
        return self.function == "precomputed"

    @property
    def definite(self) -> bool:
        """Whether the kernel is positive semi-definite whatever the rows are."""
        if self.function == "poly":
            return self.gamma > 0 and self.coef0 >= 0 and float(self.degree).is_integer()
        return self.function in ("linear", "rbf")


def _called(function: Callable[[Any, Any], Any], A: Any, B: Any) -> FloatArray:
    try:
        values = np.asarray(function(A, B), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The kernel function failed on two blocks of rows: {error}") from error
    wanted = (A.shape[0], B.shape[0])
    if values.shape != wanted:
        raise ValueError(
            f"The kernel function returned an array of shape {values.shape} for blocks of {wanted[0]} and "
            f"{wanted[1]} rows; it must return one of shape {wanted}."
        )
    return values


def tiles(n_rows: int, width: int) -> Iterator[slice]:
    """Cut rows into runs that fill a tile when each has ``width`` numbers."""
    step = max(TILE // max(width, 1), 1)
    return batches(n_rows, step)


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


def check_gram(gram: AnyArray) -> None:
    """Say in one sentence what is wrong when a precomputed matrix cannot be a Gram matrix; finite it must be already.

    Time O(n^2), memory O(n).
    """
    n = gram.shape[0]
    if gram.shape != (n, n):
        raise ValueError(f"A precomputed kernel must be a square matrix, got one of shape {gram.shape}.")
    largest = float(np.abs(np.diagonal(gram)).max())
    noise = _ULPS * float(np.finfo(gram.dtype).eps) * largest
    for part in tiles(n, n):
        away = np.abs(gram[part] - gram[:, part].T)
        if away.max() > noise:
            row, column = np.unravel_index(int(away.argmax()), away.shape)
            raise ValueError(
                f"A precomputed kernel must be symmetric, but entry ({part.start + row}, {column}) differs from "
                f"({column}, {part.start + row}) by {away.max():.3g}."
            )
