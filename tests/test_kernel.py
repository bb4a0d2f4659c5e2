"""KernelPartialAUCSVC: its reductions to simpler models, its certificate, its memory, its errors."""

from __future__ import annotations

import pickle
import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference
import reference_kernel
from rocband import CollapsedSolutionWarning, KernelPartialAUCSVC, PartialAUCSVC
from rocband.datasets import make_band_problem
from rocband.kernels.function import Kernel
from rocband.kernels.gram import Gram
from rocband.metrics import partial_auc_score, partial_auc_scorer
from rocband.problems.gram import GramProblem
from rocband.risks import Band, risk_for
from rocband.solvers.certified import minimize
from rocband.solvers.objective import Objective
from rocband.solvers.path import solve_path
from rocband.solvers.result import Settings
from trusted import Sample, minimum

SURROGATES = ("tight", "hinge", "ramp", "naive")
BAND = (0.05, 0.3)
KERNELS = {
    "rbf": {"kernel": "rbf", "gamma": 0.5},
    "poly": {"kernel": "poly", "gamma": 0.3, "degree": 2, "coef0": 1.0},
    "linear": {"kernel": "linear"},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.1, "coef0": 0.2},
}
surrogates = pytest.mark.parametrize("surrogate", SURROGATES)
kernels = pytest.mark.parametrize("kernel", KERNELS)
ENOUGH = 4000  # megabytes for a Gram matrix in double precision
N = 120
# Megabytes in which a Gram matrix of N rows fits in single precision only, and not at all.
SINGLE = 6 * N**2 / 2**20
TOO_LITTLE = 2 * N**2 / 2**20


@pytest.fixture(scope="module")
def data():
    """Positives in a disc with some noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(N, 3))
    y = (np.hypot(X[:, 0], X[:, 1]) < 0.7).astype(int)
    return X, np.where(random.random(N) < 0.03, 1 - y, y)


@pytest.fixture(scope="module")
def linear_data():
    return make_band_problem(150, n_features=4, random_state=0)


@pytest.fixture
def array_api_checks(monkeypatch):
    """Without it scikit-learn skips one check."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")
