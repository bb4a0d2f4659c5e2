"""A problem whose models are combinations of the rows, with the inner product of a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rocband.risks.band import FloatArray, IndexArray
from rocband.risks.smoothed import Pairs
from rocband.rows.kernel import KernelRows
from rocband.solvers.curvature import GRAPH_PAIRS, graph_laplacian, solve_rows
from rocband.solvers.problem import Problem, pair_limit

__all__ = ["KernelProblem"]


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
        return pair_limit(self.gram.rank) if self.gram.rank < self.gram.shape[0] else GRAPH_PAIRS

    def solve_curvature(self, pairs: Pairs, weight: FloatArray, gradient: FloatArray) -> FloatArray:
        """Solve (I + X' L X) x = gradient, where L is the weighted Laplacian of the graph of pairs.

        x = gradient - X' z with (I + L K) z = L X gradient, K the products of the rows in play: time O(r^3) and memory
        O(r^2) for r of them, and a pass over their part of the Gram matrix.
        """
        rows = np.concatenate([self.positives, self.negatives])
        used, laplacian = graph_laplacian(pairs, weight)
        used = rows[used]
        solution = solve_rows(laplacian, self.gram.take(used), self.gram.scores(gradient)[used])
        return gradient - self.gram.accumulate(solution, used)
