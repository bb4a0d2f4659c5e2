"""The problem that a solver sees, with rows and most of their scores on the workers."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rocband._types import BoolArray, FloatArray, IndexArray
from rocband.dask.cluster import gather, task
from rocband.dask.rows import DaskRows, Part
from rocband.dask.scores import DistributedNegatives, KeptScores, sample_slices
from rocband.problems.base import OVERFLOW
from rocband.problems.features import FeaturesProblem
from rocband.risks import Plane, Scores
from rocband.rows import Matrix

__all__ = ["DaskProblem", "LabelledBlocks"]


class DaskProblem(FeaturesProblem):
    """Rows on the workers; counts the passes over the data.

    Parameters
    ----------
    rows : DaskRows
    """

    def __init__(self, rows: DaskRows) -> None:
        super().__init__()
        self._rows = rows
        self._read_lengths = False

    @property
    def n_positives(self) -> int:
        """Rows of the positive class."""
        return self._rows.n_positives

    @property
    def n_negatives(self) -> int:
        """Rows of the negative class."""
        return self._rows.n_negatives

    @property
    def n_features(self) -> int:
        """Length of a model."""
        return self._rows.n_features

    @property
    def row_size(self) -> float:
        """Numbers stored for a row, on average over all rows."""
        return self._rows.row_size

    def scores(self, w: FloatArray) -> Scores:
        """Score all rows: one data pass, unless ``w`` is 0; those of the negatives stay on the workers."""
        return self._scored(w, exact=False)

    def exact_scores(self, w: FloatArray) -> Scores:
        """Score all rows in double precision: one data pass, unless ``w`` is 0."""
        return self._scored(w, exact=True)

    def _scored(self, w: FloatArray, *, exact: bool) -> Scores:
        if not w.any():
            return Scores(np.zeros(self.n_positives), DistributedNegatives.nothing(self._rows))
        self.passes += 1
        parts = self._rows.kept_scores(w, exact=exact)
        sampled = sample_slices(self._rows)
        found = gather([task(_summary, part, own) for part, own in zip(parts, sampled, strict=True)])
        if not all(finite for _, _, finite in found):
            raise ValueError(OVERFLOW)
        positives = np.concatenate([own for own, _, _ in found])
        sample = np.concatenate([own for _, own, _ in found])
        return Scores(positives, DistributedNegatives.of(KeptScores(self._rows, parts), sample))

    def combine(self, weights: FloatArray, numbers: IndexArray) -> FloatArray:
        """Return sum_k weights[k] * row[numbers[k]]."""
        return self._rows.accumulate(weights, numbers)

    def gradient(self, plane: Plane) -> FloatArray:
        """Gradient in the model of a risk linearised in the scores; rows without weight are not sent out."""
        positives = np.flatnonzero(plane.positives)
        negatives = np.flatnonzero(plane.negatives)
        weights = np.concatenate([plane.positives[positives], plane.negatives[negatives]])
        numbers = np.concatenate([positives, self.n_positives + plane.index[negatives]])
        return self._rows.accumulate(weights, numbers)

    def take(self, numbers: IndexArray) -> Matrix:
        """Return the features of some rows in double precision."""
        return self._rows.take(numbers)

    def norms(self, numbers: IndexArray) -> FloatArray:
        """Squared lengths of some rows, found on the workers; only the first call counts as a pass, as elsewhere."""
        if not self._read_lengths:
            self.passes += 1
            self._read_lengths = True
        return self._rows.norms(numbers)


class LabelledBlocks:
    """Rows and their classes on the workers, from which problems are made of all rows or of some.

    Parameters
    ----------
    rows : DaskRows
    """

    def __init__(self, rows: DaskRows) -> None:
        self._rows = rows

    @cached_property
    def positive(self) -> BoolArray:
        """Which rows are positives, in the order in which the rows came; one byte for each is brought here."""
        return self._rows.positive()

    def problem(self, members: IndexArray | None = None) -> DaskProblem:
        """Return the problem of all rows, or of those with the given numbers."""
        return DaskProblem(self._rows if members is None else self._rows.part(members))


# What runs on the workers


def _summary(part: Part, sampled: slice) -> tuple[FloatArray, FloatArray, bool]:
    """Scores of the positives, of every so many of the negatives, and whether all are finite."""
    positives, negatives = part
    finite = np.isfinite(positives).all() and np.isfinite(negatives).all()
    return positives, negatives[sampled], bool(finite)
