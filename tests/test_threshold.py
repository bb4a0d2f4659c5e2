"""The threshold against exact binomial sums and known distributions, and the classifier as scikit-learn wants it."""

from __future__ import annotations

import builtins
import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import example, given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy import sparse, stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from rocband import KernelPartialAUCSVC, PartialAUCSVC
from rocband.baselines import GreedyPartialAUC, PartialAUCBoost
from rocband.inference import tpr_at_fpr_interval
from rocband.metrics import partial_auc_scorer
from rocband.threshold import FPRThresholdClassifier, operating_points
from rocband.threshold.cutoff import halfway_threshold, negatives_needed, plain_rank, safe_rank
from rocband.threshold.decimals import threshold_text

THOROUGH = settings(max_examples=200, deadline=None)
RATES = st.one_of(st.floats(0.001, 0.999), st.sampled_from([0.01, 0.05, 0.1, 0.25, 0.29, 0.3, 0.5, 0.9, 0.95]))


class FirstColumn(ClassifierMixin, BaseEstimator):
    """Scores that are the first feature: their distribution is known."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_rows_ = len(y)
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=float)[:, 0]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


class Remembering(FirstColumn):
    """Keeps what it was fitted with."""

    def fit(self, X, y, sample_weight=None, note=None):
        self.sample_weight_, self.note_ = sample_weight, note
        return super().fit(X, y)


@pytest.fixture(scope="module")
def data():
    return make_classification(
        1200, 6, n_informative=4, n_clusters_per_class=1, weights=[0.7], flip_y=0.05, class_sep=0.7, random_state=0
    )


def frozen_first_column():
    return FrozenEstimator(FirstColumn().fit([[0.0], [1.0]], [0, 1]))


# The rank of the threshold


def binomial_cdf(k, n, rate):
    rate = Fraction(rate)
    return sum((math.comb(n, j) * rate**j * (1 - rate) ** (n - j) for j in range(k + 1)), Fraction(0))


@THOROUGH
@given(st.integers(1, 60), RATES, RATES)
def test_safe_rank_is_the_largest_that_keeps_the_promise(n, target, confidence):
    k, risk = safe_rank(n, target, confidence), 1 - Fraction(confidence)
    slack = Fraction(1, 10**11)
    assert 0 <= k <= n
    assert k == 0 or binomial_cdf(k - 1, n, target) <= risk * (1 + slack)
    assert k == n or binomial_cdf(k, n, target) > risk * (1 - slack)


@THOROUGH
@given(RATES, RATES)
def test_needed_negatives_are_just_enough(target, confidence):
    needed = negatives_needed(target, confidence)
    assert safe_rank(needed, target, confidence) >= 1
    assert needed == 1 or safe_rank(needed - 1, target, confidence) == 0


@pytest.mark.parametrize(("target", "needed"), [(0.01, 299), (0.05, 59), (0.1, 29)])
def test_needed_negatives_at_95_percent(target, needed):
    assert negatives_needed(target, 0.95) == needed


@pytest.mark.parametrize("target", [0.05, 0.1, 0.2, 0.25, 0.3, 0.5])
def test_exact_promises_are_free_of_rounding(target):
    for n in range(1, 13):
        confidence = 1 - (1 - target) ** n
        assert negatives_needed(target, confidence) == n
        assert safe_rank(n, target, confidence) == 1


@THOROUGH
@given(st.integers(1, 200), st.integers(1, 99))
@example(100, 29)
@example(30, 10)
def test_plain_rank_is_free_of_rounding(n, percent):
    assert plain_rank(n, percent / 100) == n * percent // 100 + 1


def test_ranks_at_the_ends_of_the_range():
    assert plain_rank(10, math.nextafter(1.0, 0.0)) == 10
    assert safe_rank(10, 0.5, 1e-16) == 10
    assert safe_rank(10**7, 0.01, 0.95) == stats.binom.ppf(0.05, 10**7, 0.01)


@THOROUGH
@given(st.lists(st.integers(-4, 4), min_size=3, max_size=60), RATES)
def test_plain_threshold_is_the_lowest_within_the_target(scores, target):
    model = FPRThresholdClassifier(frozen_first_column(), target_fpr=target)
    model.fit(np.array(scores, dtype=float)[:, None], np.zeros(len(scores), dtype=int))
    share = Fraction(sum(score > model.threshold_ for score in scores), len(scores))
    lower = [score for score in scores if score < model.threshold_]
    assert model.expected_fpr_ == float(share) <= target + 1e-11
    assert model.threshold_ in scores
    if lower:
        assert sum(score > max(lower) for score in scores) / len(scores) > target


# The half-way rule of models that set the threshold on their training rows


def halfway(positives, negatives, target):
    """The same in rational arithmetic, from the definition: try each negative from the lowest on."""
    n = len(negatives)
    for below in sorted(set(negatives)):
        if sum(z > below for z in negatives) <= target * n:
            above = [s for s in (*positives, *negatives) if s > below]
            following = min(above) if above else below + 1
            return (Fraction(below) + Fraction(following)) / 2
    raise AssertionError("nothing lies above the largest")


SMALL = st.lists(st.integers(-8, 8), min_size=1, max_size=25)


@THOROUGH
@given(SMALL, SMALL, st.integers(0, 99))
@example([3], [1, 2, 5, 6], 50)
@example([0], [1, 2, 3, 4], 0)
@example([7], [1] * 29 + [0] * 71, 29)
def test_training_threshold_lies_half_way(positives, negatives, percent):
    found = halfway_threshold(np.array(positives, dtype=float), np.array(negatives, dtype=float), percent / 100)
    assert found == float(halfway(positives, negatives, Fraction(percent, 100)))


def test_a_target_of_one_lets_every_negative_pass():
    threshold = halfway_threshold(np.array([5.0]), np.array([2.0, 3.0]), 1.0)
    assert threshold == 1.0


@pytest.mark.parametrize(
    "model",
    [
        PartialAUCSVC((0.0, 0.1), C=1.0, random_state=0),
        KernelPartialAUCSVC((0.0, 0.1), C=1.0, random_state=0),
        GreedyPartialAUC((0.0, 0.1), n_weights=5),
        PartialAUCBoost((0.0, 0.1), n_rounds=3),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("target", [None, 0.03, 0.25])
def test_models_put_their_threshold_half_way(data, model, target):
    X, y = data
    X, y = X[:300], y[:300]
    fitted = clone(model).set_params(target_fpr=target).fit(X, y)
    decisions = fitted.decision_function(X)
    allowed = math.floor((0.1 if target is None else target) * np.sum(y == 0) + 1e-9)
    last_stopped = np.sort(decisions[y == 0])[::-1][allowed]
    next_above = decisions[decisions > last_stopped].min()
    # Decisions are counted from the threshold, so half-way means as far below 0 as above.
    assert last_stopped < 0 < next_above
    assert next_above == pytest.approx(-last_stopped, rel=1e-6)


# The promise


def exceeding_draws(target, n, step, draws=400, confidence=0.9):
    """How many of the draws have a true FPR above the target, and its mean; scores are normal, rounded to steps."""
    rng = np.random.default_rng(0)
    model = FPRThresholdClassifier(frozen_first_column(), target_fpr=target, confidence=confidence)
    y, rates = np.zeros(n, dtype=int), []
    for _ in range(draws):
        scores = rng.normal(size=n)
        if step:
            scores = np.round(scores / step) * step
        threshold = model.fit(scores[:, None], y).threshold_
        rates.append(stats.norm.sf(threshold + step / 2))
    return np.mean(np.array(rates) > target), np.mean(rates), model


@pytest.mark.parametrize("n", [22, 45, 400])
def test_promised_confidence_holds(n):
    exceeding, mean, model = exceeding_draws(0.1, n, step=0.0)
    rank = round(model.expected_fpr_ * (n + 1))
    expected = stats.binom.cdf(rank - 1, n, 0.1)
    noise = 4 * math.sqrt(expected * (1 - expected) / 400)
    assert expected <= 0.1 + 1e-12
    assert abs(exceeding - expected) < noise
    assert mean == pytest.approx(model.expected_fpr_, abs=4 * stats.beta.std(rank, n - rank + 1) / 20)


@pytest.mark.parametrize("step", [0.1, 0.5, 3.0])
def test_ties_only_make_it_safer(step):
    exceeding, mean, model = exceeding_draws(0.1, 100, step=step)
    assert exceeding <= 0.1 + 4 * math.sqrt(0.1 * 0.9 / 400)
    assert mean <= model.expected_fpr_ + 0.005


def test_hold_out_keeps_the_promise_of_a_trained_model():
    """The FPR of a linear scorer on normal negatives is known exactly, whatever the scorer."""
    rng, rates = np.random.default_rng(1), []
    model = FPRThresholdClassifier(LinearDiscriminantAnalysis(), target_fpr=0.1, confidence=0.9, random_state=0)
    for _ in range(200):
        y = rng.permutation(np.repeat([0, 1], [150, 30]))
        model.fit(rng.normal(size=(180, 4)) + 0.8 * y[:, None], y)
        weights, offset = model.estimator_.coef_[0], model.estimator_.intercept_[0]
        rates.append(stats.norm.sf((model.threshold_ - offset) / np.linalg.norm(weights)))
    assert model.n_calibration_negatives_ == 45
    assert np.mean(np.array(rates) > 0.1) <= 0.1 + 4 * math.sqrt(0.1 * 0.9 / 200)
    assert np.mean(rates) > 0.04


def test_expected_fpr_is_the_mean_of_the_beta_distribution():
    model = FPRThresholdClassifier(frozen_first_column(), target_fpr=0.05, confidence=0.95)
    model.fit(np.arange(59.0)[:, None], np.zeros(59, dtype=int))
    assert (model.threshold_, model.expected_fpr_, model.n_calibration_negatives_) == (58.0, 1 / 60, 59)


# Where the calibration rows come from


def test_default_is_cross_fitted(data):
    X, y = data
    model = FPRThresholdClassifier(LogisticRegression(), target_fpr=0.1).fit(X, y)
    scores = cross_val_predict(LogisticRegression(), X, y, cv=5, method="decision_function")[y == 0]
    assert model.threshold_ == np.sort(scores)[::-1][math.floor(0.1 * len(scores))]
    assert model.n_calibration_negatives_ == len(scores)
    np.testing.assert_array_equal(model.estimator_.coef_, LogisticRegression().fit(X, y).coef_)


def test_confidence_defaults_to_a_hold_out(data):
    X, y = data
    model = FPRThresholdClassifier(LogisticRegression(), confidence=0.9, random_state=3).fit(X, y)
    same = FPRThresholdClassifier(LogisticRegression(), confidence=0.9, cv=0.3, random_state=3).fit(X, y)
    assert model.n_calibration_negatives_ == pytest.approx(0.3 * np.sum(y == 0), abs=1)
    assert model.threshold_ == same.threshold_


def test_hold_out_keeps_the_model_of_the_training_part(data):
    X, y = data
    train, test = train_test_split(np.arange(len(y)), random_state=0)
    model = FPRThresholdClassifier(LogisticRegression(), cv=[(train, test)]).fit(X, y)
    inner = LogisticRegression().fit(X[train], y[train])
    np.testing.assert_array_equal(model.estimator_.coef_, inner.coef_)
    assert model.threshold_ in inner.decision_function(X[test][y[test] == 0])


def test_hold_out_of_negatives_alone(data):
    X, y = data
    held_out = np.flatnonzero(y == 0)[::3]
    mask = np.isin(np.arange(len(y)), held_out)
    model = FPRThresholdClassifier(FirstColumn(), confidence=0.9, cv=[(~mask, mask)]).fit(X, y)
    assert model.n_calibration_negatives_ == len(held_out)
    assert model.estimator_.n_rows_ == len(y) - len(held_out)


@pytest.mark.parametrize("frozen", [False, True])
def test_fitted_estimators_are_not_trained_again(data, frozen):
    X, y = data
    inner = LogisticRegression().fit(X[:600], y[:600])
    before = inner.coef_.copy()
    estimator, cv = (FrozenEstimator(inner), None) if frozen else (inner, "prefit")
    model = FPRThresholdClassifier(estimator, confidence=0.9, cv=cv).fit(X[600:], y[600:])
    assert model.estimator_ is estimator
    np.testing.assert_array_equal(inner.coef_, before)
    assert model.n_calibration_negatives_ == np.sum(y[600:] == 0)
    negatives = FPRThresholdClassifier(estimator, confidence=0.9, cv=cv).fit(
        X[600:][y[600:] == 0], y[600:][y[600:] == 0]
    )
    assert negatives.threshold_ == model.threshold_


def test_folds_need_not_cover_all_rows(data):
    X, y = data
    splits = list(StratifiedKFold(4).split(X, y))[:2]
    model = FPRThresholdClassifier(FirstColumn(), cv=splits).fit(X, y)
    assert model.n_calibration_negatives_ == sum(np.sum(y[test] == 0) for _, test in splits)
    assert model.estimator_.n_rows_ == len(y)


def test_parallel_folds_give_the_same_threshold(data):
    X, y = data
    with parallel_config(backend="threading"):
        one, two = (FPRThresholdClassifier(LogisticRegression(), n_jobs=n).fit(X, y).threshold_ for n in (None, 2))
    assert one == two


# Predictions


@pytest.mark.filterwarnings("ignore::rocband.PositiveClassWarning")  # where None
@pytest.mark.parametrize("estimator", [LogisticRegression(), GaussianNB(), RidgeClassifier()])
@pytest.mark.parametrize("pos_label", [None, "ill", "well"])
def test_signs_labels_and_scores_agree(data, estimator, pos_label):
    X, y = data
    labels = np.where(y == 1, "well", "ill")
    model = FPRThresholdClassifier(estimator, target_fpr=0.1, pos_label=pos_label).fit(X, labels)
    positive = pos_label or "well"
    decision, predicted = model.decision_function(X), model.predict(X)
    np.testing.assert_array_equal(predicted == "well", decision > 0)
    assert 0.02 < np.mean(predicted[labels != positive] == positive) < 0.2
    assert model.score(X, labels) == np.mean(predicted == labels)
    assert roc_auc_score(labels == "well", decision) > 0.7
    assert model.pos_label_ == positive


@pytest.mark.parametrize("pos_label", [0, 1])
def test_a_score_at_the_threshold_is_negative(pos_label):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.full(4, 1 - pos_label)
    model = FPRThresholdClassifier(frozen_first_column(), target_fpr=0.3, pos_label=pos_label).fit(X, y)
    passed = [False, False, False, True] if pos_label else [True, False, False, False]
    np.testing.assert_array_equal(model.predict(X) == pos_label, passed)
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X) == 1)


def test_scorers_read_the_decisions_for_either_label(data):
    X, y = data
    scorer = partial_auc_scorer((0.0, 0.2), pos_label=0)
    model = FPRThresholdClassifier(LogisticRegression(), pos_label=0).fit(X, y)
    assert scorer(model, X, y) == pytest.approx(scorer(model.estimator_, X, y), abs=1e-12)


def test_probabilities_are_those_of_the_model(data):
    X, y = data
    model = FPRThresholdClassifier(GaussianNB()).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), model.estimator_.predict_proba(X))
    np.testing.assert_array_equal(model.predict_log_proba(X), model.estimator_.predict_log_proba(X))
    assert not hasattr(FPRThresholdClassifier(RidgeClassifier()), "predict_proba")


def test_response_method_chooses_the_scores(data):
    X, y = data
    models = {
        m: FPRThresholdClassifier(LogisticRegression(), response_method=m).fit(X, y) for m in ("auto", "predict_proba")
    }
    assert models["auto"].response_method_ == "decision_function"
    assert 0 < models["predict_proba"].threshold_ < 1
    np.testing.assert_array_equal(models["auto"].predict(X), models["predict_proba"].predict(X))


def test_a_changed_parameter_takes_effect_only_with_the_next_fit(data):
    X, y = data
    model = FPRThresholdClassifier(LogisticRegression(), target_fpr=0.1).fit(X, y)
    before = model.predict(X)
    np.testing.assert_array_equal(model.set_params(pos_label=0, target_fpr=0.5).predict(X), before)


# At home in scikit-learn


@pytest.fixture
def array_api_checks(monkeypatch):
    """Without the variable, the check of array input would be skipped."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


