"""A problem whose models are combinations of the rows, with the inner product of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rocband.risks.band import FloatArray, IndexArray
from rocband.risks.curvature import Graph, laplacian
from rocband.rows.kernel import KernelRows
from rocband.solvers.curvature import MOST_ROWS, solve_rows, within
from rocband.solvers.problem import Problem

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
        """Whether there are fewer than four positives for each dimension of the feature space."""
        return 4 * self.gram.rank > len(self.positives)

    def newton_direction(
        self,
        graphs: Sequence[Graph],
        C: float,
        gradient: FloatArray,
        random: np.random.Generator,
        effort: float = 1.0,
    ) -> FloatArray:
        """Solve (I + C X' L X) x = -gradient, where L is the Laplacian of the graphs.

        x = X' z - gradient with (I + C L K) z = C L X gradient, K the products of the rows in play: time O(r^3) and
        memory O(r^2) for r of them, and a pass over their part of the Gram matrix. Whatever the effort, r has a limit.
        """
        used, total = laplacian(within(graphs, MOST_ROWS, self.norms, random))
        used = self._numbered(used)
        solution = solve_rows(C * total, self.gram.take(used), self.gram.scores(gradient)[used])
        return self.gram.accumulate(solution, used) - gradient
