"""The promised confidence of ``FPRThresholdClassifier``: how often the true FPR exceeds the target, and its mean.

Scores are standard normal, or the same rounded to steps of a tenth or a half, so the true FPR of any threshold is
known. The last part trains linear models on normal features, where it is known too, and compares a hold-out, for which
the guarantee is exact, with cross-fitting, for which it is not: the fewer rows of a fold's model make the scores of LDA
with many features spread wider than those of the final model, and those of a heavily shrunk ridge narrower.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeClassifier

from rocband.threshold import FPRThresholdClassifier

DRAWS = 2000
CONFIDENCE = 0.95
SIZES = {0.01: (299, 500, 1000, 3000, 10_000), 0.05: (59, 100, 300, 1000, 10_000), 0.1: (29, 50, 100, 1000, 10_000)}
STEPS = {"no ties": 0.0, "ties, steps of 0.1": 0.1, "ties, steps of 0.5": 0.5}
# Sampling noise of the share of draws, at three standard errors.
ALLOWED = 1 - CONFIDENCE + 3 * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / DRAWS)


class FirstColumn(ClassifierMixin, BaseEstimator):
    """A model whose score is the first feature."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]


def run() -> dict[str, object]:
    known = {
        name: {
            f"target {target}": {f"n = {n}": fixed_scores(target, n, step) for n in SIZES[target]} for target in SIZES
        }
        for name, step in STEPS.items()
    }
    trained = {name: trained_model(**setting) for name, setting in TRAINED.items()}
    cells = [cell for targets in known.values() for sizes in targets.values() for cell in sizes.values()]
    return {
        "confidence": CONFIDENCE,
        "draws": DRAWS,
        "largest_share_above_target": max(cell["share_above_target"] for cell in cells),
        "allowed": ALLOWED,
        "promise_kept": all(cell["share_above_target"] <= ALLOWED for cell in cells),
        "known_scores": known,
        "trained_model": trained,
    }


def fixed_scores(target: float, n: int, step: float) -> dict[str, float]:
    rng = np.random.default_rng(n)
    scorer = FrozenEstimator(FirstColumn().fit(np.zeros((2, 1)), [0, 1]))
    model = FPRThresholdClassifier(scorer, target_fpr=target, confidence=CONFIDENCE)
    labels = np.zeros(n, dtype=np.int64)
    rates = np.empty(DRAWS)
    for draw in range(DRAWS):
        scores = rng.normal(size=(n, 1))
        model.fit(np.round(scores / step) * step if step else scores, labels)
        # A rounded score exceeds the threshold when the score itself lies half a step above it.
        rates[draw] = stats.norm.sf(model.threshold_ + step / 2)
    rank = round(model.expected_fpr_ * (n + 1))
    return {
        **summary(rates, target),
        "expected_fpr": model.expected_fpr_,
        "share_in_theory_without_ties": float(stats.binom.cdf(rank - 1, n, target)),
    }


LDA = LinearDiscriminantAnalysis(solver="lsqr")
RIDGE = RidgeClassifier(alpha=3000)
TRAINED = {
    f"{name}, {rows} rows, {features} features, {kind}": {
        "estimator": model,
        "cv": cv,
        "rows": rows,
        "features": features,
    }
    for name, model, rows, features in [("LDA", LDA, 500, 5), ("LDA", LDA, 200, 100), ("heavy ridge", RIDGE, 500, 5)]
    for kind, cv in [("hold-out", None), ("5 folds", 5)]
}


def trained_model(estimator: object, cv: int | None, rows: int, features: int, target: float = 0.1) -> dict[str, float]:
    rng = np.random.default_rng(rows + features)
    shift = 2 / math.sqrt(features)
    model = FPRThresholdClassifier(estimator, target_fpr=target, confidence=CONFIDENCE, cv=cv, random_state=0)
    rates = np.empty(DRAWS)
    hits = np.empty(DRAWS)
    for draw in range(DRAWS):
        y = rng.permutation(np.repeat([0, 1], [rows * 4 // 5, rows // 5]))
        model.fit(rng.normal(size=(rows, features)) + shift * y[:, None], y)
        weights = np.ravel(model.estimator_.coef_)
        offset = np.ravel(model.estimator_.intercept_)[0]
        # The score of a negative is normal around the intercept, of a positive around intercept + shift * sum(weights).
        cut = model.threshold_ - offset
        scale = np.linalg.norm(weights)
        rates[draw] = stats.norm.sf(cut / scale)
        hits[draw] = stats.norm.sf((cut - shift * weights.sum()) / scale)
    return {**summary(rates, target), "mean_tpr": float(hits.mean())}


def summary(rates: np.ndarray, target: float) -> dict[str, float]:
    return {"share_above_target": float(np.mean(rates > target)), "mean_fpr": float(rates.mean()), "target_fpr": target}
