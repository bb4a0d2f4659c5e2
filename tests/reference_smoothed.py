"""Smoothed risks from all pairs of scores: slopes and curvature in O(m n), for held against the sorted sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rocband.risks import Band, Smoothing
from rocband.risks.shares import shares

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


def shares_anywhere(negatives: FloatArray, k: int, width: float) -> FloatArray:
    """Shares in the top k of negatives in any order."""
    order = np.argsort(negatives)
    share = np.zeros(len(negatives))
    share[order] = shares(negatives[order], k, width)
    return share


@dataclass(frozen=True)
class Pairs:
    """Weights of all pairs at both margins, and the shares of the negatives."""

    lost: FloatArray  # z_j - s_i
    rising: FloatArray  # clip((1 + lost) / margin width, 0, 1)
    capped: FloatArray  # clip(lost / margin width, 0, 1)
    top: FloatArray
    upper: FloatArray
    smoothing: Smoothing
    scale: float

    @classmethod
    def of(cls, positives: FloatArray, negatives: FloatArray, band: Band, smoothing: Smoothing) -> Pairs:
        lost = negatives - positives[:, None]
        return cls(
            lost=lost,
            rising=np.clip((1 + lost) / smoothing.margin, 0, 1),
            capped=np.clip(lost / smoothing.margin, 0, 1),
            top=shares_anywhere(negatives, band.stop, smoothing.rank),
            upper=shares_anywhere(negatives, band.start, smoothing.rank),
            smoothing=smoothing,
            scale=1 / (len(positives) * band.width),
        )

    @property
    def inside(self) -> FloatArray:
        return self.top - self.upper


def band_slope(pairs: Pairs, *, capped: bool) -> tuple[FloatArray, FloatArray]:
    """Weights of the positives and of the negatives for the hinge, or the ramp, over a band."""
    weight = pairs.rising - pairs.capped if capped else pairs.rising
    weight = pairs.scale * weight * pairs.inside
    return -weight.sum(axis=1), weight.sum(axis=0)


def band_curvature(pairs: Pairs, *, capped: bool) -> FloatArray:
    """Laplacian of the convex majorant: pairs in the rising part, and negatives at the band's lower edge.

    A negative at the edge is pulled by the positives whose pair with it costs more than nothing and, where the loss is
    capped, less than 1.
    """
    m = len(pairs.lost)
    pull = np.count_nonzero(pairs.rising == 1, axis=0)
    if capped:
        pull = pull - np.count_nonzero(pairs.lost > 0, axis=0)
    strength = pairs.scale / pairs.smoothing.rank
    return joined(pairs.scale * partly(pairs.rising, pairs) * pairs.inside) + edge(m, pairs.top, strength * pull)


@dataclass(frozen=True)
class Rows:
    """What each positive's row adds up to, and how deep it runs."""

    mix: FloatArray
    moved: FloatArray


def structural_rows(pairs: Pairs, band: Band, *, tail: bool) -> Rows:
    """Values A_i and B_i with sharp pairs, the mixture of both, and the difference of the two rows' weights."""
    beyond = 1 - pairs.top if tail else np.zeros_like(pairs.top)
    short = np.maximum(pairs.lost, 0) @ pairs.upper
    deep = np.maximum(1 + pairs.lost, 0) @ pairs.inside + pairs.lost @ pairs.upper + np.maximum(pairs.lost, 0) @ beyond
    mix = (
        np.clip(0.5 + (deep - short) / (pairs.smoothing.rank * band.width), 0, 1) if band.start else np.ones(len(deep))
    )
    moved = pairs.rising @ pairs.inside + pairs.upper.sum() + pairs.capped @ (beyond - pairs.upper)
    return Rows(mix, moved)


def structural_slope(pairs: Pairs, band: Band, *, tail: bool) -> tuple[FloatArray, FloatArray]:
    """Weights of the positives and of the negatives for the smoothed choice of `tight`, or with a tail `naive`."""
    mix = structural_rows(pairs, band, tail=tail).mix[:, None]
    weight = mix * pairs.rising * pairs.inside + mix * pairs.upper + (1 - mix) * pairs.capped * pairs.upper
    if tail:
        weight += mix * pairs.capped * (1 - pairs.top)
    weight *= pairs.scale
    return -weight.sum(axis=1), weight.sum(axis=0)


def structural_curvature(pairs: Pairs, band: Band, *, tail: bool) -> FloatArray:
    """Laplacian of the smoothed choice: its three runs, the edges of the band, and rows that change their depth."""
    m = len(pairs.lost)
    rows = structural_rows(pairs, band, tail=tail)
    mix = rows.mix[:, None]
    below = mix * (1 - pairs.top) if tail else np.zeros_like(pairs.lost)
    margin = mix * pairs.inside * partly(pairs.rising, pairs)
    margin += ((1 - mix) * pairs.upper + below) * partly(pairs.capped, pairs)
    whole_inside = (mix * (pairs.rising == 1)).sum(axis=0)
    whole_above = ((1 - mix) * (pairs.capped == 1)).sum(axis=0) + mix.sum()
    whole_below = (mix * (pairs.capped == 1)).sum(axis=0) if tail else 0.0
    strength = pairs.scale / pairs.smoothing.rank
    total = joined(pairs.scale * margin)
    if band.stop < band.n_negatives:
        total += edge(m, pairs.top, strength * (whole_inside - whole_below))
    if band.start:
        total += edge(m, pairs.upper, strength * (whole_above - whole_inside))
        total += deepening(rows, pairs, strength / band.width)
    return total


def partly(weight: FloatArray, pairs: Pairs) -> FloatArray:
    """By how much the weight of each pair grows as its scores part: 1 / width in the smoothed part."""
    return ((weight > 0) & (weight < 1)) / pairs.smoothing.margin


def joined(weight: FloatArray) -> FloatArray:
    """Laplacian of the positives joined with the negatives by these weights."""
    m, n = weight.shape
    total = np.zeros((m + n, m + n))
    total[:m, m:] = -weight
    total[m:, :m] = -weight.T
    total[np.diag_indices(m + n)] = np.concatenate([weight.sum(axis=1), weight.sum(axis=0)])
    return total


def edge(m: int, share: FloatArray, pull: FloatArray) -> FloatArray:
    """Laplacian of the negatives with a part of a share, which they pass on to each other."""
    weight = np.where((share > 0) & (share < 1), np.maximum(pull, 0), 0)
    total = np.zeros((m + len(share), m + len(share)))
    if weight.any():
        total[m:, m:] = np.diag(weight) - np.outer(weight, weight) / weight.sum()
    return total


def deepening(rows: Rows, pairs: Pairs, strength: float) -> FloatArray:
    """Sum over the positives whose row is mixed: each moves against the mean of the top negatives."""
    m, n = pairs.lost.shape
    total = np.zeros((m + n, m + n))
    for i in np.flatnonzero((rows.mix > 0) & (rows.mix < 1)):
        direction = np.append(np.zeros(m), -pairs.top / pairs.top.sum())
        direction[i] = 1.0
        total += strength * rows.moved[i] ** 2 * np.outer(direction, direction)
    return total
