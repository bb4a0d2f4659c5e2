"""The baselines: scikit-learn citizens, and each solves the problem it states."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import ndtr
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference_baselines as reference
from rocband import CollapsedSolutionWarning, PartialAUCSVC
from rocband.baselines import AsymmetricSVC, GreedyPartialAUC, PartialAUCBoost
from rocband.baselines.asymmetric_risk import AsymmetricRisk
from rocband.baselines.features import Splines, Steps, functions_of
from rocband.baselines.greedy import weight_grid
from rocband.baselines.parts import ClassParts
from rocband.baselines.smooth_area import SmoothArea, band_shares, normal_sums
from rocband.datasets import make_band_problem
from rocband.metrics import partial_auc_score
from rocband.risks import Band, Scores, Smoothing

BAND = (0.02, 0.3)
MODELS = (AsymmetricSVC(0.15, 0.03), PartialAUCBoost(BAND, n_rounds=8), GreedyPartialAUC(BAND, n_weights=10))
models = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
seeds = st.integers(0, 10**6)


@pytest.fixture(scope="module")
def data():
    """Two continuous features that serve, one discrete, one constant."""
    X, y = make_band_problem(500, n_features=4, random_state=0)
    X[:, 2] = (X[:, 2] + y).round().clip(-2, 2)
    X[:, 3] = 1.0
    return X, y


@pytest.fixture
def array_api_checks(monkeypatch):
    """Without it scikit-learn skips one check."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")
@pytest.mark.usefixtures("array_api_checks")
@pytest.mark.filterwarnings("ignore::rocband.PositiveClassWarning")  # one check has the labels 1 and 2
@parametrize_with_checks(
    [
        AsymmetricSVC(),
        AsymmetricSVC(0.1, 0.05, target_fpr=0.1),
        PartialAUCBoost(n_rounds=10),
        PartialAUCBoost((0.05, 0.2), n_rounds=5, n_knots=4, target_fpr=0.05),
        GreedyPartialAUC(),
        GreedyPartialAUC((0.05, 0.2), n_weights=5, target_fpr=0.05),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# What all of them share


@models
def test_prediction_at_the_threshold(data, model):
    X, y = data
    model = clone(model).set_params(target_fpr=0.1).fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(scores > 0).astype(int)])
    assert (scores[y == 0] > 0).mean() <= 0.1
    assert partial_auc_score(y, scores, fpr_range=BAND) > 0.3


@models
def test_kinds_of_data(data, model):
    X, y = data
    X = np.where(np.abs(X) < 0.4, 0.0, X)
    scores = clone(model).fit(X, y).decision_function(X)
    for kind in (sparse.csr_array, sparse.csc_matrix):
        fitted = clone(model).fit(kind(X), y)
        np.testing.assert_allclose(fitted.decision_function(kind(X)), scores, atol=1e-6)
    table = pd.DataFrame(X, columns=list("abcd"))
    fitted = clone(model).set_params(pos_label="yes").fit(table, np.where(y, "yes", "no"))
    np.testing.assert_array_equal(fitted.feature_names_in_, list("abcd"))
    np.testing.assert_array_equal(fitted.classes_, ["no", "yes"])
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(fitted)).decision_function(table), fitted.decision_function(table)
    )


@models
def test_float32(data, model):
    X, y = data
    single = clone(model).fit(X.astype(np.float32), y)
    double = clone(model).fit(X.astype(np.float32).astype(np.float64), y)
    areas = [
        partial_auc_score(y, each.decision_function(X.astype(np.float32)), fpr_range=BAND) for each in (single, double)
    ]
    assert areas[0] == pytest.approx(areas[1], abs=0.01)
    if hasattr(single, "coef_"):
        assert single.coef_.dtype == single.intercept_.dtype == np.float32