# predict_proba stays the model's own, so it does not agree with predict, as check_classifiers_train demands:
# here are models without it, and the test below says that nothing else stands between the others and the checks.
@parametrize_with_checks(
    [
        FPRThresholdClassifier(RidgeClassifier()),
        FPRThresholdClassifier(LinearSVC(), cv=0.3),
        FPRThresholdClassifier(RidgeClassifier(), target_fpr=0.1, confidence=0.1),
    ]
)
@pytest.mark.filterwarnings("ignore::rocband.PositiveClassWarning")
@pytest.mark.usefixtures("array_api_checks")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.usefixtures("array_api_checks")
@pytest.mark.filterwarnings("ignore")
def test_only_the_check_for_a_threshold_of_one_half_fails_with_probabilities():
    results = check_estimator(FPRThresholdClassifier(GaussianNB()), on_fail=None)
    assert {result["check_name"] for result in results if result["status"] != "passed"} == {"check_classifiers_train"}


def test_clone_pickle_and_parameters(data):
    X, y = data
    model = FPRThresholdClassifier(LogisticRegression(), target_fpr=0.1, confidence=0.9, random_state=0).fit(X, y)
    again = clone(model).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert again.threshold_ == copy.threshold_ == model.threshold_
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert model.get_params()["estimator__C"] == 1.0


