"""The local minimisers for `hinge` and `ramp`: monotone, no worse than their start, stationary, repeatable."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from rocband.problems.rows import RowsProblem
from rocband.risks import Band, risk_for
from rocband.rows import as_rows
from rocband.solvers.bounded import minimize_difference
from rocband.solvers.certified import minimize
from rocband.solvers.objective import Objective
from rocband.solvers.path import solve_path
from rocband.solvers.result import Settings, Status
from rocband.solvers.solve import solve
from trusted import Sample, minimum

surrogates = pytest.mark.parametrize("surrogate", ["hinge", "ramp"])
seeds = st.integers(0, 2**32 - 1)
M = 15
N = 80
D = 4
ZERO = np.zeros(D)


def make_rows(seed, shift=0.5):
    """Rows of both classes, the positives first."""
    X = np.random.default_rng(seed).normal(size=(M + N, D))
    X[:M] += shift
    return X


def make_objective(X, surrogate, C, fpr_range, origin, m=M):
    problem = RowsProblem(as_rows(X), np.arange(len(X)) < m)
    return Objective(problem, risk_for(surrogate, Band.from_range(fpr_range, len(X) - m)), C, origin)


def value(X, surrogate, w, C, fpr_range, origin, m=M):
    """The objective from all pairs, by the reference."""
    scores = X @ w
    band = Band.from_range(fpr_range, len(X) - m)
    risk = getattr(reference, surrogate)(scores[:m], scores[m:], band)
    return (w - origin) @ (w - origin) / 2 + C * risk


def options(**changes):
    return Settings(**{"tol": 1e-5, "max_passes": 500, **changes})


class Fit:
    """One solve, and the objective it should speak of."""

    def __init__(self, surrogate, seed, C=10.0, fpr_range=(0.1, 0.3), start=None, origin=ZERO, **changes):
        self.X = make_rows(seed)
        self.terms = (C, fpr_range, origin)
        self.surrogate = surrogate
        self.start = np.full(D, 0.3) if start is None else start
        objective = make_objective(self.X, surrogate, *self.terms)
        self.result = solve(objective, options(**changes), self.start)

    def value(self, w):
        return value(self.X, self.surrogate, w, *self.terms)


@surrogates
@settings(max_examples=25)
@given(
    seed=seeds,
    C=st.sampled_from([1e-3, 1.0, 30.0, 1e4]),
    fpr_range=st.sampled_from([(0.05, 0.1), (0.1, 0.3), (0.5, 1.0)]),
    anchored=st.booleans(),
)
def test_the_exact_objective_never_rises(surrogate, seed, C, fpr_range, anchored):
    random = np.random.default_rng(seed)
    start = random.normal(size=D)
    origin = anchored * random.normal(size=D)
    fit = Fit(surrogate, seed, C, fpr_range, start, origin)
    result = fit.result
    values = np.array([step.objective for step in result.history])
    assert (np.diff(values) <= 0).all()
    assert values[-1] == result.objective
    assert result.objective == pytest.approx(fit.value(result.w), rel=1e-9)
    assert result.objective <= fit.value(start) * (1 + 1e-9)
    assert np.isfinite(result.w).all()
    scores = fit.X @ result.w
    close = {"rtol": 0, "atol": 1e-9 * (1 + np.abs(scores).max())}
    np.testing.assert_allclose(result.scores.positives, scores[:M], **close)
    np.testing.assert_allclose(result.scores.negatives.at(np.arange(N)), scores[M:], **close)


@surrogates
@pytest.mark.parametrize("seed", range(5))
def test_small_steps_gain_nothing_much(surrogate, seed):
    C = 10.0
    fit = Fit(surrogate, seed, C, max_passes=2000)
    result = fit.result
    assert result.status is Status.CONVERGED
    assert result.objective < fit.value(fit.start)
    random = np.random.default_rng(seed)
    for _ in range(200):
        step = random.normal(size=D)
        for length in (1e-3, 1e-2, 0.03):
            w = result.w + length * step / np.linalg.norm(step)
            assert fit.value(w) >= result.objective - 0.005 * C


@surrogates
def test_it_descends_a_long_way_from_a_poor_start(surrogate):
    fit = Fit(surrogate, 0, C=100.0, start=-np.ones(D))
    assert fit.result.objective < 0.7 * fit.value(fit.start)


@surrogates
def test_the_same_every_time(surrogate):
    first, second = (Fit(surrogate, 1).result for _ in range(2))
    np.testing.assert_array_equal(first.w, second.w)
    assert [step.objective for step in first.history] == [step.objective for step in second.history]


@surrogates
@pytest.mark.parametrize("max_passes", [1, 2, 5])
def test_out_of_passes(surrogate, max_passes):
    fit = Fit(surrogate, 2, C=100.0, tol=1e-12, max_passes=max_passes)
    result = fit.result
    assert result.status is Status.MAX_PASSES
    assert result.objective <= fit.value(fit.start)
    assert result.history[-1].passes <= max_passes + 2


@surrogates
def test_steps_are_recorded_and_passed_on(surrogate):
    seen = []
    result = Fit(surrogate, 3, on_step=seen.append).result
    assert seen == result.history
    assert [step.step for step in seen] == list(range(len(seen)))
    assert all(np.isnan(step.lower_bound) and np.isnan(step.gap) for step in seen)
    assert (np.diff([step.passes for step in seen]) >= 0).all()
    assert result.certificate is None
    assert np.isnan(result.lower_bound)


def test_hinge_without_a_lower_edge_is_tight():
    X = make_rows(4)
    tight = make_objective(X, "tight", 10.0, (0.0, 0.3), ZERO)
    hinge = make_objective(X, "hinge", 10.0, (0.0, 0.3), ZERO)
    exact = minimize(tight, options()).objective
    # Both ways: by the solver for convex risks, and by the procedure, whose concave part is then nothing.
    assert solve(hinge, options(), ZERO).objective == pytest.approx(exact, abs=1e-4)
    procedure = minimize_difference(hinge, hinge.risk.difference, options(), ZERO)
    assert procedure.objective == pytest.approx(exact, abs=3e-4)


@pytest.mark.parametrize("seed", range(4))
def test_hinge_ends_where_its_majorant_is_smallest(seed):
    # hinge = (T_b - T_a) / N; with the tangent of T_a at w it is convex, and the trusted optimiser finds its minimum.
    C = 10.0
    fit = Fit("hinge", seed, C, tol=1e-6)
    w = fit.result.w
    positives = fit.X[:M]
    negatives = fit.X[M:]
    band = Band.from_range((0.1, 0.3), N)
    top = negatives[np.argsort(-(negatives @ w))[: band.start]]
    lost = 1 - np.subtract.outer(positives @ w, top @ w)
    pull = np.zeros(D)
    for i, j in zip(*np.nonzero(lost > 0), strict=True):
        pull += (top[j] - positives[i]) / reference.normalizer(positives, band)
    # 1/2 |w|^2 + C (T_b / N - pull . w) is 1/2 |w - C pull|^2 + C T_b / N, less a constant.
    whole = Sample(positives, negatives, Band(0, band.stop, N))
    weight = C * band.stop / band.width
    assert whole.objective(w, weight, C * pull) <= minimum(whole, weight, C * pull) + 3e-5 * C


@pytest.mark.parametrize("seed", range(3))
def test_ramp_is_bounded_where_hinge_collapses(seed):
    # The positives' mean is that of the negatives: a few far positives must be given up.
    random = np.random.default_rng(seed)
    negatives = random.normal(size=(200, 2))
    ahead = random.normal(size=(15, 2)) * 0.2 + [4.0, 0.0]
    hopeless = random.normal(size=(5, 2)) * 0.2 - [12.0, 0.0]
    X = np.vstack([ahead, hopeless, negatives])
    zero = np.zeros(2)
    ramp = solve(make_objective(X, "ramp", 100.0, (0.0, 0.1), zero, m=20), options(), np.array([1.0, 0.0]))
    assert ramp.objective < 40
    assert ramp.w[0] > 0.3
    tight = solve(make_objective(X, "tight", 100.0, (0.0, 0.1), zero, m=20), options(), zero)
    assert tight.lower_bound >= 99.9


@surrogates
@pytest.mark.parametrize("kind", ["one positive", "zeros", "scaled", "duplicated", "narrow"])
def test_hard_data_stay_finite(surrogate, kind):
    X = np.random.default_rng(0).normal(size=(60, 3))
    m = 1 if kind == "one positive" else 10
    fpr_range = (0.98, 1.0) if kind == "narrow" else (0.1, 0.4)
    if kind == "zeros":
        X[:] = 0
    if kind == "scaled":
        X[:, 0] *= 1e6
    if kind == "duplicated":
        X = np.repeat(X[:20], 3, axis=0)
    start = np.array([0.1, 0.2, -0.1])
    zero = np.zeros(3)
    for C in (1e-5, 1.0, 1e6):
        result = solve(make_objective(X, surrogate, C, fpr_range, zero, m), options(max_passes=60), start)
        assert np.isfinite(result.w).all()
        assert result.objective <= value(X, surrogate, start, C, fpr_range, zero, m) * (1 + 1e-9)


# Along a path


@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge", "ramp"])
def test_a_path_is_as_good_as_single_fits(surrogate):
    X = make_rows(6)
    Cs = (0.1, 1.0, 10.0, 100.0)
    start = np.full(D, 0.3)
    objective = make_objective(X, surrogate, 1.0, (0.1, 0.3), ZERO)
    path = solve_path(objective.problem, objective.risk, Cs, ZERO, options(tol=1e-4), start)
    assert tuple(result.C for result in path) == Cs
    for C, result in zip(Cs, path, strict=True):
        assert result.objective == pytest.approx(value(X, surrogate, result.w, C, (0.1, 0.3), ZERO), rel=1e-9)
        assert result.status is Status.CONVERGED
        if objective.risk.convex:
            alone = solve(make_objective(X, surrogate, C, (0.1, 0.3), ZERO), options(tol=1e-4), start)
            assert result.objective - result.lower_bound <= 1e-4 * C
            assert abs(result.objective - alone.objective) <= 1e-4 * C
            assert result.lower_bound <= alone.objective + 1e-9 * C
        else:
            assert np.isnan(result.lower_bound)
