"""imbalanced-learn's usual recipes: change the share of the positives, then fit a logistic regression."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.linear_model import LogisticRegression

from benchmarks.competitors import Band, Recipe, Scorer
from benchmarks.competitors.scikit_learn import CS

REQUIRES = {"imbalanced-learn": "imblearn"}


def resampled(X: Any, y: Any, band: Band, C: float, sampler: type) -> Scorer:
    rows, labels = sampler(random_state=0).fit_resample(X, y)
    return LogisticRegression(C=C, max_iter=1000).fit(rows, labels).decision_function


def recipes() -> dict[str, Recipe]:
    from imblearn.over_sampling import SMOTE, RandomOverSampler
    from imblearn.under_sampling import RandomUnderSampler

    grid = tuple({"C": C} for C in CS)
    samplers = {"under-sampling": RandomUnderSampler, "over-sampling": RandomOverSampler, "SMOTE": SMOTE}
    return {
        f"{label} + LogisticRegression": Recipe(
            partial(resampled, sampler=sampler), grid, {"C": 1.0}, packages=("imbalanced-learn", "scikit-learn")
        )
        for label, sampler in samplers.items()
    }
