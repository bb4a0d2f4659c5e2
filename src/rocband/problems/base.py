"""What a solver sees: scores of the two classes, and models made from weighted rows.

A solver is written against `Problem` alone. Rows in memory (`rocband.problems.rows`), products of a kernel
(`rocband.problems.gram`) and blocks on a cluster (`rocband.dask.problem`) each satisfy it.
"""

from __future__ import annotations

from typing import Protocol

from rocband._types import BoolArray, FloatArray, IndexArray
from rocband.risks import Plane, Scores
from rocband.rows import Matrix

__all__ = ["OVERFLOW", "Features", "Labelled", "Problem"]

OVERFLOW = "The scores overflow; scale the features, for instance with StandardScaler, or lower C."


class Features(Protocol):
    """Rows whose features can be written down."""

    @property
    def row_size(self) -> float:
        """Numbers stored for a row, on average; fewer than the features where rows are sparse."""

    def take(self, numbers: IndexArray) -> Matrix:
        """Return the features of some rows in double precision."""


class Problem(Protocol):
    """Rows of two classes; the positives have the numbers 0 to n_positives - 1, the negatives those that follow.

    Models are arrays of ``n_features`` numbers that may be added and scaled, whatever they stand for.
    """

    @property
    def n_positives(self) -> int:
        """Rows of the positive class."""

    @property
    def n_negatives(self) -> int:
        """Rows of the negative class."""

    @property
    def n_features(self) -> int:
        """Length of a model."""

    @property
    def dimension(self) -> int:
        """In how many directions a model can move; at most ``n_features``."""

    @property
    def features(self) -> Features | None:
        """The features that a model has coefficients of; None where they cannot be written down, as in a kernel."""

    @property
    def passes(self) -> int:
        """Passes over the data so far."""

    def count(self, passes: int) -> None:
        """Add passes that were made elsewhere, for instance over a sample."""

    def scores(self, w: FloatArray) -> Scores:
        """Score all rows: one data pass, unless ``w`` is 0."""

    def exact_scores(self, w: FloatArray) -> Scores:
        """Score all rows in double precision, whatever that of the data is: one data pass, unless ``w`` is 0."""

    def scores_of(self, w: FloatArray, numbers: IndexArray) -> FloatArray:
        """Score some rows; no data pass."""

    def combine(self, weights: FloatArray, numbers: IndexArray) -> FloatArray:
        """Return the model sum_k weights[k] * row[numbers[k]]."""

    def gradient(self, plane: Plane) -> FloatArray:
        """Gradient in the model of a risk linearised in the scores."""

    def inner(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Inner product of two models, or of each in a stack ``u`` with ``v``."""

    def products(self, numbers: IndexArray) -> FloatArray:
        """Inner products of some rows with each other."""

    def norms(self, numbers: IndexArray) -> FloatArray:
        """Squared lengths of some rows, or 1 for each where they hardly differ; the first call may be a data pass."""


class Labelled(Protocol):
    """Rows and their classes, from which problems are made of all rows or of some."""

    @property
    def positive(self) -> BoolArray:
        """Which rows are positives, in the order in which the rows came."""

    def problem(self, members: IndexArray | None = None) -> Problem:
        """Return the problem of all rows, or of those with the given numbers in the order in which they came."""
