"""PartialAUCSVC: a scikit-learn citizen, its certificate, its warnings and its errors."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference
from rocband import CollapsedSolutionWarning, PartialAUCSVC
from rocband import anchor as anchor_module
from rocband.anchor import logistic_coefficients
from rocband.datasets import make_band_problem
from rocband.metrics import partial_auc_score, partial_auc_scorer
from rocband.problems.rows import RowsProblem
from rocband.risks import Band
from rocband.rows import as_rows
from trusted import Sample, minimum

SURROGATES = ("tight", "hinge", "ramp", "naive")
BAND = (0.05, 0.3)
surrogates = pytest.mark.parametrize("surrogate", SURROGATES)


@pytest.fixture(scope="module")
def data():
    return make_band_problem(900, n_features=4, random_state=0)


@pytest.fixture
def array_api_checks(monkeypatch):
    """Without it scikit-learn skips one check."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")
@pytest.mark.usefixtures("array_api_checks")
@pytest.mark.filterwarnings("ignore::rocband.PositiveClassWarning")  # one check has the labels 1 and 2
@parametrize_with_checks(
    [
        PartialAUCSVC(),
        PartialAUCSVC((0.05, 0.2), anchor=None),
        PartialAUCSVC((0.0, 0.3), surrogate="tight", anchor=None),
        PartialAUCSVC((0.05, 0.2), surrogate="tight", anchor="auc", target_fpr=0.05),
        PartialAUCSVC((0.05, 0.2), surrogate="hinge", target_fpr=0.05),
        PartialAUCSVC((0.05, 0.2), surrogate="naive", anchor=None),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def split(X, y):
    return X[y == 1], X[y == 0]


def objective(model, X, y, origin):
    """The objective at coef_ from all pairs of rows."""
    w = model.coef_[0].astype(np.float64)
    positives, negatives = split(X, y)
    band = Band.from_range(model.fpr_range, len(negatives))
    risk = getattr(reference, model.surrogate)(positives @ w, negatives @ w, band)
    return (w - origin) @ (w - origin) / 2 + model.C * risk


# Fitted attributes


@surrogates
@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")  # of `naive`
@pytest.mark.parametrize("fpr_range", [(0.0, 0.2), BAND])
@pytest.mark.parametrize("anchored", [False, True])
def test_attributes(data, surrogate, fpr_range, anchored):
    X, y = data
    origin = np.linspace(0.1, 0.4, X.shape[1]) if anchored else np.zeros(X.shape[1])
    model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=5.0, anchor=origin if anchored else None).fit(X, y)
    assert model.coef_.shape == (1, X.shape[1])
    assert model.intercept_.shape == (1,)
    assert model.intercept_[0] == -model.threshold_
    assert model.n_features_in_ == X.shape[1]
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert model.converged_ is True
    assert 0 < model.n_iter_ <= model.max_iter
    assert model.objective_ == pytest.approx(objective(model, X, y, origin), rel=1e-9)
    if surrogate in ("tight", "naive") or (surrogate == "hinge" and fpr_range[0] == 0):
        assert model.dual_gap_ == model.objective_ - model.lower_bound_
        assert -1e-9 <= model.dual_gap_ <= model.C * model.tol * (1 + 1e-6)
    else:
        assert np.isnan(model.lower_bound_)
        assert np.isnan(model.dual_gap_)
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0] - model.threshold_)


@surrogates
def test_history_is_ready_to_plot(data, surrogate):
    model = PartialAUCSVC(BAND, surrogate=surrogate).fit(*data)
    table = pd.DataFrame(model.history_)
    assert list(table) == ["step", "passes", "objective", "lower_bound", "gap", "seconds"]
    assert (np.diff(table["objective"]) <= 0).all()
    assert (np.diff(table["seconds"]) >= 0).all()
    assert table["passes"].iloc[-1] <= model.n_iter_
    assert table["objective"].iloc[-1] == pytest.approx(model.objective_)
    assert table["lower_bound"].isna().all() == (surrogate in ("hinge", "ramp"))


