"""Scores of the negatives that stay on the workers; here are only those that a risk asks for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from rocband.dask.cluster import gather, keep, task
from rocband.dask.rows import DaskRows, Part
from rocband.risks.band import FloatArray, IndexArray
from rocband.risks.smoothed import guess_share_threshold, holds_all_shares, sample_step

__all__ = ["DistributedScores", "KeptScores", "sample_slices"]


class KeptScores:
    """The scores of one model on the workers, and the last of them that were brought here."""

    def __init__(self, rows: DaskRows, parts: list[Any]) -> None:
        self.rows, self.parts = rows, parts
        self.index: IndexArray = np.zeros(0, dtype=np.intp)
        self.values: FloatArray = np.zeros(0)

    def remember(self, index: IndexArray, values: FloatArray) -> None:
        """Note the scores of some negatives, given in ascending order of their numbers."""
        self.index, self.values = index, values

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


class DistributedScores:
    """A sum of kept scores with factors: what a step or a line search does to scores costs nothing until it is asked.

    Parameters
    ----------
    rows : DaskRows
    terms : tuple of (float, KeptScores)
        At most two; none means that all scores are 0.
    sample : array
        These scores for every so many of the negatives; it guesses a threshold without a question to the workers.
    """

    __array_ufunc__ = None  # a NumPy number times this is this times the number

    def __init__(self, rows: DaskRows, terms: tuple[tuple[float, KeptScores], ...], sample: FloatArray) -> None:
        self.rows, self.terms, self.sample = rows, terms, sample

    def __len__(self) -> int:
        return self.rows.n_negatives

    def __mul__(self, factor: float) -> DistributedScores:
        terms = tuple((factor * own, kept) for own, kept in self.terms if factor * own)
        return DistributedScores(self.rows, terms, factor * self.sample)

    __rmul__ = __mul__

    def __neg__(self) -> DistributedScores:
        return -1.0 * self

    def __add__(self, other: DistributedScores) -> DistributedScores:
        terms = _merged(self, other)
        for each in (self, other):
            if len(terms) > 2:
                each.settle()
                terms = _merged(self, other)
        return DistributedScores(self.rows, terms, self.sample + other.sample)

    def settle(self) -> None:
        """Turn a sum into kept scores of its own; the workers add, and nothing travels."""
        if len(self.terms) < 2:
            return
        factors = [factor for factor, _ in self.terms]
        blocks = zip(*(kept.parts for _, kept in self.terms), strict=True)
        new = KeptScores(self.rows, keep([task(_settled, factors, *parts) for parts in blocks]))
        first = self.terms[0][1]
        if all(kept.index is first.index for _, kept in self.terms):
            new.remember(first.index, _total(factors, [kept.values for _, kept in self.terms]))
        self.terms = ((1.0, new),)

    def __getitem__(self, index: IndexArray) -> FloatArray:
        if not self.terms:
            return np.zeros(len(index))
        return _total([factor for factor, _ in self.terms], [kept.at(index) for _, kept in self.terms])

    def highest(self, k: int, width: float = 0.0) -> tuple[FloatArray, IndexArray]:
        """Return the scores with a share in the top ``k`` smoothed over ``width``, some others, and where they are."""
        n = len(self)
        if not self.terms:
            return np.zeros(n), np.arange(n)
        if k >= n:
            return self._above(-math.inf)
        if not width:
            return self._at_least(k)
        near, where = self._above(guess_share_threshold(self.sample, n, k, width))
        if holds_all_shares(np.sort(near), n, k, width):
            return near, where
        near, _ = self._at_least(k)
        return self._above(float(np.partition(near, len(near) - k)[len(near) - k]) - width)

    def _at_least(self, k: int) -> tuple[FloatArray, IndexArray]:
        """Bring back the highest scores down to some threshold, lowered until k or more pass."""
        ranked = np.sort(self.sample)
        expected = k * len(ranked) / len(self)
        reach = expected + 3 * math.sqrt(expected)
        while True:
            rank = len(ranked) - 1 - int(reach)
            near, where = self._above(math.nextafter(ranked[rank], -math.inf) if rank >= 0 else -math.inf)
            if len(near) >= k:
                return near, where
            reach = 2 * reach + 1

    def _above(self, threshold: float) -> tuple[FloatArray, IndexArray]:
        """Bring back the scores above a threshold, and note those of each term for the slopes asked for next."""
        factors = [factor for factor, _ in self.terms]
        blocks = zip(*(kept.parts for _, kept in self.terms), strict=True)
        found = gather([task(_passing, threshold, factors, *parts) for parts in blocks])
        starts = self.rows.starts[1][:-1]
        index = np.concatenate([start + local.astype(np.intp) for start, (local, _) in zip(starts, found, strict=True)])
        values = np.concatenate([own for _, own in found], axis=1)
        for (_, kept), own in zip(self.terms, values, strict=True):
            kept.remember(index, own)
        return _total(factors, list(values)), index


def sample_slices(rows: DaskRows) -> list[slice]:
    """For each block the slice of its negatives that are sampled; together they are every so many of all."""
    step = sample_step(rows.n_negatives)
    return [slice(int(-start % step), None, step) for start in rows.starts[1][:-1]]


def _merged(left: DistributedScores, right: DistributedScores) -> tuple[tuple[float, KeptScores], ...]:
    factors: dict[KeptScores, float] = {}
    for factor, kept in left.terms + right.terms:
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
