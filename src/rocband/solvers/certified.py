"""Minimise 1/2 |w - origin|^2 + C * risk(w) for a convex risk, with a certificate.

Each step evaluates the risk exactly and a smoothed choice of dual weights, which is at once

- a plane below the risk, kept for the bound: the best of all of them is found by a small quadratic program;
- a gradient, for a Newton step whose curvature comes from the rows on the edge, or from a sample of them.

Scores are linear in w, so that a step of any length costs one pass over the data. The smoothing is sharpened when it,
and no longer the distance to the minimum, is what holds the bound down. Where Newton steps gain nothing any more, a
step goes towards the minimiser of the planes instead.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from rocband.risks.band import FloatArray
from rocband.risks.smoothed import SmoothedLinearization, SmoothedRisk, Smoothing
from rocband.solvers.planes import Certificate, Planes
from rocband.solvers.problem import Problem, Scores

__all__ = ["Result", "Settings", "Status", "Step", "minimize"]

# At w = 0 every pair misses its margin by 1: this width puts them all in the middle of the smoothed part.
_START = Smoothing(margin=2.0, rank=1.0)
# A model to start from is taken to be near: a wide smoothing would lead away from it.
_RESTART = Smoothing(margin=0.02, rank=0.01)
_TRIALS = 12
_MOST_EFFORT = 16.0
# A slope below this part of the tolerance is rounding: to follow it could lead anywhere.
_NOISE = 1e-9


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast the smoothing is sharpened, and how long to wait for progress.

    Attributes
    ----------
    sharpen : float
        The factor by which a smoothing shrinks.
    patience, share : int and float
        Steps to wait, and the share of the gap they may leave, before the planes are followed.
    """

    sharpen: float
    patience: int
    share: float


_NARROW = Pace(sharpen=0.3, patience=12, share=0.9)
# Where positives are few for the features, each can be scored almost freely: which rows are on the edge changes much
# from step to step, and only small changes of the smoothing leave Newton steps their full length.
_WIDE = Pace(sharpen=0.7, patience=20, share=0.8)


class Status(Enum):
    """How a solver ended."""

    CONVERGED = "converged"
    MAX_PASSES = "out of passes"


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a solver's history."""

    step: int
    passes: int
    objective: float
    lower_bound: float
    gap: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Settings:
    """What a solver is asked for.

    Attributes
    ----------
    tol : float
        It stops when objective - lower_bound <= C * tol.
    max_passes : int
        It stops after that many passes over the data.
    random : numpy Generator
        Draws the rows that the curvature is estimated from, where they are many.
    on_step : callable, optional
        Called with every `Step`.
    """

    tol: float = 1e-4
    max_passes: int = 500
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    on_step: Callable[[Step], None] | None = None

    def quiet(self) -> Settings:
        """Return the same without reports of the steps."""
        return replace(self, on_step=None)


@dataclass(frozen=True, slots=True)
class Result:
    """A model with its certificate.

    Attributes
    ----------
    w : array of shape (n_features,)
        The best model found.
    objective, lower_bound : float
        Its objective, and what no model's objective can be below.
    status : Status
    history : list of Step
    certificate : Certificate
        The planes and multipliers that prove the bound.
    planes : Planes
        All planes, for later solves with another C or origin.
    smoothing : Smoothing
        The smoothing it ended with.
    """

    w: FloatArray
    scores: Scores
    objective: float
    lower_bound: float
    status: Status
    history: list[Step]
    certificate: Certificate
    planes: Planes
    smoothing: Smoothing


@dataclass(frozen=True, slots=True)
class _Point:
    """A model, its scores, its exact objective and the plane of the smoothed choice there."""

    w: FloatArray
    scores: Scores
    objective: float
    plane: SmoothedLinearization


def minimize(
    problem: Problem,
    risk: SmoothedRisk,
    C: float,
    origin: FloatArray,
    settings: Settings,
    *,
    start: FloatArray | None = None,
    planes: Planes | None = None,
    warm: Result | None = None,
) -> Result:
    """Minimise 1/2 |w - origin|^2 + C * risk(w) until objective - bound <= C * tol.

    Parameters
    ----------
    problem : Problem
    risk : SmoothedRisk
    C : float
    origin : array of shape (n_features,)
    settings : Settings
    start : array of shape (n_features,), optional
        Where to start; the origin by default.
    planes : Planes, optional
        Planes of the same risk from earlier solves, whatever their C and origin; new ones are added.
    warm : Result, optional
        Of the same risk with a similar C: its planes, its scores and its smoothing are taken over, so that it costs no
        pass to start from its model.
    """
    solver = _Solver(problem, risk, C, origin, settings, planes)
    if warm is not None:
        solver.take_over(warm)
        return solver.run(warm.w, warm.scores)
    if start is None or np.array_equal(start, origin):
        return solver.run(origin, problem.scores(origin))
    solver.smoothing = _RESTART
    return solver.run(start, problem.scores(start))