@models
def test_the_same_fit_again(data, model):
    X, y = data
    first, second = (clone(model).fit(X, y).decision_function(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@models
def test_verbose(data, model, capsys):
    clone(model).fit(*data)
    quiet = capsys.readouterr()
    assert not quiet.out + quiet.err
    clone(model).set_params(verbose=1).fit(*data)
    told = capsys.readouterr()
    lines = (told.out + told.err).splitlines()
    assert len(lines) > 1
    assert all(line.startswith("[rocband] ") for line in lines)


@models
def test_errors_they_share(data, model):
    X, y = data
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    with pytest.raises(ValueError, match="target_fpr must be a finite number above 0 and at most 1, got 2"):
        clone(model).set_params(target_fpr=2).fit(X, y)
    with pytest.raises(ValueError, match="only one class"):
        clone(model).fit(X, np.zeros(len(y)))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (AsymmetricSVC(mu=0), "mu must be a finite number above 0, got 0"),
        (AsymmetricSVC(tau=-1), "tau must be a finite number above 0, got -1"),
        (AsymmetricSVC(0.15, 0.06), "mu . tau must be at most the share of the positives, 0.2 here, got 0.21"),
        (AsymmetricSVC(max_iter=0), "max_iter must be a whole number above 0, got 0"),
        (PartialAUCBoost((0.3, 0.1)), "fpr_range must satisfy 0 <= low < high <= 1"),
        (PartialAUCBoost(n_rounds=0.5), "n_rounds must be a whole number above 0"),
        (PartialAUCBoost(sigma=0), "sigma must be a finite number above 0"),
        (PartialAUCBoost(roughness=-1.0), "roughness must be a finite number above 0, got -1.0"),
        (PartialAUCBoost(n_knots=2), "n_knots must be a whole number above 2"),
        (GreedyPartialAUC((0, 2)), "fpr_range must satisfy 0 <= low < high <= 1"),
        (GreedyPartialAUC(n_weights=1), "n_weights must be a whole number above 1"),
        (GreedyPartialAUC((1.0 / 400, 1.0 / 400 + 1e-16)), "holds none of the 400 negatives"),
        (PartialAUCBoost((1.0 / 400, 1.0 / 400 + 1e-16)), "holds none of the 400 negatives"),
    ],
)
def test_errors(data, model, message):
    X, y = data
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


# The asymmetric support vector machine


@pytest.mark.parametrize(("mu", "tau"), [(0.1, 0.05), (0.21, 0.013), (0.01, 0.02), (0.3, 0.05)])
@pytest.mark.parametrize("seed", [0, 1])
def test_asymmetric_dual(mu, tau, seed):
    random = np.random.default_rng(seed)
    y = np.arange(60) < 24
    X = random.normal(size=(60, 3)) + 1.5 * y[:, None]
    w = reference.asymmetric_dual(X, y, mu, tau)
    model = AsymmetricSVC(mu, tau, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], w, atol=5e-3 * np.linalg.norm(w))
    minimum = reference.asymmetric_objective(w, X, y, mu, tau)
    assert minimum == pytest.approx(-w @ w / 2, rel=1e-5)  # no duality gap: the reference solved it
    assert model.objective_ == pytest.approx(reference.asymmetric_objective(model.coef_[0], X, y, mu, tau), rel=1e-9)
    assert model.lower_bound_ <= minimum * (1 - 1e-5)
    assert model.objective_ == pytest.approx(minimum, rel=1e-4)
    assert -1e-9 <= model.dual_gap_ / abs(model.objective_) <= 1.01e-6
    assert model.converged_
    assert model.n_iter_ == model.history_[-1]["passes"] + 1
    assert model.history_[-1]["objective"] == pytest.approx(model.objective_)


@given(seed=seeds, lowest=st.floats(0.1, 9), highest=st.floats(0.1, 12), width=st.floats(1e-3, 3))
@settings(max_examples=60)
def test_asymmetric_planes_lie_below(seed, lowest, highest, width):
    random = np.random.default_rng(seed)
    risk = AsymmetricRisk(lowest, highest, 0.7)
    here, there = (Scores.of(random.normal(size=9).round(1), random.normal(size=12).round(1)) for _ in range(2))
    plane = risk.plane(here, Smoothing(1.0, width))
    sharp = risk.sharp(here)
    assert here.slope(sharp) == pytest.approx(sharp.value)
    assert plane.value == pytest.approx(sharp.value)
    assert plane.value - plane.rank_error == pytest.approx(here.slope(plane))
    for each in (here, there):
        exact = risk.value(each)
        assert each.slope(plane) <= exact + 1e-9
        assert each.slope(sharp) <= exact + 1e-9
    assert plane.positives.sum() == pytest.approx(-1)
    assert plane.negatives.sum() == pytest.approx(0.7)


