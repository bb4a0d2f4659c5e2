"""Which rows of an array are the positives and which the negatives of a problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rocband._types import BoolArray, FloatArray, IndexArray
from rocband.risks import Plane, Scores

__all__ = ["Members"]


@dataclass(frozen=True, slots=True)
class Members:
    """Numbers, in an array of rows, of the positives and of the negatives that count."""

    positives: IndexArray
    negatives: IndexArray

    @classmethod
    def among(cls, positive: BoolArray, chosen: IndexArray | None = None) -> Members:
        """Divide all rows, or the ``chosen`` ones, by their class."""
        numbers = np.arange(len(positive)) if chosen is None else chosen
        return cls(numbers[positive[numbers]], numbers[~positive[numbers]])

    def rows(self, numbers: IndexArray) -> IndexArray:
        """Turn numbers that count the positives first into numbers of the array."""
        m = len(self.positives)
        rows = np.empty(len(numbers), dtype=np.intp)
        positive = numbers < m
        rows[positive] = self.positives[numbers[positive]]
        rows[~positive] = self.negatives[numbers[~positive] - m]
        return rows

    def split(self, scores: FloatArray) -> Scores:
        """Divide the scores of all rows by their class, in double precision."""
        positives = scores[self.positives].astype(np.float64)
        negatives = scores[self.negatives].astype(np.float64)
        return Scores.of(positives, negatives)

    def nothing(self) -> Scores:
        """Return scores of 0."""
        return Scores.of(np.zeros(len(self.positives)), np.zeros(len(self.negatives)))

    def weighted(self, plane: Plane) -> tuple[FloatArray, IndexArray]:
        """Return the weights that a plane gives to rows, and the numbers of these rows in the array."""
        used = np.flatnonzero(plane.negatives)
        weights = np.concatenate([plane.positives, plane.negatives[used]])
        rows = np.concatenate([self.positives, self.negatives[plane.index[used]]])
        return weights, rows
