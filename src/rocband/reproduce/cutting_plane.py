"""The cutting-plane method as in the textbook and the paper, to count its steps."""

from __future__ import annotations

import numpy as np

from rocband.risks.surrogates import tight
from rocband.solvers.planes import Planes
from rocband.solvers.problem import Problem

__all__ = ["cutting_plane_steps"]


def cutting_plane_steps(problem: Problem, C: float, tol: float, most: int) -> int:
    """Count steps until the most violated constraint is violated by at most ``tol``; ``most`` where it is not.

    A step finds the plane that touches the risk at the minimiser of all planes so far, which is the most violated
    constraint, and minimises again. There is no smoothing, no line search and no other direction.

    Examples
    --------
    >>> from rocband.datasets import make_band_problem
    >>> from rocband.rows import as_rows
    >>> X, y = make_band_problem(300, random_state=0)
    >>> cutting_plane_steps(Problem(as_rows(X), y == 1, (0.0, 0.5)), 1.0, 1e-3, 100) < 100
    True
    """
    origin = np.zeros(problem.n_features)
    planes, w, below = Planes(problem.n_features), origin, 0.0
    for step in range(1, most):
        scores = problem.scores(w)
        plane = tight(scores.positives, scores.negatives, problem.band)
        if plane.value - below <= tol:
            return step
        planes.add(problem.gradient(plane), plane.offset)
        w = planes.solve(C, origin).minimizer
        below = float((planes.offsets + planes.slopes @ w).max())
    return most
