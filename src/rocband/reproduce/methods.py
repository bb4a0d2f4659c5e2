"""The methods that are compared: how each chooses its parameters on held-out rows and is then fitted."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupShuffleSplit, StratifiedShuffleSplit

from rocband.anchor import logistic_coefficients
from rocband.baselines import AsymmetricSVC, GreedyPartialAUC, PartialAUCBoost
from rocband.reproduce.sets import dense
from rocband.risks.band import FloatArray
from rocband.rows import as_rows
from rocband.solvers.certified import Settings
from rocband.solvers.path import is_convex, solve, solve_path
from rocband.solvers.problem import Problem

__all__ = ["METHODS", "Fitted", "Task"]

Range = tuple[float, float]
Metric = Callable[[npt.ArrayLike, npt.ArrayLike], float]

# The paper's epsilon, and the tau at which it ends difference-of-convex programming.
TOL, DC_TOL = 1e-4, 1e-3
HELD_OUT = 0.25
SVM_CS = np.logspace(-5, 4, 10)
DC_CS = np.logspace(-2, 4, 7)
# Every other value of the paper's grids of ASVM.
MUS = 0.001 * 4.0 ** np.arange(4)
TAUS = 1e-4 * 4.0 ** np.arange(4)
ASVM: dict[str, Any] = {"tol": 1e-2, "max_iter": 60}
SIGMAS = (0.02, 0.1, 0.5)
SMALL, FEW = 20_000, 5_000


@dataclass(frozen=True)
class Task:
    """What a method is given: rows, classes, groups, the band, what decides between parameters, a seed."""

    X: Any
    y: npt.NDArray[np.bool_]
    groups: npt.NDArray[Any] | None
    band: Range
    metric: Metric
    seed: int

    def inner_split(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Rows to try parameters on, and rows to judge them by."""
        kind = StratifiedShuffleSplit if self.groups is None else GroupShuffleSplit
        splitter = kind(1, test_size=HELD_OUT, random_state=self.seed)
        inner, held_out = next(splitter.split(np.zeros(len(self.y)), self.y, self.groups))
        return inner, held_out


@dataclass(frozen=True)
class Fitted:
    """A fitted model's scores, what was chosen, and the seconds that the choice and the last fit took."""

    score: Callable[[Any], FloatArray]
    chosen: dict[str, float]
    tuning_seconds: float
    fit_seconds: float


Method = Callable[[Task], Fitted]


def support_vector(
    surrogate: str, Cs: Sequence[float], *, anchored: bool = False, whole: bool = False, tol: float = TOL
) -> Method:
    """Make a support vector method with C chosen along a path; ``whole`` means the full AUC whatever the band."""

    def fit(task: Task) -> Fitted:
        began = time.perf_counter()
        rows, band = as_rows(task.X), (0.0, 1.0) if whole else task.band
        inner, held_out = task.inner_split()
        problem = Problem(rows, task.y, band, inner)
        origin, start = _origin_and_start(problem, surrogate, anchored, task.seed)
        fits = solve_path(problem, surrogate, list(Cs), origin, _settings(task, tol), start)
        scores = [task.metric(task.y[held_out], rows.scores(fit.w)[held_out]) for fit in fits]
        best = int(np.argmax(scores))
        tuned = time.perf_counter()
        problem = Problem(rows, task.y, band)
        origin, start = _origin_and_start(problem, surrogate, anchored, task.seed)
        w = solve(problem, surrogate, Cs[best], origin, _settings(task, tol), start).w
        return _timed(lambda X: X @ w, {"C": float(Cs[best])}, began, tuned)

    return fit


def _settings(task: Task, tol: float = TOL) -> Settings:
    return Settings(tol, random=np.random.default_rng(task.seed))


def _origin_and_start(problem: Problem, surrogate: str, anchored: bool, seed: int) -> tuple[FloatArray, FloatArray]:
    origin = np.zeros(problem.n_features)
    if is_convex(surrogate, problem) and not anchored:
        return origin, origin
    start = logistic_coefficients(problem, np.random.default_rng(seed))
    return (start, start) if anchored else (origin, start)


