"""A surrogate of one's own is one class: here it is fitted by every estimator, and held against a slow optimiser."""

from __future__ import annotations

from dataclasses import dataclass

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.model_selection import StratifiedKFold

import rocband
import rocband.dask
from rocband.datasets import make_band_problem
from rocband.metrics import partial_auc_score
from rocband.risks import Band, BandRisk, Plane, SmoothedPlane
from rocband.risks.graphs import Bipartite
from trusted import minimize_planes


class SquaredHinge(BandRisk):
    """(1/N) sum_i sum_{j<=b} (1 - s_i + z_(j))_+^2 for bands that start at the top: convex and smooth in each pair."""

    convex = True

    def sharp(self, scores):
        top, index = scores.negatives.highest(self.band.stop)
        missing = np.maximum(1 - scores.positives[:, None] + top, 0)
        pulls = 2 * missing / missing.size
        value = np.mean(missing**2)
        of_positives = -pulls.sum(axis=1)
        of_negatives = pulls.sum(axis=0)
        reached = of_positives @ scores.positives + of_negatives @ top
        return Plane(value, value - reached, of_positives, of_negatives, index)

    def plane(self, scores, smoothing):
        plane = self.sharp(scores)
        m = len(scores.positives)
        b = len(plane.index)
        # Ascending, the negatives that a positive does not beat by the margin are the last ones.
        first = np.searchsorted(scores.negatives.at(plane.index), scores.positives - 1)
        left_weight = np.full(m, 2 / (m * b))
        graph = Bipartite(np.arange(m), m + plane.index, left_weight, np.ones(b), first, np.full(m, b))
        return SmoothedPlane(
            value=plane.value,
            offset=plane.offset,
            positives=plane.positives,
            negatives=plane.negatives,
            index=plane.index,
            margin_error=0.0,
            rank_error=0.0,
            curvature=lambda: [graph],
            again=lambda sharper: self.plane(scores, sharper),
        )


class Untold(SquaredHinge):
    """The same for a solver that is not told that it is convex."""

    convex = False


BAND = (0.0, 0.3)
C = 20.0
TOL = 1e-5


@dataclass(frozen=True)
class Sample:
    """Features of the two classes, and the objective and its planes pair by pair."""

    positives: np.ndarray
    negatives: np.ndarray
    stop: int

    @classmethod
    def of(cls, X, y):
        return cls(X[y == 1], X[y == 0], Band.from_range(BAND, np.count_nonzero(y == 0)).stop)

    def objective(self, w, C):
        slope, offset = self.tangent(w)
        return w @ w / 2 + C * (offset + slope @ w)

    def tangent(self, w):
        """Slope and offset of a plane that touches the risk."""
        highest = sorted(self.negatives, key=lambda x: -(x @ w))[: self.stop]
        slope = np.zeros(len(w))
        value = 0.0
        for positive in self.positives:
            for negative in highest:
                missing = max(1 - positive @ w + negative @ w, 0)
                value += missing**2
                slope += 2 * missing * (negative - positive)
        n_pairs = len(self.positives) * self.stop
        return slope / n_pairs, (value - slope @ w) / n_pairs

    def minimum(self, C, gap=1e-6):
        """Smallest objective, to C * gap, by textbook cutting planes."""
        w = np.zeros(self.positives.shape[1])
        best = np.inf
        slopes = []
        offsets = []
        for _ in range(400):
            best = min(best, self.objective(w, C))
            slope, offset = self.tangent(w)
            slopes.append(slope)
            offsets.append(offset)
            w, model = minimize_planes(np.array(slopes), np.array(offsets), C, np.zeros(len(w)), w)
            if best - model <= C * gap:
                return best
        raise AssertionError(f"the trusted optimiser has not converged: {best} against {model}")


@pytest.fixture(scope="module")
def data():
    return make_band_problem(150, n_features=3, random_state=0)


@pytest.fixture(scope="module")
def minimum(data):
    return Sample.of(*data).minimum(C)


