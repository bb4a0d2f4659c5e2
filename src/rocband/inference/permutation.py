"""The permutation test of two scorers' difference, and the interval that goes with it.

Put both scorers' scores on one scale, the ranks among all samples. If the two are equally good, it makes no difference
which of its two ranks a sample has from which scorer; so exchanging them, for each sample or group by the toss of a
coin, gives differences that chance alone makes. What is compared is the difference divided by its standard error, anew
for each exchange: then the test keeps its level also where the two curves have different shapes and only their figures
are equal, up to what small samples blur. The interval holds all differences that are no further from the sample's, in
standard errors, than chance goes, so that it leaves 0 out just where the p-value is below its level.

Scores that tie share a range of ranks, and each is spread over that range. Otherwise, scores that two scorers round
alike would have slightly different ranks, and exchanging them would undo the ties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy import sparse

from rocband._types import AnyArray, FloatArray, IndexArray
from rocband.inference.figures import Rectangle, run_starts
from rocband.inference.resampling import blocks
from rocband.inference.sample import Clusters, Sample
from rocband.ranks import past, position

__all__ = ["Exchanges", "Judgement"]

# Parts of samples that tie add up to whole numbers but for rounding, far less than this; no part is so small.
_WHOLE = 1e-9
# Two exchanges of the same effect differ by rounding alone, which is less than this share.
_SAME = 1e-9
# Standard errors below this are rounding: all samples have the same influence, and nothing is left to divide by.
_NO_ERROR = 1e-12

# Matrices of so few entries, 2 MB, are multiplied faster when their zeros are stored too.
_DENSE = 1 << 18

_Swapped = tuple[FloatArray, FloatArray]
_Matrix = FloatArray | sparse.csr_array


@dataclass(frozen=True, slots=True)
class Judgement:
    """A difference and what exchanges make of it.

    Attributes
    ----------
    difference : float
        The sample's difference.
    error : float
        What differences are divided by: the standard error, or 1 where that is 0.
    varies : bool
        Whether the sample shows any variation of the difference.
    statistic : float
        The sample's difference divided by it.
    exchanged : array
        The absolute statistics of the exchanges, the largest first.
    """

    difference: float
    error: float
    varies: bool
    statistic: float
    exchanged: FloatArray

    @property
    def pvalue(self) -> float:
        """Share of the exchanges whose statistic is at least as far from 0; the sample itself is one more of them."""
        as_far = int(np.count_nonzero(self.exchanged >= abs(self.statistic)))
        return (as_far + 1) / (len(self.exchanged) + 1)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the ends of the interval, which leaves 0 out if and only if the p-value is below 1 - confidence."""
        # P-values are k / (draws + 1); of the exchanges, so many lie beyond the ends.
        smallest_kept = math.ceil(position(1 - confidence, len(self.exchanged) + 1))
        beyond = smallest_kept - 1
        reach = math.inf if beyond == 0 else float(self.exchanged[beyond - 1])
        low = self.error * (self.statistic - reach)
        high = self.error * (self.statistic + reach)
        # Figures lie in [0, 1].
        return max(low, -1.0), min(high, 1.0)


class _Coins(Protocol):
    """Whose scores are exchanged, and what varies independently."""

    def toss(self, count: int, generator: np.random.Generator) -> _Swapped:
        """Return, for each class, how many samples of each kind are exchanged: one row a draw."""

    def variance(self, sides: tuple[_Deviations, _Deviations]) -> FloatArray:
        """Return the variance of each draw's difference."""


