"""dlib's ``svm_rank_trainer``: the full AUC, with a certificate, in C++."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from benchmarks.competitors import Band, Recipe, Scorer

REQUIRES = {"dlib": "dlib"}


def ranking_pair(X: Any, y: Any) -> Any:
    """Copy the rows into dlib's own vectors."""
    import dlib

    rows = np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64)
    data = dlib.ranking_pair()
    for row, positive in zip(rows, np.asarray(y) == 1, strict=True):
        (data.relevant if positive else data.nonrelevant).append(dlib.vector(row.tolist()))
    return data


def train(data: Any, C: float, epsilon: float) -> np.ndarray:
    """Minimise 1/2 |w|^2 + C * (mean hinge of all pairs) to a gap of C * epsilon; return the coefficients."""
    import dlib

    trainer = dlib.svm_rank_trainer()
    trainer.c = C
    trainer.epsilon = epsilon
    return np.array(trainer.train(data).weights).ravel()


def fit(X: Any, y: Any, band: Band, C: float) -> Scorer:
    weights = train(ranking_pair(X, y), C, 1e-3)
    return lambda rows: rows @ weights


def recipes() -> dict[str, Recipe]:
    grid = tuple({"C": C} for C in np.logspace(-1, 4, 8).round(3).tolist())
    return {"dlib svm_rank (full AUC)": Recipe(fit, grid, {"C": 100.0}, packages=("dlib",))}