@pytest.mark.parametrize("surrogate", ["tight", "hinge", "naive"])
def test_the_full_auc(surrogate):
    # For the band (0, 1) all convex surrogates are the mean pairwise hinge: SVM_AUC.
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 3)), np.arange(60) < 15
    X[y] += 0.7
    model = PartialAUCSVC((0, 1), surrogate=surrogate, C=10.0, anchor=None, tol=1e-6).fit(X, y)
    gaps = np.subtract.outer(X[y] @ model.coef_[0], X[~y] @ model.coef_[0])
    w = model.coef_[0]
    assert model.objective_ == pytest.approx(w @ w / 2 + 10 * np.maximum(1 - gaps, 0).mean())
    assert model.objective_ == pytest.approx(minimum(Sample(X[y], X[~y], Band(0, 45, 45)), 10.0, np.zeros(3)), abs=2e-4)


def test_what_it_is_for(data):
    X, y = data
    band = (0.0, 0.1)
    ours = PartialAUCSVC(band).fit(X, y)
    plain = LogisticRegression().fit(X, y)
    scores = [partial_auc_score(y, each.decision_function(X), fpr_range=band) for each in (ours, plain)]
    assert scores[0] > scores[1]


@surrogates
def test_random_state(data, surrogate):
    X, y = data
    fits = [PartialAUCSVC(BAND, surrogate=surrogate, random_state=seed).fit(X, y).coef_ for seed in (0, 0, None)]
    np.testing.assert_array_equal(fits[0], fits[1])
    np.testing.assert_array_equal(fits[0], fits[2])


# Kinds of data


@surrogates
def test_sparse_is_as_dense(data, surrogate):
    X, y = data
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = PartialAUCSVC(BAND, surrogate=surrogate, C=1.0, tol=1e-6).fit(X, y)
    for form in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        model = PartialAUCSVC(BAND, surrogate=surrogate, C=1.0, tol=1e-6).fit(form(X), y)
        np.testing.assert_allclose(model.objective_, dense.objective_, rtol=1e-3)
        np.testing.assert_allclose(model.decision_function(form(X)), model.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept(data, dtype):
    X, y = data
    model = PartialAUCSVC(BAND, surrogate="tight", C=1.0).fit(X.astype(dtype), y)
    assert model.coef_.dtype == model.intercept_.dtype == dtype
    assert model.decision_function(X.astype(dtype)).dtype == dtype
    assert model.objective_ == pytest.approx(
        PartialAUCSVC(BAND, surrogate="tight", C=1.0).fit(X, y).objective_, abs=3e-4
    )


def test_integers_and_lists(data):
    X, y = data
    whole = np.round(3 * X).astype(int)
    expected = PartialAUCSVC(BAND, surrogate="tight").fit(whole.astype(float), y).coef_
    np.testing.assert_array_equal(PartialAUCSVC(BAND, surrogate="tight").fit(whole, y).coef_, expected)
    np.testing.assert_array_equal(
        PartialAUCSVC(BAND, surrogate="tight").fit(whole.tolist(), y.tolist()).coef_, expected
    )


def test_fortran_order(data):
    X, y = data
    expected = PartialAUCSVC(BAND, surrogate="tight", tol=1e-6).fit(X, y)
    model = PartialAUCSVC(BAND, surrogate="tight", tol=1e-6).fit(np.asfortranarray(X), y)
    assert model.objective_ == pytest.approx(expected.objective_, abs=2e-6 * model.C)


@surrogates
def test_memory_map(data, surrogate, tmp_path):
    X, y = data
    mapped = np.memmap(tmp_path / "X", dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    model = PartialAUCSVC(BAND, surrogate=surrogate, C=1.0, tol=1e-6).fit(mapped, y)
    expected = PartialAUCSVC(BAND, surrogate=surrogate, C=1.0, tol=1e-6).fit(X, y)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-3)
    np.testing.assert_allclose(model.decision_function(mapped), model.decision_function(X))


def test_data_are_not_changed(data):
    X, y = data[0].copy(), data[1].copy()
    X.setflags(write=False)
    y.setflags(write=False)
    for surrogate in SURROGATES:
        PartialAUCSVC(BAND, surrogate=surrogate).fit(X, y)
    np.testing.assert_array_equal(X, data[0])


def test_pandas(data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"feature {i}" for i in range(X.shape[1])])
    model = PartialAUCSVC(BAND).fit(frame, pd.Series(y))
    np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
    np.testing.assert_allclose(model.coef_, PartialAUCSVC(BAND).fit(X, y).coef_, rtol=1e-3)
    np.testing.assert_array_equal(model.predict(frame), (X @ model.coef_[0] > model.threshold_).astype(int))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])