@pytest.mark.usefixtures("array_api_checks")
@pytest.mark.filterwarnings("ignore::rocband.PositiveClassWarning")  # one check has the labels 1 and 2
@pytest.mark.filterwarnings("ignore:The model gives every row the same score because C=1 :UserWarning")
@parametrize_with_checks(
    [
        KernelPartialAUCSVC(),
        KernelPartialAUCSVC((0.05, 0.2), surrogate="ramp", anchor="auc"),
        KernelPartialAUCSVC((0.05, 0.2), kernel="linear", surrogate="hinge", C=10.0, target_fpr=0.05),
        KernelPartialAUCSVC(n_components=2),
        KernelPartialAUCSVC(n_components=2, surrogate="ramp", anchor="logistic"),
        KernelPartialAUCSVC(kernel="precomputed", C=1.0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def gram_of(options, A, B=None):
    """The Gram matrix by loops."""
    parameters = {"gamma": 1.0, "degree": 3, "coef0": 0.0} | {k: v for k, v in options.items() if k != "kernel"}
    return reference_kernel.matrix(options["kernel"], A, A if B is None else B, **parameters)


def coefficients_of(model, n):
    full = np.zeros(n)
    full[model.support_] = model.dual_coef_[0]
    return full


# Reductions to simpler models


@surrogates
@pytest.mark.parametrize("fpr_range", [(0.0, 0.2), BAND])
@pytest.mark.parametrize(
    ("anchor", "form"),
    [
        (None, np.asarray),
        (None, sparse.csr_array),
        ("auc", np.asarray),
        ("logistic", sparse.csr_array),
        ([0.1, 0.2, 0.3, 0.4], np.asarray),
    ],
    ids=["no anchor", "no anchor, sparse", "auc", "logistic, sparse", "given"],
)
def test_a_linear_kernel_is_the_linear_model(linear_data, surrogate, fpr_range, anchor, form):
    X, y = linear_data
    options = {"surrogate": surrogate, "C": 5.0, "anchor": anchor}
    linear = PartialAUCSVC(fpr_range, **options).fit(form(X), y)
    model = KernelPartialAUCSVC(fpr_range, kernel="linear", **options).fit(form(X), y)
    np.testing.assert_allclose(model.decision_function(form(X)), linear.decision_function(form(X)), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(model.predict(form(X)), linear.predict(form(X)))
    assert model.objective_ == pytest.approx(linear.objective_, rel=1e-6)
    np.testing.assert_allclose(model.lower_bound_, linear.lower_bound_, rtol=1e-6)


def test_features_far_from_the_origin(linear_data):
    X, y = linear_data
    near = KernelPartialAUCSVC(BAND, kernel="linear", C=5.0).fit(X, y)
    far = KernelPartialAUCSVC(BAND, kernel="linear", C=5.0).fit(X + 1000.0, y)
    np.testing.assert_allclose(far.decision_function(X + 1000.0), near.decision_function(X), rtol=0, atol=1e-6)


@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")  # of a linear kernel
@surrogates
@kernels
def test_precomputed_is_as_computed(data, surrogate, kernel):
    X, y = data
    options = {"surrogate": surrogate, "C": 5.0, "max_iter": 3000}
    computed = KernelPartialAUCSVC(BAND, **KERNELS[kernel], **options).fit(X, y)
    gram = gram_of(KERNELS[kernel], X)
    given = KernelPartialAUCSVC(BAND, kernel="precomputed", **options).fit(gram, y)
    new = X[:50] + 0.1
    if kernel != "linear":  # whose origin is moved, and for whose ramp another start is used
        values = given.decision_function(gram_of(KERNELS[kernel], new, X))
        # Both are within C * tol of the same minimum; rounding may lead to different models there.
        np.testing.assert_allclose(values, computed.decision_function(new), atol=0.05)
    assert given.objective_ == pytest.approx(computed.objective_, abs=20 * 1e-4 * 5.0)
    assert given.support_vectors_ is None


@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge"])
def test_all_rows_as_landmarks_are_the_exact_kernel(data, surrogate):
    X, y = data
    options = {"surrogate": surrogate, "C": 20.0, "tol": 1e-6}
    exact = KernelPartialAUCSVC((0.0, 0.2), **options).fit(X, y)
    model = KernelPartialAUCSVC((0.0, 0.2), n_components=len(X), **options).fit(X, y)
    np.testing.assert_array_equal(model.support_, np.arange(len(X)))
    assert model.objective_ == pytest.approx(exact.objective_, abs=3e-6 * 20)
    # The objective is strongly convex: so near its minimum there is only one model.
    np.testing.assert_allclose(
        model.decision_function(X) + model.threshold_,
        exact.decision_function(X) + exact.threshold_,
        atol=2 * np.sqrt(2 * 20 * 2e-6),
    )


@pytest.mark.parametrize("surrogate", ["hinge", "ramp"])
def test_all_rows_as_landmarks_reach_about_the_same_local_minimum(data, surrogate):
    X, y = data
    exact = KernelPartialAUCSVC(BAND, surrogate=surrogate, anchor="auc", C=20.0).fit(X, y)
    model = KernelPartialAUCSVC(BAND, surrogate=surrogate, anchor="auc", C=20.0, n_components=len(X)).fit(X, y)
    assert model.objective_ == pytest.approx(exact.objective_, abs=0.005 * 20)


@pytest.mark.parametrize("megabytes", [SINGLE, TOO_LITTLE], ids=["single precision", "computed again"])
@surrogates
def test_however_the_gram_matrix_is_kept(data, surrogate, megabytes):
    X, y = data
    options = {"surrogate": surrogate, "C": 5.0}
    expected = KernelPartialAUCSVC(BAND, cache_size=ENOUGH, **options).fit(X, y)
    model = KernelPartialAUCSVC(BAND, cache_size=megabytes, **options).fit(X, y)
    assert model.objective_ == pytest.approx(expected.objective_, abs=1e-4 * 5)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=0.02)


# The kernel


@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")  # of a linear kernel
@kernels
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_kernels_are_what_they_say(data, kernel, form):
    X, y = data
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    model = KernelPartialAUCSVC(BAND, C=1.0, max_iter=3000, **KERNELS[kernel]).fit(form(X), y)
    new = X[::7] + 0.05
    expected = gram_of(KERNELS[kernel], new, X[model.support_]) @ model.dual_coef_[0] - model.threshold_
    np.testing.assert_allclose(model.decision_function(form(new)), expected, atol=1e-8)


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.7])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, np.float32])
def test_gamma_means_what_it_does_in_scikit_learn(data, gamma, form):
    X, y = data
    X = form(np.where(np.abs(X) < 0.3, 0.0, 3 * X + 1))
    model = KernelPartialAUCSVC(BAND, gamma=gamma).fit(X, y)
    expected = SVC(gamma=gamma).fit(X, y)
    dense = X.toarray() if sparse.issparse(X) else X
    support = dense[model.support_]
    number = {"scale": 1 / (3 * dense.astype(float).var()), "auto": 1 / 3}.get(gamma, gamma)
    values = reference_kernel.matrix("rbf", dense[:20], support, gamma=number) @ model.dual_coef_[0]
    np.testing.assert_allclose(model.decision_function(X[:20]), values - model.threshold_, atol=1e-4)
    assert expected.score(X, y) > 0.5  # scikit-learn takes the same values of gamma


