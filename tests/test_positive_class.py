"""Which of two classes is the positive one: said by pos_label, plain from the labels, or taken with a warning."""

from __future__ import annotations

import warnings

import dask.array as da
import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rocband import KernelPartialAUCSVC, PartialAUCSVC, PartialAUCSVCCV, PositiveClassWarning, persist
from rocband import dask as on_dask
from rocband._input import positive_label, positive_mask
from rocband.baselines import AsymmetricSVC, GreedyPartialAUC, PartialAUCBoost
from rocband.datasets import make_band_problem
from rocband.metrics import empirical_partial_auc, partial_auc_score, partial_auc_scorer, tpr_at_fpr_score
from rocband.plot import PartialROCDisplay
from rocband.threshold import FPRThresholdClassifier, operating_points

BAND = (0.0, 0.1)
MODELS = [
    PartialAUCSVC(BAND),
    PartialAUCSVC(BAND, surrogate="tight", anchor=None, C=1.0),
    PartialAUCSVCCV(BAND, Cs=[1.0, 100.0], cv=3),
    KernelPartialAUCSVC(BAND, C=10.0),
    KernelPartialAUCSVC(BAND, C=10.0, n_components=20),
    AsymmetricSVC(mu=0.15, tau=0.05, target_fpr=0.1),
    PartialAUCBoost(BAND, n_rounds=3),
    GreedyPartialAUC(BAND, n_weights=5),
    FPRThresholdClassifier(LogisticRegression(), target_fpr=0.1),
    FPRThresholdClassifier(GaussianNB(), target_fpr=0.1, cv=0.5, random_state=0),
    FPRThresholdClassifier(PartialAUCSVC(BAND), target_fpr=0.1),
]
models = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@pytest.fixture(scope="module")
def data():
    return make_band_problem(500, random_state=0)


@pytest.fixture(scope="module")
def patients(data):
    """The alphabet puts the ill first: left to it, a promised rate is one of the ill."""
    return data[0], np.where(data[1] == 1, "cancer", "healthy")


@models
def test_the_promised_rate_is_that_of_the_other_class(patients, model):
    X, y = patients
    predicted = model.set_params(pos_label="cancer").fit(X, y).predict(X)
    # Thresholds of held-out negatives keep to the rate about as often as not.
    assert np.mean(predicted[y == "healthy"] == "cancer") <= 0.13
    assert set(predicted) <= {"cancer", "healthy"}


# Splits drawn at random follow the order of the labels.
@pytest.mark.parametrize("model", MODELS[:9], ids=lambda model: type(model).__name__)
def test_text_is_as_numbers(data, patients, model):
    X, y = data
    names = patients[1]
    plain = model.set_params(pos_label=None).fit(X, y)
    decisions = plain.decision_function(X)
    told = model.set_params(pos_label="cancer").fit(X, names)
    of_cancer = told.decision_function(X) if told.classes_[1] == "cancer" else -told.decision_function(X)
    np.testing.assert_allclose(of_cancer, decisions, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(told.predict(X) == "cancer", decisions > 0)


@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")  # of some, turned round
@pytest.mark.parametrize("pos_label", ["cancer", "healthy"])
@pytest.mark.parametrize("model", MODELS[:8], ids=lambda model: type(model).__name__)
def test_the_positive_class_is_the_second(patients, model, pos_label):
    X, y = patients
    model.set_params(pos_label=pos_label).fit(X, y)
    assert model.classes_[1] == pos_label
    assert set(model.classes_) == {"cancer", "healthy"}
    np.testing.assert_array_equal(model.predict(X) == pos_label, model.decision_function(X) > 0)


@models
@pytest.mark.parametrize("labels", [("cancer", "healthy"), (1, 2), (0, 2), (3.0, 7.0), ("0", "1")])
def test_a_guess_is_told_once_with_the_way_out(data, model, labels):
    X, y = data
    low, high = labels
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PositiveClassWarning)
        model.set_params(pos_label=None).fit(X, np.array(labels)[y])
    told = [each for each in caught if each.category is PositiveClassWarning]
    assert len(told) == 1
    assert f"{high!r}, the greater, is taken for the positive class; say pos_label={high!r}" in str(told[0].message)
    assert f"or pos_label={low!r}" in str(told[0].message)
    assert told[0].filename == __file__
    model.set_params(pos_label=high).fit(X, np.array(labels)[y])  # warnings are errors
    model.set_params(pos_label=None)


