"""The local minimisers for `hinge` and `ramp`: monotone, no worse than their start, stationary, repeatable."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from rocband.risks import Band
from rocband.risks.smoothed import SmoothedRisk
from rocband.rows import as_rows
from rocband.solvers import certified
from rocband.solvers.certified import Settings, Status
from rocband.solvers.dc import minimize_hinge, minimize_ramp
from rocband.solvers.path import is_convex, solve, solve_path
from rocband.solvers.problem import Problem
from trusted import Sample, minimum

MINIMIZERS = {"hinge": minimize_hinge, "ramp": minimize_ramp}
names = pytest.mark.parametrize("name", MINIMIZERS)
seeds = st.integers(0, 2**32 - 1)


def make_problem(seed, fpr_range, m=15, n=80, d=4, shift=0.5):
    random = np.random.default_rng(seed)
    X = random.normal(size=(m + n, d))
    X[:m] += shift
    return Problem(as_rows(X), np.arange(m + n) < m, fpr_range)


def objective(problem, name, w, C, origin):
    """From all pairs, by the reference."""
    scores = problem.rows.X @ w
    risk = getattr(reference, name)(scores[problem.positives], scores[problem.negatives], problem.band)
    return (w - origin) @ (w - origin) / 2 + C * risk


def options(**changes):
    return Settings(**{"tol": 1e-5, "max_passes": 500, **changes})


def fits(name, seed, C=10.0, fpr_range=(0.1, 0.3), start=None, origin=None, **changes):
    problem = make_problem(seed, fpr_range)
    origin = np.zeros(4) if origin is None else origin
    start = np.full(4, 0.3) if start is None else start
    result = MINIMIZERS[name](problem, C, origin, options(**changes), start)
    return problem, origin, start, result


@names
@settings(max_examples=25, deadline=None)
@given(
    seed=seeds,
    C=st.sampled_from([1e-3, 1.0, 30.0, 1e4]),
    fpr_range=st.sampled_from([(0.05, 0.1), (0.1, 0.3), (0.5, 1.0)]),
    anchored=st.booleans(),
)
def test_the_exact_objective_never_rises(name, seed, C, fpr_range, anchored):
    random = np.random.default_rng(seed)
    start, origin = random.normal(size=4), anchored * random.normal(size=4)
    problem, origin, start, result = fits(name, seed, C, fpr_range, start, origin)
    values = np.array([step.objective for step in result.history])
    assert values[0] == pytest.approx(objective(problem, name, start, C, origin), rel=1e-9)
    assert (np.diff(values) <= 0).all()
    assert values[-1] == result.objective
    assert result.objective == pytest.approx(objective(problem, name, result.w, C, origin), rel=1e-9)
    assert np.isfinite(result.w).all()
    scores = problem.rows.X @ result.w
    np.testing.assert_allclose(
        result.scores.positives, scores[problem.positives], atol=1e-9 * (1 + np.abs(scores).max())
    )


@names
@pytest.mark.parametrize("seed", range(5))
def test_small_steps_gain_nothing_much(name, seed):
    C = 10.0
    problem, origin, start, result = fits(name, seed, C, max_passes=2000)
    assert result.status is Status.CONVERGED
    assert result.objective < objective(problem, name, start, C, origin)
    random = np.random.default_rng(seed)
    for _ in range(200):
        step = random.normal(size=4)
        for length in (1e-3, 1e-2, 0.03):
            w = result.w + length * step / np.linalg.norm(step)
            assert objective(problem, name, w, C, origin) >= result.objective - 0.005 * C


@names
def test_it_descends_a_long_way_from_a_poor_start(name):
    problem, origin, start, result = fits(name, 0, C=100.0, start=-np.ones(4))
    assert result.objective < 0.7 * objective(problem, name, start, 100.0, origin)


@names
def test_the_same_every_time(name):
    first, second = (fits(name, 1)[3] for _ in range(2))
    np.testing.assert_array_equal(first.w, second.w)
    assert [step.objective for step in first.history] == [step.objective for step in second.history]


@names
@pytest.mark.parametrize("max_passes", [1, 2, 5])
def test_out_of_passes(name, max_passes):
    problem, origin, start, result = fits(name, 2, C=100.0, tol=1e-12, max_passes=max_passes)
    assert result.status is Status.MAX_PASSES
    assert result.objective <= objective(problem, name, start, 100.0, origin)
    assert result.history[-1].passes <= max_passes + 2


@names
def test_steps_are_recorded_and_passed_on(name):
    seen = []
    result = fits(name, 3, on_step=seen.append)[3]
    assert seen == result.history
    assert [step.step for step in seen] == list(range(len(seen)))
    assert all(np.isnan(step.lower_bound) and np.isnan(step.gap) for step in seen)
    assert (np.diff([step.passes for step in seen]) >= 0).all()


def test_hinge_without_a_lower_edge_is_tight():
    problem = make_problem(4, (0.0, 0.3))
    assert is_convex("hinge", problem)
    settings_, zeros = options(), np.zeros(4)
    exact = certified.minimize(problem, SmoothedRisk(problem.band), 10.0, zeros, settings_).objective
    # Both ways: by the solver for convex surrogates, and by the procedure, whose concave part is then nothing.
    assert solve(problem, "hinge", 10.0, zeros, settings_, zeros).objective == pytest.approx(exact, abs=1e-4)
    assert minimize_hinge(problem, 10.0, zeros, settings_, zeros).objective == pytest.approx(exact, abs=3e-4)


@pytest.mark.parametrize("seed", range(4))
def test_hinge_ends_where_its_majorant_is_smallest(seed):
    # hinge = (T_b - T_a) / N; with the tangent of T_a at w it is convex, and the trusted optimiser finds its minimum.
    C, problem = 10.0, make_problem(seed, (0.1, 0.3))
    w = minimize_hinge(problem, C, np.zeros(4), options(tol=1e-6), np.full(4, 0.3)).w
    positives, negatives = (problem.rows.X[rows] for rows in (problem.positives, problem.negatives))
    band = problem.band
    top = negatives[np.argsort(-(negatives @ w))[: band.start]]
    lost = 1 - np.subtract.outer(positives @ w, top @ w)
    pull = np.zeros(4)
    for i, j in zip(*np.nonzero(lost > 0), strict=True):
        pull += (top[j] - positives[i]) / reference.normalizer(positives, band)
    # 1/2 |w|^2 + C (T_b / N - pull . w) is 1/2 |w - C pull|^2 + C T_b / N, less a constant.
    whole = Sample(positives, negatives, Band(0, band.stop, band.n_negatives))
    weight, centre = C * band.stop / band.width, C * pull
    assert whole.objective(w, weight, centre) <= minimum(whole, weight, centre) + 3e-5 * C


@pytest.mark.parametrize("seed", range(3))
def test_ramp_is_bounded_where_hinge_collapses(seed):
    # The positives' mean is that of the negatives: a few far positives must be given up.
    random = np.random.default_rng(seed)
    negatives = random.normal(size=(200, 2))
    positives = np.vstack(
        [random.normal(size=(15, 2)) * 0.2 + [4.0, 0.0], random.normal(size=(5, 2)) * 0.2 - [12.0, 0.0]]
    )
    X = np.vstack([positives, negatives])
    problem = Problem(as_rows(X), np.arange(len(X)) < 20, (0.0, 0.1))
    start = np.array([1.0, 0.0])
    ramp = minimize_ramp(problem, 100.0, np.zeros(2), options(), start)
    assert ramp.objective < 40
    assert ramp.w[0] > 0.3
    tight = certified.minimize(problem, SmoothedRisk(problem.band), 100.0, np.zeros(2), options())
    assert tight.lower_bound >= 99.9


@pytest.mark.parametrize("name", ["hinge", "ramp"])
@pytest.mark.parametrize("kind", ["one positive", "zeros", "scaled", "duplicated", "narrow"])
def test_hard_data_stay_finite(name, kind):
    random = np.random.default_rng(0)
    X, fpr_range, m = random.normal(size=(60, 3)), (0.1, 0.4), 10
    if kind == "one positive":
        m = 1
    if kind == "zeros":
        X[:] = 0
    if kind == "scaled":
        X[:, 0] *= 1e6
    if kind == "duplicated":
        X = np.repeat(X[:20], 3, axis=0)
    if kind == "narrow":
        fpr_range = (0.98, 1.0)
    problem = Problem(as_rows(X), np.arange(60) < m, fpr_range)
    for C in (1e-5, 1.0, 1e6):
        start = np.array([0.1, 0.2, -0.1])
        result = MINIMIZERS[name](problem, C, np.zeros(3), options(max_passes=60), start)
        assert np.isfinite(result.w).all()
        assert result.objective <= objective(problem, name, start, C, np.zeros(3)) * (1 + 1e-9)


# Along a path


@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge", "ramp"])
def test_a_path_is_as_good_as_single_fits(surrogate):
    problem, origin = make_problem(6, (0.1, 0.3)), np.zeros(4)
    Cs = (0.1, 1.0, 10.0, 100.0)
    start = np.full(4, 0.3)
    path = solve_path(problem, surrogate, Cs, origin, options(tol=1e-4), start)
    assert tuple(fit.C for fit in path) == Cs
    for C, fit in zip(Cs, path, strict=True):
        assert fit.objective == pytest.approx(objective(problem, surrogate, fit.w, C, origin), rel=1e-9)
        assert fit.status is Status.CONVERGED
        if is_convex(surrogate, problem):
            alone = solve(problem, surrogate, C, origin, options(tol=1e-4), start)
            assert fit.objective - fit.lower_bound <= 1e-4 * C
            assert abs(fit.objective - alone.objective) <= 1e-4 * C
            assert fit.lower_bound <= alone.objective + 1e-9 * C
        else:
            assert np.isnan(fit.lower_bound)


@pytest.mark.parametrize(
    ("surrogate", "fpr_range", "convex"),
    [
        ("tight", (0.1, 0.3), True),
        ("naive", (0.1, 0.3), True),
        ("hinge", (0.0, 0.3), True),
        ("hinge", (0.1, 0.3), False),
        ("ramp", (0.0, 0.3), False),
    ],
)
def test_which_surrogates_are_convex(surrogate, fpr_range, convex):
    assert is_convex(surrogate, make_problem(0, fpr_range)) is convex


def test_bands_share_data_and_the_count_of_passes():
    problem = make_problem(0, (0.0, 0.3))
    wider = problem.with_range((0.0, 0.6))
    wider.scores(np.ones(4))
    assert problem.passes == wider.passes == 1
    assert problem.band == Band(0, 24, 80)
    assert wider.band == Band(0, 48, 80)
    problem.scores(np.zeros(4))
    assert problem.passes == 1
