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

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_random_state

from rocband.inference.curve import Figure, FloatArray, IndexArray, Steps
from rocband.inference.sample import Clusters, Sample

__all__ = ["DRAWING_METHODS", "draw_figures"]

_Counts = npt.NDArray[np.intp]

DRAWING_METHODS = ("spacings", "bootstrap")
_BLOCK_ENTRIES = 1 << 18
# Fewer leave the upper end of a strong scorer too low, more lift the lower end of a weak one.
_BOWED_EVERY = 3


def draw_figures(
    sample: Sample, figure: Figure, *, method: str, n_draws: int, random_state: Any, verbose: int
) -> FloatArray:
    """Return the figure of every scorer for every draw, shape (n_draws, n_scorers).

    The draws do not depend on how they are split into blocks, nor on the order of the samples.
    """
    source = _source(sample, figure, method)
    generators = _generator(random_state).spawn(2)
    values = [source.draw(numbers, *generators) for numbers in _blocks(n_draws, source.entries, verbose)]
    return np.concatenate(values)


class _Source(Protocol):
    entries: int

    def draw(self, numbers: range, first: np.random.Generator, second: np.random.Generator) -> FloatArray: ...


def _source(sample: Sample, figure: Figure, method: str) -> _Source:
    if method == "spacings":
        return _Spacings(sample, figure)
    return _Bootstrap(sample, figure) if sample.clusters is None else _ClusterBootstrap(sample, figure, sample.clusters)


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(1 << 32, size=4, dtype=np.uint32))


