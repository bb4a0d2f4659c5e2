"""rocband's own models: linear with the default C and with C chosen, certified, and Nystroem's features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, QuantileTransformer, StandardScaler

from benchmarks.competitors import Band, Recipe, Scorer, whole_band
from rocband import KernelPartialAUCSVC, PartialAUCSVC

REQUIRES = {"rocband": "rocband"}
COMPONENTS = 500
NARROWEST = 0.05


def linear(X: Any, y: Any, band: Band, **options: Any) -> Scorer:
    return PartialAUCSVC(band, **options).fit(X, y).decision_function


def widened(band: Band) -> Band:
    """Return the band with so high an end that it holds enough negatives to learn from."""
    return band[0], max(band[1], NARROWEST)


def kernel(X: Any, y: Any, band: Band, width: float, even: bool = False, **options: Any) -> Scorer:
    """Fit with gamma as a multiple of scikit-learn's "scale"; ``even`` are quantiles, or sparse rows of one length."""
    if not even:
        steps: list[Any] = []
    elif issparse(X):
        steps = [Normalizer()]
    else:
        steps = [QuantileTransformer(n_quantiles=200, random_state=0), StandardScaler(with_std=False)]
    features = make_pipeline("passthrough", *steps)
    Z = features.fit_transform(X)
    variance = Z.power(2).mean() - Z.mean() ** 2 if issparse(Z) else Z.var()
    gamma = width / (Z.shape[1] * float(variance))
    options |= {"gamma": gamma, "n_components": COMPONENTS, "tol": 1e-2}
    model = KernelPartialAUCSVC(widened(band), **options).fit(Z, y)
    return lambda new: model.decision_function(features.transform(new))


def recipes() -> dict[str, Recipe]:
    common = {"aim": whole_band, "packages": ("rocband",)}
    grid = tuple({"C": C} for C in np.logspace(-1, 4, 8).round(3).tolist())
    # The kernel model's own defaults, and those of the linear one, which cannot collapse; features as given, and even.
    defaults = ({"surrogate": "tight", "C": 1e3}, {"surrogate": "ramp", "anchor": "logistic", "C": 1e3})
    kernels = tuple(
        {"width": width, "even": even, **options}
        for width in (0.25, 1.0)
        for even in (False, True)
        for options in defaults
    )
    return {
        "rocband": Recipe(linear, grid, **common),
        "rocband, anchor chosen": Recipe(linear, tuple({"anchor": "logistic_cv", **each} for each in grid), **common),
        "rocband, default C": Recipe(linear, **common),
        "rocband, kernel": Recipe(kernel, kernels, {"width": 1.0}, "non-linear", widened, ("rocband",)),
    }
