"""Reference models that an estimator shrinks towards, or starts from."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

from rocband._errors import ParameterError
from rocband._types import BoolArray, FloatArray, IndexArray
from rocband.problems.base import Problem
from rocband.problems.sample import draw
from rocband.risks import Band, risk_for
from rocband.solvers import certified
from rocband.solvers.objective import Objective
from rocband.solvers.result import Settings

__all__ = ["anchor_coefficients", "auc_coefficients", "logistic_coefficients"]

# A reference need not be exact: so many numbers are fitted in a second or two of one core (make bench ARGS=scale).
_NUMBERS = 2_500_000
# Where features are many, so many rows for each of them, since with fewer a logistic regression mostly fits noise.
_ROWS_PER_FEATURE = 20
# But at most so many numbers: some ten seconds.
_MOST_NUMBERS = 20_000_000
# Whatever the features, so many rows.
_FEWEST_ROWS = 2000
# What the regularisation of a logistic regression is chosen from: from next to nothing to more than scaled data need.
_CS = np.logspace(-4, 2, 7)
# In how many folds: the usual number, since the choice is coarse.
_FOLDS = 5
# Steps of a logistic regression: enough for scaled data, and near the optimum is near enough for others.
_MAX_ITER = 1000
_KINDS = "None, 'logistic', 'logistic_cv', 'auc', an array or a fitted linear model"


def anchor_coefficients(anchor: Any, problem: Problem, classes: Any, settings: Settings) -> FloatArray:
    """Turn the parameter ``anchor`` of an estimator into the coefficients to shrink towards."""
    if anchor is None:
        return np.zeros(problem.n_features)
    if isinstance(anchor, str):
        if anchor in ("logistic", "logistic_cv"):
            return logistic_coefficients(problem, settings.random, chosen=anchor == "logistic_cv")
        if anchor == "auc":
            return auc_coefficients(problem, settings)
        raise ParameterError("anchor", f"must be {_KINDS}, got {anchor!r}.")
    return _given(anchor, problem.n_features, classes)


def logistic_coefficients(problem: Problem, random: np.random.Generator, *, chosen: bool = False) -> FloatArray:
    """Coefficients of a logistic regression, fitted on a random part of the rows, with weights, when they are many.

    ``chosen`` means with its regularisation chosen by the log-loss in folds, where each class has the rows for them.
    """
    features = problem.features
    if features is None:
        raise ParameterError("anchor", "cannot be a logistic regression where the features cannot be written down.")
    numbers, positive, weight = _some_rows(problem, random)
    folds = min(_FOLDS, int(positive.sum()), int((~positive).sum()))
    model = LogisticRegression(max_iter=_MAX_ITER)
    if chosen and folds > 1:
        model = LogisticRegressionCV(Cs=_CS, cv=folds, scoring="neg_log_loss", max_iter=_MAX_ITER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # near the optimum is near enough for a reference
        warnings.simplefilter("ignore", FutureWarning)  # about attributes of LogisticRegressionCV not used here
        model.fit(features.take(numbers), positive, sample_weight=weight)
    coefficients: FloatArray = model.coef_[0].astype(np.float64)
    return coefficients


def _some_rows(problem: Problem, random: np.random.Generator) -> tuple[IndexArray, BoolArray, FloatArray | None]:
    """Choose rows within the limit, the rarer class first; where not all are taken, say how many each stands for."""
    m = problem.n_positives
    n = problem.n_negatives
    d = max(problem.n_features, 1)
    limit = max(_NUMBERS // d, min(_ROWS_PER_FEATURE * d, _MOST_NUMBERS // d), _FEWEST_ROWS)
    if m + n <= limit:
        numbers, positive = draw(problem, m, n, random)
        return numbers, positive, None
    some_m = min(m, max(limit // 2, limit - n))
    some_n = min(n, limit - some_m)
    numbers, positive = draw(problem, some_m, some_n, random)
    stands_for = np.where(positive, m / some_m, n / some_n)
    return numbers, positive, stands_for


def auc_coefficients(problem: Problem, settings: Settings, C: float = 1.0) -> FloatArray:
    """Coefficients of SVM_AUC: the tight surrogate over all ranks."""
    n = problem.n_negatives
    whole = risk_for("tight", Band(0, n, n))
    objective = Objective(problem, whole, C, np.zeros(problem.n_features))
    return certified.minimize(objective, settings).w


def _given(anchor: Any, n_features: int, classes: Any) -> FloatArray:
    if hasattr(anchor, "coef_"):
        if hasattr(anchor, "classes_") and not np.array_equal(anchor.classes_, classes):
            raise ValueError(f"The anchor was fitted to the classes {anchor.classes_!r}, but y holds {classes!r}.")
        anchor = anchor.coef_
    try:
        coefficients = np.asarray(anchor, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("anchor", f"must be {_KINDS}, got {anchor!r}.") from None
    if coefficients.shape not in ((n_features,), (1, n_features)):
        raise ValueError(f"The anchor has coefficients of shape {coefficients.shape}, but X has {n_features} features.")
    if not np.isfinite(coefficients).all():
        raise ValueError("The anchor has coefficients that are not finite.")
    return coefficients.reshape(n_features)
