"""Reference models that an estimator shrinks towards, or starts from."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

from rocband._errors import ParameterError
from rocband._types import AnyArray, BoolArray, FloatArray, IndexArray
from rocband.problems.base import Features, Problem
from rocband.problems.sample import draw
from rocband.risks import Band, risk_for
from rocband.solvers import certified
from rocband.solvers.objective import Objective
from rocband.solvers.result import Settings

__all__ = ["anchor_coefficients", "auc_coefficients", "logistic_coefficients"]

# A reference need not be exact: so many stored numbers are fitted in a second or two of one core
# (make bench ARGS=scale).
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
# So many names of features are shown in an error.
_SHOWN = 5
_KINDS = "None, 'logistic', 'logistic_cv', 'auc', an array or a fitted linear model"


def anchor_coefficients(
    anchor: Any, problem: Problem, classes: AnyArray, names: AnyArray | None, settings: Settings
) -> FloatArray:
    """Turn the parameter ``anchor`` of an estimator into the coefficients to shrink towards.

    Parameters
    ----------
    anchor : object
        As in `rocband.PartialAUCSVC`.
    problem : Problem
    classes : array of shape (2,)
        The negative and the positive class.
    names : array of shape (n_features,), optional
        What the features are called.
    settings : Settings
        For an anchor that is fitted here.
    """
    if anchor is None:
        return np.zeros(problem.n_features)
    if isinstance(anchor, str):
        if anchor in ("logistic", "logistic_cv"):
            return logistic_coefficients(problem, settings.random, chosen=anchor == "logistic_cv")
        if anchor == "auc":
            return auc_coefficients(problem, settings)
        raise ParameterError("anchor", f"must be {_KINDS}, got {anchor!r}.")
    return _given(anchor, problem.n_features, classes, names)


def logistic_coefficients(problem: Problem, random: np.random.Generator, *, chosen: bool = False) -> FloatArray:
    """Coefficients of a logistic regression, fitted on a random part of the rows, with weights, when they are many.

    ``chosen`` means with its regularisation chosen by the log-loss in folds, where each class has the rows for them.
    """
    features = problem.features
    if features is None:
        raise ParameterError("anchor", "cannot be a logistic regression where the features cannot be written down.")
    numbers, positive, weight = _some_rows(problem, features, random)
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


def _some_rows(
    problem: Problem, features: Features, random: np.random.Generator
) -> tuple[IndexArray, BoolArray, FloatArray | None]:
    """Choose rows within the limit, the rarer class first; where not all are taken, say how many each stands for."""
    m = problem.n_positives
    n = problem.n_negatives
    wanted = _ROWS_PER_FEATURE * problem.n_features
    # What is not stored, in sparse rows, costs nothing.
    size = max(features.row_size, 1.0)
    limit = max(int(_NUMBERS / size), min(wanted, int(_MOST_NUMBERS / size)), _FEWEST_ROWS)
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


def _given(anchor: Any, n_features: int, classes: AnyArray, names: AnyArray | None) -> FloatArray:
    """Return the coefficients of an array or a fitted model, in the order of the features and with their sign."""
    try:
        coefficients = np.asarray(_dense(getattr(anchor, "coef_", anchor)), dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("anchor", f"must be {_KINDS}, got {anchor!r}.") from None
    if coefficients.shape not in ((n_features,), (1, n_features)):
        raise ValueError(f"The anchor has coefficients of shape {coefficients.shape}, but X has {n_features} features.")
    if not np.isfinite(coefficients).all():
        raise ValueError("The anchor has coefficients that are not finite.")
    sign = _sign(anchor, classes)
    return sign * coefficients.reshape(n_features)[_order(anchor, names)]


def _dense(coefficients: Any) -> Any:
    """Return coefficients as an array; ``sparsify`` makes a sparse matrix of a model's."""
    return coefficients.toarray() if issparse(coefficients) else coefficients  # type: ignore[attr-defined]


def _sign(anchor: Any, classes: AnyArray) -> float:
    """Return 1 where the anchor's scores are high for the positive class, -1 where for the negative one."""
    own: list[object] = np.asarray(getattr(anchor, "classes_", classes)).tolist()
    if own == classes.tolist():
        return 1.0
    if own[::-1] == classes.tolist():
        return -1.0
    raise ValueError(f"The anchor was fitted to the classes {own!r}, but y holds {classes.tolist()!r}.")


def _order(anchor: Any, names: AnyArray | None) -> IndexArray | slice:
    """Return where each feature stands among those of the anchor, by their names where it has some."""
    own = getattr(anchor, "feature_names_in_", None)
    if own is None:
        return slice(None)
    if names is None:
        raise ValueError(
            "The anchor was fitted to features with names, but X has none: pass X with the same names, or the anchor's "
            "coef_ where the order is the same."
        )
    where = {name: place for place, name in enumerate(own.tolist())}
    missing = [name for name in names.tolist() if name not in where]
    if missing:
        raise ValueError(
            f"The anchor was not fitted to the feature {missing[0]!r} of X, but to {own.tolist()[:_SHOWN]!r}: pass X "
            "with the same names, or the anchor's coef_ where the order is the same."
        )
    return np.array([where[name] for name in names.tolist()], dtype=np.intp)
