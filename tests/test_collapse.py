"""A collapse is claimed where it is proved, and a model that is 0 for another reason says for which."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from rocband import CollapsedSolutionWarning, KernelPartialAUCSVC, PartialAUCSVC, PartialAUCSVCCV, persist
from rocband.datasets import make_band_problem

CONVEX = ("tight", "naive", "hinge")
BAND = (0.0, 0.2)


@pytest.fixture(scope="module")
def amid():
    """Positives in the midst of the negatives: in a narrow band the constant scorer is best for every C."""
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    y = np.arange(120) < 20
    X[y] *= 0.1
    X[y] -= X[y].mean(axis=0)
    X[~y] -= X[~y].mean(axis=0)
    return X, y


@pytest.fixture(scope="module")
def apart():
    """Classes of which most models tell something."""
    return make_band_problem(400, n_features=3, random_state=0)


def told(model, X, y):
    """The category and the text of what a fit says of its model."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return [(each.category, str(each.message)) for each in caught]


@pytest.mark.parametrize("surrogate", CONVEX)
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_a_proved_collapse_is_claimed(amid, surrogate, C):
    model = PartialAUCSVC(BAND, surrogate=surrogate, anchor=None, C=C)
    with pytest.warns(CollapsedSolutionWarning, match=r"scorer is optimal .* matched by the lower bound") as caught:
        model.fit(*amid)
    assert caught[0].filename == __file__
    assert model.lower_bound_ >= C * (1 - model.tol)


def test_from_everywhere(amid):
    models = [
        PartialAUCSVCCV(BAND, Cs=[1.0, 10.0], cv=2, surrogate="tight", anchor=None),
        KernelPartialAUCSVC(BAND, kernel="linear", C=10.0),
        KernelPartialAUCSVC(BAND, kernel="linear", C=10.0, n_components=30),
    ]
    for model in models:
        categories = [category for category, _ in told(model, *amid)]
        assert categories == [CollapsedSolutionWarning]


@pytest.mark.parametrize("surrogate", CONVEX)
def test_out_of_passes_is_no_collapse(apart, surrogate):
    # The audit's own: objective 10000 and bound 3.75 were called a constant scorer proved optimal.
    X, y = apart
    model = PartialAUCSVC(BAND, surrogate=surrogate, anchor=None, C=1e4, max_iter=1)
    said = told(model, X, y)
    assert [category for category, _ in said] == [ConvergenceWarning]
    assert "stopped after max_iter=1 passes" in said[0][1]
    assert ("gives every row the same score" in said[0][1]) == (not model.coef_.any())
    assert not model.converged_


def test_out_of_passes_at_0_says_so(apart):
    X, y = apart
    said = told(PartialAUCSVC(BAND, surrogate="tight", anchor=None, C=1e4, max_iter=1), 1e-9 * X, y)
    assert said[0][1].endswith("Until then the model gives every row the same score, whatever the data allow.")


@pytest.mark.parametrize("surrogate", CONVEX)
@pytest.mark.parametrize("C", [1e-7, 1e-5])
def test_a_small_C_is_no_collapse(apart, surrogate, C):
    X, y = apart
    model = PartialAUCSVC(BAND, surrogate=surrogate, anchor=None, C=C)
    said = told(model, X, y)
    if model.coef_.any():  # near 0, and a model that ranks
        assert not said
        return
    category, text = said[0]
    assert len(said) == 1
    assert category is UserWarning
    assert f"because C={C:g} is too small, or tol=0.0001 too large" in text
    assert "raise C" in text


def test_a_loose_tolerance_is_no_collapse(apart):
    # At tol = 0.9 the constant scorer is near enough, and nothing is proved of it.
    model = PartialAUCSVC(BAND, surrogate="tight", anchor=None, C=1.0, tol=0.9)
    said = told(model, *apart)
    assert not model.coef_.any()
    assert [category for category, _ in said] == [UserWarning]
    assert "or tol=0.9 too large" in said[0][1]


def test_a_model_held_near_0_that_ranks_says_nothing(apart):
    for C in (3e-4, 1e-2, 1.0):
        assert not told(PartialAUCSVC((0.1, 0.5), surrogate="tight", anchor=None, C=C), *apart)


@pytest.mark.parametrize("value", [0.0, 5.0, -1e6])
@pytest.mark.parametrize("anchor", [None, "logistic", "auc"])
@pytest.mark.parametrize("surrogate", ["ramp", "hinge", "tight"])
def test_constant_features_are_told_of(value, anchor, surrogate):
    X = np.full((60, 2), value)
    y = np.arange(60) < 20
    band = (0.1, 0.5) if surrogate == "hinge" else (0.0, 0.5)  # where it is not convex
    said = told(PartialAUCSVC(band, surrogate=surrogate, anchor=anchor, C=10.0), X, y)
    assert [category for category, _ in said] == [CollapsedSolutionWarning]
    expected = "constant scorer is optimal" if surrogate == "tight" else "gives every row the same score"
    if surrogate != "tight" or anchor != "logistic":  # whose coefficients are rounding, not 0
        assert expected in said[0][1]


def test_an_anchor_of_constant_features_is_told_of():
    X = np.full((60, 2), 3.0)
    y = np.arange(60) < 20
    for surrogate in ("ramp", "tight"):
        said = told(PartialAUCSVC((0.0, 0.5), surrogate=surrogate, anchor=np.array([1.0, -2.0])), X, y)
        assert [category for category, _ in said] == [CollapsedSolutionWarning]
        assert "gives every row the same score" in said[0][1]


def test_a_collapsed_model_can_be_saved(amid, tmp_path):
    model = PartialAUCSVC(BAND, surrogate="tight", anchor=None, C=10.0)
    told(model, *amid)
    again = persist.load(persist.save(model, tmp_path / "model.rocband"))
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_the_passes_of_the_proof_are_not_those_of_the_model(amid):
    model = PartialAUCSVC(BAND, surrogate="tight", anchor=None, C=10.0)
    told(model, *amid)
    assert model.n_iter_ <= model.history_[-1]["passes"] + 1  # the figures take one


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_unit_of_the_features_does_not_matter(seed, scale):
    random = np.random.default_rng(seed)
    X = random.normal(size=(40, 2))
    y = np.arange(40) < 8
    options = {"surrogate": "tight", "anchor": None, "max_iter": 200}
    said = [
        [category for category, _ in told(PartialAUCSVC((0.0, 0.25), C=C, **options), features, y)]
        for C, features in ((10.0, X), (10.0 / scale**2, scale * X))
    ]
    assert (CollapsedSolutionWarning in said[0]) == (CollapsedSolutionWarning in said[1])
