"""scikit-learn: logistic regression, with and without its own choice of C, a linear SVM and boosted trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.svm import LinearSVC

from benchmarks.competitors import Band, Recipe, Scorer

REQUIRES = {"scikit-learn": "sklearn"}
CS = np.logspace(-4, 3, 8).tolist()


def logistic(X: Any, y: Any, band: Band, **options: Any) -> Scorer:
    return LogisticRegression(max_iter=1000, **options).fit(X, y).decision_function


def logistic_cv(X: Any, y: Any, band: Band) -> Scorer:
    model = LogisticRegressionCV(Cs=CS, cv=5, scoring="neg_log_loss", max_iter=1000)
    return model.fit(X, y).decision_function


def linear_svc(X: Any, y: Any, band: Band, C: float) -> Scorer:
    """Fit liblinear, which takes sparse rows with short indices only."""
    if issparse(X):
        X = csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)
    return LinearSVC(C=C, dual=X.shape[0] < X.shape[1]).fit(X, y).decision_function


def boosted(X: Any, y: Any, band: Band, **options: Any) -> Scorer:
    """Fit trees, which take no sparse rows."""
    model = HistGradientBoostingClassifier(early_stopping=False, random_state=0, **options)
    model.fit(X.toarray() if issparse(X) else X, y)
    return lambda rows: model.decision_function(rows.toarray() if issparse(rows) else rows)


def recipes() -> dict[str, Recipe]:
    grid = tuple({"C": C} for C in CS)
    balanced = tuple({"C": C, "class_weight": "balanced"} for C in CS)
    trees = tuple(
        {"learning_rate": rate, "max_leaf_nodes": leaves, "l2_regularization": l2}
        for rate in (0.1, 0.3)
        for leaves in (8, 31)
        for l2 in (1.0, 10.0)
    )
    common = {"packages": ("scikit-learn",)}
    return {
        "LogisticRegression": Recipe(logistic, grid, {"C": 1.0}, **common),
        "LogisticRegression, balanced": Recipe(logistic, balanced, {"C": 1.0, "class_weight": "balanced"}, **common),
        "LogisticRegressionCV": Recipe(logistic_cv, **common),
        "LinearSVC": Recipe(linear_svc, grid, {"C": 1.0}, **common),
        "HistGradientBoosting": Recipe(boosted, trees, {}, "non-linear", **common),
    }
