"""The tangent plane of SVM_pAUC's risk, by the name that a revision of rocband has for it.

All benchmarks that look inside a risk do it here. `benchmarks.regression` runs the same cases with an older revision,
in which the risks were functions, so that both forms must work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from rocband import risks


class Plane(Protocol):
    """A risk at some scores: ``offset + positives @ s + negatives @ z[index]`` touches it there."""

    value: float
    offset: float
    positives: np.ndarray
    negatives: np.ndarray
    index: np.ndarray


Tangent = Callable[[np.ndarray, np.ndarray], Plane]


def tight_tangent(fpr_range: tuple[float, float], n_negatives: int) -> Tangent:
    """Return what linearises the risk ``tight`` at scores of positives and of negatives."""
    band = risks.Band.from_range(fpr_range, n_negatives)
    if not hasattr(risks, "risk_for"):
        return lambda positives, negatives: risks.tight(positives, negatives, band)
    risk = risks.risk_for("tight", band)
    return lambda positives, negatives: risk.sharp(risks.Scores.of(positives, negatives))
