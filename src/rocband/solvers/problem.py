"""What a solver sees: scores of the two classes, and gradients made from row weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rocband.risks.band import Band, FloatArray, IndexArray
from rocband.risks.curvature import Graph
from rocband.risks.surrogates import Linearization
from rocband.rows import Matrix, Rows, as_rows
from rocband.solvers.curvature import MOST_ROWS, row_limit, solve_newton, within

__all__ = ["Problem", "Scores"]


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of the positives and of the negatives; they are linear in the model."""

    positives: FloatArray
    negatives: FloatArray

    def along(self, direction: Scores, step: float) -> Scores:
        """Return the scores ``step`` further along a direction; no data pass."""
        return Scores(
            self.positives + step * direction.positives,
            self.negatives + step * direction.negatives,
        )

    def slope(self, plane: Linearization) -> float:
        """Rate at which a linearised risk changes along these scores, taken as a direction."""
        return float(plane.positives @ self.positives + plane.negatives @ self.negatives[plane.index])


class Problem:
    """Rows, their classes and the band; counts the passes over the data.

    Parameters
    ----------
    rows : Rows
        The features.
    positive : bool array of shape (n_rows,)
        Which rows are positives.
    fpr_range : (float, float)
        The band of false-positive rates.
    members : array of row numbers, optional
        The rows that count, for instance the training part of a fold; all by default.
    """

    def __init__(
        self,
        rows: Rows,
        positive: npt.NDArray[np.bool_],
        fpr_range: object,
        members: IndexArray | None = None,
    ) -> None:
        self.rows, self.fpr_range = rows, fpr_range
        members = np.arange(len(positive)) if members is None else members
        self.positives: IndexArray = members[positive[members]]
        self.negatives: IndexArray = members[~positive[members]]
        self.band = Band.from_range(fpr_range, len(self.negatives))
        self._counter = [0]  # shared by all bands of the same data
        self._lengths: list[FloatArray] = []  # of all rows, once they are needed; shared likewise

    def with_range(self, fpr_range: object) -> Problem:
        """Return the same data with another band; passes go on being counted here."""
        other = copy(self)
        other.fpr_range = fpr_range
        other.band = Band.from_range(fpr_range, len(self.negatives))
        return other

    def sampled(self, n_positives: int, n_negatives: int, random: np.random.Generator) -> Problem:
        """Return a random part of each class as a problem of its own, which counts its own passes."""
        index, positive = self.draw(n_positives, n_negatives, random)
        return Problem(as_rows(self.rows.take(index)), positive, self.fpr_range)

    def draw(
        self, n_positives: int, n_negatives: int, random: np.random.Generator
    ) -> tuple[IndexArray, npt.NDArray[np.bool_]]:
        """Draw that many rows of each class, or take all; return their numbers and which are positives."""
        wanted = ((self.positives, n_positives), (self.negatives, n_negatives))
        parts = [part if count >= len(part) else random.choice(part, count, replace=False) for part, count in wanted]
        return np.concatenate(parts), np.repeat([True, False], [len(part) for part in parts])

    @property
    def n_rows(self) -> int:
        """Rows that count."""
        return len(self.positives) + len(self.negatives)

    @property
    def passes(self) -> int:
        """Passes over the data so far."""
        return self._counter[0]

    def count_part(self, part: Problem, passes: int) -> None:
        """Count passes over a part of the rows by its share of them, unless they were counted as they were made."""
        if part._counter is not self._counter:
            self._counter[0] += math.ceil(passes * part.n_rows / self.n_rows)

    @property
    def n_features(self) -> int:
        """Length of a model."""
        return self.rows.shape[1]

    def scores(self, w: FloatArray) -> Scores:
        """Score all rows: one data pass, unless ``w`` is 0."""
        if not w.any():
            return Scores(np.zeros(len(self.positives)), np.zeros(len(self.negatives)))
        self._counter[0] += 1
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.rows.scores(w)
        if not np.isfinite(scores).all():
            raise ValueError("The scores overflow; scale the features, for instance with StandardScaler, or lower C.")
        return Scores(scores[self.positives].astype(np.float64), scores[self.negatives].astype(np.float64))

    def gradient(self, plane: Linearization) -> FloatArray:
        """Gradient in the model of a risk linearised in the scores."""
        used = np.flatnonzero(plane.negatives)
        weights = np.concatenate([plane.positives, plane.negatives[used]])
        index = np.concatenate([self.positives, self.negatives[plane.index[used]]])
        return self.rows.accumulate(weights, index)

    def inner(self, u: FloatArray, v: FloatArray) -> Any:
        """Inner product of two models, or of each in a stack ``u`` with ``v``."""
        return u @ v

    @property
    def wide(self) -> bool:
        """Whether there are fewer than four positives for each feature."""
        return 4 * self.n_features > len(self.positives)

    def take(self, numbers: IndexArray) -> Matrix:
        """Return some rows, numbered with the positives first, in double precision."""
        return self.rows.take(self._numbered(numbers))

    def norms(self, numbers: IndexArray) -> FloatArray:
        """Squared lengths of some rows, numbered with the positives first; the first call is a data pass."""
        if not self._lengths:
            self._counter[0] += 1
            self._lengths.append(self.rows.norms())
        return self._lengths[0][self._numbered(numbers)]

    def _numbered(self, numbers: IndexArray) -> IndexArray:
        m = len(self.positives)
        rows = np.empty(len(numbers), dtype=np.intp)
        positive = numbers < m
        rows[positive] = self.positives[numbers[positive]]
        rows[~positive] = self.negatives[numbers[~positive] - m]
        return rows

    def newton_direction(
        self,
        graphs: Sequence[Graph],
        C: float,
        gradient: FloatArray,
        random: np.random.Generator,
        effort: float = 1.0,
    ) -> FloatArray:
        """Solve (I + C * scatter of the graphs) x = -gradient, from a random part of the rows where they are many.

        With more effort, that part is larger by this factor.
        """
        if self.n_features > MOST_ROWS:
            some = within(graphs, MOST_ROWS, self.norms, random)
        else:
            limit = row_limit(self.n_features, effort)
            some = [graph.thinned(limit, self.norms, random) for graph in graphs]
        return -solve_newton(some, C, gradient, self.take)
