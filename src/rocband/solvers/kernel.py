"""A problem whose models are combinations of the rows, with the inner product of a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rocband.risks.band import FloatArray, IndexArray
from rocband.risks.smoothed import Pairs
from rocband.rows.kernel import KernelRows
from rocband.solvers.problem import Problem, pair_limit

__all__ = ["KernelProblem"]

_PAIRS = 200_000
# The Newton system has one unknown for each row in play, up to this number.
_MOST_ROWS = 2000


class KernelProblem(Problem):
    """Rows of a kernel's feature space, their classes and the band.

    Parameters
    ----------
    rows : KernelRows
    positive, fpr_range, members
        As in `Problem`.
    """

    def __init__(
        self,
        rows: KernelRows,
        positive: npt.NDArray[np.bool_],
        fpr_range: object,
        members: IndexArray | None = None,
    ) -> None:
        super().__init__(rows, positive, fpr_range, members)
        self.gram = rows

    def inner(self, u: FloatArray, v: FloatArray) -> Any:
        """Inner product of two models, or of each in a stack ``u`` with ``v``."""
        return self.gram.inner(u, v)

    @property
    def wide(self) -> bool:
        """Whether the dimensions of the feature space outnumber the positives."""
        return self.gram.rank > len(self.positives)

    @property
    def pair_limit(self) -> int:
        """How many pairs to sample the curvature from; it is the rows in play that cost, not their pairs."""
        return pair_limit(self.gram.rank) if self.gram.rank < self.gram.shape[0] else _PAIRS

    def solve_curvature(self, pairs: Pairs, weight: FloatArray, gradient: FloatArray) -> FloatArray:
        """Solve (I + X' L X) x = gradient, where L is the weighted Laplacian of the graph of pairs.

        x = gradient - X' z with (I + L K) z = L X gradient, K the products of the rows in play: time O(r^3) and memory
        O(r^2) for r of them, and a pass over their part of the Gram matrix.
        """
        rows = np.concatenate([self.positives, self.negatives])
        used, laplacian = _laplacian(pairs, weight)
        used = rows[used]
        system = laplacian @ self.gram.take(used)
        system[np.diag_indices(len(used))] += 1.0
        right = laplacian @ self.gram.scores(gradient)[used]
        del laplacian
        if not (np.isfinite(system).all() and np.isfinite(right).all()):
            raise ValueError("The curvature overflows; scale the features, or lower C.")
        try:
            solution = np.linalg.solve(system, right)
        except np.linalg.LinAlgError:
            return gradient
        return gradient - self.gram.accumulate(solution.astype(np.float64, copy=False), used)


def _laplacian(pairs: Pairs, weight: FloatArray) -> tuple[IndexArray, FloatArray]:
    """Return the rows in play and the Laplacian of their weighted graph, of every k-th row only when they are many."""
    kept = weight > 0
    left, right, weight = pairs.left[kept], pairs.right[kept], weight[kept]
    used = np.unique(np.concatenate([left, right]))
    if len(used) > _MOST_ROWS:
        total, used = weight.sum(), used[:: -(-len(used) // _MOST_ROWS)]
        kept = np.isin(left, used) & np.isin(right, used)
        left, right, weight = left[kept], right[kept], weight[kept]
        weight = weight * (total / weight.sum()) if len(weight) else weight
    size = len(used)
    cells = np.searchsorted(used, left) * size + np.searchsorted(used, right)
    laplacian = -np.bincount(cells, weight, minlength=size * size).astype(np.float64, copy=False).reshape(size, size)
    laplacian += laplacian.T.copy()
    laplacian[np.diag_indices(size)] -= laplacian.sum(axis=1)
    return used, laplacian
