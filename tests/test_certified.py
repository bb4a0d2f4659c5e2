"""The certified solver against a slow trusted one, its certificate from first principles, and hard data."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from rocband.problems.rows import RowsProblem
from rocband.risks import Band, risk_for
from rocband.risks.tight import TightRisk
from rocband.rows import as_rows
from rocband.solvers import certified, newton
from rocband.solvers.certified import minimize
from rocband.solvers.objective import Objective
from rocband.solvers.planes import Planes
from rocband.solvers.result import Settings, Status
from trusted import Sample, all_planes, minimize_planes, minimum, tangent

THOROUGH = settings(max_examples=60)
seeds = st.integers(0, 2**32 - 1)
surrogates = pytest.mark.parametrize("surrogate", ["tight", "naive"])
BANDS = [(0.0, 0.2), (0.0, 1.0), (0.1, 0.4), (0.5, 0.8), (0.9, 1.0)]


def make_sample(seed, m=8, n=30, d=4, shift=0.7, fpr_range=(0.0, 0.2), surrogate="tight"):
    random = np.random.default_rng(seed)
    positives = random.normal(size=(m, d)) + shift
    negatives = random.normal(size=(n, d))
    return Sample(positives, negatives, Band.from_range(fpr_range, n), surrogate)


def make_objective(sample, C, origin=None, dtype=np.float64):
    """The rows of both classes in one array, the positives first."""
    X = np.vstack([sample.positives, sample.negatives]).astype(dtype)
    positive = np.arange(len(X)) < len(sample.positives)
    problem = RowsProblem(as_rows(X), positive)
    origin = np.zeros(problem.n_features) if origin is None else origin
    return Objective(problem, risk_for(sample.surrogate, sample.band), C, origin)


def solve(sample, C, origin=None, *, tol=1e-4, max_passes=500, **options):
    return minimize(make_objective(sample, C, origin), Settings(tol, max_passes), **options)


def check_certificate(result, sample, C, origin, slack=1e-9):
    """Prove the bound again from planes and multipliers, and the objective from the model."""
    proof = result.certificate
    assert (proof.multipliers >= 0).all()
    assert proof.multipliers.sum() == pytest.approx(C, rel=1e-9)
    pull = proof.multipliers @ proof.slopes
    bound = proof.multipliers @ (proof.offsets + proof.slopes @ origin) - pull @ pull / 2
    assert bound == pytest.approx(result.lower_bound, rel=1e-8, abs=1e-9 * C)
    random = np.random.default_rng(0)
    for centre in (origin, result.w, np.zeros(len(origin))):
        for scale in (0.0, 1e-3, 0.1, 1.0, 30.0):
            w = centre + scale * random.normal(size=len(origin))
            far = max(np.abs(sample.positives @ w).max(), np.abs(sample.negatives @ w).max())
            assert (proof.offsets + proof.slopes @ w).max() <= sample.risk(w) + slack * (1 + far)
    objective = sample.objective(result.w, C, origin)
    assert result.objective == pytest.approx(objective, rel=1e-8, abs=1e-9 * C)
    assert result.lower_bound <= objective + slack * (objective + C)


@st.composite
def small_samples(draw):
    m, n, d = draw(st.integers(1, 6)), draw(st.integers(1, 14)), draw(st.integers(1, 4))
    random = np.random.default_rng(draw(seeds))
    shift = draw(st.sampled_from([0.0, 0.5, 1.0, 4.0]))
    positives, negatives = random.normal(size=(m, d)) + shift, random.normal(size=(n, d))
    if draw(st.booleans()):  # ties and duplicated rows
        positives, negatives = np.round(positives), np.round(negatives)
    start = draw(st.one_of(st.just(0), st.integers(0, n - 1)))
    band = Band(start, draw(st.integers(start + 1, n)), n)
    return Sample(positives, negatives, band, draw(st.sampled_from(["tight", "naive"])))


@THOROUGH
@given(sample=small_samples(), C=st.sampled_from([1e-3, 0.1, 1.0, 10.0, 300.0]), anchored=st.booleans(), seed=seeds)
def test_objectives_agree_with_a_trusted_optimiser(sample, C, anchored, seed):
    origin = anchored * np.random.default_rng(seed).normal(size=sample.positives.shape[1])
    expected = minimum(sample, C, origin)
    result = solve(sample, C, origin, tol=1e-5)
    assert result.status is Status.CONVERGED
    assert expected - 1.1e-5 * C - 1e-9 <= result.objective <= expected + 1.1e-5 * C
    assert result.lower_bound <= expected + 1e-8 * (C + expected)
    check_certificate(result, sample, C, origin)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("band", [Band(0, 2, 4), Band(1, 3, 4), Band(2, 3, 3)])
def test_objective_is_the_minimum_over_all_orderings(band, seed):
    # Not one formula of the surrogates: every ordering of every subset of the negatives is a plane.
    random = np.random.default_rng(seed)
    sample = Sample(random.normal(size=(2, 2)) + 0.5, random.normal(size=(band.n_negatives, 2)), band)
    slopes, offsets = all_planes(sample)
    for C in (1.0, 30.0):
        w, expected = minimize_planes(slopes, offsets, C, np.zeros(2), np.zeros(2))
        assert expected == pytest.approx(sample.objective(w, C, np.zeros(2)), rel=1e-6)
        assert solve(sample, C, tol=1e-6).objective == pytest.approx(expected, abs=2e-6 * C)


def test_the_trusted_optimiser_can_be_trusted():
    sample = make_sample(3, fpr_range=(0.1, 0.4))
    random = np.random.default_rng(0)
    for _ in range(20):
        w, other = random.normal(size=(2, 4))
        slope, offset = tangent(sample, w)
        assert offset + slope @ w == pytest.approx(sample.risk(w))
        assert offset + slope @ other <= sample.risk(other) + 1e-12
    expected = minimum(sample, 2.0, np.ones(4))
    models = np.ones(4) + 0.5 * random.normal(size=(500, 4))
    assert min(sample.objective(w, 2.0, np.ones(4)) for w in models) >= expected - 2e-5


@surrogates
@pytest.mark.parametrize("fpr_range", BANDS)
@pytest.mark.parametrize("C", [1e-5, 1e-2, 1.0, 100.0, 1e4, 1e6])
def test_converges_and_proves_it(fpr_range, C, surrogate):
    sample = make_sample(1, m=12, n=60, d=5, fpr_range=fpr_range, surrogate=surrogate)
    origin = np.zeros(5)
    result = solve(sample, C)
    assert result.status is Status.CONVERGED
    assert result.objective - result.lower_bound <= C * 1e-4
    assert result.objective <= C * (1 + 1e-12)
    check_certificate(result, sample, C, origin)


@pytest.mark.parametrize("fpr_range", BANDS)
def test_separable_data(fpr_range):
    sample = make_sample(2, d=6, shift=4.0, fpr_range=fpr_range)
    for C in (1.0, 100.0, 1e5):
        result = solve(sample, C)
        assert result.status is Status.CONVERGED
        check_certificate(result, sample, C, np.zeros(6))
    assert sample.risk(result.w) < 1e-3


def test_more_columns_than_rows():
    sample = make_sample(3, m=6, n=25, d=80)
    for C in (0.1, 10.0, 1000.0):
        result = solve(sample, C)
        assert result.status is Status.CONVERGED
        check_certificate(result, sample, C, np.zeros(80))


@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.1, 0.5), (0.0, 1.0)])
def test_one_positive(fpr_range):
    sample = make_sample(4, m=1, fpr_range=fpr_range)
    result = solve(sample, 10.0, tol=1e-5)
    assert result.objective == pytest.approx(minimum(sample, 10.0, np.zeros(4)), abs=3e-4)
    check_certificate(result, sample, 10.0, np.zeros(4))


def test_one_negative_of_each_class():
    sample = Sample(np.array([[2.0]]), np.array([[1.0]]), Band(0, 1, 1))
    # 1/2 w^2 + (1 - w)_+ is smallest at 1.
    result = solve(sample, 1.0, tol=1e-8)
    assert result.w[0] == pytest.approx(1.0, abs=1e-4)
    assert result.objective == pytest.approx(0.5, abs=1e-7)


@pytest.mark.parametrize("fpr_range", [(0.0, 0.2), (0.1, 0.4)])
def test_constant_columns_have_no_weight(fpr_range):
    sample = make_sample(5, fpr_range=fpr_range)
    constant = [np.column_stack([rows, np.full(len(rows), 7.0)]) for rows in (sample.positives, sample.negatives)]
    with_constant = Sample(*constant, sample.band)
    result = solve(with_constant, 10.0, tol=1e-6)
    assert result.w[-1] == pytest.approx(0, abs=1e-9)
    assert result.objective == pytest.approx(solve(sample, 10.0, tol=1e-6).objective, abs=2e-5)


@pytest.mark.parametrize("value", [0.0, 3.0, 1e6])
def test_nothing_but_constant_columns(value):
    sample = Sample(np.full((3, 2), value), np.full((9, 2), value), Band(1, 4, 9))
    result = solve(sample, 5.0)
    assert result.status is Status.CONVERGED
    assert result.lower_bound == pytest.approx(5.0, rel=1e-4)
    np.testing.assert_allclose(result.w, 0, atol=1e-12)


def test_duplicated_rows_change_nothing():
    sample = make_sample(6, fpr_range=(0.1, 0.4))
    band = sample.band
    doubled = Sample(
        np.repeat(sample.positives, 2, axis=0),
        np.repeat(sample.negatives, 3, axis=0),
        Band(3 * band.start, 3 * band.stop, 3 * band.n_negatives),
    )
    results = [solve(each, 20.0, tol=1e-6) for each in (sample, doubled)]
    assert results[0].objective == pytest.approx(results[1].objective, abs=4e-5)
    np.testing.assert_allclose(results[0].w, results[1].w, atol=0.02)


@pytest.mark.parametrize("C", [1e-5, 1.0, 100.0, 1e6])
@pytest.mark.parametrize("fpr_range", [(0.0, 0.2), (0.1, 0.4), (0.0, 1.0)])
def test_columns_on_very_different_scales(fpr_range, C):
    sample = make_sample(7, fpr_range=fpr_range)
    scales = np.array([1e6, 1.0, 1.0, 1e-3])
    scaled = Sample(sample.positives * scales, sample.negatives * scales, sample.band)
    result = solve(scaled, C, max_passes=150)
    assert np.isfinite(result.w).all()
    assert np.isfinite(result.lower_bound)
    assert result.objective <= C * (1 + 1e-9)
    # The scores of a far origin lose digits, so that the proof holds to fewer.
    check_certificate(result, scaled, C, np.zeros(4), slack=1e-7)


def test_columns_on_very_different_scales_converge_for_small_C():
    sample = make_sample(7)
    scales = np.array([1e6, 1.0, 1.0, 1e-3])
    result = solve(Sample(sample.positives * scales, sample.negatives * scales, sample.band), 1.0)
    assert result.status is Status.CONVERGED


def test_single_precision_data():
    sample = make_sample(8, fpr_range=(0.1, 0.4))
    single = Sample(
        *(rows.astype(np.float32).astype(float) for rows in (sample.positives, sample.negatives)), sample.band
    )
    result = minimize(make_objective(single, 10.0, dtype=np.float32), Settings())
    assert result.status is Status.CONVERGED
    assert result.w.dtype == np.float64
    assert result.objective == pytest.approx(single.objective(result.w, 10.0, np.zeros(4)), rel=1e-5)
    assert result.objective == pytest.approx(solve(single, 10.0).objective, abs=2e-3)


# The collapse


def collapsing(fpr_range=(0.0, 0.2), surrogate="tight", seed=0):
    """Positives drawn again from the negatives at the centre: no direction separates their mean."""
    random = np.random.default_rng(seed)
    negatives = random.normal(size=(60, 4))
    negatives -= negatives.mean(axis=0)
    positives = np.vstack([0.1 * random.normal(size=(9, 4)), np.zeros((1, 4))])
    positives -= positives.mean(axis=0)
    return Sample(positives, negatives, Band.from_range(fpr_range, 60), surrogate)


@surrogates
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0, 1e4, 1e6])
@pytest.mark.parametrize("fpr_range", [(0.0, 0.2), (0.05, 0.3), (0.0, 1.0)])
def test_a_collapse_is_proved(fpr_range, C, surrogate):
    sample = collapsing(fpr_range, surrogate)
    result = solve(sample, C)
    assert result.status is Status.CONVERGED
    assert result.lower_bound >= C * (1 - 1e-4)
    assert result.objective <= C * (1 + 1e-12)
    assert len(result.history) <= 60
    check_certificate(result, sample, C, np.zeros(4))


def test_positives_among_the_negatives_collapse():
    random = np.random.default_rng(0)
    rows = random.normal(size=(40, 3))
    sample = Sample(rows, rows, Band(0, 8, 40))
    result = solve(sample, 1000.0)
    assert result.lower_bound >= 1000.0 * (1 - 1e-4)
    check_certificate(result, sample, 1000.0, np.zeros(3))


# Steps


@surrogates
@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.0, 1.0), (0.1, 0.4)])
def test_the_bound_keeps_rising_and_the_objective_never_does(fpr_range, surrogate):
    for seed in range(2):
        sample = make_sample(seed, m=20, n=100, d=8, shift=0.3, fpr_range=fpr_range, surrogate=surrogate)
        history = solve(sample, 100.0, tol=1e-6).history
        bounds, objectives = np.array([[step.lower_bound, step.objective] for step in history]).T
        assert (np.diff(bounds) >= 0).all()
        assert (np.diff(objectives) <= 0).all()
        # It never stalls for long: within any 25 steps the gap shrinks.
        gaps = objectives - bounds
        assert (gaps[25:] < 0.999 * gaps[:-25]).all()


def test_history_and_on_step():
    seen = []
    objective = make_objective(make_sample(9), 10.0)
    result = minimize(objective, Settings(1e-4, 500, on_step=seen.append))
    assert seen == result.history
    assert [step.step for step in seen] == list(range(len(seen)))
    assert seen[-1].passes == objective.problem.passes
    assert (seen[-1].objective, seen[-1].lower_bound) == (result.objective, result.lower_bound)
    for before, after in pairwise(seen):
        assert after.passes > before.passes
        assert after.seconds >= before.seconds
        assert after.gap == after.objective - after.lower_bound


@pytest.mark.parametrize("max_passes", [1, 3, 7])
def test_out_of_passes_still_has_a_valid_bound(max_passes):
    sample = make_sample(10, fpr_range=(0.1, 0.4))
    result = solve(sample, 100.0, tol=1e-9, max_passes=max_passes)
    assert result.status is Status.MAX_PASSES
    assert result.history[-1].passes == max_passes
    assert result.objective - result.lower_bound > 1e-7
    check_certificate(result, sample, 100.0, np.zeros(4))
    assert result.lower_bound <= minimum(sample, 100.0, np.zeros(4)) * (1 + 1e-9)


def test_the_same_every_time():
    sample = make_sample(11, m=50, n=400, d=6)
    first, second = (solve(sample, 50.0) for _ in range(2))
    np.testing.assert_array_equal(first.w, second.w)
    assert first.lower_bound == second.lower_bound


@pytest.mark.parametrize("fpr_range", [(0.0, 0.2), (0.1, 0.4), (0.0, 1.0)])
def test_a_gap_can_be_closed_to_rounding(fpr_range):
    sample = make_sample(17, fpr_range=fpr_range)
    result = solve(sample, 10.0, tol=1e-9)
    assert result.status is Status.CONVERGED
    check_certificate(result, sample, 10.0, np.zeros(4))


# What the rules of a step are worth


def passes(objectives, tol, starts=None):
    """Passes of all solves together; they have to converge."""
    total = 0
    for number, objective in enumerate(objectives):
        start = None if starts is None else starts[number]
        result = minimize(objective, Settings(tol, 1000), start=start)
        assert result.status is Status.CONVERGED
        total += result.history[-1].passes
    return total


def test_a_slower_pace_saves_passes_where_positives_are_few_for_the_features(monkeypatch):
    # The classes can be separated, and C is large: few rows are on the edge, and other ones after each step.
    samples = [make_sample(seed, m=20, n=200, d=60, shift=0.2, fpr_range=(0.0, 0.1)) for seed in range(3)]
    objectives = [make_objective(sample, 1000.0) for sample in samples]
    wide = passes(objectives, 1e-4)
    monkeypatch.setattr(certified, "_WIDE", certified._NARROW)
    assert wide < 0.6 * passes(objectives, 1e-4)


def test_a_faster_pace_saves_passes_where_positives_are_many(monkeypatch):
    samples = [make_sample(seed, m=100, n=1000, d=4, shift=0.5, fpr_range=(0.0, 1.0)) for seed in range(3)]
    objectives = [make_objective(sample, 100.0) for sample in samples]
    narrow = passes(objectives, 1e-4)
    monkeypatch.setattr(certified, "_NARROW", certified._WIDE)
    assert narrow < 0.6 * passes(objectives, 1e-4)


def test_more_rows_for_the_curvature_save_passes_when_the_smoothing_stays(monkeypatch):
    # A small part of the rows shows the curvature, as it does of many more rows.
    monkeypatch.setattr(newton, "_FEWEST_ROWS", 60)
    monkeypatch.setattr(newton, "_ROWS_PER_FEATURE", 5)
    samples = [make_sample(seed, m=600, n=3000, d=10, shift=0.2, fpr_range=(0.0, 1.0)) for seed in range(3)]
    objectives = [make_objective(sample, 1e4) for sample in samples]
    growing = passes(objectives, 1e-5)
    monkeypatch.setattr(certified, "_MOST_EFFORT", 1.0)
    assert growing < 0.8 * passes(objectives, 1e-5)


def test_the_effort_grows_while_the_smoothing_stays(monkeypatch):
    efforts = []
    smoothings = {}
    direction = newton.direction

    def seen(problem, graphs, C, gradient, random, effort):
        efforts.append(effort)
        return direction(problem, graphs, C, gradient, random, effort)

    class Seen(TightRisk):
        def plane(self, scores, smoothing):
            smoothings.setdefault(len(efforts), smoothing)  # of the first evaluation after each direction
            return super().plane(scores, smoothing)

    monkeypatch.setattr(newton, "direction", seen)
    monkeypatch.setattr(newton, "_FEWEST_ROWS", 30)
    monkeypatch.setattr(newton, "_ROWS_PER_FEATURE", 3)
    sample = make_sample(0, m=600, n=3000, d=10, shift=0.2, fpr_range=(0.0, 1.0))
    objective = replace(make_objective(sample, 1e4), risk=Seen(sample.band))
    assert minimize(objective, Settings(1e-5, 500)).status is Status.CONVERGED
    assert max(efforts) > 2.0
    for step, (before, after) in enumerate(pairwise(efforts), start=1):
        stays = smoothings[step + 1] == smoothings[step]
        assert after == (min(2.0 * before, 16.0) if stays else 1.0)


def overlapping(seed, fpr_range):
    """Classes that overlap so much that no model beats the constant scorer."""
    random = np.random.default_rng(seed)
    positives = random.normal(size=(40, 5))
    positives[:, 0] += 0.3
    return Sample(positives, random.normal(size=(400, 5)), Band.from_range(fpr_range, 400))


@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.02, 0.05)])
def test_a_collapse_is_proved_in_few_passes(fpr_range, monkeypatch):
    # The minimiser shrinks with the smoothing; a search towards the origin follows it without a pass.
    objectives = [make_objective(overlapping(seed, fpr_range), 100.0) for seed in range(3)]
    rescaled = passes(objectives, 1e-5)
    monkeypatch.setattr(certified._Solver, "_rescaled", lambda solver, here: here)
    assert rescaled < 0.5 * passes(objectives, 1e-5)


def test_a_path_starts_outwards_without_a_pass(monkeypatch):
    # The model grows with C; a search away from the origin takes most of that growth for nothing.
    def passes_of_path(seed):
        objective = make_objective(make_sample(seed, m=100, n=1000, d=5, shift=2.0, fpr_range=(0.0, 1.0)), 1.0)
        warm = None
        for C in np.logspace(-3, 3, 8):
            warm = minimize(replace(objective, C=C), Settings(), warm=warm)
            assert warm.status is Status.CONVERGED
        return objective.problem.passes

    rescaled = certified._Solver._rescaled

    def only_later(solver, here):
        return rescaled(solver, here) if solver.history.steps else here

    outwards = sum(passes_of_path(seed) for seed in range(3))
    monkeypatch.setattr(certified._Solver, "_rescaled", only_later)
    assert outwards < 0.9 * sum(passes_of_path(seed) for seed in range(3))


def test_a_smoothing_taken_over_is_not_widened_as_much_as_C_changes(monkeypatch):
    def passes_of_path(seed):
        objective = make_objective(make_sample(seed, m=100, n=1000, d=5, shift=0.5, fpr_range=(0.0, 1.0)), 1.0)
        warm = None
        for C in (1e-2, 1.0, 1e2, 1e4):
            warm = minimize(replace(objective, C=C), Settings(), warm=warm)
        return objective.problem.passes

    limited = sum(passes_of_path(seed) for seed in range(3))
    monkeypatch.setattr(certified, "_WIDEST_AGAIN", np.inf)
    assert limited < 0.9 * sum(passes_of_path(seed) for seed in range(3))


def test_a_start_near_the_minimum_is_not_smoothed_away(monkeypatch):
    samples = [make_sample(seed, m=50, n=300, d=6, fpr_range=(0.0, 0.3)) for seed in range(3)]
    starts = [solve(sample, 100.0).w for sample in samples]
    objectives = [make_objective(sample, 110.0) for sample in samples]
    sharp = passes(objectives, 1e-4, starts)
    monkeypatch.setattr(certified, "_RESTART", certified._START)
    assert sharp < 0.7 * passes(objectives, 1e-4, starts)


def test_a_search_that_only_flattens_the_slope_costs_passes(monkeypatch):
    # Far from the minimum, and with long tails, a step can end on the other side, where it is as flat and higher.
    objectives = []
    starts = []
    for seed, m, fpr_range, C in ((155, 8, (0.2, 0.6), 1e3), (81, 30, (0.2, 0.6), 10.0), (287, 2, (0.0, 0.2), 10.0)):
        random = np.random.default_rng(seed)
        X = random.standard_t(1.2, size=(m + 40, 5))
        X[:m] += 0.7
        objectives.append(make_objective(Sample(X[:m], X[m:], Band.from_range(fpr_range, 40)), C))
        starts.append(random.normal(size=5))
    lower = passes(objectives, 1e-4, starts)
    monkeypatch.setattr(certified._Solver, "_lower", lambda solver, there, here: True)
    assert lower < passes(objectives, 1e-4, starts)


# Planes and results of earlier solves


@surrogates
@pytest.mark.parametrize("fpr_range", [(0.0, 0.2), (0.1, 0.4)])
def test_planes_of_another_C_and_origin(fpr_range, surrogate):
    sample = make_sample(12, fpr_range=fpr_range, surrogate=surrogate)
    planes, random = Planes(4), np.random.default_rng(0)
    for C in (1.0, 200.0, 0.01, 30.0):
        origin = random.normal(size=4)
        result = solve(sample, C, origin, planes=planes, start=random.normal(size=4))
        assert result.status is Status.CONVERGED
        assert result.memory.planes is planes
        check_certificate(result, sample, C, origin)
        assert result.objective == pytest.approx(minimum(sample, C, origin), abs=2e-4 * C)


def test_a_result_to_start_from():
    sample = make_sample(13, m=40, n=300, d=6)
    earlier = solve(sample, 10.0)
    cold = solve(sample, 20.0)
    warm = solve(sample, 20.0, warm=earlier)
    check_certificate(warm, sample, 20.0, np.zeros(6))
    assert warm.status is Status.CONVERGED
    assert warm.history[-1].passes < cold.history[-1].passes
    again = solve(sample, 10.0, warm=earlier)
    assert again.history[-1].passes == 0


@pytest.mark.parametrize("start", [np.zeros(4), np.full(4, 100.0), np.array([-5.0, 3.0, 0.0, 0.0])])
def test_any_start(start):
    sample = make_sample(14)
    result = solve(sample, 10.0, np.ones(4), start=start)
    assert result.objective == pytest.approx(minimum(sample, 10.0, np.ones(4)), abs=2e-3)
    check_certificate(result, sample, 10.0, np.ones(4))


def test_small_C_stays_at_the_origin():
    sample, origin = make_sample(15), np.array([1.0, -2.0, 0.5, 0.0])
    result = solve(sample, 1e-6, origin)
    np.testing.assert_allclose(result.w, origin, atol=1e-5)


def test_the_full_auc_is_the_mean_pairwise_hinge():
    sample = make_sample(16, fpr_range=(0.0, 1.0))
    result = solve(sample, 5.0, tol=1e-6)
    gaps = np.subtract.outer(sample.positives @ result.w, sample.negatives @ result.w)
    hinges = np.maximum(1 - gaps, 0).mean()
    assert result.objective == pytest.approx(result.w @ result.w / 2 + 5 * hinges)
    assert result.objective == pytest.approx(minimum(sample, 5.0, np.zeros(4)), abs=1e-4)


def wide_sample(fpr_range):
    """Many features for each positive."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 200))
    positive = random.random(300) < 0.2
    X[positive, 0] += 1.0
    return Sample(X[positive], X[~positive], Band.from_range(fpr_range, np.count_nonzero(~positive)))


@pytest.mark.parametrize("columns", [slice(None), 5], ids=["all", "one"])
def test_many_features_far_from_0(columns):
    sample = wide_sample((0.0, 0.1))
    sample.positives[:, columns] += 1e8
    sample.negatives[:, columns] += 1e8
    assert solve(sample, 10.0).status is Status.CONVERGED


@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.02, 0.3), (0.0, 1.0)])
def test_many_features_are_certified_too(fpr_range):
    sample = wide_sample(fpr_range)
    result = solve(sample, 10.0)
    assert result.status is Status.CONVERGED
    assert result.objective - result.lower_bound <= 10.0 * 1e-4
    check_certificate(result, sample, 10.0, np.zeros(200))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.1, 0.3), (0.3, 0.6)])
def test_negatives_that_are_all_0(fpr_range, kind):
    X = np.zeros((3300, 3))
    positive = np.arange(3300) < 300
    X[positive] = np.random.default_rng(0).normal(size=(300, 3)) + 0.5
    problem = RowsProblem(as_rows(kind(X)), positive)
    risk = risk_for("tight", Band.from_range(fpr_range, 3000))
    result = minimize(Objective(problem, risk, 10.0, np.zeros(3)), Settings())
    assert result.status is Status.CONVERGED