def test_asymmetric_all_rows_count():
    # With mu = share of the negatives and mu + tau = share of the positives all weights are 1/N.
    random = np.random.default_rng(0)
    y = np.arange(50) < 30
    X = random.normal(size=(50, 4))
    model = AsymmetricSVC(0.4, 0.2).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], (X[y].sum(0) - X[~y].sum(0)) / 50, rtol=1e-9)


def test_asymmetric_collapse():
    X = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.warns(CollapsedSolutionWarning, match="use a larger mu or tau"):
        model = AsymmetricSVC(0.02, 0.001).fit(X, np.arange(200) % 2)
    assert model.converged_
    assert model.objective_ == pytest.approx(0.0, abs=1e-9)


def test_asymmetric_out_of_passes(data):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = AsymmetricSVC(0.15, 0.03, max_iter=2, tol=1e-9).fit(*data)
    assert not model.converged_
    assert model.lower_bound_ < model.objective_


def test_no_features_that_tell():
    with pytest.warns(CollapsedSolutionWarning):
        model = AsymmetricSVC(0.1, 0.01).fit(np.zeros((40, 2)), np.arange(40) % 2)
    assert model.converged_
    assert not model.coef_.any()


# Boosting


def objective(model, X, y):
    """The objective from all pairs, and from differences of the fitted functions."""
    scores = model.decision_function(X)
    band = Band.from_range(model.fpr_range, int((y == 0).sum()))
    rough = 0.0
    for k, functions in enumerate(model.functions_):
        if isinstance(functions, Splines):
            bounds = X[:, k].min(), X[:, k].max()
            c = model.coefficients_[k]
            rough += reference.integral_of_squared_bend(lambda x, f=functions, c=c: f.evaluate(x, c), *bounds)
    return reference.smooth_area(scores[y == 1], scores[y == 0], band, model.sigma) - model.roughness * rough


@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.02, 0.05), (0.0, 1.0)])
@pytest.mark.parametrize("roughness", [0.0, 1e-6, 1e-3])
def test_boosting_never_falls(data, fpr_range, roughness):
    X, y = data
    model = PartialAUCBoost(fpr_range, n_rounds=40, roughness=roughness, sigma=0.1).fit(X, y)
    assert (np.diff(model.history_) > 0).all()
    assert model.n_iter_ == len(model.history_) == len(model.chosen_) <= 40
    assert model.functions_[3] is None
    assert model.history_[-1] == pytest.approx(objective(model, X, y), abs=1e-6)


@given(seed=seeds, levels=st.integers(2, 30), rounds=st.integers(1, 6))
@settings(max_examples=20)
def test_boosting_never_falls_with_ties(seed, levels, rounds):
    random = np.random.default_rng(seed)
    X = random.integers(0, levels, size=(60, 3)).astype(float)
    y = np.arange(60) < 20
    model = PartialAUCBoost((0.05, 0.4), n_rounds=rounds, n_knots=4).fit(X, y)
    assert (np.diff(model.history_) > 0).all()
    shorter = PartialAUCBoost((0.05, 0.4), n_rounds=1, n_knots=4).fit(X, y)
    assert shorter.history_[0] == model.history_[0]


def test_boosting_stops_when_nothing_gains():
    X = np.ones((30, 2))
    model = PartialAUCBoost((0, 0.5)).fit(X, np.arange(30) < 10)
    assert model.n_iter_ == 0
    assert np.ptp(model.decision_function(X)) == 0


