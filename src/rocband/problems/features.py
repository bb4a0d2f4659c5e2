"""What all problems share whose rows are written down as features, wherever these are kept."""

from __future__ import annotations

from abc import ABC, abstractmethod

from rocband._types import FloatArray, IndexArray
from rocband.problems.base import Features
from rocband.rows import Matrix
from rocband.rows.base import dense

__all__ = ["FeaturesProblem"]


class FeaturesProblem(ABC):
    """Rows of two classes; a model is the coefficients of their features."""

    def __init__(self) -> None:
        self.passes = 0

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Length of a model."""

    @abstractmethod
    def take(self, numbers: IndexArray) -> Matrix:
        """Return the features of some rows in double precision."""

    @property
    def row_size(self) -> float:
        """Numbers stored for a row, on average."""
        return float(self.n_features)

    @property
    def dimension(self) -> int:
        """In how many directions a model can move."""
        return self.n_features

    @property
    def features(self) -> Features:
        """The rows themselves."""
        return self

    def count(self, passes: int) -> None:
        """Add passes that were made elsewhere."""
        self.passes += passes

    def scores_of(self, w: FloatArray, numbers: IndexArray) -> FloatArray:
        """Score some rows."""
        scores: FloatArray = self.take(numbers) @ w
        return scores

    def inner(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Inner product of two models, or of each in a stack ``u`` with ``v``."""
        products: FloatArray = u @ v
        return products

    def products(self, numbers: IndexArray) -> FloatArray:
        """Inner products of some rows with each other."""
        rows = self.take(numbers)
        return dense(rows @ rows.T)
