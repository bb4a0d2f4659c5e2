"""What is said about the data: too few negatives in the band, and features of very different scales."""

from __future__ import annotations

import warnings

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from rocband import KernelPartialAUCSVC, PartialAUCSVC, PartialAUCSVCCV, TrainingDataWarning
from rocband import dask as on_dask
from rocband._hints import hint_at_few_negatives
from rocband.baselines import AsymmetricSVC, GreedyPartialAUC, PartialAUCBoost
from rocband.datasets import make_band_problem

BAND = (0.0, 0.05)


def hints(model, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", TrainingDataWarning)
        model.fit(X, y)
    assert all(each.filename == __file__ or "sklearn" in each.filename for each in caught)
    return [str(each.message) for each in caught]


def with_negatives(n):
    random = np.random.default_rng(0)
    y = np.arange(n + 20) < 20
    return random.normal(size=(n + 20, 2)) + y[:, None], y


# Few negatives


@pytest.mark.parametrize(
    "model",
    [
        PartialAUCSVC(BAND),
        PartialAUCSVC(BAND, surrogate="tight", anchor=None),
        PartialAUCSVCCV(BAND, Cs=[1.0, 10.0], cv=3),
        KernelPartialAUCSVC(BAND),
        PartialAUCBoost(BAND, n_rounds=2),
        GreedyPartialAUC(BAND, n_weights=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_few_negatives_in_the_band(model):
    said = hints(model, *with_negatives(40))
    assert said == [
        "fpr_range=(0, 0.05) holds 2 of the 40 training negatives; with fewer than 5 the model follows single rows: "
        "take a wider range, or at least 100 negatives."
    ]
    assert not hints(model, *with_negatives(100))


@pytest.mark.parametrize(
    ("fpr_range", "n", "held"),
    [((0.0, 0.05), 99, "4.95"), ((0.0, 0.05), 10, "0.5"), ((0.02, 0.03), 499, "4.99"), ((0.0, 1e-9), 1000, "1e-06")],
)
def test_the_count_is_of_the_band(fpr_range, n, held):
    with pytest.warns(TrainingDataWarning, match=f"holds {held} of the {n} training negatives"):
        hint_at_few_negatives(fpr_range, n)


@pytest.mark.parametrize(
    ("fpr_range", "n"), [((0.0, 0.05), 100), ((0.02, 0.03), 500), ((0.0, 1.0), 5), ((0.3, 0.8), 10)]
)
def test_five_are_enough(fpr_range, n):
    hint_at_few_negatives(fpr_range, n)  # warnings of this kind are not ignored below
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hint_at_few_negatives(fpr_range, n)


# Scales


@pytest.fixture(scope="module")
def unequal():
    X, y = make_band_problem(600, n_features=3, random_state=0)
    return X * [1.0, 5000.0, 1.0], y


LINEAR = [
    PartialAUCSVC((0.0, 0.1)),
    PartialAUCSVCCV((0.0, 0.1), Cs=[1.0], cv=2),
    KernelPartialAUCSVC((0.0, 0.1), C=1.0),
    KernelPartialAUCSVC((0.0, 0.1), C=1.0, n_components=20),
    AsymmetricSVC(mu=0.1, tau=0.05, max_iter=20),
]


@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
def test_unequal_scales(unequal, model):
    X, y = unequal
    said = hints(model, X, y)
    assert len(said) == 1
    assert "Features differ in scale more than a thousandfold: feature 1 has a standard deviation of" in said[0]
    assert "StandardScaler in a pipeline" in said[0]
    assert "'dose' has" in hints(model, pd.DataFrame(X, columns=["age", "dose", "size"]), y)[0]


@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
def test_scaled_features_are_not_told_of(unequal, model):
    X, y = unequal
    assert not hints(make_pipeline(StandardScaler(), model), X, y)
    assert not hints(make_pipeline(MaxAbsScaler(), model), X, y)
    assert not hints(model, X / [1.0, 20.0, 1.0], y)  # some 300-fold


@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_on_whatever_side(factor):
    X, y = make_band_problem(600, n_features=2, random_state=0)
    assert "feature 1" in hints(PartialAUCSVC((0.0, 0.1)), X * [1.0, factor], y)[0]


def test_what_has_no_scale_of_its_own():
    random = np.random.default_rng(0)
    X, y = make_band_problem(3000, n_features=2, random_state=0)
    rare = (random.random(3000) < 0.003).astype(float)  # an indicator: its spread is small, its 1 is not
    constant = np.full(3000, 1e6)
    far = 1e6 + X[:, 0]  # as spread as the others
    model = PartialAUCSVC((0.0, 0.1), surrogate="tight", anchor=None, C=1e-3, max_iter=5)
    assert not hints(model, np.column_stack([X, 100 * X[:, 0], rare]), y)
    assert not hints(model, np.column_stack([X, constant]), y)
    assert not hints(model, np.column_stack([X, far]), y)
    assert not hints(model, np.zeros((3000, 2)), y)


def test_sparse_features():
    random = np.random.default_rng(0)
    X = sparse.random_array((800, 30), density=0.1, rng=random, format="csr")
    y = np.arange(800) < 200
    model = PartialAUCSVC((0.0, 0.1), C=1.0)
    assert not hints(model, X, y)
    unequal = X @ sparse.diags_array(np.where(np.arange(30) == 7, 1e5, 1.0))
    assert "feature 7 has" in hints(model, sparse.csr_array(unequal), y)[0]
    assert not hints(make_pipeline(MaxAbsScaler(), model), sparse.csr_array(unequal), y)


def test_on_dask(unequal):
    X, y = unequal
    said = hints(on_dask.PartialAUCSVC((0.0, 0.1)), da.from_array(X, chunks=(100, -1)), y)
    assert len(said) == 1
    assert "feature 1 has" in said[0]


def test_a_look_at_a_few_rows_is_enough(unequal, monkeypatch):
    X, y = unequal
    monkeypatch.setattr("rocband._hints._ROWS", 30)
    assert len(hints(PartialAUCSVC((0.0, 0.1)), X, y)) == 1
    monkeypatch.setattr("rocband._hints._NUMBERS", 30)
    assert len(hints(PartialAUCSVC((0.0, 0.1)), X, y)) == 1


def test_a_gram_matrix_has_no_features():
    X, y = make_band_problem(200, n_features=2, random_state=0)
    assert not hints(KernelPartialAUCSVC((0.0, 0.5), kernel="precomputed", C=1.0), (X * [1, 1e5]) @ (X * [1, 1e5]).T, y)