def test_gamma_of_constant_features():
    X, y = np.ones((30, 2)), np.arange(30) < 10
    with pytest.warns(CollapsedSolutionWarning):
        model = KernelPartialAUCSVC((0.0, 0.2)).fit(X, y)
    assert not model.predict(X).any()
    assert len(model.support_) == 0 or np.allclose(model.decision_function(X), model.decision_function(X)[0])


def test_callable(data):
    X, y = data

    def disc(A, B):
        return (A[:, :2] ** 2) @ (B[:, :2] ** 2).T

    options = {"surrogate": "ramp", "C": 10.0}
    gram = disc(X, X)
    for n_components in (None, 30):
        model = KernelPartialAUCSVC(BAND, kernel=disc, n_components=n_components, **options).fit(X, y)
        given = KernelPartialAUCSVC(BAND, kernel="precomputed", n_components=n_components, **options).fit(gram, y)
        np.testing.assert_allclose(model.decision_function(X), given.decision_function(gram), atol=1e-3)
        assert partial_auc_score(y, model.decision_function(X), fpr_range=BAND) > 0.8


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@surrogates
@pytest.mark.parametrize("coef0", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("n_components", [None, 40])
def test_indefinite_kernels_do_no_harm(data, surrogate, coef0, n_components):
    X, y = data
    options = {"kernel": "sigmoid", "gamma": 1.0, "coef0": coef0, "n_components": n_components, "max_iter": 60}
    model = KernelPartialAUCSVC(BAND, surrogate=surrogate, **options).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert 0 <= model.objective_ <= model.C * (1 + 1e-9) * (1 if surrogate != "hinge" else 10)
    assert model.predict(X)[y == 0].mean() <= BAND[1]
    if np.isfinite(model.lower_bound_):
        assert model.lower_bound_ <= model.objective_


# The certificate


def gram_problem(X, y, budget=ENOUGH << 20):
    return GramProblem(Gram(Kernel("rbf", 0.5), X, budget), y.astype(bool))


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    fpr_range=st.sampled_from([(0.0, 0.2), (0.0, 1.0), (0.1, 0.4), (0.5, 0.8)]),
    C=st.sampled_from([0.1, 10.0, 1000.0]),
    surrogate=st.sampled_from(["tight", "naive"]),
    kept=st.sampled_from([8, 4, 1]),
)
def test_the_certificate_from_first_principles(seed, fpr_range, C, surrogate, kept):
    """Planes and multipliers prove the bound with products made by loops, for the exact kernel."""
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(36, 2)), (np.arange(36) < 9).astype(int)
    X[y == 1] *= 0.6
    gram = reference_kernel.matrix("rbf", X, X, gamma=0.5)
    risk = risk_for(surrogate, Band.from_range(fpr_range, 27))
    problem = gram_problem(X, y, kept * 36**2)
    result = minimize(Objective(problem, risk, C, np.zeros(72)), Settings(1e-4, 60))
    proof = result.certificate
    noise = 1e-9 if kept == 8 else 1e-5  # of products in single precision
    slopes = proof.slopes[:, :36]
    pull = proof.multipliers @ slopes
    assert (proof.multipliers >= 0).all()
    assert proof.multipliers.sum() == pytest.approx(C)
    bound = proof.multipliers @ proof.offsets - pull @ gram @ pull / 2
    assert bound == pytest.approx(result.lower_bound, rel=noise, abs=noise * C)
    value = reference_kernel.objective(gram, result.w[:36], y, surrogate, C, fpr_range)
    assert value == pytest.approx(result.objective, rel=noise, abs=noise * C)
    assert bound <= value + noise * C
    for scale in (0.0, 0.1, 1.0, 10.0):
        model = result.w[:36] + scale * random.normal(size=36)
        below = (proof.offsets + slopes @ gram @ model).max()
        value = reference_kernel.objective(gram, model, y, surrogate, 1.0, fpr_range) - model @ gram @ model / 2
        assert below <= value + noise * (1 + np.abs(gram @ model).max())


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("fpr_range", [(0.0, 0.2), (0.1, 0.4)])
@pytest.mark.parametrize("C", [1.0, 50.0])
def test_objectives_agree_with_a_trusted_optimiser(kernel, fpr_range, C):
    random = np.random.default_rng(3)
    X, y = random.normal(size=(30, 2)), (np.arange(30) < 8).astype(int)
    X[y == 1] += 0.8
    rows = reference_kernel.features(gram_of(KERNELS[kernel], X))
    sample = Sample(rows[y == 1], rows[y == 0], Band.from_range(fpr_range, 22))
    expected = minimum(sample, C, np.zeros(30), gap=1e-4)
    model = KernelPartialAUCSVC(fpr_range, C=C, **KERNELS[kernel]).fit(X, y)
    assert model.objective_ == pytest.approx(expected, abs=3e-4 * C)
    assert model.lower_bound_ <= expected + 1e-6


