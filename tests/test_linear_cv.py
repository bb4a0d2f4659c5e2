"""PartialAUCSVCCV: the path, the choice of C and its errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from rocband import PartialAUCSVC, PartialAUCSVCCV
from rocband.datasets import make_band_problem
from rocband.linear_cv import choose
from rocband.metrics import partial_auc_score, partial_auc_scorer
from rocband.metrics.in_band import partial_auc_of
from rocband.problems.rows import RowsProblem
from rocband.risks import Band, Scores, risk_for
from rocband.rows import as_rows
from rocband.solvers.objective import Objective
from rocband.solvers.path import solve_path
from rocband.solvers.result import Settings
from rocband.solvers.solve import solve

BAND = (0.0, 0.1)
WIDE = (0.0, 0.5)


@pytest.fixture(scope="module")
def data():
    return make_band_problem(1500, random_state=0)


@pytest.mark.filterwarnings("ignore::rocband.PositiveClassWarning")  # one check has the labels 1 and 2
@parametrize_with_checks([PartialAUCSVCCV(Cs=[1.0, 10.0], cv=2)])
def test_scikit_learn_checks(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    check(estimator)


def problem_and_risk(data, surrogate, fpr_range):
    X, y = data
    problem = RowsProblem(as_rows(X), y.astype(bool))
    return problem, risk_for(surrogate, Band.from_range(fpr_range, problem.n_negatives))


@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge"])
def test_path_matches_independent_fits_with_a_certificate_each(data, surrogate):
    problem, risk = problem_and_risk(data, surrogate, (0.0, 0.3))
    origin = np.zeros(problem.n_features)
    results = solve_path(problem, risk, [1e-3, 1e-1, 10.0, 1e3], origin, Settings(), origin)
    for result in results:
        alone = solve(Objective(problem, risk, result.C, origin), Settings(), origin)
        assert abs(result.objective - alone.objective) <= 1e-4 * result.C
        assert result.lower_bound <= alone.objective
        assert result.objective - result.lower_bound <= 1e-4 * result.C


def test_path_takes_fewer_passes_than_its_parts(data):
    problem, risk = problem_and_risk(data, "tight", BAND)
    origin = np.zeros(problem.n_features)
    Cs = np.logspace(-1, 4, 8).tolist()
    solve_path(problem, risk, Cs, origin, Settings(), origin)
    together = problem.passes
    for C in Cs:
        solve(Objective(problem, risk, C, origin), Settings(), origin)
    assert together < problem.passes - together


def test_scores_are_those_of_fits_to_the_training_parts(data):
    X, y = data
    folds = list(StratifiedKFold(3).split(X, y))
    model = PartialAUCSVCCV(WIDE, Cs=[0.5], cv=folds, surrogate="tight", anchor=None, tol=1e-6).fit(X, y)
    for k, (train, test) in enumerate(folds):
        alone = PartialAUCSVC(WIDE, C=0.5, surrogate="tight", anchor=None, tol=1e-6).fit(X[train], y[train])
        expected = partial_auc_score(y[test], alone.decision_function(X[test]), fpr_range=WIDE)
        assert model.scores_[0, k] == pytest.approx(expected, abs=2e-3)


@pytest.mark.filterwarnings("ignore::rocband.metrics.NarrowBandWarning")  # some bands hold less than a negative
@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    digits=st.integers(0, 2),
    fpr_range=st.sampled_from([(0.0, 0.1), (0.2, 0.5), (0.0, 1.0), (0.0, 0.005)]),
)
def test_held_out_rows_may_tie(seed, digits, fpr_range):
    # Few distinct scores: negatives below the band tie with those at its end, and share a segment of the curve.
    random = np.random.default_rng(seed)
    y = np.arange(60) < 20
    scores = (random.normal(size=60) + y).round(digits)
    area = partial_auc_of(Scores.of(scores[y], scores[~y]), fpr_range)
    assert area == pytest.approx(partial_auc_score(y, scores, fpr_range=fpr_range), abs=1e-12)


def test_agrees_with_grid_search(data):
    X, y = data
    Cs = [0.1, 1.0, 10.0, 100.0]
    model = PartialAUCSVCCV(BAND, Cs=Cs, cv=4).fit(X, y)
    search = GridSearchCV(PartialAUCSVC(BAND), {"C": Cs}, scoring=partial_auc_scorer(BAND), cv=4).fit(X, y)
    np.testing.assert_allclose(model.scores_.mean(axis=1), search.cv_results_["mean_test_score"], atol=0.01)
    chosen = Cs.index(model.C_)
    assert search.cv_results_["mean_test_score"][chosen] >= search.best_score_ - 0.01


def test_attributes_and_jobs(data):
    X, y = data
    model = PartialAUCSVCCV(BAND, Cs=3, cv=3, surrogate="tight").fit(X, y)
    assert model.scores_.shape == (3, 3)
    assert model.Cs_[model.scores_.mean(axis=1).argmax()] == model.C_
    np.testing.assert_allclose(model.Cs_, [0.1, 10**1.5, 1e4])
    parallel = clone(model).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_allclose(parallel.scores_, model.scores_, atol=5e-3)
    assert parallel.objective_ == pytest.approx(model.objective_, rel=1e-4)


def test_one_standard_error_takes_the_smallest_c_near_the_best():
    scores = np.array([[0.1, 0.2, 0.3], [0.5, 0.6, 0.7], [0.52, 0.62, 0.72]])
    assert choose(scores, one_standard_error=False) == 2
    assert choose(scores, one_standard_error=True) == 1


def test_groups_reach_the_splitter(data):
    X, y = data
    groups = np.arange(len(y)) % 7
    model = PartialAUCSVCCV(BAND, Cs=[1.0], cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert model.scores_.shape == (1, 3)
    with pytest.raises(ValueError, match="groups"):
        PartialAUCSVCCV(BAND, Cs=[1.0], cv=GroupKFold(3)).fit(X, y)


def test_verbose_prints_folds_and_choice(data, capsys):
    X, y = data
    PartialAUCSVCCV(BAND, Cs=[1.0, 10.0], cv=2, verbose=1).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == ["[rocband] fold 0", "[rocband] fold 1", "[rocband] chosen"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"Cs": [1.0, -1.0]}, "Every value of Cs must be a finite number above 0, got -1.0"),
        ({"Cs": 0}, "Cs must be a whole number above 0, got 0"),
        ({"Cs": []}, "Cs holds no value"),
        ({"surrogate": "smooth"}, "surrogate must be one of"),
        ({"fpr_range": (0.5, 0.1)}, "0 <= low < high <= 1"),
    ],
)
def test_bad_parameters(data, parameters, message):
    X, y = data
    with pytest.raises(ValueError, match=message):
        PartialAUCSVCCV(**parameters).fit(X, y)


def test_a_class_missing_in_a_fold():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.repeat([0, 1], 20)
    with pytest.raises(ValueError, match=r"part of fold 0 holds only one class; use fewer folds"):
        PartialAUCSVCCV(Cs=[1.0], cv=KFold(2)).fit(X, y)


def test_a_random_state_instance_gives_the_same_folds_in_parallel(data):
    X, y = data
    serial, parallel = (
        PartialAUCSVCCV(BAND, Cs=[1.0, 100.0], cv=3, n_jobs=jobs, random_state=np.random.RandomState(0)).fit(X, y)
        for jobs in (None, 2)
    )
    np.testing.assert_allclose(serial.scores_, parallel.scores_, atol=5e-3)


def test_folds_as_masks_are_folds_as_numbers(data):
    X, y = data
    first = np.arange(len(y)) % 2 == 0
    masks = PartialAUCSVCCV(BAND, Cs=[1.0], cv=[(first, ~first)]).fit(X, y)
    numbers = PartialAUCSVCCV(BAND, Cs=[1.0], cv=[(np.flatnonzero(first), np.flatnonzero(~first))]).fit(X, y)
    np.testing.assert_array_equal(masks.scores_, numbers.scores_)


def test_no_folds():
    with pytest.raises(ValueError, match="cv makes no folds"):
        PartialAUCSVCCV(cv=[]).fit(np.eye(4), [0, 1, 0, 1])


@pytest.mark.parametrize("seed", range(6))
def test_a_warm_start_never_ends_higher(seed):
    random = np.random.default_rng(seed)
    y = (random.random(120) < 0.4).astype(int)
    X = random.normal(size=(120, 3)) + 1.5 * np.outer(y, [1, 0, 0])
    model = PartialAUCSVC(warm_start=True).fit(X, y)
    first = model.objective_
    assert model.fit(X, y).objective_ <= first * (1 + 1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_overflow_is_one_sentence(data):
    X, y = data
    with pytest.raises(ValueError, match=r"overflow.*; scale the features"):
        PartialAUCSVC(BAND).fit(1e200 * X, y)


def test_a_huge_C_still_descends_from_the_anchor(data):
    X, y = data
    anchor = LogisticRegression(max_iter=1000).fit(X, y)
    model = PartialAUCSVC(BAND, C=1e200, anchor=anchor).fit(X, y)
    scores = X @ anchor.coef_[0]
    risk = risk_for("ramp", Band.from_range(BAND, np.count_nonzero(y == 0)))
    at_anchor = risk.value(Scores.of(scores[y == 1], scores[y == 0]))
    assert np.isfinite(model.coef_).all()
    assert model.objective_ < 1e200 * at_anchor


def test_folds_that_stop_early_are_told(data):
    X, y = data
    model = PartialAUCSVCCV(WIDE, Cs=[1.0, 1e3], cv=2, surrogate="tight", anchor=None, max_iter=2, tol=1e-9)
    with pytest.warns(ConvergenceWarning) as told:
        model.fit(X, y)
    assert any("In 2 of 2 folds the solver stopped after max_iter=2" in str(each.message) for each in told)
