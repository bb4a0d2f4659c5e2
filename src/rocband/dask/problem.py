"""The problem that a solver sees, with rows and most of their scores on the workers."""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

from rocband.dask.cluster import gather, task
from rocband.dask.rows import DaskRows, Part
from rocband.dask.scores import DistributedScores, KeptScores, sample_slices
from rocband.risks.band import Band, FloatArray, IndexArray
from rocband.risks.smoothed import sample_step
from rocband.risks.surrogates import Linearization
from rocband.rows import Matrix
from rocband.solvers.problem import Problem, Scores

__all__ = ["DaskProblem"]


class DaskProblem(Problem):
    """Rows on the workers and the band; counts the passes over the data.

    Parameters
    ----------
    rows : DaskRows
        All rows.
    fpr_range : (float, float)
    members : array of row numbers, optional
        The rows that count, in the numbers with which they came; all by default.
    """

    def __init__(self, rows: DaskRows, fpr_range: object, members: IndexArray | None = None) -> None:
        self.whole = rows
        self.blocks = rows if members is None else rows.part(members)
        self.rows, self.fpr_range = self.blocks, fpr_range
        m, n = self.blocks.n_positives, self.blocks.n_negatives
        # Ranges say how many rows there are, and their numbers, without an array as long as the data.
        self.positives, self.negatives = cast(IndexArray, range(m)), cast(IndexArray, range(m, m + n))
        self.band = Band.from_range(fpr_range, n)
        self._counter = [0]
        self._read_lengths = [False]

    def draw(
        self, n_positives: int, n_negatives: int, random: np.random.Generator
    ) -> tuple[IndexArray, npt.NDArray[np.bool_]]:
        """Draw that many rows of each class, or take all; return their numbers and which are positives."""
        m, n = self.blocks.n_positives, self.blocks.n_negatives
        wanted = ((0, m, n_positives), (m, n, n_negatives))
        parts = [
            start + (np.arange(size) if count >= size else random.choice(size, count, replace=False))
            for start, size, count in wanted
        ]
        return np.concatenate(parts), np.repeat([True, False], [len(part) for part in parts])

    def scores(self, w: FloatArray) -> Scores:
        """Score all rows: one data pass, unless ``w`` is 0; those of the negatives stay on the workers."""
        if not w.any():
            size = len(range(0, len(self.negatives), sample_step(len(self.negatives))))
            nothing = DistributedScores(self.blocks, (), np.zeros(size))
            return Scores(np.zeros(len(self.positives)), cast(FloatArray, nothing))
        self._counter[0] += 1
        parts = self.blocks.kept_scores(w)
        sampled = sample_slices(self.blocks)
        found = gather([task(_summary, part, own) for part, own in zip(parts, sampled, strict=True)])
        if not all(finite for _, _, finite in found):
            raise ValueError("The scores overflow; scale the features, for instance with StandardScaler, or lower C.")
        sample = np.concatenate([own for _, own, _ in found])
        negatives = DistributedScores(self.blocks, ((1.0, KeptScores(self.blocks, parts)),), sample)
        return Scores(np.concatenate([own for own, _, _ in found]), cast(FloatArray, negatives))

    def gradient(self, plane: Linearization) -> FloatArray:
        """Gradient in the model of a risk linearised in the scores."""
        m, weighs, used = len(self.positives), np.flatnonzero(plane.positives), np.flatnonzero(plane.negatives)
        weights = np.concatenate([plane.positives[weighs], plane.negatives[used]])
        return self.rows.accumulate(weights, np.concatenate([weighs, m + plane.index[used]]))

    def take(self, numbers: IndexArray) -> Matrix:
        """Return some rows in double precision; they are numbered with the positives first as they are."""
        return self.rows.take(numbers)

    def norms(self, numbers: IndexArray) -> FloatArray:
        """Squared lengths of some rows, found on the workers; only the first call counts as a pass, as elsewhere."""
        self._counter[0] += not self._read_lengths[0]
        self._read_lengths[0] = True
        return self.blocks.norms_of(numbers)


def _summary(part: Part, sampled: slice) -> tuple[FloatArray, FloatArray, bool]:
    """Scores of the positives, of every so many of the negatives, and whether all are finite."""
    positives, negatives = part
    return positives, negatives[sampled], bool(np.isfinite(positives).all() and np.isfinite(negatives).all())
