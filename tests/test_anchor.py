"""Anchors: those given are matched by names and accepted sparse; and how many rows a fitted one sees."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from rocband import KernelPartialAUCSVC, PartialAUCSVC, PartialAUCSVCCV, anchor
from rocband.dask.collections import Table
from rocband.dask.problem import DaskProblem
from rocband.datasets import make_band_problem
from rocband.problems.rows import RowsProblem
from rocband.rows import ChunkedRows, as_rows

BAND = (0.05, 0.3)
NAMES = ["age", "dose", "size", "rest"]
NEXT_TO_NOTHING = 1e-7  # for C: the model is then its anchor


@pytest.fixture(scope="module")
def data():
    X, y = make_band_problem(400, n_features=4, random_state=0)
    return pd.DataFrame(X, columns=NAMES), y


def test_names_decide_and_not_the_order(data):
    X, y = data
    turned = X[NAMES[::-1]]
    reference = LogisticRegression().fit(turned, y)
    assert np.ptp(reference.coef_) > 0.1
    for model in (
        PartialAUCSVC(BAND, C=NEXT_TO_NOTHING, anchor=reference),
        PartialAUCSVC(BAND, C=NEXT_TO_NOTHING, anchor=reference, surrogate="tight"),
        PartialAUCSVCCV(BAND, Cs=[NEXT_TO_NOTHING], cv=2, anchor=reference),
    ):
        np.testing.assert_allclose(model.fit(X, y).coef_[0], reference.coef_[0][::-1], atol=1e-4)
    linear = KernelPartialAUCSVC(BAND, C=NEXT_TO_NOTHING, kernel="linear", anchor=reference).fit(X, y)
    scores = linear.decision_function(X) + linear.threshold_
    np.testing.assert_allclose(scores, X.to_numpy() @ reference.coef_[0][::-1], atol=1e-3)


def test_an_anchor_of_more_features_is_refused(data):
    X, y = data
    wider = LogisticRegression().fit(X.assign(more=1.0), y)
    with pytest.raises(ValueError, match=r"coefficients of shape \(1, 5\), but X has 4 features"):
        PartialAUCSVC(BAND, anchor=wider).fit(X, y)


def test_other_names_are_refused_in_a_sentence(data):
    X, y = data
    other = LogisticRegression().fit(X.rename(columns={"size": "height"}), y)
    with pytest.raises(ValueError, match=r"not fitted to the feature 'size' of X, but to \['age', 'dose', 'height'"):
        PartialAUCSVC(BAND, anchor=other).fit(X, y)


def test_names_without_a_partner(data):
    X, y = data
    named = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="fitted to features with names, but X has none: pass X with the same names"):
        PartialAUCSVC(BAND, anchor=named).fit(X.to_numpy(), y)
    # The way out that it names, and an anchor that has no names to compare.
    plain = LogisticRegression().fit(X.to_numpy(), y)
    for given, features in ((named.coef_, X.to_numpy()), (plain, X)):
        model = PartialAUCSVC(BAND, C=NEXT_TO_NOTHING, anchor=given).fit(features, y)
        np.testing.assert_allclose(model.coef_, named.coef_, atol=1e-4)


def test_features_of_landmarks_have_no_names(data):
    X, y = data
    model = KernelPartialAUCSVC(BAND, n_components=4, anchor=np.zeros(4)).fit(X, y)
    assert model.n_features_in_ == 4


@pytest.mark.parametrize("form", [lambda model: model.sparsify(), lambda model: model])
def test_a_sparsified_model_is_an_anchor(data, form):
    X, y = data
    dense = LogisticRegression().fit(X, y).coef_
    model = PartialAUCSVC(BAND, C=NEXT_TO_NOTHING, anchor=form(LogisticRegression().fit(X, y))).fit(X, y)
    np.testing.assert_allclose(model.coef_, dense, atol=1e-4)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
def test_sparse_coefficients_are_an_anchor(data, kind):
    X, y = data
    weights = np.array([[0.0, 2.0, 0.0, -1.0]])
    model = PartialAUCSVC(BAND, C=NEXT_TO_NOTHING, anchor=kind(weights)).fit(X, y)
    np.testing.assert_allclose(model.coef_, weights, atol=1e-4)


# How many rows a fitted one sees


def test_row_sizes():
    X = np.eye(6)[:, :5]
    assert as_rows(X).row_size == ChunkedRows(X).row_size == 5
    assert as_rows(sparse.csr_array(X)).row_size == pytest.approx(5 / 6)
    assert RowsProblem(as_rows(sparse.csr_array(X)), np.arange(6) < 2).row_size == pytest.approx(5 / 6)
    blocks = Table(da.from_array(X, chunks=(2, -1)), np.arange(6) < 2).rows(True)
    assert DaskProblem(blocks).row_size == 5
    assert DaskProblem(blocks.part(np.arange(3))).row_size == 5
    stored = da.from_array(X, chunks=(2, -1)).map_blocks(sparse.csr_array)
    assert DaskProblem(Table(stored, np.arange(6) < 2).rows(True)).row_size == pytest.approx(5 / 6)


def test_sparse_rows_are_counted_by_what_they_store(monkeypatch):
    # Counted by columns, a third of the rows of a set of texts was left, at a loss of .01 to .03 of partial AUC.
    random = np.random.default_rng(0)
    X = sparse.random_array((3000, 400), density=0.01, rng=random, format="csr")
    y = random.random(3000) < 0.3
    monkeypatch.setattr(anchor, "_NUMBERS", 20_000)
    monkeypatch.setattr(anchor, "_ROWS_PER_FEATURE", 1)
    monkeypatch.setattr(anchor, "_FEWEST_ROWS", 100)
    whole = LogisticRegression(max_iter=1000).fit(*positives_first(X, y)).coef_
    model = PartialAUCSVC(BAND, C=NEXT_TO_NOTHING).fit(X, y)
    np.testing.assert_allclose(model.coef_, whole, atol=1e-3)  # 4 numbers a row: all rows
    dense = PartialAUCSVC(BAND, C=NEXT_TO_NOTHING).fit(X.toarray(), y)
    assert np.abs(dense.coef_ - whole).max() > 0.1  # 400 numbers a row: 400 rows


def positives_first(X, y):
    order = np.argsort(~y, kind="stable")
    return X[order], y[order]
