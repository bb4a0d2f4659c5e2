"""The planes below a convex risk, and the small quadratic program over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rocband._types import FloatArray

__all__ = ["Certificate", "Master", "Planes"]

# A plane without weight in so many solves has not come back in any run looked at (make bench ARGS=solver).
_MAX_AGE = 30
# Planes that enter or leave in one solve: a handful in practice; the limit only guards against cycling by rounding.
_MAX_CHANGES = 300
# A plane enters when it lies this far above the level of the others, on the scale of the heights.
_TOLERANCE = 1e-10
# Added to the diagonal, relative to it, so that planes that are the same up to rounding can be active together.
_RIDGE = 1e-13
# And in any case, for planes without slope.
_LEAST_RIDGE = 1e-100


@dataclass(frozen=True, slots=True)
class Master:
    """The minimum of 1/2 |w - origin|^2 + C max_k (offset_k + slope_k . w) over w, by its dual.

    Attributes
    ----------
    multipliers : array of shape (n_planes,)
        Dual weights, at least 0, that sum to C.
    minimizer : array of shape (n_features,)
        The w at which the minimum lies.
    bound : float
        The dual value at ``multipliers``: a lower bound whatever their accuracy.
    """

    multipliers: FloatArray
    minimizer: FloatArray
    bound: float


@dataclass(frozen=True, slots=True)
class Certificate:
    """Planes below a risk, and multipliers that turn them into a lower bound of the objective.

    ``bound = multipliers @ (offsets + slopes @ origin) - |multipliers @ slopes|^2 / 2``, with multipliers of at least 0
    that sum to C.
    """

    slopes: FloatArray
    offsets: FloatArray
    multipliers: FloatArray
    bound: float

    @classmethod
    def none(cls, n_features: int) -> Certificate:
        """Nothing proved yet."""
        return cls(np.zeros((0, n_features)), np.zeros(0), np.zeros(0), -np.inf)


class Planes:
    """Affine functions ``offset_k + slope_k . w`` that lie below a risk everywhere, whatever C and the origin are.

    The first plane is kept for good: 0 for a risk that is never below it, or else the slope of a plane through 0.
    ``inner`` multiplies models; the first of the two may be a stack of them.
    """

    def __init__(
        self,
        n_features: int,
        first: FloatArray | None = None,
        inner: Callable[[FloatArray, FloatArray], FloatArray] = np.matmul,
    ) -> None:
        self.inner = inner
        self.slopes = np.zeros((1, n_features)) if first is None else first[None, :]
        self.offsets = np.zeros(1)
        self._gram = inner(self.slopes, self.slopes[0])[:, None]
        self._weights = np.ones(1)  # multipliers of the last solve, as shares of C
        self._age = np.zeros(1, dtype=np.intp)

    def add(self, slope: FloatArray, offset: float) -> None:
        """Add a plane."""
        self.slopes = np.vstack([self.slopes, slope])
        self.offsets = np.append(self.offsets, offset)
        products = self.inner(self.slopes, slope)
        self._gram = np.pad(self._gram, (0, 1))
        self._gram[-1] = products
        self._gram[:, -1] = products
        self._weights = np.append(self._weights, 0.0)
        self._age = np.append(self._age, 0)

    def solve(self, C: float, origin: FloatArray) -> Master:
        """Minimise 1/2 |w - origin|^2 + C max_k plane_k(w), and forget planes that long had no weight."""
        heights = self.offsets + self.inner(self.slopes, origin)
        self._weights = simplex_qp(C * self._gram, heights, self._weights)
        self._prune()
        # multipliers . heights - |sum_k multipliers_k slope_k|^2 / 2 is a bound, however accurate they are.
        multipliers = C * self._weights
        pull = multipliers @ self.slopes
        heights = self.offsets + self.inner(self.slopes, origin)
        bound = float(multipliers @ heights - self.inner(pull, pull) / 2)
        return Master(multipliers, origin - pull, bound)

    def certificate(self, master: Master) -> Certificate:
        """Keep what proves the bound of the last solve."""
        used = master.multipliers > 0
        return Certificate(self.slopes[used], self.offsets[used], master.multipliers[used], master.bound)

    def _prune(self) -> None:
        self._age = np.where(self._weights > 0, 0, self._age + 1)
        keep = self._age < _MAX_AGE
        keep[0] = True
        if keep.all():
            return
        self.slopes = self.slopes[keep]
        self.offsets = self.offsets[keep]
        self._gram = self._gram[np.ix_(keep, keep)]
        self._weights = self._weights[keep]
        self._age = self._age[keep]


def simplex_qp(gram: FloatArray, heights: FloatArray, start: FloatArray) -> FloatArray:
    """Maximise heights . a - 1/2 a' gram a over a >= 0, sum a = 1, by an active set from ``start``.

    Each round solves the equality-constrained problem on the active set exactly; a weight that would turn negative
    leaves, the most violated plane enters.
    """
    weights = start / start.sum()
    active: list[int] = np.flatnonzero(weights).tolist()
    tolerance = _TOLERANCE * (1.0 + np.abs(heights).max())
    for _ in range(_MAX_CHANGES):
        goal, level = _on_active(gram, heights, active)
        if (goal < 0).any():
            weights[active] = _towards(weights[active], goal)
            active = [plane for plane in active if weights[plane] > 0.0]
            continue
        weights[active] = goal
        # The multiplier of the sum is the height that all active planes share; a higher one is missing.
        slack = heights - gram @ weights
        enter = int(np.argmax(slack))
        if slack[enter] <= level + tolerance or enter in active:
            break
        active.append(enter)
    positive: FloatArray = np.maximum(weights, 0.0)
    return positive / float(positive.sum())


def _on_active(gram: FloatArray, heights: FloatArray, active: list[int]) -> tuple[FloatArray, float]:
    """Solve the problem with only the active planes and no signs; also its multiplier of the sum.

    Where gram a + level = heights and sum a = 1, the gradient heights - gram a has the same entry for all planes.
    """
    k = len(active)
    system = np.ones((k + 1, k + 1))
    system[:k, :k] = gram[np.ix_(active, active)]
    system[k, k] = 0.0
    diagonal = np.arange(k)
    system[diagonal, diagonal] += np.maximum(_RIDGE * system[diagonal, diagonal], _LEAST_RIDGE)
    right = np.append(heights[active], 1.0)
    try:
        solution = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(system, right, rcond=None)[0]
    return solution[:k], float(solution[k])


def _towards(now: FloatArray, goal: FloatArray) -> FloatArray:
    """Walk from ``now`` towards ``goal`` until the first weight reaches 0."""
    falling = goal < 0
    shares = now[falling] / (now[falling] - goal[falling])
    step = float(shares.min())
    moved = np.maximum(now + step * (goal - now), 0.0)
    # Rounding may leave a trace of the first one: it has to leave, or the same round would come again.
    first = np.flatnonzero(falling)[shares.argmin()]
    moved[first] = 0.0
    return moved