def test_labels_of_any_kind(data):
    X, y = data
    expected = PartialAUCSVC(BAND).fit(X, y)
    for labels in (np.array(["healthy", "ill"]), np.array([-1, 1]), np.array([False, True]), np.array([3.0, 7.0])):
        model = PartialAUCSVC(BAND, pos_label=labels[1]).fit(X, labels[y])
        np.testing.assert_array_equal(model.classes_, labels)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        np.testing.assert_array_equal(model.predict(X), labels[expected.predict(X)])


# In company


def test_pipeline_and_grid_search(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), PartialAUCSVC(BAND))
    search = GridSearchCV(
        pipeline,
        {"partialaucsvc__C": [0.1, 10.0], "partialaucsvc__surrogate": ["tight", "ramp"]},
        scoring=partial_auc_scorer(BAND),
        cv=3,
    )
    search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert search.best_score_ > 0.5
    assert len(cross_val_score(pipeline, X, y, cv=3)) == 3


@surrogates
def test_clone_and_pickle(data, surrogate):
    X, y = data
    model = PartialAUCSVC(BAND, surrogate=surrogate, C=3.0, anchor="auc", target_fpr=0.1, verbose=0).fit(X, y)
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "coef_")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_equal(again.history_, model.history_)
    np.testing.assert_array_equal(clone(model).fit(X, y).coef_, model.coef_)


def test_parameters_are_left_alone(data):
    X, y = data
    anchor = np.zeros(X.shape[1])
    model = PartialAUCSVC(BAND, anchor=anchor)
    before = model.get_params()
    model.fit(X, y)
    assert model.get_params() == before
    assert model.anchor is anchor
    assert "surrogate='tight'" in repr(PartialAUCSVC(surrogate="tight"))


def test_prediction_needs_a_fit(data):
    for method in ("predict", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(PartialAUCSVC(), method)(data[0])


# The threshold


@pytest.mark.parametrize("target_fpr", [1e-9, 0.01, 0.05, 0.1, 0.29, 0.3, 0.5, 0.999, 1.0])
@pytest.mark.parametrize("tied", [False, True])
def test_predictions_keep_to_the_target(data, target_fpr, tied):
    X, y = data
    X = np.round(X) if tied else X
    model = PartialAUCSVC(BAND, surrogate="tight", C=1.0, target_fpr=target_fpr).fit(X, y)
    predicted, scores = model.predict(X), model.decision_function(X)
    np.testing.assert_array_equal(predicted == 1, scores > 0)
    n = np.count_nonzero(y == 0)
    false_positives = np.count_nonzero(predicted[y == 0])
    assert false_positives <= target_fpr * n * (1 + 1e-9)
    # As many as it can: the best of the negatives below the threshold would, with its ties, be too many.
    below = scores[(y == 0) & (scores <= 0)]
    if len(below):
        assert np.count_nonzero(scores[y == 0] >= below.max() - 1e-9) > target_fpr * n * (1 - 1e-9)


def test_the_target_is_the_upper_end_of_the_band(data):
    X, y = data
    model = PartialAUCSVC(BAND).fit(X, y)
    expected = PartialAUCSVC(BAND, target_fpr=BAND[1]).fit(X, y)
    assert model.threshold_ == expected.threshold_
    assert model.predict(X)[y == 0].mean() == pytest.approx(BAND[1], abs=0.01)


def test_single_precision_keeps_to_the_target():
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 4)).astype(np.float32) + np.float32(100)
    y = random.random(3000) < 0.2
    X[y] += 0.5
    for target_fpr in (0.01, 0.1):
        model = PartialAUCSVC((0.0, 0.1), surrogate="tight", C=1.0, target_fpr=target_fpr).fit(X, y)
        assert model.predict(X)[~y].mean() <= target_fpr