@surrogates
@pytest.mark.parametrize("fpr_range", [(0.0, 0.2), BAND])
@pytest.mark.parametrize("megabytes", [ENOUGH, SINGLE, TOO_LITTLE])
def test_attributes(data, surrogate, fpr_range, megabytes):
    X, y = data
    model = KernelPartialAUCSVC(fpr_range, surrogate=surrogate, C=5.0, gamma=0.5, cache_size=megabytes).fit(X, y)
    gram = gram_of(KERNELS["rbf"], X)
    coefficients = coefficients_of(model, len(X))
    expected = reference_kernel.objective(gram, coefficients, y, surrogate, 5.0, fpr_range)
    # However the Gram matrix is kept, figures are those of the kernel in double precision.
    assert model.objective_ == pytest.approx(expected, rel=1e-9)
    assert model.dual_coef_.shape == (1, len(model.support_))
    assert (model.dual_coef_ != 0).all()
    assert len(model.support_) < len(X)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    np.testing.assert_allclose(model.decision_function(X), gram @ coefficients - model.threshold_, atol=1e-9)
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert model.intercept_[0] == -model.threshold_
    assert model.n_features_in_ == 3
    assert model.converged_ is True
    assert list(pd.DataFrame(model.history_)) == ["step", "passes", "objective", "lower_bound", "gap", "seconds"]
    if surrogate in ("tight", "naive") or (surrogate == "hinge" and fpr_range[0] == 0):
        assert model.dual_gap_ == model.objective_ - model.lower_bound_
        assert -1e-9 <= model.dual_gap_ <= 5.0 * model.tol * 1.01
    else:
        assert np.isnan(model.lower_bound_)
        assert np.isnan(model.dual_gap_)


