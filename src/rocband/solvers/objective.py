"""The objective of all models here: 1/2 |w - origin|^2 + C * risk(scores of w)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rocband._types import FloatArray
from rocband.problems.base import Problem
from rocband.risks import Plane, Risk, Scores, SmoothedPlane, Smoothing

__all__ = ["Objective", "Point", "TangentPoint"]


@dataclass(frozen=True, slots=True)
class Point:
    """A model, its scores and its exact objective."""

    w: FloatArray
    scores: Scores
    objective: float


@dataclass(frozen=True, slots=True)
class TangentPoint(Point):
    """A point with the plane of the smoothed risk there."""

    plane: SmoothedPlane


@dataclass(frozen=True, slots=True)
class Objective:
    """1/2 |w - origin|^2 + C * risk(w).

    Attributes
    ----------
    problem : Problem
        Turns models into scores, and planes into gradients.
    risk : Risk
    C : float
    origin : array of shape (n_features,)
        The model to shrink towards.
    """

    problem: Problem
    risk: Risk
    C: float
    origin: FloatArray

    def at(self, w: FloatArray, scores: Scores) -> Point:
        """Evaluate the objective of a model, given its scores."""
        return Point(w, scores, self.value(w, self.risk.value(scores)))

    def tangent_at(self, w: FloatArray, scores: Scores, smoothing: Smoothing) -> TangentPoint:
        """Evaluate the objective and linearise the smoothed risk there."""
        plane = self.risk.plane(scores, smoothing)
        return TangentPoint(w, scores, self.value(w, plane.value), plane)

    def value(self, w: FloatArray, risk: float) -> float:
        """Return the objective of a model whose risk is known."""
        away = w - self.origin
        with np.errstate(over="ignore"):  # of a step far too long, which is not taken
            return float(self.problem.inner(away, away)) / 2 + self.C * risk

    def gradient(self, w: FloatArray, plane: Plane) -> FloatArray:
        """Return w - origin + C * (gradient of the plane)."""
        return w - self.origin + self.C * self.problem.gradient(plane)

    def slope(self, w: FloatArray, plane: Plane, direction: FloatArray, along: Scores) -> float:
        """Rate at which the objective, with ``plane`` for its risk, changes along a direction with these scores."""
        of_distance = float(self.problem.inner(w - self.origin, direction))
        return of_distance + self.C * along.slope(plane)