@given(seed=seeds, width=st.floats(0.01, 10), spread=st.floats(0.01, 100))
@settings(max_examples=50)
def test_normal_sums(seed, width, spread):
    random = np.random.default_rng(seed)
    at, centres = spread * random.normal(size=40), np.sort(random.normal(size=30))
    u = np.subtract.outer(at, centres) / width
    weights = random.random(30)
    np.testing.assert_allclose(normal_sums(at, centres, width, 0), ndtr(u).sum(1), atol=1e-8)
    density = np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(normal_sums(at, centres, width, 1, weights), density @ weights, atol=1e-8)


@given(seed=seeds, start=st.integers(0, 6), size=st.integers(1, 6), width=st.floats(0.1, 2))
@settings(max_examples=30)
def test_slope_of_the_smooth_area(seed, start, size, width):
    random = np.random.default_rng(seed)
    band = Band(start, start + size, 12)
    scores = ClassParts(random.normal(size=7), random.normal(size=12))
    area = SmoothArea(band, width)
    expected = reference.smooth_area(scores.positives, scores.negatives, band, width)
    assert area.value(scores) == pytest.approx(expected, abs=1e-9)
    rising, falling, index = area.gradient(scores)
    along = ClassParts(random.normal(size=7), random.normal(size=12))
    slope = rising @ along.positives + falling @ along.negatives[index]
    ends = [
        reference.smooth_area(moved.positives, moved.negatives, band, width)
        for moved in (scores.along(along, step) for step in (-1e-7, 1e-7))
    ]
    assert slope == pytest.approx((ends[1] - ends[0]) / 2e-7, abs=1e-5)


@given(seed=seeds, start=st.integers(0, 6), size=st.integers(1, 6))
def test_ties_share_the_band(seed, start, size):
    negatives = np.random.default_rng(seed).integers(0, 3, 12).astype(float)
    share, index = band_shares(negatives, Band(start, start + size, 12))
    # The expected share of each over random orders of those that tie: count the ranks of its group in the band.
    ranked = np.sort(negatives)[::-1][start : start + size]
    expected = [(ranked == z).sum() / (negatives == z).sum() for z in negatives]
    np.testing.assert_allclose(np.bincount(index, share, minlength=12), expected)


def test_splines():
    knots = np.array([0.0, 1.0, 2.5, 3.0, 7.0])
    splines = Splines(knots)
    values = np.random.default_rng(0).normal(size=5)
    np.testing.assert_allclose(splines.evaluate(knots, values), values, atol=1e-12)
    np.testing.assert_allclose(splines.evaluate(np.linspace(-5, 15, 41), 3 * knots - 1), np.linspace(-16, 44, 41))
    outside = splines.evaluate(np.array([7.0, 8.0, 9.0, 0.0, -1.0, -2.0]), values)
    np.testing.assert_allclose(np.diff(outside[:3], 2), 0, atol=1e-12)
    np.testing.assert_allclose(np.diff(outside[3:], 2), 0, atol=1e-12)
    bend = reference.integral_of_squared_bend(lambda x: splines.evaluate(x, values), 0.0, 7.0)
    assert values @ splines.roughness @ values == pytest.approx(bend, rel=1e-3)


def test_splines_fit_is_best():
    random = np.random.default_rng(0)
    x, slope = random.random(80), random.normal(size=80)
    splines = Splines(np.linspace(0, 1, 6))
    bend = 2e-3 * splines.roughness
    pull = bend @ random.normal(size=6)

    def gain(c):
        f = splines.evaluate(x, c)
        return slope @ f - np.abs(slope) @ f**2 / 2 - pull @ c - c @ bend @ c / 2

    best, maximum = splines.fit(x, slope, bend, pull)
    assert gain(best) == pytest.approx(maximum)
    assert all(gain(best + step) < maximum for step in 0.01 * random.normal(size=(50, 6)))


@given(seed=seeds, levels=st.integers(2, 6))
def test_steps_fit_is_best(seed, levels):
    random = np.random.default_rng(seed)
    x = np.concatenate([np.arange(levels), random.integers(0, levels, 30)]).astype(float)
    slope = random.normal(size=len(x))
    steps = Steps(np.arange(levels, dtype=float))
    nothing = np.zeros(steps.size)
    jumps, gain = steps.fit(x, slope, steps.roughness, nothing)
    assert np.count_nonzero(jumps) <= 1
    assert gain == pytest.approx(reference.best_stump(x, slope))
    assert len(np.unique(steps.evaluate(x, jumps))) <= 2


