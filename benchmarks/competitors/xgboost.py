"""XGBoost with the log-loss, and with the objective of the band for the second half of the trees."""

from __future__ import annotations

from typing import Any

from benchmarks.band_objective import band_objective
from benchmarks.competitors import Band, Recipe, Scorer, whole_band

REQUIRES = {"xgboost": "xgboost"}
TREES = 100


def log_loss(X: Any, y: Any, band: Band, trees: int = TREES, **options: Any) -> Scorer:
    from xgboost import XGBClassifier

    model = XGBClassifier(n_estimators=trees, n_jobs=1, **options).fit(X, y)
    return lambda rows: model.predict(rows, output_margin=True)


def for_band(X: Any, y: Any, band: Band, **options: Any) -> Scorer:
    from xgboost import XGBClassifier

    first = log_loss(X, y, band, TREES // 2, **options)
    second = XGBClassifier(
        n_estimators=TREES // 2,
        n_jobs=1,
        objective=band_objective(band),
        base_score=0.0,
        min_child_weight=0.1,
        **options,
    )
    second.fit(X, y, base_margin=first(X))
    return lambda rows: second.predict(rows, output_margin=True, base_margin=first(rows))


def recipes() -> dict[str, Recipe]:
    grid = tuple(
        {"learning_rate": rate, "max_depth": depth, "reg_lambda": l2}
        for rate in (0.1, 0.3)
        for depth in (3, 6)
        for l2 in (1.0, 10.0)
    )
    common = {"kind": "non-linear", "packages": ("xgboost",)}
    return {
        "XGBoost": Recipe(log_loss, grid, **common),
        "XGBoost, band objective": Recipe(for_band, grid, aim=whole_band, **common),
    }