@pytest.mark.parametrize("surrogate", ["tight", "naive"])
def test_certificate_of_nystroem_features(data, surrogate):
    X, y = data
    model = KernelPartialAUCSVC(BAND, surrogate=surrogate, C=5.0, gamma=0.5, n_components=40).fit(X, y)
    # Landmarks have exact products, so that the model's size is that of their weights.
    inner = gram_of(KERNELS["rbf"], X[model.support_])
    scores = model.decision_function(X) + model.threshold_
    weights = model.dual_coef_[0]
    band = Band.from_range(BAND, np.count_nonzero(y == 0))
    risk = getattr(reference, surrogate)(scores[y == 1], scores[y == 0], band)
    assert model.objective_ == pytest.approx(weights @ inner @ weights / 2 + 5.0 * risk, rel=1e-5)
    assert -1e-6 <= model.dual_gap_ <= 5.0 * model.tol * 1.01
    assert model.objective_ >= KernelPartialAUCSVC(BAND, surrogate=surrogate, C=5.0, gamma=0.5).fit(X, y).lower_bound_


def test_a_path_of_C_has_a_certificate_for_each(data):
    X, y = data
    problem = gram_problem(X, y)
    risk = risk_for("tight", Band.from_range(BAND, problem.n_negatives))
    zero = np.zeros(problem.n_features)
    results = solve_path(problem, risk, [1.0, 10.0, 100.0], zero, Settings(1e-4), zero)
    for result in results:
        single = KernelPartialAUCSVC(BAND, gamma=0.5, C=result.C).fit(X, y)
        assert 0 <= result.objective - result.lower_bound <= 1e-4 * result.C
        assert result.objective == pytest.approx(single.objective_, abs=2e-4 * result.C)
    assert results[-1].memory.planes is results[0].memory.planes


# Kinds of data and company


@pytest.mark.parametrize("n_components", [None, 40])
def test_single_precision_lists_and_frames(data, n_components):
    X, y = data
    model = KernelPartialAUCSVC(BAND, n_components=n_components).fit(X, y)
    single = KernelPartialAUCSVC(BAND, n_components=n_components).fit(X.astype(np.float32), y)
    assert single.support_vectors_.dtype == np.float32
    assert single.objective_ == pytest.approx(model.objective_, abs=2e-4 * model.C)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    text = KernelPartialAUCSVC(BAND, n_components=n_components, pos_label="yes")
    named = text.fit(frame, np.array(["no", "yes"])[y])
    np.testing.assert_array_equal(named.feature_names_in_, ["a", "b", "c"])
    np.testing.assert_array_equal(named.predict(frame) == "yes", model.predict(X) == 1)
    np.testing.assert_array_equal(clone(model).fit(X.tolist(), y.tolist()).dual_coef_, model.dual_coef_)


@pytest.mark.parametrize("n_components", [None, 40])
@surrogates
def test_clone_pickle_and_repeat(data, surrogate, n_components):
    X, y = data
    model = KernelPartialAUCSVC(BAND, surrogate=surrogate, n_components=n_components, C=10.0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(clone(model).fit(X, y).dual_coef_, model.dual_coef_)
    if n_components is not None:
        other = clone(model).set_params(random_state=1).fit(X, y)
        assert not np.array_equal(other.support_, model.support_)


@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")  # of the nearly linear kernel
@pytest.mark.filterwarnings("ignore:The model gives every row the same score because C=1 :UserWarning")
@pytest.mark.parametrize("n_components", [None, 30])
def test_grid_search_over_gamma_and_C(data, n_components):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), KernelPartialAUCSVC(BAND, n_components=n_components, tol=1e-3))
    grid = {"kernelpartialaucsvc__gamma": [0.01, 1.0], "kernelpartialaucsvc__C": [1.0, 100.0]}
    search = GridSearchCV(pipeline, grid, scoring=partial_auc_scorer(BAND), cv=3).fit(X, y)
    assert search.best_params_["kernelpartialaucsvc__gamma"] == 1.0
    assert search.best_score_ > 0.7


