"""LightGBM with the log-loss, and with the objective of the band for the second half of the trees."""

from __future__ import annotations

from typing import Any

from benchmarks.band_objective import band_objective
from benchmarks.competitors import Band, Recipe, Scorer, whole_band

REQUIRES = {"lightgbm": "lightgbm"}
TREES = 100


def log_loss(X: Any, y: Any, band: Band, trees: int = TREES, **options: Any) -> Scorer:
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(n_estimators=trees, n_jobs=1, verbose=-1, **options).fit(X, y)
    return lambda rows: model.predict(rows, raw_score=True)


def for_band(X: Any, y: Any, band: Band, **options: Any) -> Scorer:
    from lightgbm import LGBMClassifier

    first = log_loss(X, y, band, TREES // 2, **options)
    second = LGBMClassifier(n_estimators=TREES // 2, n_jobs=1, verbose=-1, objective=band_objective(band), **options)
    second.fit(X, y, init_score=first(X))
    return lambda rows: first(rows) + second.predict(rows, raw_score=True)


def recipes() -> dict[str, Recipe]:
    grid = tuple(
        {"learning_rate": rate, "num_leaves": leaves, "reg_lambda": l2}
        for rate in (0.1, 0.3)
        for leaves in (8, 31)
        for l2 in (1.0, 10.0)
    )
    common = {"kind": "non-linear", "packages": ("lightgbm",)}
    return {
        "LightGBM": Recipe(log_loss, grid, **common),
        "LightGBM, band objective": Recipe(for_band, grid, aim=whole_band, **common),
    }
