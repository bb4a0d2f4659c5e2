"""rocband's own models: linear with the default C and with C chosen, certified, and Nystroem's features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from benchmarks.competitors import Band, Recipe, Scorer, whole_band
from rocband import KernelPartialAUCSVC, PartialAUCSVC

REQUIRES = {"rocband": "rocband"}
COMPONENTS = 200


def linear(X: Any, y: Any, band: Band, **options: Any) -> Scorer:
    return PartialAUCSVC(band, **options).fit(X, y).decision_function


def kernel(X: Any, y: Any, band: Band, width: float, **options: Any) -> Scorer:
    """Fit with gamma as a multiple of scikit-learn's "scale"."""
    variance = X.power(2).mean() - X.mean() ** 2 if issparse(X) else X.var()
    gamma = width / (X.shape[1] * float(variance))
    model = KernelPartialAUCSVC(band, gamma=gamma, n_components=COMPONENTS, tol=1e-2, **options)
    return model.fit(X, y).decision_function


def recipes() -> dict[str, Recipe]:
    common = {"aim": whole_band, "packages": ("rocband",)}
    grid = tuple({"C": C} for C in np.logspace(-1, 4, 8).round(3).tolist())
    # The kernel model's own defaults, and those of the linear one, which cannot collapse.
    defaults = ({"surrogate": "tight", "C": 1e3}, {"surrogate": "ramp", "anchor": "logistic", "C": 1e2})
    kernels = tuple({"width": width, **options} for width in (0.5, 1.0, 2.0, 4.0) for options in defaults)
    return {
        "rocband": Recipe(linear, grid, **common),
        "rocband, anchor chosen": Recipe(linear, tuple({"anchor": "logistic_cv", **each} for each in grid), **common),
        "rocband, default C": Recipe(linear, **common),
        "rocband, kernel": Recipe(kernel, kernels, {"width": 1.0}, "non-linear", **common),
    }
