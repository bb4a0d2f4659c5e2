"""Figures are those of the coefficients as stored, in double precision, whatever the precision of the data."""

from __future__ import annotations

import warnings

import dask.array as da
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import reference
from rocband import KernelPartialAUCSVC, PartialAUCSVC, PartialAUCSVCCV
from rocband import dask as on_dask
from rocband.baselines import AsymmetricSVC, GreedyPartialAUC
from rocband.datasets import make_band_problem
from rocband.problems.rows import RowsProblem
from rocband.risks.band import Band
from rocband.rows import ChunkedRows, as_rows

BAND = (0.0, 0.2)
FORMS = {
    "dense": lambda X: X,
    "by columns": np.asfortranarray,
    "sparse": sparse.csr_array,
}


def problem(offset, n_rows=150, seed=0):
    X, y = make_band_problem(n_rows, n_features=3, random_state=seed)
    return (X + offset).astype(np.float32), y == 1


def scores_of(model, X):
    """Scores with more digits than the model can have."""
    return X.astype(np.longdouble) @ model.coef_[0].astype(np.longdouble)


def objective_of(model, X, y):
    w = model.coef_[0].astype(np.float64)
    scores = scores_of(model, X)
    scores = (scores - scores[0]).astype(np.float64)
    band = Band.from_range(model.fpr_range, int(np.count_nonzero(~y)))
    risk = getattr(reference, model.surrogate)(scores[y], scores[~y], band)
    return float(w @ w / 2 + model.C * risk)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # at the largest offset
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("surrogate", ["tight", "ramp"])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_the_objective_is_that_of_the_coefficients(form, surrogate, offset):
    X, y = problem(offset)
    model = PartialAUCSVC(BAND, surrogate=surrogate, C=10.0, anchor=None, max_iter=30).fit(FORMS[form](X), y)
    assert model.coef_.dtype == np.float32
    # Double precision leaves 1e-16 of the scores, which are of the size of the offset.
    assert model.objective_ == pytest.approx(objective_of(model, X, y), rel=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # whatever the model, it keeps to it
@pytest.mark.parametrize("form", FORMS)
def test_predictions_keep_to_the_target_at_any_offset(form):
    for offset in (0.0, 1e2, 1e4):
        X, y = problem(offset)
        for target in (0.01, 0.1, 0.5):
            model = PartialAUCSVC(BAND, C=1.0, anchor=None, max_iter=10, target_fpr=target).fit(FORMS[form](X), y)
            decisions = model.decision_function(FORMS[form](X))
            assert decisions.dtype == np.float32
            np.testing.assert_array_equal(decisions > 0, scores_of(model, X) > model.threshold_)
            assert np.mean(decisions[~y] > 0) <= target


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("offset", [0.0, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
def test_converged_means_that_the_stored_gap_is_closed(seed, offset, tol):
    X, y = problem(offset, n_rows=60, seed=seed)
    model = PartialAUCSVC((0.0, 0.5), surrogate="tight", C=10.0, anchor=None, tol=tol, max_iter=60)
    told = fit_and_listen(model, X, y)
    gap = objective_of(model, X, y) - model.lower_bound_
    assert model.dual_gap_ == pytest.approx(gap, abs=1e-8 * model.C)
    assert model.dual_gap_ >= -1e-9 * model.C
    assert model.converged_ == (model.dual_gap_ <= model.C * tol)
    assert bool(told) == (not model.converged_)


def fit_and_listen(model, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(X, y)
    return [str(each.message) for each in caught if each.category is ConvergenceWarning]


def test_lost_precision_is_told_with_the_way_out():
    X, y = problem(1e6)
    model = PartialAUCSVC(BAND, surrogate="tight", C=100.0, anchor=None, tol=1e-7, max_iter=60)
    told = fit_and_listen(model, X, y)
    assert not model.converged_
    assert len(told) == 1
    if "stopped after" not in told[0]:
        assert f"has a gap of {model.dual_gap_:.3g}, more than C * tol = 1e-05" in told[0]
        assert "pass X in double precision, centre and scale the features" in told[0]


@pytest.mark.parametrize("number", [np.float32, np.float16, np.int64])
def test_the_type_of_C_changes_nothing(number):
    X, y = problem(0.0)
    for model in (
        PartialAUCSVC(BAND, surrogate="tight", anchor=None),
        PartialAUCSVC(BAND),
        KernelPartialAUCSVC(BAND),
        KernelPartialAUCSVC(BAND, n_components=10, surrogate="ramp"),
    ):
        plain = model.set_params(C=3.0).fit(X, y)
        expected = (plain.objective_, plain.lower_bound_, plain.threshold_)
        typed = model.set_params(C=number(3)).fit(X, y)
        np.testing.assert_equal((typed.objective_, typed.lower_bound_, typed.threshold_), expected)
        assert type(typed.objective_) is float
        assert type(typed.converged_) is bool
    chosen = PartialAUCSVCCV(BAND, Cs=[number(3)], cv=2).fit(X, y)
    assert chosen.objective_ == PartialAUCSVCCV(BAND, Cs=[3.0], cv=2).fit(X, y).objective_


def test_the_type_of_tol_changes_nothing():
    X, y = problem(0.0)
    models = [PartialAUCSVC(BAND, surrogate="tight", anchor=None, tol=tol).fit(X, y) for tol in (0.5, np.float32(0.5))]
    assert models[0].objective_ == models[1].objective_
    assert type(models[1].converged_) is bool


# The rows behind it


@pytest.mark.parametrize("rows", [as_rows, lambda X: as_rows(sparse.csr_array(X)), lambda X: ChunkedRows(X, 400)])
def test_exact_scores_are_products_in_double_precision(rows, monkeypatch):
    monkeypatch.setattr("rocband.rows.sparse._BLOCK_ROWS", 7)
    monkeypatch.setattr("rocband.rows.dense._BLOCK", 40)
    X, y = problem(1e6, n_rows=50)
    w = np.array([1.0, -0.7, 0.1])
    expected = X.astype(np.float64) @ w
    np.testing.assert_allclose(rows(X).exact_scores(w), expected, rtol=1e-13)
    assert np.abs(rows(X).scores(w) - expected).max() > 1e-3  # single precision would show
    np.testing.assert_allclose(rows(X.astype(np.float64)).exact_scores(w), expected, rtol=1e-13)
    counted = RowsProblem(rows(X), y)
    np.testing.assert_allclose(counted.exact_scores(w).positives, expected[y], rtol=1e-13)
    assert counted.passes == 1
    counted.exact_scores(np.zeros(3))
    assert counted.passes == 1


def test_exact_scores_that_overflow_are_told():
    X = np.full((4, 1), 3e38, dtype=np.float32)
    with pytest.raises(ValueError, match="overflow"):
        RowsProblem(as_rows(X), np.arange(4) < 2).exact_scores(np.array([1e300]))


# The other models


def test_on_dask():
    X, y = problem(1e4)
    blocks = da.from_array(X, chunks=(70, -1))
    model = on_dask.PartialAUCSVC(BAND, surrogate="tight", C=1.0, anchor=None, tol=1e-1).fit(blocks, y)
    assert model.coef_.dtype == np.float32
    assert model.objective_ == pytest.approx(objective_of(model, X, y), rel=1e-9)
    decisions = model.decision_function(blocks)
    assert decisions.dtype == np.float32
    np.testing.assert_array_equal(decisions.compute() > 0, scores_of(model, X) > model.threshold_)
    np.testing.assert_array_equal(decisions.compute(), model.decision_function(X))


@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")  # of the asymmetric one, on these classes
@pytest.mark.parametrize("offset", [0.0, 1e2, 1e4])
def test_baselines(offset):
    X, y = problem(offset)
    greedy = GreedyPartialAUC(BAND, n_weights=5, target_fpr=0.1).fit(X, y)
    assert np.mean(greedy.predict(X)[~y]) <= 0.1
    model = AsymmetricSVC(mu=0.1, tau=0.05, target_fpr=0.1, max_iter=60)
    told = fit_and_listen(model, X, y)
    assert np.mean(model.predict(X)[~y]) <= 0.1
    assert bool(told) == (not model.converged_)
    if model.converged_:
        assert model.dual_gap_ <= model.tol * max(-model.objective_, 1e-8)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("n_components", [None, 30])
def test_kernels(offset, n_components):
    X, y = problem(offset)
    model = KernelPartialAUCSVC(BAND, n_components=n_components, C=10.0, max_iter=60).fit(X, y)
    assert model.converged_ == (model.dual_gap_ <= model.C * model.tol)
    assert model.dual_gap_ >= -1e-6 * model.C  # features of Nystroem's method are kept in single precision