def test_grid_search_over_and_around(data):
    X, y = data
    model = FPRThresholdClassifier(make_pipeline(StandardScaler(), LogisticRegression()), target_fpr=0.1)
    search = GridSearchCV(model, {"estimator__logisticregression__C": [0.01, 1.0], "target_fpr": [0.05, 0.2]}, cv=3)
    assert search.fit(X, y).best_estimator_.threshold_ is not None
    outer = make_pipeline(StandardScaler(), FPRThresholdClassifier(GridSearchCV(LinearSVC(), {"C": [0.1, 1.0]}, cv=2)))
    assert cross_val_score(outer, X, y, cv=2).min() > 0.6
    frozen = FPRThresholdClassifier(FrozenEstimator(LogisticRegression().fit(X, y)))
    assert np.isfinite(GridSearchCV(frozen, {"target_fpr": [0.05, 0.2]}, cv=2).fit(X, y).best_score_)


def test_data_frames_sparse_matrices_and_texts(data):
    X, y = data
    plain = FPRThresholdClassifier(LogisticRegression()).fit(X, y)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(6)], index=np.arange(len(y))[::-1])
    framed = FPRThresholdClassifier(LogisticRegression()).fit(frame, pd.Series(y, index=frame.index))
    assert framed.feature_names_in_.tolist() == list(frame.columns)
    assert framed.n_features_in_ == plain.n_features_in_ == 6
    assert framed.threshold_ == pytest.approx(plain.threshold_)
    assert not hasattr(framed.fit(X, y), "feature_names_in_")
    for kind in (sparse.coo_array, sparse.csc_matrix):
        assert FPRThresholdClassifier(LogisticRegression()).fit(kind(X), y).threshold_ == pytest.approx(
            plain.threshold_
        )
    texts = ["a rose", "a thorn", "two roses", "two thorns"] * 10
    model = FPRThresholdClassifier(make_pipeline(CountVectorizer(), LogisticRegression()), target_fpr=0.5)
    assert model.fit(texts, [0, 1, 0, 1] * 10).predict(["thorn"]).tolist() == [1]