def assert_minimal(model, sample, smallest, C=C, tol=TOL):
    """The coefficients reach the smallest objective, the figures say so, and the certificate proves it."""
    assert model.objective_ == pytest.approx(sample.objective(model.coef_[0], C), rel=1e-9)
    # The trusted minimum itself may be above the true one by C * 1e-6.
    assert smallest - 1e-6 * C <= model.objective_ <= smallest + tol * C
    assert model.lower_bound_ <= smallest
    assert 0 <= model.dual_gap_ <= tol * C
    assert model.converged_


def test_linear(data, minimum):
    X, y = data
    model = rocband.PartialAUCSVC(BAND, surrogate=SquaredHinge, C=C, anchor=None, tol=TOL).fit(X, y)
    assert_minimal(model, Sample.of(X, y), minimum)


def test_linear_without_a_bound(data, minimum):
    X, y = data
    model = rocband.PartialAUCSVC(BAND, surrogate=Untold, C=C, anchor=None, tol=TOL).fit(X, y)
    assert np.isnan(model.lower_bound_)
    # It stops when a step gains at most C * tol, which leaves a few such steps.
    assert minimum - 1e-6 * C <= model.objective_ <= minimum + 10 * TOL * C


def test_cross_validated(data):
    X, y = data
    Cs = [0.1, 10.0]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    model = rocband.PartialAUCSVCCV(BAND, surrogate=SquaredHinge, Cs=Cs, cv=folds, anchor=None, tol=TOL).fit(X, y)
    assert model.C_ in Cs
    sample = Sample.of(X, y)
    assert_minimal(model, sample, sample.minimum(model.C_), model.C_)
    for i, one in enumerate(Cs):
        for j, (train, test) in enumerate(folds.split(X, y)):
            alone = rocband.PartialAUCSVC(BAND, surrogate=SquaredHinge, C=one, anchor=None, tol=TOL)
            scores = alone.fit(X[train], y[train]).decision_function(X[test])
            area = partial_auc_score(y[test], scores, fpr_range=BAND)
            # Models of the folds are solved less sharply; a pair or two may change places.
            assert model.scores_[i, j] == pytest.approx(area, abs=0.02)


def test_kernel(data):
    X, y = data
    X = X[:, :2]
    kernel = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}
    model = rocband.KernelPartialAUCSVC(BAND, surrogate=SquaredHinge, C=C, tol=TOL, **kernel).fit(X, y)
    first, second = X.T
    root = np.sqrt(2)
    features = np.column_stack([root * first, root * second, first**2, second**2, root * first * second])
    np.testing.assert_allclose(features @ features.T + 1, polynomial_kernel(X, degree=2, gamma=1.0, coef0=1.0))
    # A constant feature changes no difference of scores: it may be left out.
    smallest = Sample.of(features, y).minimum(C)
    assert smallest - 1e-6 * C <= model.objective_ <= smallest + TOL * C
    assert model.lower_bound_ <= smallest
    assert 0 <= model.dual_gap_ <= TOL * C
    coefficients = model.dual_coef_[0] @ features[model.support_]
    assert Sample.of(features, y).objective(coefficients, C) <= smallest + TOL * C


@pytest.fixture
def client(tmp_path):
    """A local cluster of two workers in this process, which need not be waited for as long as others."""
    options = {"local_directory": tmp_path, "dashboard_address": ":0"}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, **options) as cluster,
        dask.config.set(scheduler=None),
        Client(cluster) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.mark.usefixtures("client")
def test_dask(data):
    X, y = data
    # Each step waits for the workers several times: a smaller C and a larger tolerance need few.
    model = rocband.dask.PartialAUCSVC(BAND, surrogate=SquaredHinge, C=1.0, anchor=None, tol=1e-3)
    model.fit(da.from_array(X, chunks=(75, -1)), da.from_array(y, chunks=75))
    sample = Sample.of(X, y)
    assert_minimal(model, sample, sample.minimum(1.0), C=1.0, tol=1e-3)