class Exchanges:
    """A pair of scorers, ready to have their ranks exchanged.

    Parameters
    ----------
    sample : Sample
        The samples.
    figure : Rectangle
        What is compared.
    pair : (int, int)
        The places of the two scorers in the sample.
    """

    def __init__(self, sample: Sample, figure: Rectangle, pair: tuple[int, int]) -> None:
        self.figure = figure
        scale = _Scale.of(sample, figure, pair)
        self.shares = scale.shares
        m = sample.sizes[0]
        counted = sample.clusters is None
        positives = _Kinds.of(scale.first[:m], scale.second[:m], scale.shares, counted)
        negatives = _Kinds.of(scale.first[m:], scale.second[m:], scale.shares, counted)
        self.sides = (positives, negatives)
        self.coins: _Coins
        if sample.clusters is None:
            self.coins = _CoinOfEachSample(self.sides)
        else:
            self.coins = _CoinOfEachGroup(sample.clusters)

    def judged(self, n_draws: int, generator: np.random.Generator, verbose: int = 0) -> Judgement:
        """Toss the coins so many times."""
        drawn = [
            self._differences(self._with_sample(self.coins.toss(len(numbers), generator)))
            for numbers in blocks(n_draws, self._entries, verbose)
        ]
        difference = drawn[0][0][0]
        error = drawn[0][1][0]
        differences = np.concatenate([part[0][1:] for part in drawn])
        errors = np.concatenate([part[1][1:] for part in drawn])
        varies = bool(error > 0)
        if not varies:
            # Nothing to divide by: differences are compared as they are.
            errors = np.ones(n_draws)
            error = 1.0
        statistic = difference / error
        exchanged = np.abs(_quotients(differences, errors))
        as_far = np.isclose(exchanged, abs(statistic), rtol=_SAME, atol=0.0)
        exchanged[as_far] = abs(statistic)
        falling = np.sort(exchanged)[::-1]
        return Judgement(float(difference), float(error), varies, float(statistic), falling)

    def _with_sample(self, swapped: _Swapped) -> _Swapped:
        """Put the sample as it is before its exchanges, so that both come out of the same sums."""
        positives, negatives = (np.vstack((side.own, each)) for side, each in zip(self.sides, swapped, strict=True))
        return positives, negatives

    @property
    def _entries(self) -> int:
        n_kinds = sum(len(side.count) for side in self.sides)
        n_pieces = int(self.shares.shape[1])
        return max(n_pieces, n_kinds)

    def _differences(self, swapped: _Swapped) -> tuple[FloatArray, FloatArray]:
        """Return the difference of the figures and its standard error, one for each row."""
        ones = np.ones(len(swapped[0]))
        figures = []
        effects = []
        heights, widths = (side.rates(own) for side, own in zip(self.sides, swapped, strict=True))
        for y, x in zip(heights, widths, strict=True):
            effects.append(self.figure.effects(x, y))
            # Last, since it overwrites the corners.
            figures.append(self.figure.polyline_values(x, y, (ones, ones)))
        deviations = [
            _Deviations.of(side, own, self._of_ranges(first), self._of_ranges(second))
            for side, own, first, second in zip(self.sides, swapped, *effects, strict=True)
        ]
        errors = np.sqrt(self.coins.variance((deviations[0], deviations[1])))
        errors[errors < _NO_ERROR] = 0.0
        return figures[0] - figures[1], errors

    def _of_ranges(self, effects: FloatArray) -> FloatArray:
        """Return the mean effect over each range of ranks, from those of the pieces."""
        means: FloatArray = (self.shares @ effects.T).T
        return means


def _quotients(differences: FloatArray, errors: FloatArray) -> FloatArray:
    """Divide; without an error, 0 stays 0 and any other difference becomes infinite."""
    endless = np.where(np.abs(differences) > _NO_ERROR, np.inf, 0.0)
    return np.divide(differences, errors, out=endless, where=errors > 0)


@dataclass(frozen=True, slots=True)
class _Scale:
    """The common scale of two scorers: pieces of the ranks among all samples, and ranges of them.

    Attributes
    ----------
    first, second : arrays
        The range of each sample, positives first, by either scorer.
    shares : matrix of shape (n_ranges, n_pieces)
        Which share of a range lies on each piece.
    """

    first: IndexArray
    second: IndexArray
    shares: _Matrix

    @classmethod
    def of(cls, sample: Sample, figure: Rectangle, pair: tuple[int, int]) -> _Scale:
        """Rank the samples by both scorers."""
        bounds = [_tied_ranks(sample.positives[k], sample.negatives[k]) for k in pair]
        starts = np.concatenate([start for start, _ in bounds])
        stops = np.concatenate([stop for _, stop in bounds])
        cuts, cut = np.unique(np.concatenate((starts, stops)), return_inverse=True)
        start, stop = cut[: len(starts)], cut[len(starts) :]
        reached = position(figure.fpr[1], sample.sizes[1])
        piece = _joined(start, stop, sample.sizes, reached)
        # Samples within one piece are alike, whatever their ranks.
        alike = piece[start] == piece[stop - 1]
        code = np.where(alike, piece[start], len(cuts) + start * len(cuts) + stop)
        _, chosen, own_range = np.unique(code, return_index=True, return_inverse=True)
        shares = _shares(start[chosen], stop[chosen], piece, np.diff(cuts))
        n = sum(sample.sizes)
        return cls(own_range[:n], own_range[n:], shares)


def _tied_ranks(positives: AnyArray, negatives: AnyArray) -> tuple[IndexArray, IndexArray]:
    """Return how many samples lie above each, and how many do not lie below: the range of ranks that it shares."""
    scores = np.concatenate((positives, negatives))
    _, level, count = np.unique(scores, return_inverse=True, return_counts=True)
    below = np.cumsum(count) - count
    stop = len(scores) - below[level]
    return stop - count[level], stop


