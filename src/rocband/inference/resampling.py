"""Random versions of a sample's curves: the stratified bootstrap, and uniform spacings.

*Bootstrap*: members, or whole groups, are drawn with replacement within each class.

*Spacings*: whatever the continuous distribution of the scores, the true false-positive rates at the n sorted negatives
are the order statistics of n uniform numbers, so the n + 1 gaps between them are distributed like exponential numbers
divided by their sum; and so are the gaps between the true-positive rates at the sorted positives. Drawing both sets of
gaps gives curves that could have produced the sample. Where the k positives between two negatives lie inside the gap is
unknown. In two of three draws they are spread evenly, and so are negatives between two positives, which makes the curve
straight there. A curve that bends is above its chords: of a scorer that separates well, every such draw would lie below
the truth. So in every third draw the curve bows as far as the sample allows: up and then right between the points that
it has to pass, or right and then up for a scorer that is worse than chance. Unlike the bootstrap, this knows that the
highest negative seen is not the highest there is, which is what matters in a narrow band. A class's gaps are its
members' exponential weights, as in the Bayesian bootstrap, and one more for the lower end: several scorers share them,
and which draws bow.
Members of one group share their weight.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_random_state

from rocband._progress import tell
from rocband._types import AnyArray, BoolArray, FloatArray, IndexArray
from rocband.inference.figures import Figure, Steps
from rocband.inference.sample import Clusters, Sample

__all__ = ["DRAWING_METHODS", "RandomState", "blocks", "draw_figures", "generator_of"]

RandomState = int | np.random.RandomState | np.random.Generator | None

_Counts = npt.NDArray[np.intp]

DRAWING_METHODS = ("spacings", "bootstrap")
# Draws are made in blocks of arrays of 2 MB, which stay in the cache of a core. Results do not depend on it.
_BLOCK_ENTRIES = 1 << 18
# Fewer leave the upper end of a strong scorer too low, more lift the lower end of a weak one; docs/coverage.md has the
# shares of intervals that hold the truth.
_BOWED_EVERY = 3
# Seconds between two lines of progress.
_TELL_EVERY = 1.0


def draw_figures(
    sample: Sample, figure: Figure, *, method: str, n_draws: int, random_state: RandomState, verbose: int
) -> FloatArray:
    """Return the figure of every scorer for every draw, shape (n_draws, n_scorers).

    The draws do not depend on how they are split into blocks, nor on the order of the samples.
    """
    source = _source(sample, figure, method)
    first, second = generator_of(random_state).spawn(2)
    values = [source.draw(numbers, first, second) for numbers in blocks(n_draws, source.entries, verbose)]
    return np.concatenate(values)


class _Source(Protocol):
    """Where draws come from. Two generators, so that what one gives does not depend on how much the other gave."""

    entries: int

    def draw(self, numbers: range, first: np.random.Generator, second: np.random.Generator) -> FloatArray:
        """Return the figures of the draws of these numbers, one column a scorer."""


def _source(sample: Sample, figure: Figure, method: str) -> _Source:
    if method == "spacings":
        return _Spacings(sample, figure)
    if sample.clusters is None:
        return _Bootstrap(sample, figure)
    return _ClusterBootstrap(sample, figure, sample.clusters)


def generator_of(random_state: RandomState) -> np.random.Generator:
    """Return the generator of what was passed; of None one with NumPy's global state, as in scikit-learn."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    seed = check_random_state(random_state).randint(1 << 32, size=4, dtype=np.uint32)
    return np.random.default_rng(seed)


