"""The cutting-plane method as in the textbook and the paper, to count its steps."""

from __future__ import annotations

import numpy as np

from benchmarks.tangent import Plane, tight_tangent
from rocband.solvers.planes import Planes


def cutting_plane_steps(
    X: np.ndarray, y: np.ndarray, band: tuple[float, float], C: float, tol: float, most: int
) -> int:
    """Count steps until the most violated constraint is violated by at most ``tol``; ``most`` where it is not.

    A step finds the plane that touches the risk at the minimiser of all planes so far, which is the most violated
    constraint, and minimises again. There is no smoothing, no line search and no other direction.

    Examples
    --------
    >>> from rocband.datasets import make_band_problem
    >>> X, y = make_band_problem(300, random_state=0)
    >>> cutting_plane_steps(X, y == 1, (0.0, 0.5), 1.0, 1e-3, 100) < 100
    True
    """
    tangent = tight_tangent(band, int((~y).sum()))
    origin = np.zeros(X.shape[1])
    planes = Planes(X.shape[1])
    w = origin
    below = 0.0
    for step in range(1, most):
        scores = X @ w
        plane = tangent(scores[y], scores[~y])
        # The risk exceeds the largest plane by the violation of the most violated constraint.
        if plane.value - below <= tol:
            return step
        planes.add(slope(X, y, plane), plane.offset)
        w = planes.solve(C, origin).minimizer
        below = float((planes.offsets + planes.slopes @ w).max())
    return most


def slope(X: np.ndarray, y: np.ndarray, plane: Plane) -> np.ndarray:
    """Return the gradient in the model: the rows, weighted as the plane weighs their scores."""
    weights = np.zeros(len(y))
    weights[y] = plane.positives
    weights[np.flatnonzero(~y)[plane.index]] = plane.negatives
    return weights @ X
