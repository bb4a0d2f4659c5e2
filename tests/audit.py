"""Random small convex problems, and what a fitted model says of itself held to numbers worked out apart from it.

The claims: ``objective_`` is the objective of ``coef_``; ``lower_bound_`` is no higher than any model's objective;
``converged_`` says whether the two are within C * tol; a collapse is claimed only where the constant scorer is best;
and no more negatives pass ``threshold_`` than promised.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import reference
from rocband import CollapsedSolutionWarning, PartialAUCSVC
from rocband.risks.band import Band
from trusted import Sample, minimum

SURROGATES = ("tight", "hinge")
OFFSETS = (0.0, 1.0, 1e3, 1e6)
SCALES = (1e-3, 1.0, 1e3)
# The objective is computed with the rounding of double precision, which grows with the offset of the features.
EXACT = 1e-9
# So near to the minimum, in parts of C, the trusted optimiser goes.
TRUSTED = 1e-6


@dataclass(frozen=True)
class Case:
    """A problem: features of ``scale`` about ``offset``, and what is asked of the model."""

    X: np.ndarray
    y: np.ndarray
    offset: float
    scale: float
    origin: np.ndarray | None
    options: dict

    @property
    def band(self) -> Band:
        return Band.from_range(self.options["fpr_range"], int(np.count_nonzero(~self.y)))

    @property
    def unit(self) -> Sample:
        """The problem with features of scale 1 about one of the rows, which moves no difference of scores."""
        X = (self.X.astype(np.float64) - self.X[0].astype(np.float64)) / self.scale
        return Sample(X[self.y], X[~self.y], self.band)

    def minimum(self, C: float) -> float:
        """The smallest objective, up to ``TRUSTED``; a model w of these features is scale * w of those of scale 1."""
        d = self.X.shape[1]
        origin = np.zeros(d) if self.origin is None else self.scale * self.origin
        return minimum(self.unit, self.scale**2 * C, origin, gap=TRUSTED) / self.scale**2


def case(seed: int) -> Case:
    """Draw a problem of 2 to 12 positives and 4 to 30 negatives with 1 to 5 features."""
    random = np.random.default_rng(seed)
    m, n, d = (int(random.integers(low, high)) for low, high in ((2, 13), (4, 31), (1, 6)))
    y = np.arange(m + n) < m
    Z = random.normal(size=(m + n, d))
    kind = random.choice(["apart", "mixed", "amid", "ties", "constant", "copies"])
    if kind == "apart":
        Z[y] += 4.0
    elif kind == "amid":  # no direction of the positives' mean: the constant scorer is best in narrow bands
        Z[y] *= 0.1
        Z[~y] -= Z[~y].mean(axis=0)
        Z[y] -= Z[y].mean(axis=0)
    elif kind == "ties":
        Z = np.round(Z)
    elif kind == "constant":
        Z[:, 0] = 1.0
    elif kind == "copies":
        Z = Z[random.integers(m + n, size=m + n)]
    surrogate = str(random.choice(SURROGATES))
    low = 0.0 if surrogate == "hinge" else float(random.choice([0.0, 0.1, 0.3]))
    high = low + float(random.choice([0.1, 0.3, 0.7]))
    scale = float(random.choice(SCALES))
    offset = float(random.choice(OFFSETS))
    dtype = random.choice([np.float32, np.float64])
    origin = random.normal(size=d) / scale if random.random() < 0.2 else None
    options = {
        "fpr_range": (low, high),
        "surrogate": surrogate,
        "C": float(10.0 ** random.uniform(-4, 4)) / scale**2,
        "tol": float(random.choice([1e-2, 1e-4, 1e-6])),
        "max_iter": int(random.choice([1, 3, 300, 300, 300])),
        "anchor": origin,
    }
    return Case((scale * (Z + offset)).astype(dtype), y, offset, scale, origin, options)


def fitted(case: Case) -> tuple[PartialAUCSVC, list[str]]:
    """Fit the model; return it and the collapses that it claims."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = PartialAUCSVC(**case.options).fit(case.X, case.y)
    return model, [str(each.message) for each in caught if each.category is CollapsedSolutionWarning]


def scores_of(case: Case, model: PartialAUCSVC) -> np.ndarray:
    """Scores of the rows with more digits than the model can have."""
    return case.X.astype(np.longdouble) @ model.coef_[0].astype(np.longdouble)


def objective_of(case: Case, model: PartialAUCSVC) -> float:
    """The objective of ``coef_``, from all pairs."""
    w = model.coef_[0].astype(np.float64)
    scores = scores_of(case, model)
    scores = (scores - scores[0]).astype(np.float64)  # the risk sees differences
    risk = reference.tight(scores[case.y], scores[~case.y], case.band)
    away = w - (0.0 if case.origin is None else case.origin)
    return float(away @ away / 2 + model.C * risk)


def false_claims(case: Case) -> Iterator[str]:
    """Fit the model of a case, and name every claim of it that does not hold."""
    model, collapses = fitted(case)
    C = model.C
    objective = objective_of(case, model)
    # One part in 1e16 of the scores, which the margin of 1 does not grow with.
    rounding = C * 1e-14 * float(np.abs(scores_of(case, model)).max())
    slack = EXACT * max(objective, C) + rounding
    if abs(model.objective_ - objective) > slack:
        yield f"objective_ {model.objective_} is {objective}"
    gap = objective - model.lower_bound_
    if model.converged_ != (gap <= C * model.tol) and abs(gap - C * model.tol) > slack:
        yield f"converged_ {model.converged_} with a gap of {gap / C} C at tol {model.tol}"
    smallest = case.minimum(C)
    if model.lower_bound_ > smallest + EXACT * abs(smallest):
        yield f"lower_bound_ {model.lower_bound_} is above the minimum {smallest}"
    if model.converged_ and objective > smallest + C * model.tol + slack:
        yield f"converged_ at {objective}, the minimum is {smallest}"
    tol = min(model.tol, 1e-3)
    if collapses and not (model.converged_ and smallest >= C * (1 - tol) - C * TRUSTED):
        yield f"collapse claimed where the minimum is {smallest / C} C: {collapses[0]}"
    passing = int(np.count_nonzero(scores_of(case, model)[~case.y] > model.threshold_))
    allowed = model.fpr_range[1] * np.count_nonzero(~case.y)
    predicted = int(np.count_nonzero(model.predict(case.X)[~case.y]))
    if max(passing, predicted) > allowed * (1 + 1e-12):
        yield f"{passing} and {predicted} negatives pass, {allowed} may"