def _blocks(n_draws: int, entries: int, verbose: int) -> Iterator[range]:
    """Split the draws' numbers so that a block's arrays stay in the cache, and tell the progress."""
    block = max(_BLOCK_ENTRIES // entries, 1)
    start = told = time.perf_counter()
    for done in range(0, n_draws, block):
        finished = min(done + block, n_draws)
        yield range(done, finished)
        now = time.perf_counter()
        if verbose and (now - told > 1 or finished == n_draws):
            told = now
            print(f"[rocband] {finished:,} of {n_draws:,} draws, {now - start:.1f} s", file=sys.stderr, flush=True)


def _figures_steps(sample: Sample, reach: float = np.inf) -> list[Steps]:
    return [Steps.of(*sides, reach) for sides in zip(sample.positives, sample.negatives, strict=True)]


class _Bootstrap:
    """Members drawn with replacement within each class."""

    def __init__(self, sample: Sample, figure: Figure) -> None:
        self.figure, self.sizes = figure, sample.sizes
        self.steps = _figures_steps(sample, figure.reach(sample.sizes[1]))
        self.entries = sum(sample.sizes)

    def draw(self, numbers: range, first: np.random.Generator, second: np.random.Generator) -> FloatArray:
        chosen = [
            generator.integers(size, size=(len(numbers), size))
            for generator, size in zip((first, second), self.sizes, strict=True)
        ]
        columns = [
            self.figure.values(
                steps, *(_tally(side[drawn], steps.count) for side, drawn in zip(sides, chosen, strict=True))
            )
            for steps in self.steps
            for sides in [(steps.positive, steps.negative)]
        ]
        return np.column_stack(columns)


def _tally(step: IndexArray, n_steps: int) -> _Counts:
    """Count, for each row, how often each step was drawn."""
    step += np.arange(len(step))[:, np.newaxis] * n_steps
    return np.bincount(step.ravel(), minlength=len(step) * n_steps).reshape(len(step), n_steps)


class _ClusterBootstrap:
    """Whole groups drawn with replacement: within each class, or from all when some group holds both classes."""

    def __init__(self, sample: Sample, figure: Figure, clusters: Clusters) -> None:
        self.figure, self.clusters = figure, clusters
        self.steps = _figures_steps(sample)
        self.counters = [
            tuple(
                _counter(side, members, (steps.count, size))
                for side, members, size in zip(
                    (steps.positive, steps.negative), clusters.members, clusters.sizes, strict=True
                )
            )
            for steps in self.steps
        ]
        self.entries = sum(sample.sizes)

    def draw(self, numbers: range, first: np.random.Generator, second: np.random.Generator) -> FloatArray:
        times = self._times(len(numbers), first, second)
        columns = [
            self.figure.values(steps, *((matrix @ side).T for matrix, side in zip(counters, times, strict=True)))
            for steps, counters in zip(self.steps, self.counters, strict=True)
        ]
        return np.column_stack(columns)

    def _times(self, count: int, first: np.random.Generator, second: np.random.Generator) -> tuple[_Counts, _Counts]:
        """Return how often each group of the positives, and of the negatives, was drawn, one column a draw."""
        (m, n), members = self.clusters.sizes, self.clusters.members
        if not self.clusters.mixed:
            return _tally(first.integers(m, size=(count, m)), m).T, _tally(second.integers(n, size=(count, n)), n).T
        holding = [np.bincount(side, minlength=m) > 0 for side in members]
        rows = [_with_both_classes(first, holding) for _ in range(count)]
        times = np.stack(rows, axis=1)
        return times, times


def _with_both_classes(generator: np.random.Generator, holding: list[npt.NDArray[np.bool_]]) -> _Counts:
    size = len(holding[0])
    while True:
        times = np.bincount(generator.integers(size, size=size), minlength=size)
        if all(times[held].any() for held in holding):
            return times


def _counter(step: IndexArray, members: IndexArray, shape: tuple[int, int]) -> Any:
    """Return the matrix that turns how often each group was drawn into how many of its members each step holds."""
    return sparse.csr_array((np.ones(len(step), dtype=np.intp), (step, members)), shape=shape)


@dataclass(frozen=True, slots=True)
class _Merged:
    """Both classes by falling score: of each sample, whether it is positive, and its number in its class."""

    is_positive: npt.NDArray[np.bool_]
    member: IndexArray

    @classmethod
    def of(cls, positives: npt.NDArray[Any], negatives: npt.NDArray[Any]) -> _Merged:
        """Sort; scores that tie across the classes take turns evenly, which follows the diagonal."""
        _, level = np.unique(np.concatenate((positives, negatives)), return_inverse=True)
        is_positive = np.arange(len(level)) < len(positives)
        member = np.concatenate((np.arange(len(positives)), np.arange(len(negatives))))
        turn = np.concatenate((_turn(positives), _turn(negatives)))
        order = np.lexsort((turn, -level))
        return cls(is_positive[order], member[order])

    def classes(self) -> Iterator[tuple[npt.NDArray[np.bool_], IndexArray]]:
        """Return, for each class, which samples are its own, and the gaps in their order: the last has no member."""
        for own in (self.is_positive, ~self.is_positive):
            yield own, np.append(self.member[own], np.count_nonzero(own))

    def first(self, reach: float) -> int:
        """Return how many samples hold the first ``reach`` negatives."""
        return min(int(np.searchsorted(np.cumsum(~self.is_positive), reach)) + 1, len(self.member))

    def beats_chance(self) -> bool:
        """Return whether the area under the sample's curve is at least a half."""
        wins = int(np.cumsum(self.is_positive)[~self.is_positive].sum())
        n_positives = int(np.count_nonzero(self.is_positive))
        return 2 * wins >= n_positives * (len(self.member) - n_positives)


@dataclass(frozen=True, slots=True)
class _Path:
    """For each piece of one scorer's polyline, the gap it is a part of and which part, on both axes."""

    gaps: tuple[IndexArray, IndexArray]
    parts: tuple[FloatArray, FloatArray]

    @classmethod
    def even(cls, merged: _Merged, reach: float) -> _Path:
        """Return the path whose gaps are spread evenly over their pieces."""
        stop, gaps, parts = merged.first(reach) + 1, [], []
        for own, order in merged.classes():
            # A piece belongs to the gap of the next member of the class; after the last there is one more gap.
            number = np.concatenate(([0], np.cumsum(own)))
            pieces = np.bincount(number, minlength=len(order))
            gaps.append(order[number][:stop])
            parts.append((1 / pieces[number])[:stop])
        return cls((gaps[0], gaps[1]), (parts[0], parts[1]))

    @classmethod
    def bowed(cls, merged: _Merged, reach: float) -> _Path:
        """Return the path of steps: one class's gaps each come at their start, and the other's at their end."""
        stop, gaps, parts = merged.first(reach) + 2, [], []
        upwards = merged.beats_chance()
        for early, (own, order) in zip((upwards, not upwards), merged.classes(), strict=True):
            moves = np.concatenate(([early], own, [not early]))
            gaps.append(order[np.maximum(np.cumsum(moves) - 1, 0)][:stop])
            parts.append(moves[:stop].astype(np.float64))
        return cls((gaps[0], gaps[1]), (parts[0], parts[1]))

    def renumbered(self, kept: list[IndexArray]) -> _Path:
        """Return the path with the gaps counted among the kept ones."""
        return _Path((np.searchsorted(kept[0], self.gaps[0]), np.searchsorted(kept[1], self.gaps[1])), self.parts)


def _turn(scores: npt.NDArray[Any]) -> FloatArray:
    """Return where each score stands among its ties, evenly in (0, 1)."""
    _, level, counts = np.unique(scores, return_inverse=True, return_counts=True)
    order = np.argsort(level, kind="stable")
    rank = np.empty(len(scores))
    rank[order] = np.arange(len(scores)) - np.repeat(np.cumsum(counts) - counts, counts)
    return (rank + 0.5) / counts[level]


class _Spacings:
    """Gaps between the true rates at the sorted scores."""

    def __init__(self, sample: Sample, figure: Figure) -> None:
        self.figure, self.clusters, self.sizes = figure, sample.clusters, sample.sizes
        reach = figure.reach(sample.sizes[1]) if sample.clusters is None else np.inf
        scorers = [_Merged.of(*sides) for sides in zip(sample.positives, sample.negatives, strict=True)]
        self.paths = [(_Path.even(merged, reach), _Path.bowed(merged, reach)) for merged in scorers]
        if self.clusters is None:
            self._keep_what_is_reached()
        self.entries = max(sum(self.sizes), *(len(bowed.parts[0]) for _, bowed in self.paths))

    def _keep_what_is_reached(self) -> None:
        """Drop the weights of members that no scorer's curve needs one by one; their sum is drawn at once."""
        every = [path for paths in self.paths for path in paths]
        kept = [np.unique(np.concatenate([path.gaps[axis] for path in every])) for axis in (0, 1)]
        self.paths = [(even.renumbered(kept), bowed.renumbered(kept)) for even, bowed in self.paths]
        self.rest = [size + 1 - len(own) for size, own in zip(self.sizes, kept, strict=True)]
        self.sizes = (len(kept[0]), len(kept[1]))

    def draw(self, numbers: range, first: np.random.Generator, second: np.random.Generator) -> FloatArray:
        weights, rest = self._weights(len(numbers), first, second)
        totals = [side.sum(axis=1) + more for side, more in zip(weights, rest, strict=True)]
        bows = np.array(numbers) % _BOWED_EVERY == _BOWED_EVERY - 1
        kinds = [np.flatnonzero(~bows), np.flatnonzero(bows)]
        order = np.argsort(np.concatenate(kinds))
        columns = []
        for paths in self.paths:
            taken = [(path, rows) for path, rows in zip(paths, kinds, strict=True) if len(rows)]
            columns.append(np.concatenate([self._values(path, weights, totals, rows) for path, rows in taken])[order])
        return np.column_stack(columns)

    def _values(self, path: _Path, weights: list[FloatArray], totals: list[FloatArray], rows: IndexArray) -> FloatArray:
        """Return the figure of those rows of weights that take this path."""
        y, x = (
            _cumulated(side, rows, gaps, parts)
            for side, gaps, parts in zip(weights, path.gaps, path.parts, strict=True)
        )
        return self.figure.polyline_values(x, y, (totals[1][rows], totals[0][rows]))

    def _weights(
        self, count: int, first: np.random.Generator, second: np.random.Generator
    ) -> tuple[list[FloatArray], list[Any]]:
        """Return the members' weights and the sum of the dropped ones, for each class."""
        if self.clusters is None:
            both = first.standard_exponential((count, sum(self.sizes)))
            rest = second.standard_gamma(self.rest, (count, 2))
            return [both[:, : self.sizes[0]], both[:, self.sizes[0] :]], [rest[:, 0], rest[:, 1]]
        groups = self._group_weights(count, first)
        ends = second.standard_exponential((count, 2))
        weights = [
            # The gap at the lower end is as large as a group is on average.
            np.column_stack((own[:, members], ends[:, side] * len(members) / len(np.unique(members))))
            for side, (own, members) in enumerate(zip(groups, self.clusters.members, strict=True))
        ]
        return weights, [0.0, 0.0]

    def _group_weights(self, count: int, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        clusters = self.clusters
        assert clusters is not None
        if clusters.mixed:
            shared = generator.standard_exponential((count, clusters.sizes[0]))
            return shared, shared
        both = generator.standard_exponential((count, sum(clusters.sizes)))
        return both[:, : clusters.sizes[0]], both[:, clusters.sizes[0] :]


def _cumulated(weights: FloatArray, rows: IndexArray, gaps: IndexArray, parts: FloatArray) -> FloatArray:
    points = np.empty((len(rows), len(gaps) + 1))
    points[:, 0] = 0.0
    for point, row in zip(points[:, 1:], rows, strict=True):
        np.take(weights[row], gaps, out=point, mode="clip")
        np.multiply(point, parts, out=point)
        np.cumsum(point, out=point)
    return points