def blocks(n_draws: int, entries: int, verbose: int) -> Iterator[range]:
    """Split the draws' numbers so that a block's arrays stay in the cache, and tell the progress."""
    block = max(_BLOCK_ENTRIES // entries, 1)
    start = time.perf_counter()
    told = start
    for done in range(0, n_draws, block):
        finished = min(done + block, n_draws)
        yield range(done, finished)
        now = time.perf_counter()
        if verbose and (now - told > _TELL_EVERY or finished == n_draws):
            told = now
            tell(f"{finished:,} of {n_draws:,} draws, {now - start:.1f} s")


def _steps_of_scorers(sample: Sample, reach: float = np.inf) -> list[Steps]:
    return [
        Steps.of(positives, negatives, reach)
        for positives, negatives in zip(sample.positives, sample.negatives, strict=True)
    ]


class _Bootstrap:
    """Members drawn with replacement within each class."""

    def __init__(self, sample: Sample, figure: Figure) -> None:
        self.figure = figure
        self.sizes = sample.sizes
        self.steps = _steps_of_scorers(sample, figure.reach(sample.sizes[1]))
        self.entries = sum(sample.sizes)

    def draw(self, numbers: range, first: np.random.Generator, second: np.random.Generator) -> FloatArray:
        m, n = self.sizes
        positives = first.integers(m, size=(len(numbers), m))
        negatives = second.integers(n, size=(len(numbers), n))
        columns = []
        for steps in self.steps:
            # Which members were drawn matters only by the steps they belong to.
            positive_counts = _tally(steps.positive[positives], steps.count)
            negative_counts = _tally(steps.negative[negatives], steps.count)
            columns.append(self.figure.values(steps, positive_counts, negative_counts))
        return np.column_stack(columns)


def _tally(drawn: IndexArray, n_kinds: int) -> _Counts:
    """Count, for each row, how often each kind was drawn; ``drawn`` is overwritten."""
    # With numbers of its own for each row, one count serves all of them.
    drawn += np.arange(len(drawn))[:, np.newaxis] * n_kinds
    counts = np.bincount(drawn.ravel(), minlength=len(drawn) * n_kinds)
    return counts.reshape(len(drawn), n_kinds)


class _ClusterBootstrap:
    """Whole groups drawn with replacement: within each class, or of all when some hold both classes."""

    def __init__(self, sample: Sample, figure: Figure, clusters: Clusters) -> None:
        self.figure = figure
        self.clusters = clusters
        self.steps = _steps_of_scorers(sample)
        self.counters = [_counters(steps, clusters) for steps in self.steps]
        self.entries = sum(sample.sizes)

    def draw(self, numbers: range, first: np.random.Generator, second: np.random.Generator) -> FloatArray:
        positive_times, negative_times = self._times(len(numbers), first, second)
        columns = []
        for steps, (positive_counter, negative_counter) in zip(self.steps, self.counters, strict=True):
            positives = (positive_counter @ positive_times).T
            negatives = (negative_counter @ negative_times).T
            columns.append(self.figure.values(steps, positives, negatives))
        return np.column_stack(columns)

    def _times(self, count: int, first: np.random.Generator, second: np.random.Generator) -> tuple[_Counts, _Counts]:
        """Return how often each group of the positives, and of the negatives, was drawn, one column a draw."""
        m, n = self.clusters.sizes
        if self.clusters.mixed:
            holding = [np.bincount(members, minlength=m) > 0 for members in self.clusters.members]
            draws = [_with_both_classes(first, holding) for _ in range(count)]
            shared = np.stack(draws, axis=1)
            return shared, shared
        positives = _tally(first.integers(m, size=(count, m)), m)
        negatives = _tally(second.integers(n, size=(count, n)), n)
        return positives.T, negatives.T


def _with_both_classes(generator: np.random.Generator, holding: list[BoolArray]) -> _Counts:
    """Draw groups until both classes are among them; ``holding`` says of each class which groups hold it."""
    size = len(holding[0])
    while True:
        times = np.bincount(generator.integers(size, size=size), minlength=size)
        if all(times[held].any() for held in holding):
            return times


def _counters(steps: Steps, clusters: Clusters) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return, for each class, the matrix from how often groups were drawn to how many members each step holds."""
    positive_members, negative_members = clusters.members
    n_first, n_second = clusters.sizes
    positive = _counter(steps.positive, positive_members, (steps.count, n_first))
    negative = _counter(steps.negative, negative_members, (steps.count, n_second))
    return positive, negative


def _counter(step: IndexArray, members: IndexArray, shape: tuple[int, int]) -> sparse.csr_array:
    ones = np.ones(len(step), dtype=np.intp)
    return sparse.csr_array((ones, (step, members)), shape=shape)


@dataclass(frozen=True, slots=True)
class _Merged:
    """Both classes by falling score: of each sample, whether it is positive, and its number in its class."""

    is_positive: BoolArray
    member: IndexArray

    @classmethod
    def of(cls, positives: AnyArray, negatives: AnyArray) -> _Merged:
        """Sort; scores that tie across the classes take turns evenly, which follows the diagonal."""
        m = len(positives)
        n = len(negatives)
        _, level = np.unique(np.concatenate((positives, negatives)), return_inverse=True)
        is_positive = np.arange(m + n) < m
        member = np.concatenate((np.arange(m), np.arange(n)))
        turn = np.concatenate((_turn(positives), _turn(negatives)))
        order = np.lexsort((turn, -level))
        return cls(is_positive[order], member[order])

    def classes(self) -> Iterator[tuple[BoolArray, IndexArray]]:
        """Return, for each class, which samples are its own, and the gaps in their order: the last has no member."""
        for own in (self.is_positive, ~self.is_positive):
            last_gap = np.count_nonzero(own)
            yield own, np.append(self.member[own], last_gap)

    def first(self, reach: float) -> int:
        """Return how many samples hold the first ``reach`` negatives."""
        negatives_so_far = np.cumsum(~self.is_positive)
        place = int(np.searchsorted(negatives_so_far, reach))
        return min(place + 1, len(self.member))

    def beats_chance(self) -> bool:
        """Return whether the area under the sample's curve is at least a half."""
        positives_so_far = np.cumsum(self.is_positive)
        wins = int(positives_so_far[~self.is_positive].sum())
        n_positives = int(np.count_nonzero(self.is_positive))
        n_negatives = len(self.member) - n_positives
        return 2 * wins >= n_positives * n_negatives


def _turn(scores: AnyArray) -> FloatArray:
    """Return where each score stands among its ties, evenly in (0, 1)."""
    _, level, counts = np.unique(scores, return_inverse=True, return_counts=True)
    order = np.argsort(level, kind="stable")
    first_of_level = np.cumsum(counts) - counts
    rank = np.empty(len(scores))
    rank[order] = np.arange(len(scores)) - np.repeat(first_of_level, counts)
    return (rank + 0.5) / counts[level]


@dataclass(frozen=True, slots=True)
class _Path:
    """For each piece of one scorer's polyline, the gap it is a part of and which part, on both axes."""

    gaps: tuple[IndexArray, IndexArray]
    parts: tuple[FloatArray, FloatArray]

    @classmethod
    def even(cls, merged: _Merged, reach: float) -> _Path:
        """Return the path whose gaps are spread evenly over their pieces."""
        # One piece before each sample, and one after the last.
        stop = merged.first(reach) + 1
        gaps = []
        parts = []
        for own, order in merged.classes():
            # A piece belongs to the gap of the next member of the class; after the last there is one more gap.
            number = np.concatenate(([0], np.cumsum(own)))
            pieces = np.bincount(number, minlength=len(order))
            part = 1 / pieces[number]
            gaps.append(order[number][:stop])
            parts.append(part[:stop])
        return cls((gaps[0], gaps[1]), (parts[0], parts[1]))

    @classmethod
    def bowed(cls, merged: _Merged, reach: float) -> _Path:
        """Return the path of steps: one class's gaps each come at their start, and the other's at their end."""
        # One piece for each sample, one before the first and one after the last.
        stop = merged.first(reach) + 2
        upwards = merged.beats_chance()
        gaps = []
        parts = []
        for early, (own, order) in zip((upwards, not upwards), merged.classes(), strict=True):
            moves = np.concatenate(([early], own, [not early]))
            number = np.maximum(np.cumsum(moves) - 1, 0)
            gaps.append(order[number][:stop])
            parts.append(moves[:stop].astype(np.float64))
        return cls((gaps[0], gaps[1]), (parts[0], parts[1]))

    def renumbered(self, kept: tuple[IndexArray, IndexArray]) -> _Path:
        """Return the path with the gaps counted among the kept ones."""
        positive_gaps = np.searchsorted(kept[0], self.gaps[0])
        negative_gaps = np.searchsorted(kept[1], self.gaps[1])
        return _Path((positive_gaps, negative_gaps), self.parts)


class _Spacings:
    """Gaps between the true rates at the sorted scores."""

    def __init__(self, sample: Sample, figure: Figure) -> None:
        self.figure = figure
        self.clusters = sample.clusters
        self.sizes = sample.sizes
        reach = figure.reach(sample.sizes[1]) if sample.clusters is None else np.inf
        self.paths = []
        for positives, negatives in zip(sample.positives, sample.negatives, strict=True):
            merged = _Merged.of(positives, negatives)
            self.paths.append((_Path.even(merged, reach), _Path.bowed(merged, reach)))
        if self.clusters is None:
            self._keep_what_is_reached()
        longest = max(len(bowed.parts[0]) for _, bowed in self.paths)
        self.entries = max(sum(self.sizes), longest)

    def _keep_what_is_reached(self) -> None:
        """Drop the weights of members that no scorer's curve needs one by one; their sum is drawn at once."""
        kept = (self._gaps_in_use(0), self._gaps_in_use(1))
        self.paths = [(even.renumbered(kept), bowed.renumbered(kept)) for even, bowed in self.paths]
        m, n = self.sizes
        # A class has one gap more than members, and k exponential numbers sum up to a gamma number of shape k.
        self.rest = [m + 1 - len(kept[0]), n + 1 - len(kept[1])]
        self.sizes = (len(kept[0]), len(kept[1]))

    def _gaps_in_use(self, axis: int) -> IndexArray:
        used = [path.gaps[axis] for paths in self.paths for path in paths]
        return np.unique(np.concatenate(used))

    def draw(self, numbers: range, first: np.random.Generator, second: np.random.Generator) -> FloatArray:
        weights, rest = self._weights(len(numbers), first, second)
        totals = [side.sum(axis=1) + more for side, more in zip(weights, rest, strict=True)]
        # By the number of the draw, so that blocks of any size bow the same draws.
        bows = np.array(numbers) % _BOWED_EVERY == _BOWED_EVERY - 1
        rows_of_kinds = (np.flatnonzero(~bows), np.flatnonzero(bows))
        back_in_order = np.argsort(np.concatenate(rows_of_kinds))
        columns = []
        for paths in self.paths:
            values = [
                self._values(path, weights, totals, rows)
                for path, rows in zip(paths, rows_of_kinds, strict=True)
                if len(rows)
            ]
            columns.append(np.concatenate(values)[back_in_order])
        return np.column_stack(columns)

    def _values(self, path: _Path, weights: list[FloatArray], totals: list[FloatArray], rows: IndexArray) -> FloatArray:
        """Return the figure of those rows of weights that take this path."""
        y = _cumulated(weights[0], rows, path.gaps[0], path.parts[0])
        x = _cumulated(weights[1], rows, path.gaps[1], path.parts[1])
        return self.figure.polyline_values(x, y, (totals[1][rows], totals[0][rows]))

    def _weights(
        self, count: int, first: np.random.Generator, second: np.random.Generator
    ) -> tuple[list[FloatArray], list[FloatArray]]:
        """Return the members' weights and the sum of the dropped ones, for each class."""
        if self.clusters is not None:
            return self._weights_by_group(self.clusters, count, first, second)
        m, n = self.sizes
        both = first.standard_exponential((count, m + n))
        rest = second.standard_gamma(self.rest, (count, 2))
        return [both[:, :m], both[:, m:]], [rest[:, 0], rest[:, 1]]

    def _weights_by_group(
        self, clusters: Clusters, count: int, first: np.random.Generator, second: np.random.Generator
    ) -> tuple[list[FloatArray], list[FloatArray]]:
        """Return weights that the members of a group share; none is dropped."""
        groups = _group_weights(clusters, count, first)
        ends = second.standard_exponential((count, 2))
        weights = []
        for side, (own, members) in enumerate(zip(groups, clusters.members, strict=True)):
            # The gap at the lower end is as large as a group is on average.
            n_groups = len(np.unique(members))
            end = ends[:, side] * len(members) / n_groups
            weights.append(np.column_stack((own[:, members], end)))
        nothing = np.zeros(count)
        return weights, [nothing, nothing]


def _group_weights(clusters: Clusters, count: int, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return the weights of the groups of each class, which are the same groups when some hold both classes."""
    m, n = clusters.sizes
    if clusters.mixed:
        shared = generator.standard_exponential((count, m))
        return shared, shared
    both = generator.standard_exponential((count, m + n))
    return both[:, :m], both[:, m:]


def _cumulated(weights: FloatArray, rows: IndexArray, gaps: IndexArray, parts: FloatArray) -> FloatArray:
    """Return the coordinates of the polyline's points on one axis, one row for each of the chosen rows of weights."""
    points = np.empty((len(rows), len(gaps) + 1))
    points[:, 0] = 0.0
    # Row by row and in place: the rows of a block together would leave the cache.
    for point, row in zip(points[:, 1:], rows, strict=True):
        np.take(weights[row], gaps, out=point, mode="clip")
        np.multiply(point, parts, out=point)
        np.cumsum(point, out=point)
    return points
