"""The risks from all pairs of scores and, for tiny samples, from all subsets and orderings: slow, and plainly right."""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations, product

import numpy as np
import numpy.typing as npt

from rocband.risks.band import Band

FloatArray = npt.NDArray[np.float64]


def ranked(negatives: FloatArray) -> FloatArray:
    """Negatives by falling score: z_(1), z_(2), ..."""
    return np.sort(np.asarray(negatives, dtype=np.float64))[::-1]


def gaps(positives: FloatArray, negatives: FloatArray) -> FloatArray:
    """s_i - z_(j) for all pairs, the negatives by falling score."""
    return np.subtract.outer(np.asarray(positives, dtype=np.float64), ranked(negatives))


def hinges(positives: FloatArray, negatives: FloatArray, margin: float) -> FloatArray:
    """(margin - s_i + z_(j))_+ for all pairs."""
    return np.maximum(margin - gaps(positives, negatives), 0)


def normalizer(positives: FloatArray, band: Band) -> int:
    """N, the number of pairs in the band."""
    return len(positives) * (band.stop - band.start)


def empirical_risk(positives: FloatArray, negatives: FloatArray, band: Band) -> float:
    """Share of the band's pairs that are misranked; ties are errors."""
    return float(np.mean(gaps(positives, negatives)[:, band.start : band.stop] <= 0))


def top_hinge(positives: FloatArray, negatives: FloatArray, k: int, margin: float) -> float:
    """T_k(margin)."""
    return float(hinges(positives, negatives, margin)[:, :k].sum())


def hinge(positives: FloatArray, negatives: FloatArray, band: Band) -> float:
    return float(hinges(positives, negatives, 1)[:, band.start : band.stop].mean())


def ramp(positives: FloatArray, negatives: FloatArray, band: Band) -> float:
    return float(np.minimum(hinges(positives, negatives, 1), 1)[:, band.start : band.stop].mean())


def tight(positives: FloatArray, negatives: FloatArray, band: Band) -> float:
    return _structural(positives, negatives, band, last=band.stop)


def naive(positives: FloatArray, negatives: FloatArray, band: Band) -> float:
    return _structural(positives, negatives, band, last=len(negatives))


def _structural(positives: FloatArray, negatives: FloatArray, band: Band, last: int) -> float:
    """(1/N) sum_i max(A_i, B_i); B_i may run on with margin 0 through the ranks up to ``last``."""
    a, b = band.start, band.stop
    without, within = hinges(positives, negatives, 0), hinges(positives, negatives, 1)
    short = without[:, :a].sum(axis=1)
    forced = -gaps(positives, negatives)[:, :a].sum(axis=1)
    long = forced + within[:, a:b].sum(axis=1) + without[:, b:last].sum(axis=1)
    return float(np.maximum(short, long).sum() / normalizer(positives, band))


def eta(positives: FloatArray, negatives: FloatArray, band: Band) -> float:
    """T_a(0) / N: what misranked negatives above the band add."""
    return top_hinge(positives, negatives, band.start, 0) / normalizer(positives, band)


def lower_bound(positives: FloatArray, negatives: FloatArray, band: Band) -> float:
    """Sum hinge+ and eta+: `hinge` and `eta` over the positives below all negatives above the band only."""
    edge = ranked(negatives)[band.start - 1] if band.start else np.inf
    losers = np.asarray(positives)[positives < edge]
    if not len(losers):
        return 0.0
    share = len(losers) / len(positives)
    return share * (hinge(losers, negatives, band) + eta(losers, negatives, band))


@cache
def orderings(m: int, k: int) -> tuple[FloatArray, FloatArray]:
    """All valid ordering matrices of m positives and k negatives, and how many negatives stand above each positive."""
    depth_of: dict[bytes, tuple[int, ...]] = {}
    for order in permutations(range(k)):
        for depths in product(range(k + 1), repeat=m):
            matrix = np.zeros((m, k))
            for row, depth in enumerate(depths):
                matrix[row, list(order[:depth])] = 1
            depth_of[matrix.tobytes()] = depths
    matrices = np.array([np.frombuffer(key).reshape(m, k) for key in depth_of])
    return matrices, np.array(list(depth_of.values()), dtype=np.float64)


def best_ordering(positives: FloatArray, chosen: FloatArray, band: Band) -> float:
    """Largest (errors at the band's ranks) - sum_ij pi_ij (s_i - z_j) over all orderings, divided by N."""
    matrices, depths = orderings(len(positives), len(chosen))
    errors = (np.clip(depths, band.start, band.stop) - band.start).sum(axis=1)
    loss = np.einsum("pij,ij->p", matrices, np.subtract.outer(positives, chosen, dtype=np.float64))
    return float(np.max(errors - loss) / normalizer(positives, band))


def tight_by_brute_force(positives: FloatArray, negatives: FloatArray, band: Band) -> float:
    """Largest over all subsets of ``band.stop`` negatives and all orderings of each."""
    return max(best_ordering(positives, np.array(subset), band) for subset in combinations(negatives, band.stop))


def naive_by_brute_force(positives: FloatArray, negatives: FloatArray, band: Band) -> float:
    """Largest over all orderings of all negatives."""
    return best_ordering(positives, negatives, band)