@models
@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (False, True), (0.0, 1.0), (-1.0, 1.0)])
def test_plain_labels_mean_the_greater(data, model, labels):
    X, y = data
    model.set_params(pos_label=None).fit(X, np.array(labels)[y])  # warnings are errors
    np.testing.assert_array_equal(model.classes_, labels)


@models
def test_a_label_that_is_not_there(patients, model):
    model.set_params(pos_label="ill")
    with pytest.raises(ValueError, match="pos_label 'ill' is not among the labels of y, 'cancer' and 'healthy'"):
        model.fit(*patients)
    model.set_params(pos_label=None)


def test_the_rule():
    assert positive_label(0, 1, 0, "y") == 0
    assert positive_label(False, True, None, "y") is True
    np.testing.assert_array_equal(positive_mask(np.array([1, 2, 2]), 1), [True, False, False])
    with pytest.warns(PositiveClassWarning, match="y_true holds the labels 1 and 2, and 2, the greater"):
        np.testing.assert_array_equal(positive_mask(np.array([1, 2, 2]), None), [False, True, True])
    with pytest.raises(ValueError, match="y_true holds the labels 'a' and 'b'; say which is positive with pos_label"):
        positive_mask(np.array(["a", "b"]), None)


@pytest.mark.parametrize(
    "metric",
    [
        partial_auc_score,
        lambda y, scores, **options: empirical_partial_auc(y, scores, fpr_range=BAND, **options),
        lambda y, scores, **options: tpr_at_fpr_score(y, scores, fpr=0.1, **options),
        lambda y, scores, **options: operating_points(y, scores, **options).to_numpy().tolist(),
        lambda y, scores, **options: on_dask.partial_auc_score(da.from_array(y), da.from_array(scores), **options),
    ],
)
def test_metrics_follow_the_same_rule(data, metric):
    X, y = data
    scores = X[:, 0]
    expected = metric(y, scores)
    assert metric(y + 1, scores, pos_label=2) == expected
    assert metric(2 - y, scores, pos_label=1) == expected
    with pytest.warns(PositiveClassWarning, match="say pos_label=2 or pos_label=1"):
        assert metric(y + 1, scores) == expected


# In company


def test_on_dask(patients):
    X, y = patients
    model = on_dask.PartialAUCSVC(BAND, pos_label="cancer").fit(da.from_array(X, chunks=(100, -1)), da.from_array(y))
    here = PartialAUCSVC(BAND, pos_label="cancer").fit(X, y)
    np.testing.assert_array_equal(model.classes_, ["healthy", "cancer"])
    np.testing.assert_array_equal(model.predict(X), here.predict(X))
    chosen = on_dask.PartialAUCSVCCV(BAND, Cs=[1.0], cv=2, pos_label="cancer").fit(da.from_array(X), y)
    np.testing.assert_array_equal(chosen.classes_, ["healthy", "cancer"])


def test_a_scorer_asks_the_estimator(data, patients):
    X, y = data
    names = patients[1]
    scorer = partial_auc_scorer(BAND)
    expected = cross_val_score(PartialAUCSVC(BAND), X, y, cv=3, scoring=scorer)
    told = PartialAUCSVC(BAND, pos_label="cancer")
    np.testing.assert_allclose(cross_val_score(told, X, names, cv=3, scoring=scorer), expected, atol=1e-6)
    # Whoever asks a pipeline cannot see its model's pos_label, but the order of the classes.
    pipeline = make_pipeline(StandardScaler(with_std=False), told)
    np.testing.assert_allclose(cross_val_score(pipeline, X, names, cv=3, scoring=scorer), expected, atol=0.02)
    search = GridSearchCV(told, {"C": [1.0, 100.0]}, scoring=scorer, cv=3).fit(X, names)
    assert search.best_score_ >= expected.mean() - 1e-6
    assert search.score(X, names) > 0.3


@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB(), PartialAUCSVC(BAND, pos_label="healthy")])
@pytest.mark.parametrize("pos_label", ["cancer", "healthy"])
def test_a_scorer_that_is_told(patients, model, pos_label):
    X, y = patients
    model.fit(X, y)
    if hasattr(model, "decision_function"):
        scores = model.decision_function(X) * (1 if pos_label == "healthy" else -1)
    else:
        scores = model.predict_proba(X)[:, ["cancer", "healthy"].index(pos_label)]
    expected = partial_auc_score(y, scores, fpr_range=BAND, pos_label=pos_label)
    assert partial_auc_scorer(BAND, pos_label=pos_label)(model, X, y) == pytest.approx(expected)