def default(task: Task) -> Fitted:
    """Fit the library's default, with nothing tuned."""
    began = time.perf_counter()
    problem = Problem(as_rows(task.X), task.y, task.band)
    anchor = logistic_coefficients(problem, np.random.default_rng(task.seed))
    w = solve(problem, "ramp", 100.0, anchor, _settings(task), anchor).w
    return _timed(lambda X: X @ w, {}, began, began)


def logistic(task: Task) -> Fitted:
    """Logistic regression with scikit-learn's default C."""
    began = time.perf_counter()
    model = LogisticRegression(max_iter=1000).fit(task.X, task.y)
    return _timed(model.decision_function, {}, began, began)


def asymmetric(task: Task) -> Fitted:
    """Fit ASVM, with mu and tau chosen together on at most 5,000 rows."""
    began = time.perf_counter()
    inner, held_out = task.inner_split()
    inner = np.random.default_rng(task.seed).permutation(inner)[:FEW]
    share = min(float(task.y[inner].mean()), float(task.y.mean()))

    def value(pair: tuple[float, float]) -> float:
        model = AsymmetricSVC(mu=pair[0], tau=pair[1], **ASVM).fit(task.X[inner], task.y[inner])
        return task.metric(task.y[held_out], model.decision_function(task.X[held_out]))

    pairs = [(mu, tau) for mu in MUS.tolist() for tau in TAUS.tolist() if mu + tau <= share and mu <= 1 - share]
    mu, tau = max(pairs, key=value) if pairs else (0.5 * share, 0.1 * share)
    tuned = time.perf_counter()
    model = AsymmetricSVC(mu=mu, tau=tau, **ASVM).fit(task.X, task.y)
    return _timed(model.decision_function, {"mu": mu, "tau": tau}, began, tuned)


def boosting(task: Task) -> Fitted:
    """Fit pAUCBoost: 100 rounds on small sets, 25 on large ones, as in the paper; its width is chosen."""
    began = time.perf_counter()
    rounds = 100 if task.X.shape[0] <= SMALL else 25
    X = dense(task.X)
    inner, held_out = task.inner_split()

    def value(sigma: float) -> float:
        model = PartialAUCBoost(task.band, n_rounds=rounds, sigma=sigma).fit(X[inner], task.y[inner])
        return task.metric(task.y[held_out], model.decision_function(X[held_out]))

    sigma = max(SIGMAS, key=value)
    tuned = time.perf_counter()
    model = PartialAUCBoost(task.band, n_rounds=rounds, sigma=sigma).fit(X, task.y)
    return _timed(lambda X: model.decision_function(dense(X)), {"sigma": sigma}, began, tuned)


def greedy(task: Task) -> Fitted:
    """Greedy heuristic with 100 weights."""
    began = time.perf_counter()
    model = GreedyPartialAUC(task.band).fit(dense(task.X), task.y)
    return _timed(lambda X: model.decision_function(dense(X)), {}, began, began)


def _timed(score: Callable[[Any], FloatArray], chosen: dict[str, float], began: float, tuned: float) -> Fitted:
    return Fitted(score, chosen, tuned - began, time.perf_counter() - tuned)


def quietly(method: Method) -> Method:
    """Make a method that keeps its warnings of collapse and of spent passes to itself: the tables show them."""

    def fit(task: Task) -> Fitted:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return method(task)

    return fit


METHODS: dict[str, Method] = {
    name: quietly(method)
    for name, method in {
        "SVM_pAUC": support_vector("tight", SVM_CS.tolist()),
        "SVM_pAUC^dc": support_vector("hinge", DC_CS.tolist(), tol=DC_TOL),
        "SVM_AUC": support_vector("tight", SVM_CS.tolist(), whole=True),
        "ASVM": asymmetric,
        "pAUCBoost": boosting,
        "Greedy": greedy,
        "logistic regression": logistic,
        "rocband, default": default,
        "rocband, C chosen": support_vector("ramp", DC_CS.tolist(), anchored=True),
    }.items()
}
