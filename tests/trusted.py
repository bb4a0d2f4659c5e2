"""A slow optimiser that shares nothing with the solvers: cutting planes made by loops, masters solved by SLSQP."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import optimize

import reference


@dataclass(frozen=True)
class Sample:
    """Features of the two classes, a band, and the surrogate: `tight` or `naive`."""

    positives: np.ndarray
    negatives: np.ndarray
    band: reference.Band
    surrogate: str = "tight"

    def risk(self, w):
        surrogate = getattr(reference, self.surrogate)
        return surrogate(self.positives @ w, self.negatives @ w, self.band)

    def objective(self, w, C, origin):
        return (w - origin) @ (w - origin) / 2 + C * self.risk(w)


def tangent(sample, w):
    """Slope and offset of a plane that touches the risk at w, pair by pair."""
    a = sample.band.start
    b = sample.band.stop
    order = np.argsort(-(sample.negatives @ w), kind="stable")
    last = len(order) if sample.surrogate == "naive" else b
    slope, offset = np.zeros(len(w)), 0.0
    for x in sample.positives:
        candidates = []
        for deep in (False, True):
            row_slope, row_offset = np.zeros(len(w)), 0.0
            for rank, j in enumerate(order):
                difference = sample.negatives[j] - x
                margin = 1.0 if a <= rank < b else 0.0
                if rank >= (last if deep else a):
                    break
                if (deep and rank < a) or margin + difference @ w > 0:
                    row_slope += difference
                    row_offset += margin
            candidates.append((row_offset + row_slope @ w, row_offset, row_slope))
        _, row_offset, row_slope = max(candidates, key=lambda row: row[0])
        slope += row_slope
        offset += row_offset
    return slope / (len(sample.positives) * (b - a)), offset / (len(sample.positives) * (b - a))


def all_planes(sample):
    """Every plane of `tight`: all subsets of b negatives, in all orders, beaten to all depths."""
    band, d = sample.band, sample.positives.shape[1]
    n_rows = reference.normalizer(sample.positives, band)
    matrices, depths = reference.orderings(len(sample.positives), band.stop)
    offsets = (np.clip(depths, band.start, band.stop) - band.start).sum(axis=1) / n_rows
    slopes = []
    for subset in combinations(range(len(sample.negatives)), band.stop):
        differences = sample.negatives[None, list(subset)] - sample.positives[:, None]
        slopes.append(np.einsum("pij,ijd->pd", matrices, differences) / n_rows)
    planes = np.column_stack([np.concatenate(slopes), np.tile(offsets, len(slopes))])
    planes = np.unique(planes.round(14), axis=0)
    return planes[:, :d], planes[:, d]


def minimize_planes(slopes, offsets, C, origin, start):
    """Minimise |w - origin|^2 / (2 C) + max(0, planes) as a quadratic program in (w, height)."""
    d = len(origin)
    slopes, offsets = np.vstack([np.zeros(d), slopes]), np.append(0.0, offsets)
    step = np.sqrt(C)  # w = origin + step * v gives both terms the same scale
    heights, slopes = offsets + slopes @ origin, step * slopes
    v = (start - origin) / step
    result = optimize.minimize(
        lambda x: x[:d] @ x[:d] / 2 + x[d],
        np.append(v, (heights + slopes @ v).max()),
        jac=lambda x: np.append(x[:d], 1.0),
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda x: x[d] - heights - slopes @ x[:d],
            "jac": lambda x: np.column_stack([-slopes, np.ones(len(heights))]),
        },
        options={"maxiter": 300, "ftol": 1e-13},
    )
    assert result.status in (0, 8), result.message  # 8: the last line search hit the limits of rounding
    v = result.x[:d]
    return origin + step * v, C * (v @ v / 2 + (heights + slopes @ v).max())


def minimum(sample, C, origin, gap=1e-5, rounds=400):
    """Smallest objective, to C * gap, by textbook cutting planes."""
    w, best, slopes, offsets = origin, np.inf, [], []
    for _ in range(rounds):
        value = sample.objective(w, C, origin)
        best = min(best, value)
        slope, offset = tangent(sample, w)
        slopes.append(slope)
        offsets.append(offset)
        w, model = minimize_planes(np.array(slopes), np.array(offsets), C, origin, w)
        if best - model <= C * gap:
            return best
    raise AssertionError(f"the trusted optimiser has not converged: {best} against {model}")
