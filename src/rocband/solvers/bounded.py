"""Local minimisers of 1/2 |w - origin|^2 + C * risk(w) for a risk that is not convex.

A descent takes Newton steps on a convex majorant of the smoothed risk. Before it, a rough descent on a wider band, from
which it is less likely to end in a poor local minimum, finds where to start. A difference of convex risks is descended
by the concave-convex procedure instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rocband._types import FloatArray
from rocband.problems.base import Problem
from rocband.problems.sample import sampled
from rocband.risks import Difference, Risk, Scores, Smoothing
from rocband.solvers import certified, newton
from rocband.solvers.objective import Objective, Point
from rocband.solvers.planes import Planes
from rocband.solvers.result import History, Result, Settings, Status

__all__ = ["RoughStage", "descend", "minimize_bounded", "minimize_difference"]

# Step lengths, the longest first: a Newton step on a majorant may be too short, and without a majorant too long.
_STEPS = (2.0, 1.0, 0.4, 0.15, 0.05, 0.015, 0.004, 0.001)
# A sharper smoothing is this part of the one before; smaller changes cost more steps, larger ones lose the way.
_SHARPEN = 0.3
# The smoothing ends at this many times the tolerance: sharper, a step's gain would be below the tolerance anyway.
_SHARPEST = 50.0
# A step that gains less than this part of the smoothing's width cannot tell the smoothed risk from the exact one.
_GAIN_PER_WIDTH = 0.001
# Far from a minimum half of a margin is smoothed; where the rough descent ended, far less is needed.
_FAR = 0.5
_NEAR = 0.15
# The rough descent's band ends so many times further down (make bench ARGS=quality).
_WIDER = 2.0
# It need only find the right valley.
_ROUGH_TOL = 1e-3
# And may take this part of the passes.
_ROUGH_PASSES = 0.25
# A random part of the rows serves it: so many positives and as many negatives in the wider band, or more when features
# are many; unless this is most of the rows, or more than 20 million numbers, which take a second to draw and copy.
_FEWEST_ROWS = 1000
_ROWS_PER_FEATURE = 20
_MOST_NUMBERS = 20_000_000
# A round of the concave-convex procedure is solved to a tenth of what the last one gained.
_ROUND_ACCURACY = 0.1


@dataclass(frozen=True, slots=True)
class RoughStage:
    """What the rough descent sees: a problem, or a part of it, and a risk that reaches further.

    Attributes
    ----------
    problem : Problem
    risk : Risk
    share : float
        Rows of the problem for each row of the whole; 1 for the whole itself.
    """

    problem: Problem
    risk: Risk
    share: float

    @classmethod
    def of(cls, problem: Problem, risk: Risk, random: np.random.Generator) -> RoughStage:
        """Take a random part of the rows where that is enough, or all."""
        reach = min(_WIDER * risk.reach, 1.0)
        n_rows = problem.n_positives + problem.n_negatives
        n_positives = max(_FEWEST_ROWS, _ROWS_PER_FEATURE * problem.n_features)
        n_negatives = int(n_positives / reach)
        wanted = n_positives + n_negatives
        features = problem.features
        if features is None or wanted > n_rows / 2 or wanted * problem.n_features > _MOST_NUMBERS:
            return cls(problem, risk.widened(_WIDER), 1.0)
        part = sampled(problem, features, n_positives, n_negatives, random)
        share = (part.n_positives + part.n_negatives) / n_rows
        return cls(part, risk.widened(_WIDER, part.n_negatives), share)

    def descend(self, whole: Objective, settings: Settings, start: FloatArray) -> FloatArray:
        """Return where a rough descent from ``start`` ends; its passes count as much as its share of the rows."""
        rough = replace(
            settings.quiet(),
            tol=max(_ROUGH_TOL, settings.tol),
            max_passes=max(int(_ROUGH_PASSES * settings.max_passes), 1),
        )
        before = self.problem.passes
        objective = replace(whole, problem=self.problem, risk=self.risk)
        reached = descend(objective, rough, start, self.problem.scores(start), _FAR)
        if self.problem is not whole.problem:
            passes = self.problem.passes - before
            whole.problem.count(math.ceil(passes * self.share))
        return reached.w


def minimize_bounded(
    objective: Objective,
    settings: Settings,
    start: FloatArray,
    previous: Result | None = None,
    stage: RoughStage | None = None,
) -> Result:
    """Descend from where a rough descent ended; from ``start`` itself where that would have been better.

    Parameters
    ----------
    objective : Objective
    settings : Settings
    start : array of shape (n_features,)
    previous : Result, optional
        The result for another C, whose model ``start`` is: its scores cost no pass.
    stage : RoughStage, optional
        The stage of an earlier C; made anew by default.
    """
    problem = objective.problem
    if stage is None:
        stage = RoughStage.of(problem, objective.risk, settings.random)
    rough = stage.descend(objective, settings, start)
    found = descend(objective, settings, rough, problem.scores(rough), _NEAR)
    scores = problem.scores(start) if previous is None else previous.scores
    if found.objective > objective.at(start, scores).objective:
        return descend(objective, settings, start, scores, _FAR)
    return found


def descend(objective: Objective, settings: Settings, w: FloatArray, scores: Scores, width: float) -> Result:
    """Descend by Newton steps on a convex majorant of the smoothed risk, from a model and its scores.

    A direction costs one pass over the data; the best of a few step lengths is taken by the exact objective, which
    never rises. When no length gains enough, the smoothing, at first of the given ``width``, is sharpened; it stops
    when the sharpest gains at most C * tol.
    """
    problem = objective.problem
    history = History(problem, settings)
    # Ranks are smoothed half as much as margins: a negative moves past others as often as a pair's two rows part.
    smoothing = Smoothing(width, width / 2)
    here = objective.at(w, scores)
    history.record(here.objective)
    while not history.spent:
        plane = objective.risk.plane(here.scores, smoothing)
        gradient = objective.gradient(here.w, plane)
        direction = newton.direction(problem, plane.curvature(), objective.C, gradient, settings.random)
        there = _best_step(objective, here, direction)
        gain = here.objective - there.objective
        here = there
        history.record(here.objective)
        enough = objective.C * max(settings.tol, _GAIN_PER_WIDTH * smoothing.margin)
        if gain > enough:
            continue
        if smoothing.margin <= _SHARPEST * settings.tol:
            break
        smoothing = smoothing.sharpened(_SHARPEN)
    return _result(objective, here, history)


def _best_step(objective: Objective, here: Point, direction: FloatArray) -> Point:
    """Try step lengths, the longest first, and return the best point; ``here`` itself when none is better."""
    along = objective.problem.scores(direction)
    best = here
    for step in _STEPS:
        there = objective.at(here.w + step * direction, here.scores.moved(along, step))
        if there.objective < best.objective:
            best = there
        elif best is not here:
            break
    return best


def minimize_difference(objective: Objective, difference: Difference, settings: Settings, start: FloatArray) -> Result:
    """Descend a risk that is ``factor * convex - concave`` by the concave-convex procedure.

    Each round replaces the part that is taken off by its tangent, which only moves the origin, and minimises the rest
    with planes that serve all rounds. The objective never rises; it stops when a round, itself solved to C * tol, gains
    at most C * tol.
    """
    problem = objective.problem
    C = objective.C
    history = History(problem, settings)
    planes = Planes(problem.n_features, inner=problem.inner)
    here = objective.at(start, problem.scores(start))
    history.record(here.objective)
    accuracy = _ROUND_ACCURACY**2  # the first round is taken to gain a tenth of C
    while not history.spent:
        # C * concave(w) >= C * (its value here + pull . (w - here)): |w - origin|^2 / 2 - C pull . w has its
        # minimum at origin + C * pull.
        pull = problem.gradient(difference.concave(here.scores))
        shifted = Objective(problem, difference.convex, C * difference.factor, objective.origin + C * pull)
        tol = max(settings.tol, accuracy)
        left = max(settings.max_passes - history.passes, 1)
        inner = replace(settings.quiet(), tol=tol / difference.factor, max_passes=left)
        reached = certified.minimize(shifted, inner, start=here.w, planes=planes)
        there = objective.at(reached.w, reached.scores)
        gain = here.objective - there.objective
        if gain > 0:
            here = there
        history.record(here.objective)
        if gain <= C * settings.tol and tol <= settings.tol:
            break
        accuracy = _ROUND_ACCURACY * gain / C
    return _result(objective, here, history)


def _result(objective: Objective, here: Point, history: History) -> Result:
    status = Status.MAX_PASSES if history.spent else Status.CONVERGED
    return Result(objective.C, here.w, here.scores, here.objective, status, history.steps)