def test_tags_are_those_of_the_model():
    tags = FPRThresholdClassifier(KNeighborsClassifier(metric="precomputed")).__sklearn_tags__()
    assert tags.input_tags.pairwise
    assert not tags.classifier_tags.multi_class


# Metadata


@pytest.mark.parametrize("kind", [np.asarray, list, pd.Series])
def test_metadata_are_cut_to_the_training_rows(data, kind):
    X, y = data
    weights = np.arange(1.0, len(y) + 1)
    train, test = np.arange(900), np.arange(900, 1200)
    model = FPRThresholdClassifier(Remembering(), cv=[(train, test)])
    model.fit(X, y, sample_weight=kind(weights), note="as it is")
    np.testing.assert_array_equal(model.estimator_.sample_weight_, weights[:900])
    assert model.estimator_.note_ == "as it is"


def test_weights_reach_every_fold(data):
    X, y = data
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
    params = {"sample_weight": weights}
    model = FPRThresholdClassifier(LogisticRegression(), cv=3).fit(X, y, **params)
    scores = cross_val_predict(LogisticRegression(), X, y, cv=3, method="decision_function", params=params)[y == 0]
    assert model.threshold_ == np.sort(scores)[::-1][math.floor(0.05 * len(scores))]


@pytest.mark.parametrize("cv", [GroupKFold(3), GroupShuffleSplit(1, random_state=0)])
def test_groups_go_to_the_splitter(data, cv):
    X, y = data
    groups = np.arange(len(y)) // 7
    expected = sum(np.sum(y[test] == 0) for _, test in cv.split(X, y, groups))
    assert FPRThresholdClassifier(FirstColumn(), cv=cv).fit(X, y, groups=groups).n_calibration_negatives_ == expected


