"""The Newton system: the identity plus the weighted scatter of the differences of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse

from rocband.risks.band import FloatArray
from rocband.rows.base import Matrix

__all__ = ["solve_curvature"]


def solve_curvature(differences: Matrix, weight: FloatArray, gradient: FloatArray) -> FloatArray:
    """Solve (I + D' diag(weight) D) x = gradient, in whichever of the two dimensions of D is smaller."""
    root = np.sqrt(weight)
    scaled: Any = (
        sparse.diags_array(root) @ differences if sparse.issparse(differences) else differences * root[:, None]
    )
    if scaled.shape[1] <= scaled.shape[0]:
        with np.errstate(over="ignore", invalid="ignore"):
            curvature = scaled.T @ scaled
        return _solve_shifted(curvature, gradient)
    inner: FloatArray = gradient - scaled.T @ _solve_shifted(scaled @ scaled.T, scaled @ gradient)
    return inner


def _solve_shifted(gram: Any, right: FloatArray) -> FloatArray:
    """Solve (I + gram) x = right for a positive semi-definite gram, about when rounding leaves it indefinite.

    Columns on very different scales cost no digits: the system is scaled to a diagonal of ones.
    """
    shifted: FloatArray = gram if isinstance(gram, np.ndarray) else gram.toarray()
    diagonal = np.diag_indices(len(shifted))
    shifted[diagonal] += 1.0
    if not (np.isfinite(shifted).all() and np.isfinite(right).all()):
        raise ValueError("The curvature overflows; scale the features, for instance with StandardScaler, or lower C.")
    scale = 1.0 / np.sqrt(shifted[diagonal])
    shifted *= scale
    shifted *= scale[:, None]
    for ridge in (0.0, 1e-12, 1e-8):
        shifted[diagonal] += ridge
        try:
            factor = linalg.cho_factor(shifted, lower=True)
        except np.linalg.LinAlgError:
            continue
        solution: FloatArray = scale * linalg.cho_solve(factor, scale * right)
        return solution
    return right