def test_all_scores_equal():
    X, y = np.zeros((40, 2)), np.arange(40) < 10
    with pytest.warns(CollapsedSolutionWarning):
        model = PartialAUCSVC((0.0, 0.2), surrogate="tight", anchor=None).fit(X, y)
    assert not model.predict(X).any()
    assert np.isfinite(model.threshold_)


# Anchors


def test_a_small_C_returns_the_anchor(data):
    X, y = data
    reference_model = LogisticRegression().fit(X, y)
    for surrogate in SURROGATES:
        for anchor in (
            reference_model,
            reference_model.coef_,
            reference_model.coef_[0],
            list(reference_model.coef_[0]),
        ):
            model = PartialAUCSVC(BAND, surrogate=surrogate, C=1e-7, anchor=anchor).fit(X, y)
            np.testing.assert_allclose(model.coef_, reference_model.coef_, atol=1e-4)


def test_named_anchors(data):
    X, y = data
    auc = PartialAUCSVC((0, 1), surrogate="tight", C=1.0, anchor=None, tol=1e-6).fit(X, y)
    model = PartialAUCSVC(BAND, C=1e-7, anchor="auc", tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.coef_, auc.coef_, atol=0.02)
    logistic = LogisticRegression().fit(X, y)
    model = PartialAUCSVC(BAND, C=1e-7, anchor="logistic").fit(X, y)
    np.testing.assert_allclose(model.coef_, logistic.coef_, atol=1e-3)


def test_an_anchor_with_chosen_regularisation():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(120, 200)), np.arange(120) < 30
    X[y, 0] += 2.0
    model = PartialAUCSVC((0.0, 0.3), C=1e-7, anchor="logistic_cv").fit(X, y)
    candidates = [LogisticRegression(C=C, max_iter=1000).fit(X, y) for C in np.logspace(-4, 2, 7)]
    losses = [
        -cross_val_score(each, *positives_first(X, y), cv=5, scoring="neg_log_loss").mean() for each in candidates
    ]
    best = candidates[int(np.argmin(losses))]
    assert best.C < 1.0  # so many features want more regularisation than the default
    np.testing.assert_allclose(model.coef_, best.coef_, atol=1e-3)


def positives_first(X, y):
    order = np.argsort(~y, kind="stable")
    return X[order], y[order]


def test_an_anchor_with_too_few_rows_for_folds_is_a_plain_one():
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) < 1
    models = [PartialAUCSVC((0.0, 0.5), C=1e-7, anchor=name).fit(X, y) for name in ("logistic", "logistic_cv")]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


def test_anchors_make_a_difference(data):
    X, y = data
    models = [
        PartialAUCSVC(BAND, surrogate="tight", C=0.1, anchor=anchor).fit(X, y) for anchor in (None, "logistic", "auc")
    ]
    assert np.linalg.norm(models[0].coef_ - models[1].coef_) > 0.1
    assert np.linalg.norm(models[1].coef_ - models[2].coef_) > 0.01


