"""What changes nothing of a problem changes nothing of its model: order, copies and units of rows."""

from __future__ import annotations

import numpy as np
import pytest

from rocband import KernelPartialAUCSVC, PartialAUCSVC, PartialAUCSVCCV

# With ramp and hinge where they are not convex: they descend to a local minimum from a model that must not change.
BANDS = {"ramp": (0.0, 0.2), "hinge": (0.1, 0.4), "tight": (0.1, 0.4), "naive": (0.0, 0.2)}
cases = pytest.mark.parametrize(
    ("surrogate", "anchored", "C"),
    [(surrogate, anchored, C) for surrogate in BANDS for anchored in (False, True) for C in (1.0, 300.0)],
)


@pytest.fixture(scope="module")
def data():
    """90 negatives, so that the ends of the bands are ranks, and those of two copies twice these."""
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    y = np.arange(120) < 30
    X[y] += [0.8, 0.4, 0.0]
    return X, y


def fitted(X, y, surrogate, anchored, C, unit=1.0):
    anchor = np.array([0.5, -0.2, 0.1]) / unit if anchored else None
    model = PartialAUCSVC(BANDS[surrogate], surrogate=surrogate, C=C / unit**2, anchor=anchor)
    return model.fit(unit * X, y)


def assert_same(model, expected, unit=1.0):
    # The same steps are taken, up to rounding: no tolerance of the solver enters.
    assert unit**2 * model.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    np.testing.assert_allclose(unit * model.coef_, expected.coef_, atol=1e-4 * np.abs(expected.coef_).max())
    assert model.threshold_ == pytest.approx(expected.threshold_, abs=1e-3 * np.abs(expected.coef_).max())


@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")
@cases
def test_the_order_of_rows(data, surrogate, anchored, C):
    X, y = data
    order = np.random.default_rng(1).permutation(len(y))
    assert_same(fitted(X[order], y[order], surrogate, anchored, C), fitted(X, y, surrogate, anchored, C))


@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")
@cases
def test_copies_of_all_rows(data, surrogate, anchored, C):
    X, y = data
    twice = fitted(np.repeat(X, 2, axis=0), np.repeat(y, 2), surrogate, anchored, C)
    once = fitted(X, y, surrogate, anchored, C)
    assert twice.objective_ == pytest.approx(once.objective_, rel=1e-6)
    np.testing.assert_allclose(twice.coef_, once.coef_, atol=1e-4 * np.abs(once.coef_).max())


@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")
@cases
@pytest.mark.parametrize("unit", [1e-3, 7.3, 1e3])
def test_the_unit_of_the_features(data, surrogate, anchored, C, unit):
    X, y = data
    assert_same(fitted(X, y, surrogate, anchored, C, unit), fitted(X, y, surrogate, anchored, C), unit)


@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")  # of naive
def test_the_order_of_features(data):
    X, y = data
    for surrogate in BANDS:
        model = fitted(X[:, ::-1], y, surrogate, False, 1.0)
        expected = fitted(X, y, surrogate, False, 1.0)
        np.testing.assert_allclose(model.coef_[0, ::-1], expected.coef_[0], atol=1e-4)


@pytest.mark.parametrize("n_components", [None, 120])
def test_the_unit_of_a_kernel(data, n_components):
    X, y = data
    models = [
        KernelPartialAUCSVC(
            BANDS["ramp"], surrogate="ramp", kernel="linear", C=10.0 / unit**2, n_components=n_components
        ).fit(unit * X, y)
        for unit in (1.0, 100.0)
    ]
    # Nystroem's features are kept in single precision.
    assert 1e4 * models[1].objective_ == pytest.approx(models[0].objective_, rel=1e-4)


def test_the_unit_along_a_grid(data):
    X, y = data
    models = [
        PartialAUCSVCCV(
            BANDS["ramp"], Cs=np.array([1.0, 30.0, 900.0]) / unit**2, cv=3, anchor=None, one_standard_error=True
        ).fit(unit * X, y)
        for unit in (1.0, 100.0)
    ]
    np.testing.assert_allclose(models[1].scores_, models[0].scores_, atol=1e-6)
    np.testing.assert_allclose(1e4 * models[1].C_, models[0].C_)