def test_grid_search_with_a_precomputed_kernel(data):
    X, y = data
    gram = gram_of(KERNELS["rbf"], X)
    common = {"param_grid": {"C": [1.0, 100.0]}, "scoring": partial_auc_scorer(BAND), "cv": 3}
    given = GridSearchCV(KernelPartialAUCSVC(BAND, kernel="precomputed", tol=1e-3), **common).fit(gram, y)
    computed = GridSearchCV(KernelPartialAUCSVC(BAND, gamma=0.5, tol=1e-3), **common).fit(X, y)
    for key in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(given.cv_results_[key], computed.cv_results_[key], atol=0.01)


def test_what_it_is_for(data):
    X, y = data
    linear = PartialAUCSVC((0.0, 0.1)).fit(X, y)
    for n_components in (None, 50):
        model = KernelPartialAUCSVC((0.0, 0.1), n_components=n_components).fit(X, y)
        scores = [partial_auc_score(y, each.decision_function(X), fpr_range=(0.0, 0.1)) for each in (model, linear)]
        assert scores[0] > scores[1] + 0.3


# Threshold, anchors, words


@pytest.mark.parametrize("n_components", [None, 40])
@pytest.mark.parametrize("target_fpr", [1e-9, 0.01, 0.1, 0.3, 0.999, 1.0])
def test_predictions_keep_to_the_target(data, target_fpr, n_components):
    X, y = data
    model = KernelPartialAUCSVC(BAND, C=10.0, target_fpr=target_fpr, n_components=n_components).fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X) == 1, scores > 0)
    n = np.count_nonzero(y == 0)
    assert np.count_nonzero(scores[y == 0] > 0) == np.floor(target_fpr * n)


def test_a_small_C_returns_the_anchor(data):
    X, y = data
    auc = KernelPartialAUCSVC((0.0, 1.0), C=1.0, tol=1e-6).fit(X, y)
    for surrogate in SURROGATES:
        model = KernelPartialAUCSVC(BAND, surrogate=surrogate, C=1e-6, anchor="auc", tol=1e-6).fit(X, y)
        values = [each.decision_function(X) + each.threshold_ for each in (model, auc)]
        np.testing.assert_allclose(values[0], values[1], atol=0.01)


def test_a_logistic_anchor_in_the_space_of_the_components(data):
    X, y = data
    model = KernelPartialAUCSVC(BAND, C=1e-7, anchor="logistic", n_components=len(X), gamma=0.5).fit(X, y)
    rows = reference_kernel.features(gram_of(KERNELS["rbf"], X))
    expected = rows @ LogisticRegression(max_iter=1000).fit(rows, y).coef_[0]
    np.testing.assert_allclose(model.decision_function(X) + model.threshold_, expected, atol=0.02)


@surrogates
def test_verbose_prints_steps_and_progress(data, surrogate, capsys):
    X, y = data
    model = KernelPartialAUCSVC(BAND, surrogate=surrogate, verbose=1).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(model.history_)
    assert all(line.startswith("[rocband] step") for line in lines)
    many = np.tile(X, (1000, 1))
    scores = model.decision_function(many)
    lines = capsys.readouterr().err.splitlines()
    assert 1 < len(lines) <= 10
    assert lines[-1] == "[rocband] scored 120,000 of 120,000 rows"
    model.verbose = 0
    np.testing.assert_array_equal(model.decision_function(many), scores)
    np.testing.assert_allclose(scores[: len(X)], model.decision_function(X), atol=1e-9)
    assert capsys.readouterr() == ("", "")


