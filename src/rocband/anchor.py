"""Reference models that an estimator shrinks towards, or starts from."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

from rocband.risks.band import FloatArray
from rocband.risks.smoothed import SmoothedRisk
from rocband.solvers import certified
from rocband.solvers.problem import Problem

__all__ = ["anchor_coefficients", "auc_coefficients", "logistic_coefficients"]

# A reference need not be exact: it is fitted on so many numbers, or rows for each feature if that is more, up to most.
_NUMBERS, _ROWS_PER_FEATURE, _MOST_NUMBERS = 2_500_000, 20, 20_000_000
# What the regularisation of a logistic regression is chosen from, and in how many folds.
_CS, _FOLDS = np.logspace(-4, 2, 7), 5
_KINDS = "None, 'logistic', 'logistic_cv', 'auc', an array or a fitted linear model"


def anchor_coefficients(anchor: Any, problem: Problem, classes: Any, settings: certified.Settings) -> FloatArray:
    """Turn the parameter ``anchor`` of an estimator into the coefficients to shrink towards."""
    if anchor is None:
        return np.zeros(problem.n_features)
    if isinstance(anchor, str):
        if anchor in ("logistic", "logistic_cv"):
            return logistic_coefficients(problem, settings.random, chosen=anchor == "logistic_cv")
        if anchor == "auc":
            return auc_coefficients(problem, settings)
        raise ValueError(f"anchor must be {_KINDS}, got {anchor!r}.")
    return _given(anchor, problem.n_features, classes)


def logistic_coefficients(problem: Problem, random: np.random.Generator, *, chosen: bool = False) -> FloatArray:
    """Coefficients of a logistic regression, fitted on a random part of the rows, with weights, when they are many.

    ``chosen`` means with its regularisation chosen by the log-loss in folds, where each class has the rows for them.
    """
    index, positive, weight = _some_rows(problem, random)
    folds = min(_FOLDS, int(positive.sum()), int((~positive).sum()))
    model = LogisticRegression(max_iter=1000)
    if chosen and folds > 1:
        model = LogisticRegressionCV(Cs=_CS, cv=folds, scoring="neg_log_loss", max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # near the optimum is near enough for a reference
        warnings.simplefilter("ignore", FutureWarning)  # about attributes of LogisticRegressionCV not used here
        model.fit(problem.rows.take(index), positive, sample_weight=weight)
    coefficients: FloatArray = model.coef_[0].astype(np.float64)
    return coefficients


def _some_rows(problem: Problem, random: np.random.Generator) -> tuple[Any, Any, FloatArray | None]:
    """Choose rows within the limit, the rarer class first; where not all are taken, say how many each stands for."""
    m, n = len(problem.positives), len(problem.negatives)
    d = max(problem.n_features, 1)
    limit = max(_NUMBERS // d, min(_ROWS_PER_FEATURE * d, _MOST_NUMBERS // d), 2000)
    if m + n <= limit:
        return *problem.draw(m, n, random), None
    some_m = min(m, max(limit // 2, limit - n))
    some_n = min(n, limit - some_m)
    index, positive = problem.draw(some_m, some_n, random)
    return index, positive, np.where(positive, m / some_m, n / some_n)


def auc_coefficients(problem: Problem, settings: certified.Settings, C: float = 1.0) -> FloatArray:
    """Coefficients of SVM_AUC."""
    whole = problem.with_range((0.0, 1.0))
    return certified.minimize(whole, SmoothedRisk(whole.band), C, np.zeros(whole.n_features), settings).w


def _given(anchor: Any, n_features: int, classes: Any) -> FloatArray:
    if hasattr(anchor, "coef_"):
        if hasattr(anchor, "classes_") and not np.array_equal(anchor.classes_, classes):
            raise ValueError(f"The anchor was fitted to the classes {anchor.classes_!r}, but y holds {classes!r}.")
        anchor = anchor.coef_
    try:
        coefficients = np.asarray(anchor, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"anchor must be {_KINDS}, got {anchor!r}.") from None
    if coefficients.shape not in ((n_features,), (1, n_features)):
        raise ValueError(f"The anchor has coefficients of shape {coefficients.shape}, but X has {n_features} features.")
    if not np.isfinite(coefficients).all():
        raise ValueError("The anchor has coefficients that are not finite.")
    return coefficients.reshape(n_features)
