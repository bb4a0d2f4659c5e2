"""Rows in blocks on the workers of a cluster, never brought together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from rocband._types import BoolArray, FloatArray, IndexArray
from rocband.dask.cluster import gather, keep, task
from rocband.rows import Matrix, as_rows
from rocband.rows.base import double

__all__ = ["Block", "DaskRows", "Groups", "Part"]

# Numbers of the rows in a block that are positives, and of those that are negatives.
Groups = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
# Scores of the positives and of the negatives in a block.
Part = tuple[FloatArray, FloatArray]
_Local = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Block:
    """A block of rows: its features and groups are on the workers, its counts are here."""

    features: Any
    groups: Any
    n_positives: int
    n_negatives: int
    n_rows: int


class DaskRows:
    """Rows of two classes in blocks, numbered with the positives of all blocks first, then the negatives.

    So numbered, a row is found from the counts of the blocks alone, and nothing here is as long as the data.

    Parameters
    ----------
    blocks : list of Block
    n_features : int
    row_size : float
        Numbers stored for a row, on average.
    """

    def __init__(self, blocks: Sequence[Block], n_features: int, row_size: float) -> None:
        self.blocks = blocks
        self.n_features = n_features
        self.row_size = row_size
        of_positives = _starts([block.n_positives for block in blocks])
        of_negatives = _starts([block.n_negatives for block in blocks])
        self.starts: tuple[IndexArray, IndexArray] = (of_positives, of_negatives)
        self.n_positives = int(of_positives[-1])
        self.n_negatives = int(of_negatives[-1])

    def kept_scores(self, w: FloatArray, *, exact: bool) -> list[Any]:
        """Score all rows and leave the scores on the workers, a `Part` for each block.

        ``exact`` asks for double precision, whatever that of the data is.
        """
        return keep([task(_score, block.features, block.groups, w, exact) for block in self.blocks])

    def accumulate(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        """Return the weighted sum of the rows in ``index``: summed in each block, then in the order of the blocks."""
        sums = gather(
            [
                task(_accumulate, block.features, block.groups, weights[chosen], local)
                for block, chosen, local in self._by_block(index)
            ]
        )
        total = np.zeros(self.n_features)
        for each in sums:
            total += each
        return total

    def take(self, index: IndexArray) -> Matrix:
        """Return some rows in double precision; each travels once, however often it is asked for."""
        if not len(index):
            return np.zeros((0, self.n_features))
        wanted, position = np.unique(index, return_inverse=True)
        found = list(self._by_block(wanted))
        blocks = gather([task(_take, block.features, block.groups, local) for block, _, local in found])
        order = np.empty(len(wanted), dtype=np.intp)
        order[np.concatenate([chosen for _, chosen, _ in found])] = np.arange(len(wanted))
        if sparse.issparse(blocks[0]):
            return sparse.csr_array(sparse.vstack(blocks, format="csr"))[order[position]].astype(np.float64)
        return double(np.concatenate(blocks)[order[position]])

    def norms(self, index: IndexArray) -> FloatArray:
        """Return the squared lengths of some rows."""
        lengths = np.empty(len(index))
        found = list(self._by_block(index))
        parts = gather([task(_norms, block.features, block.groups, local) for block, _, local in found])
        for (_, chosen, _), part in zip(found, parts, strict=True):
            lengths[chosen] = part
        return lengths

    def negatives_by_block(self, index: IndexArray) -> Iterator[tuple[int, IndexArray, _Local]]:
        """For each block with any of the negatives ``index``: its number, which of them, and their ranks in it."""
        starts = self.starts[1]
        number = np.searchsorted(starts, index, side="right") - 1
        yield from _grouped(number, index - starts[number], len(self.blocks))

    def _by_block(self, index: IndexArray) -> Iterator[tuple[Block, IndexArray, _Local]]:
        """For each block with any of the rows ``index``: which of them, and their numbers in the block's groups."""
        of_positives, of_negatives = self.starts
        negative = index >= self.n_positives
        rank = np.where(negative, index - self.n_positives, index)
        number = np.where(
            negative,
            np.searchsorted(of_negatives, rank, side="right"),
            np.searchsorted(of_positives, rank, side="right"),
        )
        number -= 1
        own_positives = np.diff(of_positives)[number]
        local = np.where(negative, rank - of_negatives[number] + own_positives, rank - of_positives[number])
        for block, chosen, inside in _grouped(number, local, len(self.blocks)):
            yield self.blocks[block], chosen, inside

    def positive(self) -> BoolArray:
        """Bring back which rows are positives, one byte for each, in the order in which they came."""
        return np.concatenate(gather([task(_positive, block.groups, block.n_rows) for block in self.blocks]))

    def part(self, members: IndexArray) -> DaskRows:
        """Return some of the rows, given by their numbers in the order in which they came; nothing is copied."""
        members = np.sort(members)
        if (members[1:] == members[:-1]).any():
            raise ValueError("A fold holds a row more than once; use a splitter that does not repeat rows.")
        starts = _starts([block.n_rows for block in self.blocks])
        cuts = np.searchsorted(members, starts)
        groups = keep(
            [
                task(_restrict, block.groups, block.n_rows, (members[low:high] - start).astype(np.int32))
                for block, start, low, high in zip(self.blocks, starts[:-1], cuts[:-1], cuts[1:], strict=True)
            ]
        )
        counts = gather([task(_counts, each) for each in groups])
        blocks = [
            Block(block.features, own, m, n, block.n_rows)
            for block, own, (m, n) in zip(self.blocks, groups, counts, strict=True)
        ]
        return DaskRows(blocks, self.n_features, self.row_size)


def _starts(counts: Sequence[int]) -> IndexArray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)


def _grouped(number: IndexArray, local: IndexArray, n_blocks: int) -> Iterator[tuple[int, IndexArray, _Local]]:
    """Group by the numbers of the blocks: for each that occurs, where it does and the local numbers there."""
    order = np.argsort(number, kind="stable")
    ends = np.searchsorted(number[order], np.arange(n_blocks + 1))
    for block in np.flatnonzero(np.diff(ends)).tolist():
        chosen = order[ends[block] : ends[block + 1]]
        yield block, chosen, local[chosen].astype(np.uint32)


# What runs on the workers


def _score(features: Any, groups: Groups, w: FloatArray, exact: bool) -> Part:
    rows = as_rows(features)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = rows.exact_scores(w) if exact else rows.scores(w)
    return scores[groups[0]].astype(np.float64), scores[groups[1]].astype(np.float64)


def _accumulate(features: Any, groups: Groups, weights: FloatArray, local: _Local) -> FloatArray:
    return as_rows(features).accumulate(weights, np.concatenate(groups)[local].astype(np.intp))


def _take(features: Any, groups: Groups, local: _Local) -> Any:
    return features[np.concatenate(groups)[local]]


def _norms(features: Any, groups: Groups, local: _Local) -> FloatArray:
    return as_rows(features[np.concatenate(groups)[local]]).norms()


def _positive(groups: Groups, n_rows: int) -> BoolArray:
    positive = np.zeros(n_rows, dtype=bool)
    positive[groups[0]] = True
    return positive


def _restrict(groups: Groups, n_rows: int, members: npt.NDArray[np.int32]) -> Groups:
    chosen = np.zeros(n_rows, dtype=bool)
    chosen[members] = True
    return groups[0][chosen[groups[0]]], groups[1][chosen[groups[1]]]


def _counts(groups: Groups) -> tuple[int, int]:
    return len(groups[0]), len(groups[1])