def test_metadata_routing(data):
    X, y = data
    weights, groups = np.ones(len(y)), np.arange(len(y)) // 7
    with sklearn.config_context(enable_metadata_routing=True):
        inner = Remembering().set_fit_request(sample_weight=True, note=False)
        model = FPRThresholdClassifier(inner, cv=GroupKFold(3)).fit(X, y, sample_weight=weights, groups=groups)
        np.testing.assert_array_equal(model.estimator_.sample_weight_, weights)
        with pytest.raises(TypeError, match="note"):
            model.fit(X, y, note="unwanted")


# Bad input


def refuses(message, X, y, estimator=None, error=ValueError, **params):
    with pytest.raises(error, match=message) as caught:
        FPRThresholdClassifier(LogisticRegression() if estimator is None else estimator, **params).fit(X, y)
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith(".")


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5, math.nan, "0.05", True])
@pytest.mark.parametrize("name", ["target_fpr", "confidence"])
def test_refuses_rates_outside_the_open_interval(data, name, value):
    refuses(rf"^{name} must be a number between 0 and 1, both excluded, got", *data, **{name: value})


@pytest.mark.parametrize("cv", [0.0, 1.5])
def test_refuses_a_share_outside_the_open_interval(data, cv):
    refuses("^cv, when a share of the rows to hold out, must be a number between 0 and 1", *data, cv=cv)


def test_says_how_many_negatives_the_guarantee_needs(data):
    X, y = data
    message = r"^confidence 0.95 at target_fpr=0.01 needs at least 299 negatives to calibrate on, got 2\d\d\."
    refuses(message, X, y, target_fpr=0.01, confidence=0.95)
    FPRThresholdClassifier(LogisticRegression(), target_fpr=0.01, confidence=0.95, cv=0.5).fit(X, y)


def test_refuses_too_few_negatives_before_training(data):
    class Untrainable(FirstColumn):
        def fit(self, X, y):
            raise AssertionError("trained in vain")

    refuses("needs at least 4,603 negatives", *data, estimator=Untrainable(), target_fpr=0.001, confidence=0.99)


