"""One problem at one C, or along a grid of C: the surrogate decides which solver serves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rocband.risks.band import FloatArray
from rocband.risks.smoothed import SmoothedRisk
from rocband.solvers import certified
from rocband.solvers.certified import Settings, Status, Step
from rocband.solvers.dc import minimize_hinge, minimize_ramp, ramp_objective
from rocband.solvers.problem import Problem, Scores

__all__ = ["Fit", "is_convex", "solve", "solve_path"]

# Before the ramp is descended on its band, it is descended roughly on one this much wider, from which it is less
# likely to end in a poor local minimum; where rows are many, a random part of them serves: at least so many of the
# positives and of the negatives in the band, and more when features are many.
_WIDER = 2.0
_ROUGH = 1e-3
_SAMPLE, _SAMPLE_PER_FEATURE, _SAMPLE_NUMBERS = 1000, 20, 20_000_000
# The smoothing that the descent on the band itself starts with, after the rough one.
_NARROW = 0.15


@dataclass(frozen=True, slots=True)
class Fit:
    """A model for one C; ``certified`` holds its certificate where the surrogate is convex."""

    C: float
    w: FloatArray
    scores: Scores
    objective: float
    status: Status
    history: list[Step]
    certified: certified.Result | None

    @property
    def lower_bound(self) -> float:
        """What no model's objective can be below; nan where nothing is proved."""
        return np.nan if self.certified is None else self.certified.lower_bound


def is_convex(surrogate: str, problem: Problem) -> bool:
    """Whether a surrogate is convex for the problem's band."""
    return surrogate in ("tight", "naive") or (surrogate == "hinge" and problem.band.start == 0)


def solve(
    problem: Problem,
    surrogate: str,
    C: float,
    origin: FloatArray,
    settings: Settings,
    start: FloatArray,
    previous: Fit | None = None,
    wider: Problem | None = None,
) -> Fit:
    """Minimise 1/2 |w - origin|^2 + C * surrogate(w), from ``start`` or from the fit for another C.

    ``wider`` is what `wider_band` made of the problem for another C; it is made anew by default.
    """
    warm = None if previous is None else previous.certified
    start = start if previous is None else previous.w
    if is_convex(surrogate, problem):
        risk = SmoothedRisk(problem.band, tail=surrogate == "naive")
        result = certified.minimize(problem, risk, C, origin, settings, start=start, warm=warm)
        return Fit(C, result.w, result.scores, result.objective, result.status, result.history, result)
    if surrogate == "hinge":
        local = minimize_hinge(problem, C, origin, settings, start)
    else:
        wider = wider_band(problem, settings.random) if wider is None else wider
        rough = _rough(problem, wider, C, origin, settings, start)
        local = minimize_ramp(problem, C, origin, settings, rough, _NARROW)
        scores = problem.scores(start) if previous is None else previous.scores
        if local.objective > ramp_objective(start, scores, problem, C, origin):
            local = minimize_ramp(problem, C, origin, settings, start)
    return Fit(C, local.w, local.scores, local.objective, local.status, local.history, None)


def wider_band(problem: Problem, random: np.random.Generator) -> Problem:
    """Return the problem, or a random part of it where that is enough, with a wider band."""
    n, band = problem.band.n_negatives, problem.band
    high = min(_WIDER * band.stop / n, 1.0)
    wider = problem.with_range((band.start / n, high))
    size = max(_SAMPLE, _SAMPLE_PER_FEATURE * problem.n_features)
    rows = size + int(size / high)
    if rows > problem.n_rows / 2 or rows * problem.n_features > _SAMPLE_NUMBERS:
        return wider
    return wider.sampled(size, int(size / high), random)


def _rough(
    problem: Problem, wider: Problem, C: float, origin: FloatArray, settings: Settings, start: FloatArray
) -> FloatArray:
    """Descend roughly on the wider band."""
    rough = replace(settings.quiet(), tol=max(_ROUGH, settings.tol), max_passes=max(settings.max_passes // 4, 1))
    before = wider.passes
    w = minimize_ramp(wider, C, origin, rough, start).w
    problem.count_part(wider, wider.passes - before)
    return w


def solve_path(
    problem: Problem,
    surrogate: str,
    Cs: Sequence[float],
    origin: FloatArray,
    settings: Settings,
    start: FloatArray,
) -> list[Fit]:
    """Solve for every C of a grid, ascending; each starts where the last one ended.

    Planes of a convex risk lie below it whatever C is, so that all of them are kept along the path and each C has its
    own certificate at little cost.
    """
    fits: list[Fit] = []
    wider = wider_band(problem, settings.random) if surrogate == "ramp" else None
    for C in Cs:
        fits.append(solve(problem, surrogate, C, origin, settings, start, fits[-1] if fits else None, wider))
    return fits