def test_kinds_of_functions():
    assert functions_of(np.ones(9), 5) is None
    assert isinstance(functions_of(np.arange(9) % 4, 5), Steps)
    assert isinstance(functions_of(np.arange(9) % 5, 5), Splines)


def test_long_tails():
    random = np.random.default_rng(0)
    y = np.arange(300) < 60
    X = np.exp(20 * random.normal(size=(300, 2)) + 20 * y[:, None])
    model = PartialAUCBoost((0, 0.2), n_rounds=5).fit(X, y)
    assert (np.diff(model.history_) > 0).all()
    assert np.isfinite(model.decision_function(X)).all()
    assert functions_of(X[:, 0], 10).size < 10


# The greedy heuristic


@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.02, 0.3)])
def test_greedy_step_is_best_on_its_grid(data, fpr_range):
    X, y = data
    model = GreedyPartialAUC(fpr_range, n_weights=7).fit(X, y)
    spans = np.ptp(X, axis=0)
    scaled = (X - X.min(axis=0)) / np.where(spans > 0, spans, 1)
    grid = [t * sign for i in (1, 2, 3) for t in (i / 3, 3 / i) for sign in (1, -1)] + [0.0]
    own = [reference.best_weight(0 * y, column, y, (1, -1), fpr_range) for column in scaled.T]
    assert list(model.order_) == sorted(range(4), key=lambda k: -own[k])
    assert model.areas_[0] == max(own)
    score = model.weights_[0] * scaled[:, model.order_[0]]
    for step, k in enumerate(model.order_[1:], start=1):
        best = reference.best_weight(score, scaled[:, k], y, grid, fpr_range)
        assert model.areas_[step] == pytest.approx(best, abs=1e-12)
        score = score + model.weights_[step] * scaled[:, k]
        assert partial_auc_score(y, score, fpr_range=fpr_range) == pytest.approx(best, abs=1e-12)
    final = partial_auc_score(y, X @ model.coef_[0], fpr_range=fpr_range)
    assert final == pytest.approx(model.areas_[-1], abs=1e-3)  # ties of the discrete feature may part by rounding


@given(n_weights=st.integers(2, 60))
def test_weight_grid(n_weights):
    grid = weight_grid(n_weights)
    assert grid[0] == 0
    assert (np.diff(np.abs(grid)) >= 0).all()
    np.testing.assert_array_equal(np.sort(grid), np.sort(-grid))
    within = np.sort(grid[(np.abs(grid) <= 1) & (grid != 0)])
    equally = np.linspace(-1, 1, n_weights)
    np.testing.assert_allclose(within, equally[np.abs(equally) > 1e-12], atol=1e-12)
    np.testing.assert_allclose(np.sort(1 / grid[1:]), np.sort(grid[1:]))


def test_greedy_areas_never_fall(data):
    model = GreedyPartialAUC(BAND).fit(*data)
    assert (np.diff(model.areas_) >= 0).all()
    assert model.weights_[list(model.order_).index(3)] == 0  # the constant feature


# Infinite Push: the band [0, 1/n]


@pytest.mark.parametrize("seed", [0, 1])
def test_infinite_push_is_a_band(seed):
    random = np.random.default_rng(seed)
    y = np.arange(16) < 6
    X = random.normal(size=(16, 2)) + 1.5 * y[:, None]
    model = PartialAUCSVC((0, 1 / 10), surrogate="hinge", anchor=None, C=3.0, tol=1e-6).fit(X, y)
    worst = max(np.maximum(1 - (X[y] - x) @ model.coef_[0], 0).mean() for x in X[~y])
    assert model.objective_ == pytest.approx(model.coef_[0] @ model.coef_[0] / 2 + 3 * worst)
    assert model.objective_ == pytest.approx(reference.infinite_push(X, y, 3.0), abs=1e-5)