def test_anchors_that_do_not_fit(data):
    X, y = data
    d = X.shape[1]
    wrong = {
        "has coefficients of shape (3,), but X has": np.zeros(3),
        "has coefficients of shape (2, ": np.zeros((2, d)),
        "not finite": np.full(d, np.nan),
        "anchor must be None, 'logistic', 'logistic_cv', 'auc', an array or a fitted linear model, got 'svm'": "svm",
        "an array or a fitted linear model, got LogisticRegression()": LogisticRegression(),
        "The anchor was fitted to the classes": Perceptron().fit(X, np.array(["a", "b"])[y]),
    }
    for message, anchor in wrong.items():
        with pytest.raises(ValueError, match=re.escape(message)):
            PartialAUCSVC(BAND, anchor=anchor).fit(X, y)


# Starting again


@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
def test_an_anchor_from_a_part_of_the_rows_is_about_that_of_all(share, monkeypatch):
    # Rows are weighted by how many they stand for: the coefficients estimate those of all rows, whatever the shares.
    # The positives are of two kinds, which no logistic model describes: shares of the classes then change its slope.
    random = np.random.default_rng(0)
    y = random.random(40_000) < share
    X = random.normal(size=(40_000, 3))
    X[y] += np.where(random.random((y.sum(), 1)) < 0.5, [0.5, 0.5, 0.0], [4.0, -1.0, 0.0])
    problem = RowsProblem(as_rows(X), y)
    whole = logistic_coefficients(problem, random)
    np.testing.assert_allclose(whole, LogisticRegression().fit(X, y).coef_[0], rtol=1e-3, atol=1e-4)
    monkeypatch.setattr(anchor_module, "_NUMBERS", 3 * 8000)
    taken = []
    take = problem.take
    monkeypatch.setattr(problem, "take", lambda numbers: (taken.append(numbers), take(numbers))[1])
    part = logistic_coefficients(problem, random)
    numbers = taken[0]
    m = problem.n_positives
    n = problem.n_negatives
    positive = numbers < m
    some_m = np.count_nonzero(positive)
    assert len(numbers) == len(np.unique(numbers)) == 8000
    assert min(some_m, 8000 - some_m) == min(4000, m, n)
    stands_for = np.where(positive, m / some_m, n / (8000 - some_m))
    expected = LogisticRegression(max_iter=1000).fit(take(numbers), positive, sample_weight=stands_for).coef_[0]
    np.testing.assert_allclose(part, expected, rtol=1e-9)
    # Some 800 rows of the rarer class leave an error of about 0.05.
    np.testing.assert_allclose(part, whole, atol=0.15)


@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge"])
def test_warm_starts_save_passes(data, surrogate):
    X, y = data
    options = {"surrogate": surrogate, "anchor": None}
    model = PartialAUCSVC(BAND, C=1000.0, warm_start=True, **options).fit(X, y)
    cold_passes = warm_passes = 0
    for C in (1050.0, 1100.0, 1150.0, 1200.0):
        cold = PartialAUCSVC(BAND, C=C, **options).fit(X, y)
        model.set_params(C=C).fit(X, y)
        cold_passes, warm_passes = cold_passes + cold.n_iter_, warm_passes + model.n_iter_
        assert model.converged_
        assert model.objective_ == pytest.approx(cold.objective_, abs=2e-4 * C)
    assert warm_passes < 0.8 * cold_passes


def test_warm_start_with_other_features(data):
    X, y = data
    model = PartialAUCSVC(BAND, warm_start=True).fit(X, y)
    narrow = model.fit(X[:, :3], y)
    assert narrow.n_features_in_ == 3
    np.testing.assert_array_equal(narrow.coef_, PartialAUCSVC(BAND).fit(X[:, :3], y).coef_)


# What it says