def test_refuses_estimators_without_scores(data):
    refuses("DecisionTreeRegressor has no decision_function or predict_proba", *data, DecisionTreeRegressor())
    refuses("RidgeClassifier has no predict_proba", *data, RidgeClassifier(), response_method="predict_proba")
    refuses("response_method must be 'auto', .* got 'predict'", *data, response_method="predict")
    refuses("IsolationForest has no classes_ once fitted", *data, IsolationForest(n_estimators=2))


@pytest.mark.parametrize("cv", ["prefit", None])
def test_refuses_estimators_that_are_not_fitted(data, cv):
    inner = LogisticRegression() if cv else FrozenEstimator(LogisticRegression())
    refuses("The estimator is not fitted; fit it on other rows first", *data, inner, NotFittedError, cv=cv)


def test_refuses_other_classes_than_two(data):
    X, y = data
    refuses("y holds one class only, 1; pass rows of two classes", X, np.ones_like(y))
    refuses("Only binary classification is supported. The type of the target is multiclass", X, np.arange(len(y)) % 3)
    refuses("y is empty; pass rows of two classes", X[:0], y[:0])
    fitted = FrozenEstimator(LogisticRegression().fit(X, np.arange(len(y)) % 3))
    refuses("Only binary .* The estimator was fitted to 3 classes", X, y, fitted)
    fitted = FrozenEstimator(LogisticRegression().fit(X, y))
    refuses("y holds the label 2; the estimator knows 0 and 1", X, 2 * y, fitted)


def test_refuses_unknown_positive_labels(data):
    refuses("pos_label 'ill' is not among the labels of y, 0 and 1", *data, pos_label="ill")


def test_refuses_nan_in_labels_and_scores(data):
    X, y = data
    refuses("Input y contains NaN", X, np.where(np.arange(len(y)) == 5, np.nan, y))
    holes = X.copy()
    holes[np.flatnonzero(y == 0)[:3], 0] = np.nan
    refuses(r"The estimator's scores of 3 of \d+ negatives are not finite numbers", holes, y, FirstColumn())


def test_refuses_parts_without_a_class(data):
    X, y = data
    order = np.argsort(y, kind="stable")
    refuses("Split 1 of 2 leaves no rows of the class 0 to train on", X[order][-700:], y[order][-700:], cv=KFold(2))
    positives, negatives = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    split = (np.concatenate([positives[10:], negatives]), positives[:10])
    refuses("There are no negatives to set the threshold with", X, y, cv=[split])
    refuses("There are no negatives to set the threshold with", X[y == 1], y[y == 1], frozen_first_column())


def test_refuses_a_class_without_weight(data):
    X, y = data
    with pytest.raises(ValueError, match="no rows of the class 0 to train on, or none with a positive sample_weight"):
        FPRThresholdClassifier(LogisticRegression()).fit(X, y, sample_weight=y)


def test_refuses_rows_seen_or_counted_twice(data):
    X, y = data
    rows = np.arange(len(y))
    refuses("Split 1 of 1 holds out rows that it also trains on", X, y, cv=[(rows, rows[:300])])
    refuses("cv holds out some rows more than once", X, y, cv=ShuffleSplit(5, random_state=0))


def test_refuses_precomputed_kernels_to_be_cut(data):
    X, y = data
    kernel = X @ X.T
    refuses("precomputed kernels .* pass cv='prefit'", kernel, y, SVC(kernel="precomputed"))
    fitted = SVC(kernel="precomputed").fit(kernel[:600, :600], y[:600])
    FPRThresholdClassifier(fitted, cv="prefit").fit(kernel[600:, :600], y[600:])


def test_refuses_to_predict_before_fit(data):
    for method in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
        with pytest.raises(NotFittedError):
            getattr(FPRThresholdClassifier(LogisticRegression()), method)(data[0])


# The table of operating points

RATE_NAMES = ("FPR", "TPR", "PPV", "alerts per 1,000")


@pytest.fixture(scope="module")
def scored():
    rng = np.random.default_rng(5)
    y = (rng.random(3000) < 0.2).astype(int)
    return y, rng.normal(size=3000) + 1.5 * y


def test_table_counts_what_passes_the_threshold(scored):
    y, scores = scored
    table = operating_points(y, scores)
    assert table.index.tolist() == [0.01, 0.02, 0.05, 0.1]
    assert table.index.name == "target FPR"
    ends = [[name, f"{name} low", f"{name} high"] for name in RATE_NAMES]
    assert table.columns.tolist() == ["threshold", *itertools.chain(*ends)]
    for rate, row in table.iterrows():
        alert = scores > row["threshold"]
        assert row["FPR"] == alert[y == 0].mean()
        assert rate - 1 / np.sum(y == 0) < row["FPR"] <= rate
        assert row["TPR"] == alert[y == 1].mean()
        assert row["PPV"] == y[alert].mean()
        assert row["alerts per 1,000"] == pytest.approx(1000 * alert.mean())
        for name in RATE_NAMES:
            assert row[f"{name} low"] < row[name] < row[f"{name} high"]


