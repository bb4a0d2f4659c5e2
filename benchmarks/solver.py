"""The certified solver: passes to a gap of C * 1e-4, and its time against its own passes and against one X @ w."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import numpy as np

from benchmarks.sets import standardized
from benchmarks.timing import interleaved
from rocband._types import FloatArray, IndexArray
from rocband.problems.rows import RowsProblem
from rocband.risks import Band, risk_for
from rocband.rows import Matrix, as_rows
from rocband.solvers.certified import minimize
from rocband.solvers.objective import Objective
from rocband.solvers.result import Settings

BANDS = ((0.0, 0.05), (0.02, 0.05), (0.0, 0.1))
CASES = {
    "ijcnn1": (*BANDS, (0.0, 1.0), (0.02, 0.2), (0.0, 0.01)),
    "covtype 5": BANDS,
    "protein": BANDS,
    "letter Q": BANDS,
    "a9a": (*BANDS, (0.0, 1.0)),
    "hiva": ((0.0, 1.0), (0.0, 0.1), (0.0, 0.01)),
}
Cs = (1.0, 100.0, 1e4)
LIMIT = 400


@lru_cache(maxsize=1)
def data(name: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the rows, the labels and the seconds of one product of the rows."""
    X, y = standardized(name)
    w = np.random.default_rng(0).normal(size=X.shape[1])
    return X, y, float(np.median(interleaved({"X @ w": lambda: X @ w}, repeats=15)["X @ w"]))


class ClockedRows:
    """Rows that count the seconds spent on the data."""

    def __init__(self, X: np.ndarray) -> None:
        self.inner = as_rows(X)
        self.shape = self.inner.shape
        self.seconds = 0.0

    def scores(self, w: FloatArray) -> FloatArray:
        with self._clock():
            return self.inner.scores(w)

    def accumulate(self, weights: FloatArray, index: IndexArray) -> FloatArray:
        with self._clock():
            return self.inner.accumulate(weights, index)

    def norms(self) -> FloatArray:
        with self._clock():
            return self.inner.norms()

    def take(self, index: IndexArray) -> Matrix:
        return self.inner.take(index)

    @contextmanager
    def _clock(self) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds += time.perf_counter() - began


def solve(
    X: np.ndarray, y: np.ndarray, band: tuple[float, float], C: float, limit: int = LIMIT
) -> dict[str, float | str]:
    rows = ClockedRows(X)
    began = time.perf_counter()
    problem = RowsProblem(rows, y)
    risk = risk_for("tight", Band.from_range(band, problem.n_negatives))
    objective = Objective(problem, risk, C, origin=np.zeros(X.shape[1]))
    result = minimize(objective, Settings(max_passes=limit))
    seconds = time.perf_counter() - began
    return {
        "passes": problem.passes,
        "gap_over_C": (result.objective - result.lower_bound) / C,
        "bound_over_C": result.lower_bound / C,
        "status": result.status.value,
        "seconds": seconds,
        "seconds_over_passes": seconds / rows.seconds,
    }


def measure(name: str, band: tuple[float, float], C: float) -> dict[str, float | str]:
    """Solve one case after a short warm-up."""
    X, y, product = data(name)
    solve(X, y, band, C, limit=3)
    case = solve(X, y, band, C)
    return case | {"seconds_over_product": case["seconds"] / product}


def run() -> dict[str, object]:
    figures: dict[str, object] = {}
    for name, bands in CASES.items():
        for band in bands:
            for C in Cs:
                case = figures[f"{name} {list(band)} C={C:g}"] = measure(name, band, C)
                print(
                    f"  {name} {list(band)} C={C:g}: {case['passes']} passes, gap {case['gap_over_C']:.1e} C, "
                    f"{case['seconds']:.2f} s = {case['seconds_over_passes']:.1f} x its passes = "
                    f"{case['seconds_over_product']:.0f} x one X @ w",
                    flush=True,
                )
    return figures
