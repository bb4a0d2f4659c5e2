"""The smooth partial AUC: the mean normal CDF of score differences over the band, and its gradient.

The CDF is shifted, so that a tie is almost an error, as it is in the empirical partial AUC. Without the shift all ties
would count 1/2: in a narrow band most models stay below that, and to ascend would be to return to a constant score.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import ndtr

from rocband.risks.band import Band, FloatArray, IndexArray
from rocband.solvers.problem import Scores

__all__ = ["SmoothArea", "normal_sums"]

# A tie then counts Phi(-2) = 0.02, almost an error.
_SHIFT = 2.0
# Sums of normal functions are computed at points this far apart and interpolated by quintic polynomials that match two
# derivatives, which is good to 1e-9 of the number of terms; beyond the reach, a normal tail is below rounding.
_SPACING, _REACH, _BLOCK = 0.125, 8.5, 64


@dataclass(frozen=True, slots=True)
class SmoothArea:
    """(1/N) sum_i sum_j Phi((s_i - z_(j)) / width - 2) over the positives and the negatives of the band's ranks.

    One evaluation takes O(n + (m + k) log(m + k)) time for k negatives in the band, and O(m + n) memory.
    """

    band: Band
    width: float

    @property
    def shift(self) -> float:
        """What a positive must be ahead by to count half."""
        return _SHIFT * self.width

    def value(self, scores: Scores) -> float:
        """Evaluate the area."""
        n, band = len(scores.negatives), self.band
        ends = (n - band.stop, n - band.start - 1)
        rivals = np.sort(np.partition(scores.negatives, ends)[ends[0] : ends[1] + 1])
        return float(normal_sums(scores.positives - self.shift, rivals, self.width, 0).mean()) / band.width

    def gradient(self, scores: Scores) -> tuple[FloatArray, FloatArray, IndexArray]:
        """Give the slope in each positive's score, in that of the negatives in the band, and which these are.

        Negatives that tie at an edge of the band are in it alike.
        """
        share, index = band_shares(scores.negatives, self.band)
        order = np.argsort(scores.negatives[index])
        share, index = share[order], index[order]
        positives = scores.positives - self.shift
        scale = 1.0 / (self.width * len(scores.positives) * self.band.width)
        rising = scale * normal_sums(positives, scores.negatives[index], self.width, 1, share)
        falling = scale * normal_sums(scores.negatives[index], np.sort(positives), self.width, 1)
        return rising, -share * falling, index


def band_shares(negatives: FloatArray, band: Band) -> tuple[FloatArray, IndexArray]:
    """Share in the band of each negative that may lie there, and which these are; those that tie share alike."""
    n = len(negatives)
    low, high = np.partition(negatives, (n - band.stop, n - band.start - 1))[[n - band.stop, n - band.start - 1]]
    index = np.flatnonzero((negatives >= low) & (negatives <= high))
    scores = negatives[index]
    share = np.ones(len(index))
    for edge in {float(low), float(high)}:
        tied = scores == edge
        above, size = int(np.count_nonzero(negatives > edge)), int(np.count_nonzero(tied))
        share[tied] = (min(above + size, band.stop) - max(above, band.start)) / size
    return share, index


def normal_sums(
    at: FloatArray, centres: FloatArray, width: float, order: int, weights: FloatArray | None = None
) -> FloatArray:
    """Sum the derivative of the given order, 0 or 1, of Phi(u), u = (at - centre) / width, over the centres.

    The centres are ascending. They may have weights for order 1.
    """
    u, centres = at / width, centres / width
    start, stop = centres[0] - _REACH, centres[-1] + _REACH
    sums = np.zeros(len(at))
    if order == 0:
        sums[u >= stop] = len(centres)
    inside = np.flatnonzero((u > start) & (u < stop))
    cell = ((u[inside] - start) / _SPACING).astype(np.intp)
    by_cell = np.argsort(cell, kind="stable")
    inside, cell = inside[by_cell], cell[by_cell]
    blocks = np.append(np.flatnonzero(np.diff(cell // _BLOCK, prepend=-1)), len(cell))
    for first, last in pairwise(blocks.tolist()):
        base = cell[first] // _BLOCK * _BLOCK
        nodes = start + _SPACING * (base + np.arange(_BLOCK + 1))
        near = slice(*np.searchsorted(centres, (nodes[0] - _REACH, nodes[-1] + _REACH)))
        heights = _sums_at(nodes, centres[near], order, None if weights is None else weights[near])
        if order == 0:
            heights[0] += near.start
        part = inside[first:last]
        sums[part] = _quintic(heights, cell[first:last] - base, (u[part] - start) / _SPACING - cell[first:last])
    return sums


def _sums_at(nodes: FloatArray, centres: FloatArray, order: int, weights: FloatArray | None) -> FloatArray:
    """Sum over the centres, at each node, the function and two derivatives, per spacing."""
    u = np.subtract.outer(nodes, centres)
    density = np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi)
    terms = (ndtr(u), density, -u * density) if order == 0 else (density, -u * density, (u * u - 1) * density)
    ones = np.ones(len(centres)) if weights is None else weights
    return np.stack([term @ ones * _SPACING**power for power, term in enumerate(terms)])


def _quintic(heights: FloatArray, cell: IndexArray, x: FloatArray) -> FloatArray:
    """Interpolate at x in [0, 1] of the cells by the polynomial that matches value and two derivatives at its ends."""
    (f0, d0, c0), (f1, d1, c1) = heights[:, cell], heights[:, cell + 1]
    rise = f1 - f0 - d0 - c0 / 2
    slope = d1 - d0 - c0
    bend = c1 - c0
    a3 = 10 * rise - 4 * slope + bend / 2
    a4 = -15 * rise + 7 * slope - bend
    a5 = 6 * rise - 3 * slope + bend / 2
    value: FloatArray = f0 + x * (d0 + x * (c0 / 2 + x * (a3 + x * (a4 + x * a5))))
    return value
