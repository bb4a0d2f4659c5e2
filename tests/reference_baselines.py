"""The baselines' problems solved by slow methods that share nothing with the package's."""

from __future__ import annotations

import numpy as np
from scipy import optimize
from scipy.stats import norm

from rocband.metrics import partial_auc_score


def asymmetric_dual(X, y, mu, tau):
    """Minimise 1/2 |sum_i a_i y_i x_i|^2, 0 <= a <= 1/N, sum over positives mu + tau, over negatives mu; return w."""
    y = np.asarray(y, dtype=bool)
    signed = np.where(y, 1.0, -1.0)[:, None] * X
    scale = len(X)  # a is counted in units of 1/N, for SLSQP's absolute tolerances
    gram = signed @ signed.T / scale
    totals = ((y, scale * (mu + tau)), (~y, scale * mu))
    start = sum(total * part / part.sum() for part, total in totals)
    result = optimize.minimize(
        lambda a: a @ gram @ a / 2,
        start,
        jac=lambda a: gram @ a,
        bounds=[(0.0, 1.0)] * len(X),
        constraints=[
            {
                "type": "eq",
                "fun": lambda a, part=part, total=total: a[part].sum() - total,
                "jac": lambda a, part=part: part * 1.0,
            }
            for part, total in totals
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    assert result.success, result.message
    return result.x @ signed / scale


def asymmetric_objective(w, X, y, mu, tau):
    """The objective with the best p and q: piecewise linear in each, so that one of the scores is best."""
    y = np.asarray(y, dtype=bool)
    positives, negatives = X[y] @ w, X[~y] @ w
    first = min(np.maximum(p - positives, 0).sum() / len(X) - (mu + tau) * p for p in positives)
    second = min(np.maximum(negatives - q, 0).sum() / len(X) + mu * q for q in negatives)
    return w @ w / 2 + first + second


def smooth_area(positives, negatives, band, sigma):
    """Mean over the band's pairs of Phi(difference / sigma - 2)."""
    ranked = np.sort(negatives)[::-1][band.start : band.stop]
    return float(norm.cdf(np.subtract.outer(positives, ranked) / sigma - 2).mean())


def integral_of_squared_bend(function, low, high):
    """Integral over x of f''(x)^2, x running from 0 to 1 as the feature runs from low to high, by differences."""
    x = np.linspace(0.0, 1.0, 20_001)
    values = function(low + (high - low) * x)
    step = x[1]
    return float((np.diff(values, 2) ** 2).sum() / step**3)


def best_weight(score, feature, y, weights, fpr_range):
    """Try every weight."""
    return max(partial_auc_score(y, score + t * feature, fpr_range=fpr_range) for t in weights)


def best_stump(x, slope):
    """Largest of sum (slope f - |slope| f^2 / 2) over f with one value up to a cut and another above it."""
    cuts = np.unique(x)[:-1]
    return max(
        sum(slope[side].sum() ** 2 / np.abs(slope[side]).sum() / 2 for side in (x <= cut, x > cut)) for cut in cuts
    )


def infinite_push(X, y, C):
    """Minimise 1/2 |w|^2 + C max_j mean_i (1 - w.x_i + w.x_j)_+ as a smooth program in w, slacks and the maximum."""
    y = np.asarray(y, dtype=bool)
    gaps = X[y][:, None, :] - X[~y][None, :, :]
    m, n, d = gaps.shape
    flat = gaps.reshape(m * n, d)

    def parts(v):
        return v[:d], v[d : d + m * n], v[-1]

    margins = np.hstack([flat, np.eye(m * n), np.zeros((m * n, 1))])
    means = np.hstack([np.zeros((n, d)), -np.tile(np.eye(n), m) / m, np.ones((n, 1))])
    start = np.concatenate([np.zeros(d), np.ones(m * n), [1.0]])
    result = optimize.minimize(
        lambda v: parts(v)[0] @ parts(v)[0] / 2 + C * v[-1],
        start,
        jac=lambda v: np.concatenate([v[:d], np.zeros(m * n), [C]]),
        bounds=[(None, None)] * d + [(0, None)] * (m * n + 1),
        constraints=[
            {"type": "ineq", "fun": lambda v: margins @ v - 1, "jac": lambda v: margins},
            {"type": "ineq", "fun": lambda v: means @ v, "jac": lambda v: means},
        ],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert result.success, result.message
    return float(result.fun)
