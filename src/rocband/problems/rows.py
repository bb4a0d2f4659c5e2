"""The problem of rows of features in memory, or in a file read block by block."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rocband._types import BoolArray, FloatArray, IndexArray
from rocband.problems.base import OVERFLOW
from rocband.problems.features import FeaturesProblem
from rocband.problems.members import Members
from rocband.risks import Plane, Scores
from rocband.rows import Matrix, Rows

__all__ = ["LabelledRows", "RowsProblem"]


class RowsProblem(FeaturesProblem):
    """Rows and their classes; a model is the coefficients of the features.

    Parameters
    ----------
    rows : Rows
        The features; never copied.
    positive : bool array of shape (n_rows,)
        Which rows are positives.
    members : array of row numbers, optional
        The rows that count, for instance the training part of a fold; all by default.
    """

    def __init__(self, rows: Rows, positive: BoolArray, members: IndexArray | None = None) -> None:
        super().__init__()
        self._rows = rows
        self._members = Members.among(positive, members)
        self._lengths: FloatArray | None = None  # of all rows, once they are needed

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
        return self._rows.shape[1]

    @property
    def row_size(self) -> float:
        """Numbers stored for a row, on average over all rows, whether they count or not."""
        return self._rows.row_size

    def scores(self, w: FloatArray) -> Scores:
        """Score all rows at the precision of the data: one data pass, unless ``w`` is 0."""
        return self._scored(w, self._rows.scores)

    def exact_scores(self, w: FloatArray) -> Scores:
        """Score all rows in double precision: one data pass, unless ``w`` is 0."""
        return self._scored(w, self._rows.exact_scores)

    def _scored(self, w: FloatArray, product: Callable[[FloatArray], FloatArray]) -> Scores:
        if not w.any():
            return self._members.nothing()
        self.passes += 1
        with np.errstate(over="ignore", invalid="ignore"):
            scores = product(w)
        if not np.isfinite(scores).all():
            raise ValueError(OVERFLOW)
        return self._members.split(scores)

    def combine(self, weights: FloatArray, numbers: IndexArray) -> FloatArray:
        """Return sum_k weights[k] * row[numbers[k]]."""
        return self._rows.accumulate(weights, self._members.rows(numbers))

    def gradient(self, plane: Plane) -> FloatArray:
        """Gradient in the model of a risk linearised in the scores."""
        return self._rows.accumulate(*self._members.weighted(plane))

    def take(self, numbers: IndexArray) -> Matrix:
        """Return the features of some rows in double precision."""
        return self._rows.take(self._members.rows(numbers))

    def norms(self, numbers: IndexArray) -> FloatArray:
        """Squared lengths of some rows; the first call is a data pass."""
        if self._lengths is None:
            self.passes += 1
            self._lengths = self._rows.norms()
        return self._lengths[self._members.rows(numbers)]


class LabelledRows:
    """Rows and their classes, from which problems are made of all rows or of some; nothing is copied.

    Parameters
    ----------
    rows : Rows
    positive : bool array of shape (n_rows,)
        Which rows are positives.
    """

    def __init__(self, rows: Rows, positive: BoolArray) -> None:
        self._rows = rows
        self.positive = positive

    def problem(self, members: IndexArray | None = None) -> RowsProblem:
        """Return the problem of all rows, or of those with the given numbers."""
        return RowsProblem(self._rows, self.positive, members)
