"""Minimise 1/2 |w - origin|^2 + C * risk(w) for a convex risk, with a certificate.

Each step evaluates the risk exactly and a smoothed choice of dual weights, which is at once

- a plane below the risk, kept for the bound: the best of all of them is found by a small quadratic program;
- a gradient, for a Newton step whose curvature comes from the rows on the edge, or from a sample of them.

Scores are linear in w, so that a step of any length costs one pass over the data. The smoothing is sharpened when it,
and no longer the distance to the minimum, is what holds the bound down. Where Newton steps gain nothing any more, a
step goes towards the minimiser of the planes instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rocband._types import FloatArray
from rocband.risks import Plane, Scores, SmoothedPlane, Smoothing
from rocband.solvers import newton
from rocband.solvers.objective import Objective, Point, TangentPoint
from rocband.solvers.planes import Certificate, Planes
from rocband.solvers.result import History, Memory, Result, Settings, Status

__all__ = ["minimize"]

# At w = 0 every pair misses its margin by 1: this width puts them all in the middle of the smoothed part.
_START = Smoothing(margin=2.0, rank=1.0)
# A model to start from is taken to be near: a wide smoothing would lead away from it.
_RESTART = Smoothing(margin=0.02, rank=0.01)
# A smoothing taken over from another C is widened at most threefold: from there the first sharpening brings it back.
_WIDEST_AGAIN = 1 / 0.3
# Trial steps of a search: each costs an evaluation of the risk, but no pass; searches end after two or three.
_TRIALS = 12
# A step is too short while the slope is steeper than half of what it was at the beginning.
_SLOPE_LEFT = 0.5
# While the slope still falls, the next trial is so many times longer: twelve reach any scale that data have.
_LONGER = 4.0
# A trial between two others stays away from them by a tenth of their distance, so that each trial narrows it.
_AWAY = 0.1
# A smoothing is sharpened once it costs more than this part of what a step still promises, or of the tolerance.
_SMOOTHING_SHARE = 0.3
# Doubling from 1, the curvature sees up to 16 times as many rows: beyond that a direction costs more than a step.
_MOST_EFFORT = 16.0
# Outwards the search begins with half the distance to the origin: C grows by factors of a few along a path.
_OUTWARDS = 0.5
# A slope below this part of the tolerance is rounding: to follow it could lead anywhere.
_NOISE = 1e-9
# With fewer than so many positives for each direction that a model can move in, each can be scored almost freely.
_POSITIVES_PER_DIMENSION = 4


@dataclass(frozen=True, slots=True)
class _Pace:
    """How fast the smoothing is sharpened, and how long to wait for progress.

    Attributes
    ----------
    sharpen : float
        The factor by which a smoothing shrinks.
    patience, share : int and float
        Steps to wait, and the share of the gap they may leave, before the planes are followed.
    by_gradient : bool
        Whether the gradient, rather than the last step's gain, tells what a step still promises.
    """

    sharpen: float
    patience: int
    share: float
    by_gradient: bool


# Measured on long data: sharper steps save passes (make bench ARGS=solver).
_NARROW = _Pace(sharpen=0.3, patience=12, share=0.9, by_gradient=False)
# Where each positive can be scored almost freely, which rows are on the edge changes much from step to step, and only
# small changes of the smoothing leave Newton steps their full length (make bench ARGS=solver).
_WIDE = _Pace(sharpen=0.7, patience=20, share=0.8, by_gradient=True)


def minimize(
    objective: Objective,
    settings: Settings,
    *,
    start: FloatArray | None = None,
    planes: Planes | None = None,
    warm: Result | None = None,
) -> Result:
    """Minimise the objective of a convex risk until its value less the bound is at most C * tol.

    Every step costs one pass over the data and O(k d + k^3) for the k planes kept, besides a Newton direction.

    Parameters
    ----------
    objective : Objective
    settings : Settings
    start : array of shape (n_features,), optional
        Where to start; the origin by default.
    planes : Planes, optional
        Planes of the same risk from earlier solves, whatever their C and origin; new ones are added.
    warm : Result, optional
        Of the same risk with a similar C: its planes, its scores and its smoothing are taken over, so that it costs no
        pass to start from its model.
    """
    origin = objective.origin
    solver = _Solver(objective, settings, planes)
    if warm is not None:
        solver.take_over(warm)
        return solver.run(warm.w, warm.scores)
    if start is None or np.array_equal(start, origin):
        return solver.run(origin, objective.problem.scores(origin))
    solver.smoothing = _RESTART
    return solver.run(start, objective.problem.scores(start))


class _Solver:
    """The fixed inputs, and the state that changes from step to step."""

    best: Point
    minimizer: FloatArray  # of the planes
    origin_scores: Scores

    def __init__(self, objective: Objective, settings: Settings, planes: Planes | None) -> None:
        problem = objective.problem
        self.objective = objective
        self.problem = problem
        self.settings = settings
        self.planes = Planes(problem.n_features, inner=problem.inner) if planes is None else planes
        self.pace = _pace(problem.n_positives, problem.dimension)
        self.smoothing = _START
        self.gain = math.inf  # what the last Newton step promised
        self.effort = 1.0  # of the curvature
        self.history = History(problem, settings)
        self.certificate = Certificate.none(problem.n_features)

    def take_over(self, warm: Result) -> None:
        """Start with the planes of an earlier result and, unless its model collapsed, with its smoothing.

        That is widened as much as C has changed, at most about threefold.
        """
        if warm.memory is None:
            return
        self.planes = warm.memory.planes
        if np.array_equal(warm.w, self.objective.origin):
            return
        ratio = self.objective.C / warm.C
        wider = warm.memory.smoothing.sharpened(min(max(ratio, 1.0 / ratio), _WIDEST_AGAIN))
        self.smoothing = Smoothing(min(wider.margin, _START.margin), min(wider.rank, _START.rank))

    def run(self, w: FloatArray, scores: Scores) -> Result:
        """Take steps until the gap is closed or the passes are spent."""
        origin = self.objective.origin
        here = self.objective.tangent_at(w, scores, self.smoothing)
        self.best = here
        if w is origin:  # whose scores are then not worth another pass
            self.origin_scores = scores
        else:
            self.origin_scores = self.problem.scores(origin)
            here = self._rescaled(here)
        while True:
            # Planes lie below the risk everywhere, so that min over w of 1/2 |w - origin|^2 + C max_k plane_k(w) is a
            # bound; the smoothed choice here gives one plane more.
            gradient = self._add_plane(here)
            self.history.record(self.best.objective, self.certificate.bound)
            if self._converged or self.history.spent:
                return self._result()
            # Where the smoothing holds this plane down, a sharper one at the same scores lies higher.
            if self._sharpen(here.plane, gradient):
                here = self._rescaled(replace(here, plane=here.plane.again(self.smoothing)))
                gradient = self._add_plane(here)
            # One pass gives the scores of a direction, and the search along it needs none.
            here = self._follow_planes() if self._stalled() else self._newton(here, gradient)

    def _evaluate(self, w: FloatArray, scores: Scores) -> TangentPoint:
        """Evaluate a model, and remember it if it is the best so far."""
        there = self.objective.tangent_at(w, scores, self.smoothing)
        if there.objective < self.best.objective:
            self.best = there
        return there

    def _add_plane(self, here: TangentPoint) -> FloatArray:
        """Add the plane, solve the master problem; return the gradient of the smoothed objective."""
        slope = self.problem.gradient(here.plane)
        self.planes.add(slope, here.plane.offset)
        master = self.planes.solve(self.objective.C, self.objective.origin)
        self.minimizer = master.minimizer
        if master.bound > self.certificate.bound:
            self.certificate = self.planes.certificate(master)
        return here.w - self.objective.origin + self.objective.C * slope

    @property
    def _gap(self) -> float:
        return self.best.objective - self.certificate.bound

    @property
    def _converged(self) -> bool:
        return self._gap <= self.objective.C * self.settings.tol

    def _sharpen(self, plane: SmoothedPlane, gradient: FloatArray) -> bool:
        """Sharpen what costs more than its share of the tolerance, and than a third of what a step still promises.

        That is the gain of the last Newton step; or, where features are many, the part that the gradient has in the gap
        of the plane. The more steps are taken with the same smoothing, the more the curvature is worth.
        """
        # With this plane alone for its risk the objective is quadratic, and |gradient|^2 / 2 above its minimum.
        promise = float(self.problem.inner(gradient, gradient)) if self.pace.by_gradient else self.gain
        limit = _SMOOTHING_SHARE * max(self.settings.tol, promise / self.objective.C)
        margin = self.pace.sharpen if plane.margin_error > limit else 1.0
        rank = self.pace.sharpen if plane.rank_error > limit else 1.0
        self.smoothing = Smoothing(margin * self.smoothing.margin, rank * self.smoothing.rank)
        sharper = min(margin, rank) < 1.0
        self.effort = 1.0 if sharper else min(2.0 * self.effort, _MOST_EFFORT)
        return sharper

    def _newton(self, here: TangentPoint, gradient: FloatArray) -> TangentPoint:
        """Take a Newton step on the smoothed objective: (I + C H) direction = -gradient, H the smoothed curvature."""
        direction = newton.direction(
            self.problem, here.plane.curvature(), self.objective.C, gradient, self.settings.random, self.effort
        )
        # A quadratic function with this gradient falls by half of the product on the way to its minimum.
        self.gain = -float(self.problem.inner(direction, gradient)) / 2
        return self._search(here, direction, self.problem.scores(direction))

    def _stalled(self) -> bool:
        """Whether the last steps closed too little of the gap; then every other step follows the planes."""
        steps = self.history.steps
        if len(steps) <= self.pace.patience or len(steps) % 2:
            return False
        return self._gap > self.pace.share * steps[-1 - self.pace.patience].gap

    def _follow_planes(self) -> TangentPoint:
        """Search by the exact objective from the best model to the minimiser of the planes, adding sharp planes.

        A plane that touches the risk at the minimiser raises the bound whatever the smoothing is: it cannot stall.
        """
        start = self.best
        direction = self.minimizer - start.w
        along = self.problem.scores(direction)
        low = 0.0
        high = 1.0
        step = 1.0
        for _ in range(_TRIALS):
            there = self._evaluate(start.w + step * direction, start.scores.moved(along, step))
            sharp = self.objective.risk.sharp(there.scores)
            if step == 1.0:
                self._add_sharp(sharp)
            # The objective is convex: its minimum along the way lies where this slope turns positive.
            if self.objective.slope(there.w, sharp, direction, along) < 0:
                low = step
            else:
                high = step
            if low == high:  # it still falls at the minimiser of the planes: no trial lies further
                break
            step = (low + high) / 2
        self._add_sharp(self.objective.risk.sharp(self.best.scores))
        return self.objective.tangent_at(self.best.w, self.best.scores, self.smoothing)

    def _add_sharp(self, plane: Plane) -> None:
        self.planes.add(self.problem.gradient(plane), plane.offset)

    def _rescaled(self, here: TangentPoint) -> TangentPoint:
        """Search nearer to the origin, or further out where that is downhill; it takes no data pass.

        Where the model collapses, the minimiser shrinks in proportion to the smoothing of the ranks; along a path it
        grows with C.
        """
        outward = here.w - self.objective.origin
        along = here.scores.moved(self.origin_scores, -1.0)
        if self.objective.slope(here.w, here.plane, outward, along) < 0:
            return self._search(here, outward, along, _OUTWARDS)
        return self._search(here, -outward, along.scaled(-1.0), 1.0 - self.pace.sharpen)

    def _search(self, here: TangentPoint, direction: FloatArray, along: Scores, step: float = 1.0) -> TangentPoint:
        """Find a step that at least halves the slope of the smoothed objective along the direction, and lowers it."""
        # The slope at a step t is (w + t direction - origin) . direction + C (plane there) . (scores of direction).
        first = self.objective.slope(here.w, here.plane, direction, along)
        if abs(first) <= _NOISE * self.objective.C * self.settings.tol:
            return here
        bracket = _Bracket(first)
        for _ in range(_TRIALS):
            there = self._evaluate(here.w + step * direction, here.scores.moved(along, step))
            slope = self.objective.slope(there.w, there.plane, direction, along)
            flat = abs(slope) <= _SLOPE_LEFT * abs(first)
            if flat and (slope < 0 or self._lower(there, here)):
                break
            step = bracket.next(step, slope)
        return there

    def _lower(self, there: TangentPoint, here: TangentPoint) -> bool:
        """Whether the smoothed objective, which lies below the exact one by at most the errors, may have fallen."""
        error = there.plane.margin_error + there.plane.rank_error
        return there.objective - here.objective <= self.objective.C * error

    def _result(self) -> Result:
        return Result(
            C=self.objective.C,
            w=self.best.w,
            scores=self.best.scores,
            objective=self.best.objective,
            status=Status.CONVERGED if self._converged else Status.MAX_PASSES,
            history=self.history.steps,
            certificate=self.certificate,
            memory=Memory(self.planes, self.smoothing),
        )


class _Bracket:
    """The longest step whose slope still falls and the shortest whose slope rises."""

    def __init__(self, slope: float) -> None:
        self._low = 0.0
        self._low_slope = slope
        self._high = math.inf
        self._high_slope = math.nan

    def next(self, step: float, slope: float) -> float:
        """Take in a trial step and its slope; return the next step to try."""
        if slope < 0:
            self._low = step
            self._low_slope = slope
        else:
            self._high = step
            self._high_slope = slope
        if math.isinf(self._high):
            return step * _LONGER
        # Slopes between the two are taken to be linear, and the next trial is where they cross 0.
        rise = self._high_slope - self._low_slope
        share = -self._low_slope / rise if rise > 0 else 0.5
        inside = min(max(share, _AWAY), 1.0 - _AWAY)
        return self._low + (self._high - self._low) * inside


def _pace(n_positives: int, dimension: int) -> _Pace:
    wide = _POSITIVES_PER_DIMENSION * dimension > n_positives
    return _WIDE if wide else _NARROW
