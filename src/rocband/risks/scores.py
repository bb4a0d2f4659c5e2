"""Scores of the two classes: all that a risk knows of a model.

A risk looks at every positive, but only at the highest negatives. It asks for them through the protocol `Negatives`, so
that they may lie in an array here (`HeldNegatives`) or on the workers of a cluster.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from rocband._types import AnyArray, FloatArray, IndexArray
from rocband.risks.shares import guess_share_threshold, holds_all_shares, sample_step

if TYPE_CHECKING:
    from rocband.risks.plane import Plane

__all__ = ["HeldNegatives", "Negatives", "Scores", "ascending"]

# From this many values on, the two sorts of `ascending` are faster than one (make bench ARGS=linearize_speed).
_RADIX_PAYS = 2048
# A radix sort of NumPy takes 16 bits.
_COARSE_LEVELS = 2**16
# Scores whose range is below this would overflow when they are divided by it.
_SMALLEST_RANGE = 1e-300
# A threshold is guessed from a sample of at most so many values: sorting them costs nothing beside a pass.
_SAMPLED = 32768
# What lies within so many standard deviations of the expected count is not missed by a guess in practice.
_DEVIATIONS = 3


class Negatives(Protocol):
    """Scores of the negatives, wherever they are kept."""

    def __len__(self) -> int: ...

    def at(self, index: IndexArray) -> FloatArray:
        """Return the scores of some negatives."""

    def highest(self, k: int) -> tuple[FloatArray, IndexArray]:
        """Return the ``k`` highest scores, ascending, and where they are."""

    def highest_values(self, k: int) -> FloatArray:
        """Return the ``k`` highest scores, ascending; much faster than to find where they are."""

    def entering(self, k: int, width: float) -> tuple[FloatArray, IndexArray]:
        """Return the scores with a share in the top ``k`` smoothed over ``width``, ascending, and where they are.

        A few others may be among them.
        """

    def moved(self, direction: Self, step: float) -> Self:
        """Return these scores plus ``step`` times those of ``direction``."""

    def scaled(self, factor: float) -> Self:
        """Return ``factor`` times these scores."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of the positives and of the negatives; they are linear in the model."""

    positives: FloatArray
    negatives: Negatives

    @classmethod
    def of(cls, positives: AnyArray, negatives: AnyArray) -> Scores:
        """Wrap two arrays."""
        return cls(positives, HeldNegatives(negatives))

    def moved(self, direction: Scores, step: float) -> Scores:
        """Return the scores ``step`` further along a direction; no data pass."""
        return Scores(
            self.positives + step * direction.positives,
            self.negatives.moved(direction.negatives, step),
        )

    def scaled(self, factor: float) -> Scores:
        """Return the scores of ``factor`` times the model."""
        return Scores(factor * self.positives, self.negatives.scaled(factor))

    def slope(self, plane: Plane) -> float:
        """Rate at which a linearised risk changes along these scores, taken as a direction."""
        of_positives = plane.positives @ self.positives
        of_negatives = plane.negatives @ self.negatives.at(plane.index)
        return float(of_positives + of_negatives)


class HeldNegatives:
    """Scores of the negatives in an array."""

    __slots__ = ("values",)

    def __init__(self, values: AnyArray) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def at(self, index: IndexArray) -> FloatArray:
        """Return the scores of some negatives."""
        return self.values[index]

    def highest(self, k: int) -> tuple[FloatArray, IndexArray]:
        """Return the ``k`` highest scores, ascending, and where they are.

        When k is small, a strided sample guesses a threshold that k values and few others pass: one light
        pass over the values, and only those that pass are sorted.
        """
        values = self.values
        n = len(values)
        passing = np.flatnonzero(values >= _guess_threshold(values, k))
        if len(passing) < k:
            passing = np.argpartition(values, n - k)[n - k :]
        order = ascending(values[passing])
        index = passing[order[len(passing) - k :]]
        return values[index], index

    def highest_values(self, k: int) -> FloatArray:
        """Return the ``k`` highest scores, ascending; much faster than to find where they are."""
        values = self.values
        passing = values[values >= _guess_threshold(values, k)]
        if len(passing) < k:
            passing = np.partition(values, len(values) - k)[len(values) - k :]
        return np.sort(passing)[len(passing) - k :]

    def entering(self, k: int, width: float) -> tuple[FloatArray, IndexArray]:
        """Return the scores with a share in the top ``k`` smoothed over ``width``, ascending, and where they are."""
        values = self.values
        n = len(values)
        if k == n:
            order = ascending(values)
            return values[order], order
        sample = values[:: sample_step(n)]
        near, index = self._above(guess_share_threshold(sample, n, k, width))
        if not holds_all_shares(near, n, k, width):
            # Whatever lies more than a width below the k-th highest has no share in the top k.
            last = np.partition(values, n - k)[n - k]
            near, index = self._above(last - width)
        return near, index

    def _above(self, threshold: float) -> tuple[FloatArray, IndexArray]:
        passing = np.flatnonzero(self.values > threshold)
        near = self.values[passing]
        order = ascending(near)
        return near[order], passing[order]

    def moved(self, direction: HeldNegatives, step: float) -> HeldNegatives:
        """Return these scores plus ``step`` times those of ``direction``."""
        return HeldNegatives(self.values + step * direction.values)

    def scaled(self, factor: float) -> HeldNegatives:
        """Return ``factor`` times these scores."""
        return HeldNegatives(factor * self.values)


def ascending(values: AnyArray) -> IndexArray:
    """Return the order of ``argsort``, up to three times as fast where values are many.

    A radix sort puts them in order up to 1 / 65,536 of their range, and a merge sort, which is fast on what is nearly
    sorted, does the rest.
    """
    if len(values) < _RADIX_PAYS:
        return np.argsort(values, kind="stable")
    low = float(values.min())
    high = float(values.max())
    if not _SMALLEST_RANGE < high - low < math.inf:
        return np.argsort(values, kind="stable")
    above = np.subtract(values, low, dtype=np.float64)
    coarse = (above * ((_COARSE_LEVELS - 1) / (high - low))).astype(np.uint16)
    order = np.argsort(coarse, kind="stable")
    nearly = values[order]
    if (nearly[1:] < nearly[:-1]).any():
        order = order[np.argsort(nearly, kind="stable")]
    return order


def _guess_threshold(values: AnyArray, k: int) -> float:
    """Guess from a sample a value that the ``k`` largest and few others reach."""
    sample = values[:: max(len(values) // _SAMPLED, 1)]
    expected = k * len(sample) / len(values)
    rank = len(sample) - 1 - int(expected + _DEVIATIONS * math.sqrt(expected))
    if rank < 0:
        return -math.inf
    return float(np.partition(sample, rank)[rank])
