"""PyPI's ``pauc``: the partial area only, no training."""

from __future__ import annotations

import numpy as np

REQUIRES = {"pauc": "pauc"}


def partial_auc(y: np.ndarray, scores: np.ndarray, band: tuple[float, float]) -> float:
    """Return the area divided by the width of the band."""
    from pauc import ROC

    curve = ROC(y, scores, direction="<", partial_auc=(1 - band[1], 1 - band[0]), partial_auc_focus="specificity")
    return float(curve.auc) / (band[1] - band[0])