def test_scoring_takes_bounded_memory(data):
    X, y = data
    model = KernelPartialAUCSVC(BAND, n_components=100).fit(X, y)
    peaks = []
    for copies in (200, 800):
        many = np.tile(X, (copies, 1))
        tracemalloc.start()
        model.decision_function(many)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert peaks[-1] < 50e6 < 8 * 100 * N * 800  # the whole matrix of products
    assert peaks[1] - peaks[0] < 3 * 8 * 600 * N  # the scores of the rows that were added, and little else


def test_a_collapse_is_announced():
    X, y = np.random.default_rng(0).normal(size=(120, 3)), np.arange(120) < 20
    X[y] *= 0.1
    X[y] -= X[y].mean(axis=0)
    X[~y] -= X[~y].mean(axis=0)
    with pytest.warns(CollapsedSolutionWarning, match="constant scorer is optimal for surrogate='tight'"):
        model = KernelPartialAUCSVC((0.0, 0.2), kernel="linear", C=10.0).fit(X, y)
    assert not model.predict(X)[~y].mean() > 0.2
    KernelPartialAUCSVC((0.0, 0.2), C=10.0).fit(X, y)  # in the space of the RBF kernel there is none


@surrogates
@pytest.mark.parametrize("n_components", [None, 40])
def test_out_of_passes(data, surrogate, n_components):
    X, y = data
    model = KernelPartialAUCSVC(BAND, surrogate=surrogate, n_components=n_components, C=1e5, tol=1e-9, max_iter=2)
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=2 passes"):
        model.fit(X, y)
    assert model.converged_ is False
    assert np.isfinite(model.decision_function(X)).all()


# Bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"kernel": "gauss"},
            "kernel must be one of 'rbf', 'poly', 'sigmoid', 'linear', 'precomputed' or a callable, got",
        ),
        ({"kernel": None}, "or a callable, got None."),
        ({"gamma": "large"}, "gamma must be 'scale', 'auto' or a number above 0, got 'large'."),
        ({"gamma": None}, "gamma must be 'scale', 'auto' or a number above 0, got None."),
        ({"gamma": 0.0}, "gamma must be a finite number above 0, got 0.0."),
        ({"degree": 0}, "degree must be a finite number above 0, got 0."),
        ({"coef0": "1"}, "coef0 must be a finite number"),
        ({"coef0": np.nan}, "coef0 must be a finite number"),
        ({"C": 0}, "C must be a finite number above 0, got 0."),
        ({"cache_size": 0}, "cache_size must be a finite number above 0, got 0."),
        ({"n_components": 0}, "n_components must be a whole number above 0, got 0."),
        ({"n_components": 2.5}, "n_components must be a whole number above 0, got 2.5."),
        ({"n_components": N + 1}, f"n_components must be at most the {N} rows of X, got {N + 1}."),
        ({"surrogate": "smooth"}, "surrogate must be one of 'tight', 'hinge', 'ramp', 'naive', got 'smooth'."),
        (
            {"anchor": "logistic"},
            "anchor of an exact kernel must be None or 'auc', got 'logistic'; logistic needs n_components",
        ),
        ({"anchor": np.zeros(3)}, "anchor of an exact kernel must be None or 'auc', got array"),
        (
            {"anchor": "svm", "n_components": 10},
            "anchor must be None, 'logistic', 'logistic_cv', 'auc', an array or a fitted linear model",
        ),
        (
            {"cache_size": 5e-4},
            f"cache_size 0.0005 is far too little for the Gram matrix of {N} rows, which takes 0 MB with an exact",
        ),
        (
            {"kernel": lambda A, B: np.zeros((2, 2))},
            "The kernel function returned an array of shape (2, 2) for blocks of",
        ),
        ({"kernel": lambda A, B: np.zeros(len(A))}, f"it must return one of shape ({N}, {N})."),
        (
            {"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)},
            "The kernel has values that are not finite; scale the features, or use a whole degree.",
        ),
        ({"kernel": "poly", "degree": 2.5}, "The kernel has values that are not finite; scale the features, or use a"),
        ({"kernel": "poly", "degree": 900, "coef0": 9.0}, "The kernel has values that are not finite"),
        ({"kernel": lambda A: A}, "The kernel function failed on two blocks of rows: "),
        ({"kernel": lambda A, B: "no"}, "The kernel function failed on two blocks of rows: "),
    ],
)
def test_bad_parameters(data, parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        KernelPartialAUCSVC(**parameters).fit(*data)


def test_what_to_use_where_a_gram_matrix_cannot_fit(data):
    X, y = data
    message = "with an exact kernel: set n_components, for instance to 1000, or raise it."
    with pytest.raises(ValueError, match=re.escape(message)):
        KernelPartialAUCSVC(cache_size=5e-4).fit(X, y)
    KernelPartialAUCSVC(cache_size=5e-4, n_components=20).fit(X, y)


@pytest.mark.parametrize("n_components", [None, 20])
def test_bad_precomputed_matrices(data, n_components):
    X, y = data
    gram = gram_of(KERNELS["rbf"], X)
    model = KernelPartialAUCSVC(kernel="precomputed", n_components=n_components)
    with pytest.raises(ValueError, match=re.escape("must be a square matrix, got one of shape (120, 3).")):
        model.fit(X, y)
    broken = gram.copy()
    broken[3, 5] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(broken, y)
    broken[3, 5] = 0.5 + gram[5, 3]
    message = "must be symmetric, but entry (3, 5) differs from (5, 3) by 0.5."
    with pytest.raises(ValueError, match=re.escape(message)):
        model.fit(broken, y)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        model.fit(sparse.csr_array(gram), y)
    model.fit(gram, y)
    with pytest.raises(ValueError, match="X has 3 features, but KernelPartialAUCSVC is expecting 120 features"):
        model.predict(X)
    assert model.fit(gram.astype(np.float32), y).converged_


def test_bad_data(data):
    X, y = data
    with pytest.raises(ValueError, match=r"y holds only one class"):
        KernelPartialAUCSVC().fit(X, np.zeros(len(y), dtype=int))
    with pytest.raises(ValueError, match="NaN"):
        KernelPartialAUCSVC().fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(NotFittedError):
        KernelPartialAUCSVC().decision_function(X)
    with pytest.raises(ValueError, match="X has 2 features, but KernelPartialAUCSVC is expecting 3 features"):
        KernelPartialAUCSVC().fit(X, y).predict(X[:, :2])


@surrogates
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")
@pytest.mark.parametrize("kind", ["one positive", "constant", "duplicated", "scaled", "wide", "two rows"])
@pytest.mark.parametrize("n_components", [None, 2])
def test_hard_data(surrogate, kind, n_components):
    random = np.random.default_rng(1)
    X, y = random.normal(size=(80, 3)), np.arange(80) < 12
    X[y] += 0.6
    if kind == "one positive":
        y = np.arange(80) < 1
    if kind == "constant":
        X[:, 1] = 5.0
    if kind == "duplicated":
        X = np.repeat(X[::4], 4, axis=0)
    if kind == "scaled":
        X[:, 0] *= 1e6
    if kind == "wide":
        X = np.hstack([X, random.normal(size=(80, 300))])
    if kind == "two rows":
        X, y = X[[0, -1]], y[[0, -1]]
    model = KernelPartialAUCSVC(BAND, surrogate=surrogate, n_components=n_components, max_iter=60).fit(X, y)
    scores = model.decision_function(X)
    assert np.isfinite(scores).all()
    assert np.isfinite(model.objective_)
    assert np.count_nonzero(scores[~y] > 0) <= BAND[1] * np.count_nonzero(~y)
