"""The smooth partial AUC: the mean normal CDF of score differences over the band, and its gradient.

The CDF is shifted, so that a tie is almost an error, as it is in the empirical partial AUC. Without the shift all ties
would count 1/2: in a narrow band most models stay below that, and to ascend would be to return to a constant score.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import ndtr

from rocband._types import FloatArray, IndexArray
from rocband.baselines.parts import ClassParts
from rocband.risks.band import Band

__all__ = ["SmoothArea", "normal_sums"]

# A tie then counts Phi(-2) = 0.02, almost an error.
_SHIFT = 2.0
# Sums of normal functions are computed at points this far apart and interpolated by quintic polynomials that match two
# derivatives, which is good to 1e-9 of the number of terms.
_SPACING = 0.125
# Beyond this a normal tail is below rounding.
_REACH = 8.5
# So many cells, 8 widths, share one search for the centres in reach and one product.
_BLOCK = 64


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

    def value(self, scores: ClassParts) -> float:
        """Evaluate the area."""
        n = len(scores.negatives)
        lowest = n - self.band.stop
        highest = n - self.band.start - 1
        # Ascending order holds rank j of the falling order at n - j.
        ranked = np.partition(scores.negatives, (lowest, highest))
        rivals = np.sort(ranked[lowest : highest + 1])
        sums = normal_sums(scores.positives - self.shift, rivals, self.width, 0)
        return float(sums.mean()) / self.band.width

    def gradient(self, scores: ClassParts) -> tuple[FloatArray, FloatArray, IndexArray]:
        """Give the slope in each positive's score, in that of the negatives in the band, and which these are.

        Negatives that tie at an edge of the band are in it alike.
        """
        share, index = band_shares(scores.negatives, self.band)
        order = np.argsort(scores.negatives[index])
        share = share[order]
        index = index[order]
        positives = scores.positives - self.shift
        scale = 1.0 / (self.width * len(scores.positives) * self.band.width)
        negatives = scores.negatives[index]
        # d/ds_i = sum_j share_j phi(u_ij) / (m k width), and the same sum over i with the other sign for z_j.
        rising = scale * normal_sums(positives, negatives, self.width, 1, share)
        falling = scale * normal_sums(negatives, np.sort(positives), self.width, 1)
        return rising, -share * falling, index


def band_shares(negatives: FloatArray, band: Band) -> tuple[FloatArray, IndexArray]:
    """Share in the band of each negative that may lie there, and which these are; those that tie share alike."""
    n = len(negatives)
    lowest = n - band.stop
    highest = n - band.start - 1
    ranked = np.partition(negatives, (lowest, highest))
    low = float(ranked[lowest])
    high = float(ranked[highest])
    index = np.flatnonzero((negatives >= low) & (negatives <= high))
    scores = negatives[index]
    share = np.ones(len(index))
    for edge in {low, high}:
        tied = scores == edge
        n_above = int(np.count_nonzero(negatives > edge))
        n_tied = int(np.count_nonzero(tied))
        first = max(n_above, band.start)
        last = min(n_above + n_tied, band.stop)
        share[tied] = (last - first) / n_tied
    return share, index


def normal_sums(
    at: FloatArray, centres: FloatArray, width: float, order: int, weights: FloatArray | None = None
) -> FloatArray:
    """Sum the derivative of the given order, 0 or 1, of Phi(u), u = (at - centre) / width, over the centres.

    The centres are ascending. They may have weights for order 1.
    """
    u = at / width
    centres = centres / width
    start = centres[0] - _REACH
    stop = centres[-1] + _REACH
    sums = np.zeros(len(at))
    if order == 0:
        sums[u >= stop] = len(centres)
    inside = np.flatnonzero((u > start) & (u < stop))
    cell = ((u[inside] - start) / _SPACING).astype(np.intp)
    by_cell = np.argsort(cell, kind="stable")
    inside = inside[by_cell]
    cell = cell[by_cell]
    blocks = np.append(np.flatnonzero(np.diff(cell // _BLOCK, prepend=-1)), len(cell))
    for first, last in pairwise(blocks.tolist()):
        base = cell[first] // _BLOCK * _BLOCK
        nodes = start + _SPACING * (base + np.arange(_BLOCK + 1))
        left, right = np.searchsorted(centres, (nodes[0] - _REACH, nodes[-1] + _REACH))
        near_weights = None if weights is None else weights[left:right]
        heights = _sums_at(nodes, centres[left:right], order, near_weights)
        if order == 0:
            # The CDF is 1 for each centre too far below to be in reach.
            heights[0] += left
        part = inside[first:last]
        cells = cell[first:last]
        within = (u[part] - start) / _SPACING - cells
        sums[part] = _quintic(heights, cells - base, within)
    return sums


def _sums_at(nodes: FloatArray, centres: FloatArray, order: int, weights: FloatArray | None) -> FloatArray:
    """Sum over the centres, at each node, the function and two derivatives, per spacing."""
    u = np.subtract.outer(nodes, centres)
    density = np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi)
    # phi' = -u phi and phi'' = (u^2 - 1) phi.
    slope = -u * density
    terms = (ndtr(u), density, slope) if order == 0 else (density, slope, (u * u - 1) * density)
    amounts = np.ones(len(centres)) if weights is None else weights
    # Per spacing, the derivative of order p counts spacing^p.
    sums = [term @ amounts * _SPACING**power for power, term in enumerate(terms)]
    return np.stack(sums)


def _quintic(heights: FloatArray, cell: IndexArray, x: FloatArray) -> FloatArray:
    """Interpolate at x in [0, 1] of the cells by the polynomial that matches value and two derivatives at its ends."""
    f0, d0, c0 = heights[:, cell]
    f1, d1, c1 = heights[:, cell + 1]
    # What the parabola at the left end misses at the right end, in value and in both derivatives.
    rise = f1 - f0 - d0 - c0 / 2
    slope = d1 - d0 - c0
    bend = c1 - c0
    a3 = 10 * rise - 4 * slope + bend / 2
    a4 = -15 * rise + 7 * slope - bend
    a5 = 6 * rise - 3 * slope + bend / 2
    value: FloatArray = f0 + x * (d0 + x * (c0 / 2 + x * (a3 + x * (a4 + x * a5))))
    return value