class _Solver:
    """The fixed inputs, and the state that changes from step to step."""

    def __init__(
        self,
        problem: Problem,
        risk: SmoothedRisk,
        C: float,
        origin: FloatArray,
        settings: Settings,
        planes: Planes | None,
    ) -> None:
        self.problem, self.risk, self.C, self.origin, self.settings = problem, risk, C, origin, settings
        self.planes = Planes(problem.n_features, inner=problem.inner) if planes is None else planes
        self.pace = _WIDE if problem.wide else _NARROW
        self.smoothing = _START
        self.gain = np.inf  # what the last Newton step promised
        self.effort = 1.0  # of the curvature
        self.began, self.first_pass = time.perf_counter(), problem.passes
        self.history: list[Step] = []
        self.certificate = Certificate.none(problem.n_features)

    def take_over(self, warm: Result) -> None:
        """Start with the planes of an earlier result and, unless its model collapsed, with its smoothing.

        That is widened as much as C has changed, at most about threefold.
        """
        self.planes = warm.planes
        if np.array_equal(warm.w, self.origin):
            return
        ratio = self.C / float(warm.certificate.multipliers.sum())
        wider = min(max(ratio, 1.0 / ratio), 1.0 / _NARROW.sharpen)
        self.smoothing = Smoothing(
            min(wider * warm.smoothing.margin, _START.margin), min(wider * warm.smoothing.rank, _START.rank)
        )

    def run(self, w: FloatArray, scores: Scores) -> Result:
        """Take steps until the gap is closed or the passes are spent."""
        self.best = here = self._point(w, scores)
        self.origin_scores = scores if w is self.origin else self.problem.scores(self.origin)
        if w is not self.origin:
            here = self._rescaled(here)
        while True:
            # 1. A plane here; 2. the bound; 3. is it enough?
            gradient = self._add_plane(here)
            if self._record():
                break
            # 4. Sharpen the smoothing where it dominates the gap of this point.
            if self._sharpen(here.plane, gradient):
                here = self._rescaled(replace(here, plane=self.risk.sharpened(here.plane, self.smoothing)))
                gradient = self._add_plane(here)
            # 5. A direction, one pass for its scores, and a search along it that needs none.
            here = self._follow_planes() if self._stalled() else self._newton(here, gradient)
        return self._result()

    def _point(self, w: FloatArray, scores: Scores) -> _Point:
        plane = self.risk.linearize(scores.positives, scores.negatives, self.smoothing)
        away = w - self.origin
        return _Point(w, scores, float(self.problem.inner(away, away)) / 2 + self.C * plane.value, plane)

    def _add_plane(self, here: _Point) -> FloatArray:
        """Add the plane, solve the master problem; return the gradient of the smoothed objective."""
        slope = self.problem.gradient(here.plane)
        self.planes.add(slope, here.plane.offset)
        master = self.planes.solve(self.C, self.origin)
        self.minimizer = master.minimizer
        if master.bound > self.certificate.bound:
            self.certificate = self.planes.certificate(master)
        return here.w - self.origin + self.C * slope

    @property
    def _gap(self) -> float:
        return self.best.objective - self.certificate.bound

    def _record(self) -> bool:
        passes = self.problem.passes - self.first_pass
        seconds = time.perf_counter() - self.began
        step = Step(len(self.history), passes, self.best.objective, self.certificate.bound, self._gap, seconds)
        self.history.append(step)
        if self.settings.on_step is not None:
            self.settings.on_step(step)
        return self._converged or passes >= self.settings.max_passes

    @property
    def _converged(self) -> bool:
        return self._gap <= self.C * self.settings.tol

    def _sharpen(self, plane: SmoothedLinearization, gradient: FloatArray) -> bool:
        """Sharpen what costs more than its share of the tolerance, and than a third of what a step still promises.

        That is the gain of the last Newton step; or, where features are many, the part that the gradient has in the gap
        of the plane. The more steps are taken with the same smoothing, the more the curvature is worth.
        """
        promise = float(self.problem.inner(gradient, gradient)) if self.pace is _WIDE else self.gain
        limit, before = 0.3 * max(self.settings.tol, promise / self.C), self.smoothing
        self.smoothing = Smoothing(
            before.margin * (self.pace.sharpen if plane.margin_error > limit else 1.0),
            before.rank * (self.pace.sharpen if plane.rank_error > limit else 1.0),
        )
        sharper = self.smoothing != before
        self.effort = 1.0 if sharper else min(2.0 * self.effort, _MOST_EFFORT)
        return sharper

    def _newton(self, here: _Point, gradient: FloatArray) -> _Point:
        """Take a Newton step on the smoothed objective."""
        direction = self.problem.newton_direction(
            here.plane.graphs(), self.C, gradient, self.settings.random, self.effort
        )
        self.gain = -float(self.problem.inner(direction, gradient)) / 2
        return self._search(here, direction, self.problem.scores(direction))

    def _stalled(self) -> bool:
        """Whether the last steps closed too little of the gap; then every other step follows the planes."""
        if len(self.history) <= self.pace.patience or len(self.history) % 2:
            return False
        return self._gap > self.pace.share * self.history[-1 - self.pace.patience].gap

    def _follow_planes(self) -> _Point:
        """Search by the exact objective from the best model to the minimiser of the planes, adding sharp planes.

        A plane that touches the risk at the minimiser raises the bound whatever the smoothing is: it cannot stall.
        """
        start, direction = self.best, self.minimizer - self.best.w
        along = self.problem.scores(direction)
        low, high, step = 0.0, 1.0, 1.0
        for _ in range(_TRIALS):
            there = self._point(start.w + step * direction, start.scores.along(along, step))
            if there.objective < self.best.objective:
                self.best = there
            sharp = self.risk.sharp(there.scores.positives, there.scores.negatives)
            if step == 1.0:
                self.planes.add(self.problem.gradient(sharp), sharp.offset)
            slope = float(self.problem.inner(there.w - self.origin, direction)) + self.C * along.slope(sharp)
            low, high = (step, high) if slope < 0 else (low, step)
            if low == high:
                break
            step = (low + high) / 2
        sharp = self.risk.sharp(self.best.scores.positives, self.best.scores.negatives)
        self.planes.add(self.problem.gradient(sharp), sharp.offset)
        return self._point(self.best.w, self.best.scores)

    def _rescaled(self, here: _Point) -> _Point:
        """Search nearer to the origin, or further out where that is downhill; it takes no data pass.

        Where the model collapses, the minimiser shrinks in proportion to the smoothing of the ranks; along a path it
        grows with C.
        """
        outward, along = here.w - self.origin, here.scores.along(self.origin_scores, -1.0)
        if self._slope(here, outward, along) < 0:
            return self._search(here, outward, along, 0.5)
        return self._search(here, -outward, Scores(-along.positives, -along.negatives), 1.0 - self.pace.sharpen)

    def _search(self, here: _Point, direction: FloatArray, along: Scores, step: float = 1.0) -> _Point:
        """Find a step that at least halves the slope of the smoothed objective along the direction, and lowers it."""
        first = slope_low = self._slope(here, direction, along)
        if abs(first) <= _NOISE * self.C * self.settings.tol:
            return here
        low, high, slope_high = 0.0, np.inf, np.nan
        for _ in range(_TRIALS):
            there = self._point(here.w + step * direction, here.scores.along(along, step))
            if there.objective < self.best.objective:
                self.best = there
            slope = self._slope(there, direction, along)
            if abs(slope) <= 0.5 * abs(first) and (slope < 0 or self._lower(there, here)):
                break
            if slope < 0:
                low, slope_low = step, slope
            else:
                high, slope_high = step, slope
            if np.isinf(high):
                step *= 4.0
            else:
                share = slope_low / (slope_low - slope_high) if slope_low < slope_high else 0.5
                step = low + (high - low) * min(max(share, 0.1), 0.9)
        return there

    def _lower(self, there: _Point, here: _Point) -> bool:
        """Whether the smoothed objective, which lies below the exact one by at most the errors, may have fallen."""
        return there.objective - here.objective <= self.C * (there.plane.margin_error + there.plane.rank_error)

    def _slope(self, point: _Point, direction: FloatArray, along: Scores) -> float:
        return float(self.problem.inner(point.w - self.origin, direction)) + self.C * along.slope(point.plane)

    def _result(self) -> Result:
        return Result(
            w=self.best.w,
            scores=self.best.scores,
            objective=self.best.objective,
            lower_bound=self.certificate.bound,
            status=Status.CONVERGED if self._converged else Status.MAX_PASSES,
            history=self.history,
            planes=self.planes,
            smoothing=self.smoothing,
            certificate=self.certificate,
        )
