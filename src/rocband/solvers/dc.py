"""Local minimisers for the surrogates that are differences of convex functions: `hinge` and `ramp`."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from rocband.risks.band import Band, FloatArray
from rocband.risks.smoothed import SmoothedRisk, Smoothing
from rocband.risks.smoothed_ramp import SmoothedRamp
from rocband.risks.surrogates import hinge, ramp_value, top_hinge
from rocband.solvers import certified
from rocband.solvers.certified import Settings, Status, Step
from rocband.solvers.planes import Planes
from rocband.solvers.problem import Problem, Scores

__all__ = ["LocalResult", "minimize_hinge", "minimize_ramp", "ramp_objective"]

_SHARPEN = 0.3
# The ramp's smoothing ends at this many times the tolerance.
_SHARPEST = 50.0
_STEPS = (2.0, 1.0, 0.4, 0.15, 0.05, 0.015, 0.004, 0.001)


@dataclass(frozen=True, slots=True)
class LocalResult:
    """A model that no small step improves; there is no lower bound."""

    w: FloatArray
    scores: Scores
    objective: float
    status: Status
    history: list[Step]


class _Descent:
    """History of a monotone descent."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.problem, self.settings = problem, settings
        self.began, self.first_pass = time.perf_counter(), problem.passes
        self.history: list[Step] = []

    @property
    def passes(self) -> int:
        return self.problem.passes - self.first_pass

    @property
    def spent(self) -> bool:
        return self.passes >= self.settings.max_passes

    def record(self, objective: float) -> None:
        seconds = time.perf_counter() - self.began
        step = Step(len(self.history), self.passes, objective, np.nan, np.nan, seconds)
        self.history.append(step)
        if self.settings.on_step is not None:
            self.settings.on_step(step)

    def result(self, w: FloatArray, scores: Scores, objective: float) -> LocalResult:
        return LocalResult(w, scores, objective, Status.MAX_PASSES if self.spent else Status.CONVERGED, self.history)


def minimize_hinge(
    problem: Problem, C: float, origin: FloatArray, settings: Settings, start: FloatArray
) -> LocalResult:
    """Descend 1/2 |w - origin|^2 + C * hinge(w) for a band that starts above rank 0, by the concave-convex procedure.

    hinge = (T_b(1) - T_a(1)) / N. Each round replaces T_a by its tangent, which only moves the origin, and minimises
    the rest, the convex risk of the band [0, beta], with planes that serve all rounds. The objective never rises; it
    stops when a round, itself solved to C * tol, gains at most C * tol.
    """
    band = problem.band
    convex = SmoothedRisk(Band(0, band.stop, band.n_negatives))
    planes, descent = Planes(problem.n_features, inner=problem.inner), _Descent(problem, settings)
    share = band.stop / band.width
    w, scores = start, problem.scores(start)
    objective = _objective(problem, w, origin, C * hinge(scores.positives, scores.negatives, band).value)
    descent.record(objective)
    gain = 0.1 * C
    while not descent.spent:
        above = top_hinge(scores.positives, scores.negatives, band.start, 1.0)
        pull = problem.gradient(above.scaled(1 / (len(problem.positives) * band.width)))
        tol = max(settings.tol, 0.1 * gain / C) / share
        inner = replace(settings.quiet(), tol=tol, max_passes=max(settings.max_passes - descent.passes, 1))
        round_ = certified.minimize(problem, convex, C * share, origin + C * pull, inner, start=w, planes=planes)
        value = hinge(round_.scores.positives, round_.scores.negatives, band).value
        reached = _objective(problem, round_.w, origin, C * value)
        gain = objective - reached
        if gain > 0:
            w, scores, objective = round_.w, round_.scores, reached
        descent.record(objective)
        if gain <= C * settings.tol and share * tol <= settings.tol * (1 + 1e-9):
            break
    return descent.result(w, scores, objective)


def minimize_ramp(
    problem: Problem, C: float, origin: FloatArray, settings: Settings, start: FloatArray, width: float = 0.5
) -> LocalResult:
    """Descend 1/2 |w - origin|^2 + C * ramp(w) by Newton steps on a convex majorant of the smoothed ramp.

    A direction costs one pass over the data; the best of a few step lengths is taken by the exact objective, which
    never rises. When no length gains enough, the smoothing, at first of the given ``width``, is sharpened; it stops
    when the sharpest gains at most C * tol.
    """
    risk, descent = SmoothedRamp(problem.band), _Descent(problem, settings)
    smoothing = Smoothing(width, width / 2)
    here = _ramp_point(start, problem.scores(start), problem, C, origin)
    descent.record(here.objective)
    while not descent.spent:
        slope = risk.linearize(here.scores.positives, here.scores.negatives, smoothing)
        gradient = here.w - origin + C * problem.gradient(slope)
        direction = problem.newton_direction(slope.graphs(), C, gradient, settings.random)
        there = _best_step(here, direction, problem, C, origin)
        gain = here.objective - there.objective
        here = there
        descent.record(here.objective)
        if gain <= C * max(settings.tol, 0.001 * smoothing.margin):
            if smoothing.margin <= _SHARPEST * settings.tol:
                break
            smoothing = Smoothing(smoothing.margin * _SHARPEN, smoothing.rank * _SHARPEN)
    return descent.result(here.w, here.scores, here.objective)


@dataclass(frozen=True, slots=True)
class _Point:
    w: FloatArray
    scores: Scores
    objective: float


def ramp_objective(w: FloatArray, scores: Scores, problem: Problem, C: float, origin: FloatArray) -> float:
    """Return 1/2 |w - origin|^2 + C * ramp(w), given the scores of w."""
    return _objective(problem, w, origin, C * ramp_value(scores.positives, scores.negatives, problem.band))


def _ramp_point(w: FloatArray, scores: Scores, problem: Problem, C: float, origin: FloatArray) -> _Point:
    return _Point(w, scores, ramp_objective(w, scores, problem, C, origin))


def _best_step(here: _Point, direction: FloatArray, problem: Problem, C: float, origin: FloatArray) -> _Point:
    """Try step lengths, the longest first, and return the best point; ``here`` itself when none is better."""
    along, best = problem.scores(direction), here
    for step in _STEPS:
        there = _ramp_point(here.w + step * direction, here.scores.along(along, step), problem, C, origin)
        if there.objective < best.objective:
            best = there
        elif best is not here:
            break
    return best


def _objective(problem: Problem, w: FloatArray, origin: FloatArray, penalty: float) -> float:
    away = w - origin
    with np.errstate(over="ignore"):  # of a step far too long, which is not taken
        return float(problem.inner(away, away)) / 2 + penalty
