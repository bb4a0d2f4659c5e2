"""The problem of a kernel: models are combinations of the rows, and products of rows are all that is known."""

from __future__ import annotations

import numpy as np

from rocband._types import BoolArray, FloatArray, IndexArray
from rocband.kernels.gram import Gram
from rocband.problems.base import OVERFLOW
from rocband.problems.members import Members
from rocband.risks import Plane, Scores

__all__ = ["GramProblem"]


class GramProblem:
    """Rows in the space of a kernel, and their classes.

    A model is an array of 2 n numbers for n rows: the coefficients of the rows, then the scores of the rows. The
    second half follows from the first, but it costs a pass over the Gram matrix to find: carried along, it makes
    inner products and scores of sums of models cost O(n).

    Parameters
    ----------
    gram : Gram
    positive : bool array of shape (n_rows,)
        Which rows are positives.
    """

    def __init__(self, gram: Gram, positive: BoolArray) -> None:
        self.gram = gram
        self._members = Members.among(positive)
        self.passes = 0

    @property
    def n_positives(self) -> int:
        """Rows of the positive class."""
        return len(self._members.positives)

    @property
    def n_negatives(self) -> int:
        """Rows of the negative class."""
        return len(self._members.negatives)

    @property
    def n_features(self) -> int:
        """Length of a model."""
        return 2 * self.gram.n_rows

    @property
    def dimension(self) -> int:
        """The largest rank that the Gram matrix can have."""
        return self.gram.rank

    @property
    def features(self) -> None:
        """None: the features of a kernel cannot be written down."""
        return None

    def count(self, passes: int) -> None:
        """Add passes that were made elsewhere."""
        self.passes += passes

    def coefficients(self, w: FloatArray) -> FloatArray:
        """Return the coefficients of the rows."""
        return w[: self.gram.n_rows]

    def model(self, coefficients: FloatArray) -> FloatArray:
        """Return the model with these coefficients of the rows."""
        return self._accumulated(coefficients, np.arange(self.gram.n_rows))

    def scores(self, w: FloatArray) -> Scores:
        """Score all rows; counted as a pass, although the model carries its scores."""
        if not w.any():
            return self._members.nothing()
        self.passes += 1
        if not np.isfinite(self._row_scores(w)).all():
            raise ValueError(OVERFLOW)
        return self.carried_scores(w)

    def exact_scores(self, w: FloatArray) -> Scores:
        """Score all rows; the scores that a model carries are in double precision."""
        return self.scores(w)

    def carried_scores(self, w: FloatArray) -> Scores:
        """Return the scores that a model carries; no pass."""
        return self.split(self._row_scores(w))

    def split(self, scores: FloatArray) -> Scores:
        """Divide scores of the rows, in the order in which these came, by their class."""
        return self._members.split(scores)

    def scores_of(self, w: FloatArray, numbers: IndexArray) -> FloatArray:
        """Score some rows."""
        return self._row_scores(w)[self._members.rows(numbers)]

    def combine(self, weights: FloatArray, numbers: IndexArray) -> FloatArray:
        """Return the model sum_k weights[k] * row[numbers[k]]."""
        return self._accumulated(weights, self._members.rows(numbers))

    def gradient(self, plane: Plane) -> FloatArray:
        """Gradient in the model of a risk linearised in the scores."""
        return self._accumulated(*self._members.weighted(plane))

    def inner(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Inner product of two models, or of each in a stack ``u`` with ``v``."""
        n = self.gram.n_rows
        products: FloatArray = u[..., :n] @ v[n:]
        return products

    def products(self, numbers: IndexArray) -> FloatArray:
        """Inner products of some rows with each other."""
        return self.gram.between(self._members.rows(numbers))

    def norms(self, numbers: IndexArray) -> FloatArray:
        """Return 1 for each: few rows of a kernel's space are far out, and rows in play have a limit anyway."""
        return np.ones(len(numbers))

    def without(self, w: FloatArray, index: IndexArray) -> FloatArray:
        """Return the model without the rows ``index``, numbered as they came."""
        return w - self._accumulated(w[index], index)

    def _row_scores(self, w: FloatArray) -> FloatArray:
        return w[self.gram.n_rows :]

    def _accumulated(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        coefficients = np.bincount(index, weights, minlength=self.gram.n_rows)
        scores = self.gram.products(weights, index)
        # As much of the identity as makes up for a negative eigenvalue belongs to the Gram matrix.
        scores += self.gram.shift * coefficients
        return np.concatenate([coefficients, scores])
