"""Random versions of a sample's curves: the stratified bootstrap, and uniform spacings.

*Bootstrap*: members, or whole groups, are drawn with replacement within each class.

*Spacings*: whatever the continuous distribution of the scores, the true false-positive rates at the n sorted negatives
are the order statistics of n uniform numbers, so the n + 1 gaps between them are distributed like exponential numbers
divided by their sum; and so are the gaps between the true-positive rates at the sorted positives. Drawing both sets of
gaps gives curves that could have produced the sample. Where the k positives between two negatives lie inside the gap is
unknown; they are spread evenly, and so are negatives between two positives. Unlike the bootstrap, this knows that the
highest negative seen is not the highest there is, which is what matters in a narrow band. A class's gaps are its
members' exponential weights, as in the Bayesian bootstrap, and one more for the lower end: several scorers share them.
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


def draw_figures(
    sample: Sample, figure: Figure, *, method: str, n_draws: int, random_state: Any, verbose: int
) -> FloatArray:
    """Return the figure of every scorer for every draw, shape (n_draws, n_scorers).

    The draws do not depend on how they are split into blocks, nor on the order of the samples.
    """
    source = _source(sample, figure, method)
    generators = _generator(random_state).spawn(2)
    values = [source.draw(count, *generators) for count in _blocks(n_draws, source.entries, verbose)]
    return np.concatenate(values)


class _Source(Protocol):
    entries: int

    def draw(self, count: int, first: np.random.Generator, second: np.random.Generator) -> FloatArray: ...


def _source(sample: Sample, figure: Figure, method: str) -> _Source:
    if method == "spacings":
        return _Spacings(sample, figure)
    return _Bootstrap(sample, figure) if sample.clusters is None else _ClusterBootstrap(sample, figure, sample.clusters)


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(1 << 32, size=4, dtype=np.uint32))


def _blocks(n_draws: int, entries: int, verbose: int) -> Iterator[int]:
    """Split the draws so that a block's arrays stay in the cache, and tell the progress."""
    block = max(_BLOCK_ENTRIES // entries, 1)
    start = told = time.perf_counter()
    for done in range(0, n_draws, block):
        yield min(block, n_draws - done)
        now, finished = time.perf_counter(), min(done + block, n_draws)
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

    def draw(self, count: int, first: np.random.Generator, second: np.random.Generator) -> FloatArray:
        chosen = [
            generator.integers(size, size=(count, size))
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

    def draw(self, count: int, first: np.random.Generator, second: np.random.Generator) -> FloatArray:
        times = self._times(count, first, second)
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
class _Path:
    """For each piece of one scorer's polyline, the gap it is a part of and which part, on both axes."""

    gaps: tuple[IndexArray, IndexArray]
    parts: tuple[FloatArray, FloatArray]

    @classmethod
    def of(cls, positives: npt.NDArray[Any], negatives: npt.NDArray[Any], reach: float) -> _Path:
        is_positive, member = _merged(positives, negatives)
        stop = min(int(np.searchsorted(np.cumsum(~is_positive), reach)) + 1, len(member))
        gaps, parts = [], []
        for own, size in ((is_positive, len(positives)), (~is_positive, len(negatives))):
            # A piece belongs to the gap of the next member of the class; after the last there is one more gap.
            number = np.concatenate(([0], np.cumsum(own)))
            pieces = np.bincount(number, minlength=size + 1)
            order = np.append(member[own], size)
            gaps.append(order[number][: stop + 1])
            parts.append((1 / pieces[number])[: stop + 1])
        return cls((gaps[0], gaps[1]), (parts[0], parts[1]))


def _merged(positives: npt.NDArray[Any], negatives: npt.NDArray[Any]) -> tuple[npt.NDArray[np.bool_], IndexArray]:
    """Sort both classes by falling score; of each sample, whether it is positive, and its number in its class.

    Scores that tie across the classes take turns evenly, which follows the diagonal.
    """
    _, level = np.unique(np.concatenate((positives, negatives)), return_inverse=True)
    is_positive = np.arange(len(level)) < len(positives)
    member = np.concatenate((np.arange(len(positives)), np.arange(len(negatives))))
    turn = np.concatenate((_turn(positives), _turn(negatives)))
    order = np.lexsort((turn, -level))
    return is_positive[order], member[order]


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
        sides = zip(sample.positives, sample.negatives, strict=True)
        self.paths = [_Path.of(positives, negatives, reach) for positives, negatives in sides]
        if self.clusters is None:
            self._keep_what_is_reached()
        self.entries = max(sum(self.sizes), *(len(path.parts[0]) for path in self.paths))

    def _keep_what_is_reached(self) -> None:
        """Drop the weights of members that no scorer's curve needs one by one; their sum is drawn at once."""
        kept = [np.unique(np.concatenate([path.gaps[axis] for path in self.paths])) for axis in (0, 1)]
        self.paths = [
            _Path((np.searchsorted(kept[0], path.gaps[0]), np.searchsorted(kept[1], path.gaps[1])), path.parts)
            for path in self.paths
        ]
        self.rest = [size + 1 - len(own) for size, own in zip(self.sizes, kept, strict=True)]
        self.sizes = (len(kept[0]), len(kept[1]))

    def draw(self, count: int, first: np.random.Generator, second: np.random.Generator) -> FloatArray:
        weights, rest = self._weights(count, first, second)
        totals = [side.sum(axis=1) + more for side, more in zip(weights, rest, strict=True)]
        columns = []
        for path in self.paths:
            y, x = (
                _cumulated(side, gaps, parts) for side, gaps, parts in zip(weights, path.gaps, path.parts, strict=True)
            )
            columns.append(self.figure.polyline_values(x, y, (totals[1], totals[0])))
        return np.column_stack(columns)

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


def _cumulated(weights: FloatArray, gaps: IndexArray, parts: FloatArray) -> FloatArray:
    points = np.empty((len(weights), len(gaps) + 1))
    points[:, 0] = 0.0
    for row, own in zip(points[:, 1:], weights, strict=True):
        np.take(own, gaps, out=row, mode="clip")
        np.multiply(row, parts, out=row)
        np.cumsum(row, out=row)
    return points
