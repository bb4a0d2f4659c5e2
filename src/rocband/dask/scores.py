"""Scores of the negatives that stay on the workers; here are only those that a risk asks for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from rocband._types import FloatArray, IndexArray
from rocband.dask.cluster import gather, keep, task
from rocband.dask.rows import DaskRows, Part
from rocband.risks.scores import ascending
from rocband.risks.shares import guess_share_threshold, holds_all_shares, sample_step

__all__ = ["DistributedNegatives", "KeptScores", "sample_slices"]

# Scores of a point and of a direction: a line search needs no more, and each term costs the workers memory.
_MOST_TERMS = 2
# What lies within so many standard deviations of the expected count is not missed by a guess in practice.
_DEVIATIONS = 3


class KeptScores:
    """The scores of one model on the workers, and the last of them that were brought here."""

    def __init__(self, rows: DaskRows, parts: list[Any]) -> None:
        self.rows = rows
        self.parts = parts
        self.index: IndexArray = np.zeros(0, dtype=np.intp)
        self.values: FloatArray = np.zeros(0)

    def remember(self, index: IndexArray, values: FloatArray) -> None:
        """Note the scores of some negatives, given in ascending order of their numbers."""
        self.index = index
        self.values = values

    def at(self, index: IndexArray) -> FloatArray:
        """Return the scores of some negatives, from here or, where any is not known, from the workers."""
        if not self._knows(index):
            ordered = np.sort(index)
            blocks = self.rows.negatives_by_block(ordered)
            values = gather([task(_at, self.parts[number], local) for number, _, local in blocks])
            self.remember(ordered, np.concatenate([np.zeros(0), *values]))
        return self.values[np.searchsorted(self.index, index)]

    def _knows(self, index: IndexArray) -> bool:
        where = np.minimum(np.searchsorted(self.index, index), len(self.index) - 1)
        return len(self.index) > 0 and np.array_equal(self.index[where], index)


_Terms = tuple[tuple[float, KeptScores], ...]


class DistributedNegatives:
    """A sum of kept scores with factors: what a step or a line search does to scores costs nothing until it is asked.

    Parameters
    ----------
    rows : DaskRows
    terms : tuple of (float, KeptScores)
        At most two; none means that all scores are 0.
    sample : array
        These scores for every so many of the negatives; it guesses a threshold without a question to the workers.
    """

    def __init__(self, rows: DaskRows, terms: _Terms, sample: FloatArray) -> None:
        self._rows = rows
        self._terms = terms
        self._sample = sample

    @classmethod
    def of(cls, kept: KeptScores, sample: FloatArray) -> DistributedNegatives:
        """Wrap the scores of one model."""
        return cls(kept.rows, ((1.0, kept),), sample)

    @classmethod
    def nothing(cls, rows: DaskRows) -> DistributedNegatives:
        """Return scores of 0."""
        n = rows.n_negatives
        size = len(range(0, n, sample_step(n)))
        return cls(rows, (), np.zeros(size))

    def __len__(self) -> int:
        return self._rows.n_negatives

    def scaled(self, factor: float) -> DistributedNegatives:
        """Return ``factor`` times these scores."""
        terms = tuple((factor * own, kept) for own, kept in self._terms if factor * own)
        return DistributedNegatives(self._rows, terms, factor * self._sample)

    def moved(self, direction: DistributedNegatives, step: float) -> DistributedNegatives:
        """Return these scores plus ``step`` times those of ``direction``."""
        other = direction.scaled(step)
        terms = _merged(self._terms, other._terms)
        if len(terms) > _MOST_TERMS:
            self._settle()
            terms = _merged(self._terms, other._terms)
        if len(terms) > _MOST_TERMS:
            # The direction itself settles, so that the next step along it need not.
            direction._settle()
            other = direction.scaled(step)
            terms = _merged(self._terms, other._terms)
        return DistributedNegatives(self._rows, terms, self._sample + other._sample)

    def _settle(self) -> None:
        """Turn a sum into kept scores of its own; the workers add, and nothing travels."""
        if len(self._terms) < 2:
            return
        factors = [factor for factor, _ in self._terms]
        blocks = zip(*(kept.parts for _, kept in self._terms), strict=True)
        new = KeptScores(self._rows, keep([task(_settled, factors, *parts) for parts in blocks]))
        first = self._terms[0][1]
        if all(kept.index is first.index for _, kept in self._terms):
            new.remember(first.index, _total(factors, [kept.values for _, kept in self._terms]))
        self._terms = ((1.0, new),)

    def at(self, index: IndexArray) -> FloatArray:
        """Return the scores of some negatives."""
        if not self._terms:
            return np.zeros(len(index))
        factors = [factor for factor, _ in self._terms]
        return _total(factors, [kept.at(index) for _, kept in self._terms])

    def highest(self, k: int) -> tuple[FloatArray, IndexArray]:
        """Return the ``k`` highest scores, ascending, and where they are."""
        values, index = _sorted(*self._at_least(k))
        return values[len(values) - k :], index[len(index) - k :]

    def highest_values(self, k: int) -> FloatArray:
        """Return the ``k`` highest scores, ascending."""
        values, _ = self.highest(k)
        return values

    def reaching(self, k: int) -> FloatArray:
        """Return the scores of at least the ``k``-th highest, ascending: more than k where some tie with it."""
        values, _ = self._at_least(k)
        ranked: FloatArray = np.sort(values)
        lowest = ranked[len(ranked) - k]
        reaching: FloatArray = ranked[ranked >= lowest]
        return reaching

    def entering(self, k: int, width: float) -> tuple[FloatArray, IndexArray]:
        """Return the scores with a share in the top ``k`` smoothed over ``width``, ascending, and where they are."""
        n = len(self)
        if not self._terms or k >= n:
            return _sorted(*self._above(-math.inf))
        near, index = _sorted(*self._above(guess_share_threshold(self._sample, n, k, width)))
        if holds_all_shares(near, n, k, width):
            return near, index
        # Whatever lies more than a width below the k-th highest has no share in the top k.
        last = float(self.highest_values(k)[0])
        return _sorted(*self._above(last - width))

    def _at_least(self, k: int) -> tuple[FloatArray, IndexArray]:
        """Bring back the highest scores down to some threshold, lowered until k or more pass."""
        if k >= len(self):
            return self._above(-math.inf)
        ranked = np.sort(self._sample)
        expected = k * len(ranked) / len(self)
        reach = expected + _DEVIATIONS * math.sqrt(expected)
        while True:
            rank = len(ranked) - 1 - int(reach)
            threshold = math.nextafter(ranked[rank], -math.inf) if rank >= 0 else -math.inf
            near, where = self._above(threshold)
            if len(near) >= k:
                return near, where
            reach = 2 * reach + 1

    def _above(self, threshold: float) -> tuple[FloatArray, IndexArray]:
        """Bring back the scores above a threshold, and note those of each term for the slopes asked for next."""
        if not self._terms:
            everything = np.arange(len(self))
            return np.zeros(len(self)), everything
        factors = [factor for factor, _ in self._terms]
        blocks = zip(*(kept.parts for _, kept in self._terms), strict=True)
        found = gather([task(_passing, threshold, factors, *parts) for parts in blocks])
        starts = self._rows.starts[1][:-1]
        numbers = [start + local.astype(np.intp) for start, (local, _) in zip(starts, found, strict=True)]
        index = np.concatenate(numbers)
        values = np.concatenate([own for _, own in found], axis=1)
        for (_, kept), own in zip(self._terms, values, strict=True):
            kept.remember(index, own)
        return _total(factors, list(values)), index


def _sorted(values: FloatArray, index: IndexArray) -> tuple[FloatArray, IndexArray]:
    order = ascending(values)
    return values[order], index[order]


def sample_slices(rows: DaskRows) -> list[slice]:
    """For each block the slice of its negatives that are sampled; together they are every so many of all."""
    step = sample_step(rows.n_negatives)
    return [slice(int(-start % step), None, step) for start in rows.starts[1][:-1]]


def _merged(left: _Terms, right: _Terms) -> _Terms:
    """Add up the factors of scores that occur on both sides."""
    factors: dict[KeptScores, float] = {}
    for factor, kept in left + right:
        factors[kept] = factors.get(kept, 0.0) + factor
    return tuple((factor, kept) for kept, factor in factors.items() if factor)


def _total(factors: list[float], values: list[FloatArray]) -> FloatArray:
    total = factors[0] * values[0]
    for factor, each in zip(factors[1:], values[1:], strict=True):
        total += factor * each
    return total


# What runs on the workers


def _at(part: Part, local: npt.NDArray[np.uint32]) -> FloatArray:
    return part[1][local]


def _settled(factors: list[float], *parts: Part) -> Part:
    return np.zeros(0), _total(factors, [part[1] for part in parts])


def _passing(threshold: float, factors: list[float], *parts: Part) -> tuple[npt.NDArray[np.uint32], FloatArray]:
    """Numbers of the negatives above the threshold, and their scores in each part."""
    local = np.flatnonzero(_total(factors, [part[1] for part in parts]) > threshold)
    return local.astype(np.uint32), np.stack([part[1][local] for part in parts])