def _joined(start: IndexArray, stop: IndexArray, sizes: tuple[int, int], reached: float) -> IndexArray:
    """Return the number of the piece that each interval between cuts belongs to.

    Neighbours that hold one class only, whatever is exchanged, are one piece: in a run of one class, order does not
    matter. So is all that no curve meets before its ``reached`` first negatives.
    """
    m, n = sizes
    n_intervals = int(stop.max())
    is_positive = np.tile(np.repeat([True, False], (m, n)), 2)
    has_positives = _covered(start[is_positive], stop[is_positive], n_intervals)
    has_negatives = _covered(start[~is_positive], stop[~is_positive], n_intervals)
    begins = run_starts(has_positives, has_negatives)
    # Exchanged or not, a negative lies above a cut when both of its ranges do.
    lower_stop = np.maximum(stop[m : m + n], stop[m + n + m :])
    above = np.cumsum(np.bincount(lower_stop, minlength=n_intervals + 1))
    beyond = above[:-1] > past(reached)
    begins[1:] &= ~(beyond[1:] & beyond[:-1])
    begins[1:] |= beyond[1:] & ~beyond[:-1]
    return np.cumsum(begins) - 1


def _covered(start: IndexArray, stop: IndexArray, n_intervals: int) -> AnyArray:
    """Say which intervals some range covers."""
    opened = np.bincount(start, minlength=n_intervals + 1)
    closed = np.bincount(stop, minlength=n_intervals + 1)
    return np.cumsum(opened - closed)[:-1] > 0


def _shares(start: IndexArray, stop: IndexArray, piece: IndexArray, lengths: IndexArray) -> _Matrix:
    """Return which share of each range lies on each piece."""
    n_intervals = stop - start
    row = np.repeat(np.arange(len(start)), n_intervals)
    first_of_range = np.cumsum(n_intervals) - n_intervals
    interval = np.arange(len(row)) - np.repeat(first_of_range - start, n_intervals)
    whole = np.bincount(row, lengths[interval])
    share = lengths[interval] / whole[row]
    # Intervals of one piece are added up.
    shares = sparse.csr_array((share, (row, piece[interval])), shape=(len(start), piece[-1] + 1))
    return shares.toarray() if math.prod(shares.shape) <= _DENSE else shares


