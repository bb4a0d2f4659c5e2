"""The methods that are compared: how each chooses its parameters on held-out rows and is then fitted."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupShuffleSplit, StratifiedShuffleSplit

from benchmarks.sets import dense
from rocband import PartialAUCSVC
from rocband.baselines import AsymmetricSVC, GreedyPartialAUC, PartialAUCBoost

Range = tuple[float, float]
Surrogate = Literal["tight", "hinge", "ramp"]
FloatArray = npt.NDArray[np.float64]
Metric = Callable[[npt.ArrayLike, npt.ArrayLike], float]

# The paper's epsilon.
TOL = 1e-4
# The paper's tau, at which it ends difference-of-convex programming.
DC_TOL = 1e-3
# Share of the training part to choose parameters on, and the grids of C (docs/results).
HELD_OUT = 0.25
SVM_CS = np.logspace(-5, 4, 10)
DC_CS = np.logspace(-2, 4, 7)
# Every other value of the paper's grids of ASVM, and a coarse solution, to keep it feasible (docs/results).
MUS = 0.001 * 4.0 ** np.arange(4)
TAUS = 1e-4 * 4.0 ** np.arange(4)
ASVM: dict[str, Any] = {"tol": 1e-2, "max_iter": 60}
# Rows that ASVM is tuned on, for the same reason.
FEW = 5_000
# Widths of pAUCBoost to choose from; not tuned further.
SIGMAS = (0.02, 0.1, 0.5)
# The paper boosts for 100 rounds on small sets and for 25 on large ones; where we draw the line.
SMALL = 20_000


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
    surrogate: Surrogate, Cs: Sequence[float], *, anchored: bool = False, whole: bool = False, tol: float = TOL
) -> Method:
    """Make a support vector method with C chosen along a path; ``whole`` means the full AUC whatever the band."""

    def fit(task: Task) -> Fitted:
        began = time.perf_counter()
        model = PartialAUCSVC(
            (0.0, 1.0) if whole else task.band,
            surrogate=surrogate,
            anchor="logistic" if anchored else None,
            tol=tol,
            random_state=task.seed,
        )
        C = best_of_path(model, task, Cs)
        tuned = time.perf_counter()
        model.set_params(C=C).fit(task.X, task.y)
        return timed(model.decision_function, {"C": C}, began, tuned)

    return fit


def best_of_path(model: PartialAUCSVC, task: Task, Cs: Sequence[float]) -> float:
    """Fit for every C, ascending, and return the one whose model is best on the held-out rows."""
    inner, held_out = task.inner_split()
    # Where the risk may have several minima, each C starts from a logistic regression and not from a collapsed model.
    one_minimum = model.surrogate == "tight"
    path = clone(model).set_params(warm_start=one_minimum)
    values = []
    for C in Cs:
        path.set_params(C=C).fit(task.X[inner], task.y[inner])
        values.append(task.metric(task.y[held_out], path.decision_function(task.X[held_out])))
    return float(Cs[int(np.argmax(values))])


def default(task: Task) -> Fitted:
    """Fit the library's default, with nothing tuned."""
    began = time.perf_counter()
    model = PartialAUCSVC(task.band, random_state=task.seed).fit(task.X, task.y)
    return timed(model.decision_function, {}, began, began)


def logistic(task: Task) -> Fitted:
    """Logistic regression with scikit-learn's default C."""
    began = time.perf_counter()
    model = LogisticRegression(max_iter=1000).fit(task.X, task.y)
    return timed(model.decision_function, {}, began, began)


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
    return timed(model.decision_function, {"mu": mu, "tau": tau}, began, tuned)


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
    return timed(lambda X: model.decision_function(dense(X)), {"sigma": sigma}, began, tuned)


def greedy(task: Task) -> Fitted:
    """Greedy heuristic with 100 weights."""
    began = time.perf_counter()
    model = GreedyPartialAUC(task.band).fit(dense(task.X), task.y)
    return timed(lambda X: model.decision_function(dense(X)), {}, began, began)


def timed(score: Callable[[Any], FloatArray], chosen: dict[str, float], began: float, tuned: float) -> Fitted:
    return Fitted(score, chosen, tuned - began, time.perf_counter() - tuned)


def quietly(method: Method) -> Method:
    """Make a method that keeps its warnings of collapse and of spent passes to itself: the tables show them."""

    def fit(task: Task) -> Fitted:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return method(task)

    return fit


LOUD: dict[str, Method] = {
    "SVM_pAUC": support_vector("tight", SVM_CS.tolist()),
    "SVM_pAUC^dc": support_vector("hinge", DC_CS.tolist(), tol=DC_TOL),
    "SVM_AUC": support_vector("tight", SVM_CS.tolist(), whole=True),
    "ASVM": asymmetric,
    "pAUCBoost": boosting,
    "Greedy": greedy,
    "logistic regression": logistic,
    "rocband, default": default,
    "rocband, no anchor": support_vector("ramp", DC_CS.tolist()),
    "rocband, C chosen": support_vector("ramp", DC_CS.tolist(), anchored=True),
}
METHODS: dict[str, Method] = {name: quietly(method) for name, method in LOUD.items()}
