"""Groups reach the splitter of PartialAUCSVCCV as they do that of LogisticRegressionCV, however it is wrapped."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import BaseCrossValidator, GridSearchCV, GroupKFold, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rocband import PartialAUCSVCCV
from rocband.datasets import make_band_problem
from rocband.metrics import partial_auc_score, partial_auc_scorer
from rocband.threshold import FPRThresholdClassifier

BAND = (0.0, 0.2)


class Witness(BaseCrossValidator):
    """Two folds that keep groups together, and a note of the groups that they were given."""

    __metadata_request__split: ClassVar = {"groups": True}

    def __init__(self, seen):
        self.seen = seen

    def __deepcopy__(self, memo):
        return Witness(self.seen)  # clones write to the same note

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2

    def split(self, X, y=None, groups=None):
        self.seen.append(groups)
        yield from GroupKFold(2).split(X, y, groups)


@pytest.fixture(scope="module")
def data():
    X, y = make_band_problem(300, n_features=3, random_state=0)
    return X, y, np.arange(300) % 12


@pytest.fixture(params=["ours", "theirs"])
def chooser(request):
    """Our model and scikit-learn's, whose behaviour is the measure."""
    if request.param == "ours":
        return lambda cv: PartialAUCSVCCV(BAND, Cs=[1.0, 10.0], cv=cv)
    return lambda cv: LogisticRegressionCV(
        Cs=[1.0, 10.0], cv=cv, scoring="roc_auc", l1_ratios=(0,), use_legacy_attributes=False
    )


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def assert_rows(seen, groups):
    assert len(seen) == 1
    np.testing.assert_array_equal(seen[0], groups)


@pytest.mark.usefixtures("routing")
def test_alone(data, chooser):
    X, y, groups = data
    seen = []
    chooser(Witness(seen)).fit(X, y, groups=groups)
    assert_rows(seen, groups)
    with pytest.raises(TypeError, match="unexpected argument"):
        chooser(StratifiedKFold(2)).fit(X, y, groups=groups)  # whose splitter wants none


@pytest.mark.usefixtures("routing")
def test_in_a_pipeline(data, chooser):
    X, y, groups = data
    seen = []
    make_pipeline(StandardScaler(), chooser(Witness(seen))).fit(X, y, groups=groups)
    assert_rows(seen, groups)


@pytest.mark.usefixtures("routing")
def test_in_cross_validate(data, chooser):
    X, y, groups = data
    seen = []
    outer = GroupKFold(3)
    scoring = partial_auc_scorer(BAND)
    for model in (chooser(Witness(seen)), make_pipeline(StandardScaler(), chooser(Witness(seen)))):
        found = cross_validate(model, X, y, cv=outer, params={"groups": groups}, scoring=scoring, error_score="raise")
        assert np.isfinite(found["test_score"]).all()
    trains = [groups[train] for train, _ in outer.split(X, y, groups)]
    assert len(seen) == 6
    for given, train in zip(seen, trains + trains, strict=True):
        np.testing.assert_array_equal(given, train)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize(("cv", "n_fits"), [(GroupKFold(3), 4), (None, 6), (0.3, 1)])
def test_inside_a_threshold(data, chooser, cv, n_fits):
    X, y, groups = data
    seen = []
    model = FPRThresholdClassifier(chooser(Witness(seen)), target_fpr=0.1, cv=cv, random_state=0)
    model.fit(X, y, groups=groups)
    # Of each fit the groups of its own training rows.
    assert all(set(given) <= set(groups) for given in seen)
    assert len(seen) == n_fits
    if isinstance(cv, GroupKFold):
        np.testing.assert_array_equal(seen[0], groups)
        for given, (train, _) in zip(seen[1:], cv.split(X, y, groups), strict=True):
            np.testing.assert_array_equal(given, groups[train])


@pytest.mark.usefixtures("routing")
def test_in_a_grid_search(data, chooser):
    X, y, groups = data
    seen = []
    pipeline = make_pipeline(StandardScaler(), chooser(Witness(seen)))
    search = GridSearchCV(pipeline, {"standardscaler__with_std": [True, False]}, cv=GroupKFold(2), error_score="raise")
    search.fit(X, y, groups=groups)
    assert len(seen) == 5


@pytest.mark.usefixtures("routing")
def test_what_nobody_asks_for_is_refused(data, chooser):
    X, y, groups = data
    with pytest.raises(TypeError, match="unexpected argument"):
        chooser(GroupKFold(2)).fit(X, y, groups=groups, colour=groups)


# Without routing


def test_without_routing(data):
    X, y, groups = data
    expected = None
    for model in (
        PartialAUCSVCCV(BAND, Cs=[1.0], cv=GroupKFold(2)),
        make_pipeline(
            StandardScaler(with_mean=False, with_std=False), PartialAUCSVCCV(BAND, Cs=[1.0], cv=GroupKFold(2))
        ),
    ):
        named = {"groups": groups} if model is not None and hasattr(model, "Cs") else {}
        named = named or {"partialaucsvccv__groups": groups}
        fitted = clone(model).fit(X, y, **named)
        scores = fitted.scores_ if hasattr(fitted, "scores_") else fitted[-1].scores_
        expected = scores if expected is None else expected
        np.testing.assert_array_equal(scores, expected)


def test_without_routing_in_cross_validate(data):
    X, y, groups = data
    seen = []
    model = PartialAUCSVCCV(BAND, Cs=[1.0], cv=Witness(seen))
    cross_validate(model, X, y, cv=GroupKFold(3), groups=groups, params={"groups": groups}, error_score="raise")
    trains = [groups[train] for train, _ in GroupKFold(3).split(X, y, groups)]
    for given, train in zip(seen, trains, strict=True):
        np.testing.assert_array_equal(given, train)


def test_without_routing_other_metadata_are_refused(data):
    X, y, groups = data
    with pytest.raises(ValueError, match="fit takes colour only where scikit-learn's metadata routing is enabled"):
        PartialAUCSVCCV(BAND, Cs=[1.0], cv=GroupKFold(2)).fit(X, y, groups=groups, colour=groups)


# The scorer


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("pos_label", [None, 1])
def test_a_scorer_takes_weights_where_it_asks_for_them(data, pos_label):
    X, y, _ = data
    weights = np.random.default_rng(0).random(len(y))
    scorer = partial_auc_scorer(BAND, pos_label=pos_label).set_score_request(sample_weight=True)
    model = LogisticRegression().set_fit_request(sample_weight=False)
    found = cross_validate(
        model, X, y, cv=StratifiedKFold(2), scoring=scorer, params={"sample_weight": weights}, error_score="raise"
    )
    for score, (train, test) in zip(found["test_score"], StratifiedKFold(2).split(X, y), strict=True):
        scores = clone(model).fit(X[train], y[train]).decision_function(X[test])
        expected = partial_auc_score(y[test], scores, fpr_range=BAND, sample_weight=weights[test])
        assert score == pytest.approx(expected)