def test_intervals_of_the_rates_are_clopper_pearson(scored):
    y, scores = scored
    row = operating_points(y, scores, 0.05, confidence=0.9).loc[0.05]
    alert = scores > row["threshold"]
    counted = {"FPR": alert[y == 0], "TPR": alert[y == 1], "PPV": y[alert]}
    for name, hits in counted.items():
        exact = stats.binomtest(int(hits.sum()), len(hits)).proportion_ci(0.9, method="exact")
        np.testing.assert_allclose([row[f"{name} low"], row[f"{name} high"]], exact, rtol=1e-6)


def test_a_given_prevalence_moves_ppv_and_alerts_alone(scored):
    y, scores = scored
    usual, rare = operating_points(y, scores), operating_points(y, scores, prevalence=0.01)
    same = [c for c in usual.columns if not c.startswith(("PPV", "alerts"))]
    pd.testing.assert_frame_equal(usual[same], rare[same])
    hits, false = 0.01 * rare["TPR"], 0.99 * rare["FPR"]
    np.testing.assert_allclose(rare["PPV"], hits / (hits + false))
    np.testing.assert_allclose(rare["alerts per 1,000"], 1000 * (hits + false))
    for name in ("PPV", "alerts per 1,000"):
        assert (rare[f"{name} low"] < rare[name]).all()
        assert (rare[name] < rare[f"{name} high"]).all()


def test_ends_at_a_given_prevalence_match_draws_from_the_betas(scored):
    y, scores = scored
    row = operating_points(y, scores, 0.02, prevalence=0.05).loc[0.02]
    n, m = np.sum(y == 0), np.sum(y == 1)
    x, h = round(row["FPR"] * n), round(row["TPR"] * m)
    rng = np.random.default_rng(0)
    hits_low, false_high = 0.05 * rng.beta(h, m - h + 1, 10**6), 0.95 * rng.beta(x + 1, n - x, 10**6)
    assert row["PPV low"] == pytest.approx(np.quantile(hits_low / (hits_low + false_high), 0.025), rel=2e-3)
    hits_high, false_high = 0.05 * rng.beta(h + 1, m - h, 10**6), 0.95 * rng.beta(x + 1, n - x, 10**6)
    assert row["alerts per 1,000 high"] == pytest.approx(1000 * np.quantile(hits_high + false_high, 0.975), rel=2e-3)


@pytest.mark.parametrize("prevalence", [None, 0.02])
def test_intervals_cover_the_truth_at_the_chosen_threshold(prevalence):
    """Scores are normal, so the true figures at any threshold are known; the threshold is chosen on the same rows."""
    rng, share, draws = np.random.default_rng(2), 0.15, 250
    missed = dict.fromkeys(RATE_NAMES, 0)
    for _ in range(draws):
        y = (rng.random(250) < share).astype(int)
        row = operating_points(y, rng.normal(size=250) + 1.5 * y, 0.05, prevalence=prevalence).loc[0.05]
        rate = share if prevalence is None else prevalence
        fpr, tpr = stats.norm.sf(row["threshold"]), stats.norm.sf(row["threshold"] - 1.5)
        alerts = rate * tpr + (1 - rate) * fpr
        for name, true in zip(RATE_NAMES, (fpr, tpr, rate * tpr / alerts, 1000 * alerts), strict=True):
            missed[name] += not row[f"{name} low"] <= true <= row[f"{name} high"]
    assert max(missed.values()) <= stats.binom.ppf(0.9995, draws, 0.05)
    assert min(missed.values()) >= 1


def test_the_tpr_at_a_true_fpr_is_another_interval():
    """Of these, that of the chosen threshold leaves out the TPR at a true FPR of 0.05 in some 20 of 100 samples."""
    rng = np.random.default_rng(3)
    replicates = 150
    y = np.repeat([1, 0], (200, 100))
    truth = stats.norm.sf(stats.norm.isf(0.05) - 1.5)
    held = {"TPR": 0, "TPR at true FPR": 0}
    for seed in range(replicates):
        scores = rng.normal(size=300) + 1.5 * y
        row = operating_points(y, scores, 0.05, at_true_fpr=True, n_draws=200, random_state=seed).loc[0.05]
        for name in held:
            held[name] += row[f"{name} low"] <= truth <= row[f"{name} high"]
    assert held["TPR"] <= stats.binom.isf(1e-3, replicates, 0.85)
    assert held["TPR at true FPR"] >= stats.binom.ppf(1e-3, replicates, 0.95)


