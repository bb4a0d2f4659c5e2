"""What a solver is asked for, what it notes on the way and what it returns."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from rocband._types import FloatArray
from rocband.problems.base import Problem
from rocband.risks import Scores, Smoothing
from rocband.solvers.planes import Certificate, Planes

__all__ = ["History", "Memory", "Result", "Settings", "Status", "Step"]


class Status(Enum):
    """How a solver ended."""

    CONVERGED = "converged"
    MAX_PASSES = "out of passes"


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a solver's history; the bound and the gap are nan where nothing is proved."""

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
        It stops when objective - lower_bound <= C * tol, or where there is no bound, when a step gains at most that.
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


class History:
    """The steps of one solve; passes and time count from its beginning."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.steps: list[Step] = []
        self._problem = problem
        self._settings = settings
        self._began = time.perf_counter()
        self._first_pass = problem.passes

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def passes(self) -> int:
        """Passes over the data in this solve."""
        return self._problem.passes - self._first_pass

    @property
    def spent(self) -> bool:
        """Whether no pass is left."""
        return self.passes >= self._settings.max_passes

    def record(self, objective: float, lower_bound: float = math.nan) -> None:
        """Note a step, and report it to whoever asked."""
        seconds = time.perf_counter() - self._began
        gap = objective - lower_bound
        step = Step(len(self.steps), self.passes, objective, lower_bound, gap, seconds)
        self.steps.append(step)
        if self._settings.on_step is not None:
            self._settings.on_step(step)


@dataclass(frozen=True, slots=True)
class Memory:
    """What a solver of convex risks keeps for the next solve.

    Attributes
    ----------
    planes : Planes
        All planes; they lie below the risk whatever C and the origin are.
    smoothing : Smoothing
        The smoothing it ended with.
    """

    planes: Planes
    smoothing: Smoothing


@dataclass(frozen=True, slots=True)
class Result:
    """A model, and how sure we are of it.

    Attributes
    ----------
    C : float
        Weight of the risk.
    w : array of shape (n_features,)
        The best model found.
    scores : Scores
        Its scores.
    objective : float
        Its objective.
    status : Status
    history : list of Step
    certificate : Certificate or None
        The planes and multipliers that prove a lower bound; None where the risk is not convex.
    memory : Memory or None
        What a later solve of the same convex risk can start with.
    """

    C: float
    w: FloatArray
    scores: Scores
    objective: float
    status: Status
    history: list[Step]
    certificate: Certificate | None = None
    memory: Memory | None = None

    @property
    def lower_bound(self) -> float:
        """What no model's objective can be below; nan where nothing is proved."""
        return math.nan if self.certificate is None else self.certificate.bound