@surrogates
def test_verbose_prints_a_line_for_each_step(data, surrogate, capsys):
    X, y = data
    model = PartialAUCSVC(BAND, surrogate=surrogate, verbose=1).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    certified = surrogate in ("tight", "naive")
    pattern = r"\[rocband\] step +\d+  passes +\d+  objective [\d.e+-]+"
    pattern += r"  bound [\d.e+-]+  gap [\d.e+-]+" if certified else ""
    assert all(re.fullmatch(pattern + r"  \d+\.\d\d s", line) for line in lines), lines
    assert len(lines) == len(model.history_)
    PartialAUCSVC(BAND, surrogate=surrogate).fit(X, y)
    assert capsys.readouterr() == ("", "")


@pytest.fixture(scope="module")
def collapsing():
    """Positives in the midst of the negatives."""
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    y = np.arange(120) < 20
    X[y] *= 0.1
    X[y] -= X[y].mean(axis=0)
    X[~y] -= X[~y].mean(axis=0)
    return X, y


@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge"])
def test_a_collapse_is_announced_with_the_way_out(collapsing, surrogate):
    model = PartialAUCSVC((0.0, 0.2), surrogate=surrogate, C=10.0, anchor=None)
    message = rf"(?s)constant scorer is optimal for surrogate='{surrogate}'.*use surrogate='ramp', a wider fpr_range"
    with pytest.warns(CollapsedSolutionWarning, match=message) as caught:
        model.fit(*collapsing)
    assert caught[0].filename == __file__
    assert model.lower_bound_ >= 10 * (1 - model.tol)
    assert model.converged_
    assert not model.predict(collapsing[0])[~collapsing[1]].mean() > 0.2


def test_no_collapse_where_there_is_none(collapsing, data):
    # Warnings are errors: neither the bounded surrogate nor an anchored model nor other data may warn.
    PartialAUCSVC((0.0, 0.2)).fit(*collapsing)
    PartialAUCSVC((0.0, 0.2), surrogate="tight", anchor=np.array([1.0, 0.0, 0.0])).fit(*collapsing)
    for C in (3e-4, 1e-2, 1.0):  # a small C holds the model near 0, but it ranks
        model = PartialAUCSVC(BAND, surrogate="tight", anchor=None, C=C).fit(*data)
        assert partial_auc_score(data[1], model.decision_function(data[0]), fpr_range=BAND) > 0.3


@surrogates
def test_out_of_passes(data, surrogate):
    X, y = data
    model = PartialAUCSVC(BAND, surrogate=surrogate, C=1e4, anchor=None, tol=1e-9, max_iter=2)
    message = (
        r"stopped after max_iter=2 passes .* before it reached tol=1e-09; raise max_iter or tol, scale the features"
    )
    with pytest.warns(ConvergenceWarning, match=message):
        model.fit(X, y)
    assert model.converged_ is False
    assert np.isfinite(model.objective_)
    if surrogate in ("tight", "naive"):
        assert model.lower_bound_ <= model.objective_


# Bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be a finite number above 0, got 0."),
        ({"C": -1.0}, "C must be a finite number above 0, got -1.0."),
        ({"C": np.inf}, "C must be a finite number above 0, got inf."),
        ({"C": np.nan}, "C must be a finite number above 0, got nan."),
        ({"C": True}, "C must be a finite number above 0, got True."),
        ({"C": "1"}, "C must be a finite number above 0, got '1'."),
        ({"C": None}, "C must be a finite number above 0, got None."),
        ({"tol": 0.0}, "tol must be a finite number above 0, got 0.0."),
        ({"tol": -1e-3}, "tol must be a finite number above 0, got -0.001."),
        ({"max_iter": 0}, "max_iter must be a whole number above 0, got 0."),
        ({"max_iter": 1.5}, "max_iter must be a whole number above 0, got 1.5."),
        ({"target_fpr": 0.0}, "target_fpr must be a finite number above 0 and at most 1, got 0.0."),
        ({"target_fpr": 1.1}, "target_fpr must be a finite number above 0 and at most 1, got 1.1."),
        ({"target_fpr": "5%"}, "target_fpr must be a finite number above 0 and at most 1, got '5%'."),
        ({"surrogate": "smooth"}, "surrogate must be one of 'tight', 'hinge', 'ramp', 'naive', got 'smooth'."),
        ({"surrogate": None}, "surrogate must be one of 'tight', 'hinge', 'ramp', 'naive', got None."),
        ({"surrogate": ["tight"]}, "surrogate must be one of 'tight', 'hinge', 'ramp', 'naive', got ['tight']."),
        ({"fpr_range": (0.3, 0.1)}, "fpr_range must satisfy 0 <= low < high <= 1, got (0.3, 0.1)."),
        ({"fpr_range": (0.0, 1.5)}, "fpr_range must satisfy 0 <= low < high <= 1, got (0.0, 1.5)."),
        ({"fpr_range": 0.1}, "fpr_range must be a pair (low, high) of rates, got 0.1."),
        ({"fpr_range": ("a", "b")}, "fpr_range must be a pair of numbers, got ('a', 'b')."),
        ({"random_state": "seed"}, "seed"),
    ],
)
def test_bad_parameters(data, parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        PartialAUCSVC(**parameters).fit(*data)


def test_bands_and_few_negatives():
    X, y = np.random.default_rng(0).normal(size=(15, 2)), np.arange(15) < 5
    model = PartialAUCSVC((0.01, 0.02), surrogate="tight", C=1.0).fit(X, y)  # ceil(0.2): the first negative
    expected = PartialAUCSVC((0.0, 0.1), surrogate="tight", C=1.0, target_fpr=0.02).fit(X, y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    with pytest.raises(
        ValueError, match=re.escape("holds none of the 10 negatives; the smallest range that works there is (0.1, 0.2)")
    ):
        PartialAUCSVC((0.1 - 1e-14, 0.1 + 1e-14)).fit(X, y)


def test_bad_data(data):
    X, y = data
    broken = X.copy()
    broken[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        PartialAUCSVC().fit(broken, y)
    broken[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        PartialAUCSVC().fit(broken, y)
    with pytest.raises(ValueError, match=r"y holds only one class, .*0.*; training needs rows of two classes"):
        PartialAUCSVC().fit(X, np.zeros(len(y), dtype=int))
    with pytest.raises(ValueError, match=r"Only binary classification is supported.*y holds 3 classes"):
        PartialAUCSVC().fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        PartialAUCSVC().fit(X, np.linspace(0, 1, len(y)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        PartialAUCSVC().fit(X, y[:-1])
    with pytest.raises(ValueError, match=f"X has 2 features, but PartialAUCSVC is expecting {X.shape[1]} features"):
        PartialAUCSVC().fit(X, y).predict(X[:, :2])
    model = PartialAUCSVC().fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        model.predict(np.full((1, X.shape[1]), np.nan))


# Hard data


@surrogates
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")
@pytest.mark.parametrize("anchor", [None, "logistic", "auc"])
@pytest.mark.parametrize("kind", ["one positive", "constant", "duplicated", "scaled", "wide", "separable"])
def test_hard_data(surrogate, anchor, kind):
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
        X = np.hstack([X, random.normal(size=(80, 40))])
    if kind == "separable":
        X[y] += 10
    model = PartialAUCSVC(BAND, surrogate=surrogate, C=10.0, anchor=anchor, max_iter=60).fit(X, y)
    scores = model.decision_function(X)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(scores).all()
    assert np.isfinite(model.objective_)
    assert np.count_nonzero(scores[~y] > 0) <= BAND[1] * np.count_nonzero(~y)
    if kind == "separable":
        assert partial_auc_score(y, scores, fpr_range=BAND) == 1


def test_a_constant_scorer_without_a_bound_is_told_as_such():
    with pytest.warns(CollapsedSolutionWarning, match="gives every row the same score"):
        PartialAUCSVC((0.0, 0.5), anchor=None).fit(np.zeros((20, 2)), np.arange(20) < 8)