def test_the_tpr_at_a_true_fpr_is_that_of_inference(scored):
    y, scores = scored
    options = {"confidence": 0.9, "method": "bootstrap", "n_draws": 150, "groups": np.arange(3000) // 4}
    table = operating_points(y, scores, [0.02, 0.05], at_true_fpr=True, random_state=1, **options)
    for rate, row in table.iterrows():
        expected = tpr_at_fpr_interval(y, scores, fpr=rate, random_state=1, **options)
        names = ("TPR at true FPR", "TPR at true FPR low", "TPR at true FPR high")
        assert tuple(row[name] for name in names) == (expected.estimate, expected.low, expected.high)
    plain = operating_points(y, scores, [0.02, 0.05], confidence=0.9)
    pd.testing.assert_frame_equal(table[plain.columns], plain)


@pytest.mark.parametrize("prevalence", [None, 0.3])
def test_extremes_stay_in_range(prevalence):
    perfect = operating_points([0, 0, 1], [0.0, 1.0, 2.0], [0.0, 0.5], prevalence=prevalence)
    assert perfect.loc[0.0, ["FPR", "FPR low", "TPR", "TPR high", "PPV", "PPV high"]].tolist() == [0, 0, 1, 1, 1, 1]
    assert perfect.loc[0.5, ["threshold", "FPR"]].tolist() == [0.0, 0.5]
    silent = operating_points([0, 0, 1], [1.0, 1.0, 1.0], 0.1, prevalence=prevalence).loc[0.1]
    assert math.isnan(silent["PPV"])
    assert silent[["PPV low", "PPV high", "alerts per 1,000", "TPR low"]].tolist() == [0, 1, 0, 0]


def test_table_takes_other_labels_and_kinds_of_scores(scored):
    y, scores = scored
    named = operating_points(np.where(y == 1, "a", "b"), scores, pos_label="a")
    pd.testing.assert_frame_equal(named, operating_points(y, scores))
    coarse = operating_points(y, np.round(scores).astype(int), 0.1)
    assert coarse.loc[0.1, "FPR"] <= 0.1


def test_table_agrees_with_the_classifier(scored):
    y, scores = scored
    model = FPRThresholdClassifier(frozen_first_column(), target_fpr=0.02).fit(scores[:, None], y)
    row = operating_points(y, scores, 0.02).loc[0.02]
    assert (row["threshold"], row["FPR"]) == (model.threshold_, model.expected_fpr_)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fprs": 1.0}, "fprs must be numbers from 0 to less than 1, got 1.0"),
        ({"fprs": [0.1, -0.1]}, "fprs must be numbers from 0 to less than 1, got -0.1"),
        ({"fprs": [math.nan]}, "fprs must be numbers from 0 to less than 1, got nan"),
        ({"fprs": None}, "fprs must be numbers from 0 to less than 1, got None"),
        ({"confidence": 1.0}, "confidence must be a number between 0 and 1"),
        ({"prevalence": 0.0}, "prevalence must be a number between 0 and 1"),
        ({"pos_label": 2}, "pos_label 2 is not among the labels"),
        ({"y_score": [0.1, math.nan, 0.2]}, "y_score holds nan at position 1"),
        ({"y_true": [1, 1, 1]}, "y_true holds only the label 1"),
        ({"y_true": [0, 1, 2]}, "y_true holds more labels than 0 and 2"),
    ],
)
def test_table_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        operating_points(**{"y_true": [0, 1, 1], "y_score": [0.1, 0.2, 0.3], **arguments})


def test_table_says_when_pandas_is_missing(monkeypatch):
    imported = builtins.__import__

    def without_pandas(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError("No module named 'pandas'")
        return imported(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(ImportError, match="operating_points returns a data frame and needs pandas; install pandas"):
        operating_points([0, 1], [0.0, 1.0])


class TestThresholdText:
    @settings(deadline=None)
    @given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=30), st.integers(0, 29))
    @example([1.5230001, 1.5230002], 0)
    @example([-0.0, 5e-324], 0)
    @example([0.1, float(np.nextafter(0.1, 1))], 0)
    def test_parts_the_scores_as_the_exact_number_does(self, scores, position):
        values = np.array(scores)
        threshold = scores[position % len(scores)]
        written = float(threshold_text(threshold, values))
        assert written >= threshold
        np.testing.assert_array_equal(values > written, values > threshold)

    @pytest.mark.parametrize(
        ("threshold", "following", "text"),
        [(1.5230001, 9, "1.524"), (1.5230001, 1.523001, "1.5230001"), (-0.00012345678, 0, "-0.0001234"), (2, 3, "2")],
    )
    def test_few_digits(self, threshold, following, text):
        assert threshold_text(float(threshold), [threshold, following]) == text
