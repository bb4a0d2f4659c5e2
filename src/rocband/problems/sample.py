"""Random parts of a problem."""

from __future__ import annotations

import numpy as np

from rocband._types import BoolArray, IndexArray
from rocband.problems.base import Features, Problem
from rocband.problems.rows import RowsProblem
from rocband.rows import as_rows

__all__ = ["draw", "sampled"]


def draw(
    problem: Problem, n_positives: int, n_negatives: int, random: np.random.Generator
) -> tuple[IndexArray, BoolArray]:
    """Draw that many rows of each class, or take all; return their numbers and which are positives."""
    positives = _some(problem.n_positives, n_positives, random)
    negatives = _some(problem.n_negatives, n_negatives, random)
    numbers = np.concatenate([positives, problem.n_positives + negatives])
    positive = np.repeat([True, False], [len(positives), len(negatives)])
    return numbers, positive


def _some(size: int, count: int, random: np.random.Generator) -> IndexArray:
    if count >= size:
        return np.arange(size)
    return random.choice(size, count, replace=False)


def sampled(
    problem: Problem, features: Features, n_positives: int, n_negatives: int, random: np.random.Generator
) -> RowsProblem:
    """Return a random part of each class as a problem of its own, which counts its own passes."""
    numbers, positive = draw(problem, n_positives, n_negatives, random)
    return RowsProblem(as_rows(features.take(numbers)), positive)