def test_a_scorer_warns_where_nobody_said(patients):
    X, y = patients
    model = LogisticRegression().fit(X, y)
    with pytest.warns(PositiveClassWarning, match="'healthy', the greater, is taken"):
        guessed = partial_auc_scorer(BAND)(model, X, y)
    assert guessed == partial_auc_scorer(BAND, pos_label="healthy")(model, X, y)
    assert "fpr_range=(0.0, 0.1)" in repr(partial_auc_scorer(BAND))


@pytest.mark.filterwarnings("ignore::rocband.PositiveClassWarning")
def test_a_scorer_of_what_is_no_model_of_two_classes(data):
    X, _ = data
    three = np.arange(len(X)) % 3
    with pytest.raises(ValueError, match=r"more labels than|one-dimensional"):
        partial_auc_scorer(BAND)(LogisticRegression().fit(X, three), X, three)


def test_thresholds_take_over_the_estimators_word(patients):
    X, y = patients
    for cv in (None, 0.3):
        model = FPRThresholdClassifier(PartialAUCSVC(BAND, pos_label="cancer"), cv=cv, random_state=0).fit(X, y)
        assert model.pos_label_ == "cancer"
        np.testing.assert_array_equal(model.classes_, model.estimator_.classes_)
        np.testing.assert_array_equal(model.predict(X) == "cancer", model.decision_function(X) > 0)
    fitted = PartialAUCSVC(BAND, pos_label="cancer").fit(X, y)
    for prefit in (
        FPRThresholdClassifier(fitted, cv="prefit").fit(X, y),
        FPRThresholdClassifier(FrozenEstimator(fitted)).fit(X, y),
    ):
        assert prefit.pos_label_ == "cancer"
        assert np.mean(prefit.predict(X)[y == "healthy"] == "cancer") <= 0.05


def test_thresholds_hand_on_what_they_are_told(patients):
    X, y = patients
    model = FPRThresholdClassifier(PartialAUCSVC(BAND), pos_label="cancer", cv=0.3, random_state=0).fit(X, y)
    assert model.estimator_.classes_[1] == "cancer"
    assert model.estimator.pos_label is None
    # Where the two differ, each keeps its own.
    odd = FPRThresholdClassifier(PartialAUCSVC(BAND, pos_label="healthy"), pos_label="cancer", cv=0.3, random_state=0)
    predicted = odd.fit(X, y).predict(X)
    assert odd.estimator_.classes_[1] == "healthy"
    assert np.mean(predicted[y == "healthy"] == "cancer") <= 0.1
    np.testing.assert_array_equal(predicted == odd.classes_[1], odd.decision_function(X) > 0)


def test_scorers_of_scikit_learn_that_are_told(patients):
    X, y = patients
    model = PartialAUCSVC(BAND, pos_label="cancer").fit(X, y)
    scores = model.decision_function(X)
    told = make_scorer(average_precision_score, response_method="decision_function", pos_label="cancer")
    assert told(model, X, y) == pytest.approx(average_precision_score(y == "cancer", scores))
    assert roc_auc_score(y == "cancer", scores) > 0.6


def test_files_and_plots_keep_the_class(patients, tmp_path):
    X, y = patients
    model = PartialAUCSVC(BAND, pos_label="cancer").fit(X, y)
    again = persist.load(persist.save(model, tmp_path / "model.rocband"))
    assert again.pos_label == "cancer"
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    shown = PartialROCDisplay.from_estimator(model, X, y, fpr_range=BAND, random_state=0)
    expected = partial_auc_score(y, model.decision_function(X), fpr_range=BAND, pos_label="cancer")
    assert shown.interval.estimate == pytest.approx(expected)


def test_anchors_of_either_order(patients):
    X, y = patients
    reference = LogisticRegression().fit(X, y)  # its scores are high for the healthy
    for pos_label, sign in (("cancer", -1), ("healthy", 1)):
        model = PartialAUCSVC(BAND, C=1e-7, anchor=reference, pos_label=pos_label).fit(X, y)
        np.testing.assert_allclose(model.coef_, sign * reference.coef_, atol=1e-4)
    other = LogisticRegression().fit(X, np.where(y == "cancer", "ill", "well"))
    with pytest.raises(ValueError, match=r"fitted to the classes \['ill', 'well'\], but y holds \['healthy', 'cancer'"):
        PartialAUCSVC(BAND, anchor=other, pos_label="cancer").fit(X, y)