@dataclass(frozen=True)
class _Kinds:
    """The samples of one class by their two ranges.

    Attributes
    ----------
    first, second : arrays
        The ranges of each kind, by the first and by the second scorer unless exchanged.
    count : array
        How many samples are of that kind.
    own : array
        How many of them have the two ranges the other way round in the sample itself.
    shares : matrix of shape (n_ranges, n_pieces)
        Which share of a range lies on each piece.
    """

    first: IndexArray
    second: IndexArray
    count: FloatArray
    own: FloatArray
    shares: _Matrix

    @classmethod
    def of(cls, first: IndexArray, second: IndexArray, shares: _Matrix, counted: bool) -> _Kinds:
        """Count samples of the same two ranges together, whichever scorer has which, or leave each alone.

        Exchanged, those together are alike; but each must be alone where groups have one coin.
        """
        if not counted:
            return cls(first, second, np.ones(len(first)), np.zeros(len(first)), shares)
        earlier = np.minimum(first, second)
        later = np.maximum(first, second)
        code = earlier * (int(later.max()) + 1) + later
        _, chosen, kind, count = np.unique(code, return_index=True, return_inverse=True, return_counts=True)
        own = np.bincount(kind, first > second).astype(np.float64)
        return cls(earlier[chosen], later[chosen], count.astype(np.float64), own, shares)

    @cached_property
    def size(self) -> float:
        """Number of samples."""
        return float(self.count.sum())

    @cached_property
    def _held(self) -> tuple[FloatArray, FloatArray]:
        """How many samples each piece holds by either scorer when none is exchanged."""
        n_ranges = self.shares.shape[0]
        by_first = np.bincount(self.first, self.count, n_ranges)
        by_second = np.bincount(self.second, self.count, n_ranges)
        return by_first @ self.shares, by_second @ self.shares

    @cached_property
    def _moves(self) -> _Matrix:
        """What one exchanged sample of each kind, one row each, moves to the first scorer's pieces."""
        moves: _Matrix = self.shares[self.second] - self.shares[self.first]
        return moves

    def rates(self, swapped: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return one coordinate of the corners of both scorers' curves, once so many of each kind are exchanged."""
        by_first, by_second = self._held
        # Whatever one scorer's curve loses, the other's gains.
        moved: FloatArray = (self._moves.T @ swapped.T).T
        return self._cumulated(by_first + moved), self._cumulated(by_second - moved)

    def _cumulated(self, counts: FloatArray) -> FloatArray:
        ends = np.zeros((len(counts), counts.shape[1] + 1))
        np.cumsum(counts, axis=1, out=ends[:, 1:])
        whole = np.rint(ends)
        rates: FloatArray = np.where(np.abs(ends - whole) < _WHOLE, whole, ends) / self.size
        return rates


@dataclass(frozen=True, slots=True)
class _Deviations:
    """What the samples of one class add to the difference of two figures: of each kind, those kept and those exchanged.

    Attributes
    ----------
    kept, crossed : arrays of shape (n_draws, n_kinds)
        The effect of a sample that keeps its ranks and of one whose ranks are exchanged, less the mean over the class.
    swapped : array of shape (n_draws, n_kinds)
        How many samples of a kind are exchanged.
    count : array of shape (n_kinds,)
        How many samples are of the kind.
    """

    kept: FloatArray
    crossed: FloatArray
    swapped: FloatArray
    count: FloatArray

    @classmethod
    def of(cls, kinds: _Kinds, swapped: FloatArray, first: FloatArray, second: FloatArray) -> _Deviations:
        """Subtract the effects on the second figure from those on the first, both given for each range."""
        kept = first[:, kinds.first] - second[:, kinds.second]
        crossed = first[:, kinds.second] - second[:, kinds.first]
        total = kept @ kinds.count + _row_sums((crossed - kept) * swapped)
        mean = total[:, np.newaxis] / kinds.size
        return cls(kept - mean, crossed - mean, swapped, kinds.count)

    def sum_of_squares(self) -> FloatArray:
        """Return the sum over all samples of the class."""
        kept_squares = self.kept**2
        total: FloatArray = kept_squares @ self.count + _row_sums((self.crossed**2 - kept_squares) * self.swapped)
        return np.maximum(total, 0.0)

    def by_group(self, group: IndexArray, n_groups: int) -> FloatArray:
        """Return the mean of the class cut into the sums of its groups, for kinds of one sample each."""
        each = np.where(self.swapped > 0, self.crossed, self.kept)
        ones = np.ones(len(group))
        members = sparse.csr_array((ones, (group, np.arange(len(group)))), shape=(n_groups, len(group)))
        sums: FloatArray = (members @ each.T).T
        return sums / len(group)


def _row_sums(values: FloatArray) -> FloatArray:
    sums: FloatArray = values.sum(axis=1)
    return sums


class _CoinOfEachSample:
    """Each sample is exchanged or not."""

    def __init__(self, sides: tuple[_Kinds, _Kinds]) -> None:
        self.counts = [side.count.astype(np.intp) for side in sides]

    def toss(self, count: int, generator: np.random.Generator) -> _Swapped:
        """Return, for each class, how many samples of each kind are exchanged: one row a draw."""
        both = np.concatenate(self.counts)
        swapped = generator.binomial(both, 0.5, size=(count, len(both))).astype(np.float64)
        n_positive_kinds = len(self.counts[0])
        return swapped[:, :n_positive_kinds], swapped[:, n_positive_kinds:]

    def variance(self, sides: tuple[_Deviations, _Deviations]) -> FloatArray:
        """Return the variance of each draw's difference."""
        total = np.zeros(len(sides[0].kept))
        for side in sides:
            size = side.count.sum()
            total += side.sum_of_squares() / (size * (size - 1))
        return total


class _CoinOfEachGroup:
    """All samples of a group are exchanged, or none of them."""

    def __init__(self, clusters: Clusters) -> None:
        self.clusters = clusters

    def toss(self, count: int, generator: np.random.Generator) -> _Swapped:
        """Return, for each class, which samples are exchanged: one row a draw."""
        n_first, n_second = self.clusters.sizes
        # Where some group holds both classes, both have the same groups; else those of the negatives come after.
        start = 0 if self.clusters.mixed else n_first
        coins = generator.integers(2, size=(count, start + n_second)).astype(np.float64)
        positive_members, negative_members = self.clusters.members
        return coins[:, positive_members], coins[:, start + negative_members]

    def variance(self, sides: tuple[_Deviations, _Deviations]) -> FloatArray:
        """Return the variance of each draw's difference."""
        parts = [
            side.by_group(group, n_groups)
            for side, group, n_groups in zip(sides, self.clusters.members, self.clusters.sizes, strict=True)
        ]
        if self.clusters.mixed:
            parts = [parts[0] + parts[1]]
        total = np.zeros(len(sides[0].kept))
        for part in parts:
            n_groups = part.shape[1]
            total += (part**2).sum(axis=1) * n_groups / (n_groups - 1)
        return total
