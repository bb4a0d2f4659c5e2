"""The small quadratic program over the planes against slow solvers, and the bounds made from it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from rocband.solvers import planes as planes_module
from rocband.solvers.planes import Certificate, Planes, simplex_qp

THOROUGH = settings(max_examples=150)
seeds = st.integers(0, 2**32 - 1)


def by_enumeration(gram, heights):
    """Maximise heights . a - a' gram a / 2 over the simplex: the best stationary point of any set of planes.

    The maximum on the smallest set that holds a maximiser is unique, and the only one with a regular system.
    """
    best = -np.inf
    for size in range(1, len(heights) + 1):
        for chosen in map(list, combinations(range(len(heights)), size)):
            system = np.block(
                [[gram[np.ix_(chosen, chosen)], np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]]
            )
            solution = np.linalg.lstsq(system, np.append(heights[chosen], 1), rcond=1e-12)[0][:size]
            a = np.zeros(len(heights))
            a[chosen] = np.maximum(solution, 0)
            if a.sum() > 0:
                a /= a.sum()
                best = max(best, heights @ a - a @ gram @ a / 2)
    return best


def by_slsqp(gram, heights):
    k = len(heights)
    result = optimize.minimize(
        lambda a: a @ gram @ a / 2 - heights @ a,
        np.full(k, 1 / k),
        jac=lambda a: gram @ a - heights,
        method="SLSQP",
        bounds=[(0, 1)] * k,
        constraints={"type": "eq", "fun": lambda a: a.sum() - 1, "jac": lambda a: np.ones(k)},
        options={"maxiter": 1000, "ftol": 1e-15},
    )
    return -result.fun


def dual_value(gram, heights, a):
    return heights @ a - a @ gram @ a / 2


def random_slopes(random, k, d, kind):
    slopes = random.normal(size=(k, d))
    if kind == "duplicated":
        slopes = slopes[random.integers(0, max(k // 2, 1), k)]
    if kind == "zero":
        slopes[0] = 0
    if kind == "tiny":
        slopes *= 1e-6
    return slopes


@THOROUGH
@given(
    k=st.integers(1, 7),
    d=st.integers(1, 9),
    kind=st.sampled_from(["plain", "duplicated", "zero", "tiny"]),
    C=st.sampled_from([1e-3, 1.0, 1e3, 1e5]),
    seed=seeds,
)
def test_simplex_qp_against_all_supports(k, d, kind, C, seed):
    random = np.random.default_rng(seed)
    slopes, heights = random_slopes(random, k, d, kind), random.normal(size=k)
    if kind == "duplicated":
        heights = np.round(heights)
    gram = C * slopes @ slopes.T
    start = np.eye(k)[random.integers(k)] if seed % 2 else random.dirichlet(np.ones(k))
    a = simplex_qp(gram, heights, start)
    assert (a >= 0).all()
    assert a.sum() == pytest.approx(1, abs=1e-12)
    assert dual_value(gram, heights, a) >= by_enumeration(gram, heights) - 1e-8 * (1 + np.abs(heights).max())


@pytest.mark.parametrize("k", [3, 20, 40])
@pytest.mark.parametrize("d", [2, 15, 60])
@pytest.mark.parametrize("C", [0.1, 10.0, 1e3])
def test_simplex_qp_against_slsqp(k, d, C):
    random = np.random.default_rng(k + d)
    slopes, heights = random.normal(size=(k, d)) + 0.5, random.normal(size=k)
    gram = C * slopes @ slopes.T
    a = simplex_qp(gram, heights, np.eye(k)[0])
    expected = by_slsqp(gram, heights)
    assert dual_value(gram, heights, a) >= expected - 1e-6 * (1 + abs(expected))
    # Optimal in itself: no plane stands above those with weight.
    slack = heights - gram @ a
    assert slack.max() <= slack[a > 0].min() + 1e-7 * (1 + np.abs(heights).max())


@pytest.mark.parametrize("count", [2, 5])
def test_many_copies_of_one_plane(count):
    gram, heights = np.ones((count, count)), np.zeros(count)
    a = simplex_qp(gram, heights, np.eye(count)[0])
    assert a.sum() == pytest.approx(1)
    assert (a >= 0).all()


def test_planes_without_slope():
    # As data made of zeros give them: then the highest is the answer.
    a = simplex_qp(np.zeros((3, 3)), np.array([0.0, 1.0, 0.5]), np.array([1.0, 0.0, 0.0]))
    np.testing.assert_array_equal(a, [0.0, 1.0, 0.0])


def filled(random, k, d):
    planes = Planes(d)
    for slope, offset in zip(random.normal(size=(k, d)), random.normal(size=k), strict=True):
        planes.add(slope, offset)
    return planes


def model(slopes, offsets, w, C, origin):
    """1/2 |w - origin|^2 + C max(0, planes) from scratch."""
    return (w - origin) @ (w - origin) / 2 + C * max(0.0, *(offsets + slopes @ w))


@THOROUGH
@given(k=st.integers(1, 8), d=st.integers(1, 6), C=st.sampled_from([1e-3, 1.0, 100.0]), seed=seeds)
def test_the_bound_is_the_minimum_of_the_model(k, d, C, seed):
    random = np.random.default_rng(seed)
    planes, origin = filled(random, k, d), random.normal(size=d)
    slopes, offsets = planes.slopes.copy(), planes.offsets.copy()
    master = planes.solve(C, origin)
    assert (master.multipliers >= 0).all()
    assert master.multipliers.sum() == pytest.approx(C)
    # No duality gap: the minimiser attains the bound. And nothing lies below it.
    slack = 1e-7 * (1 + C)
    assert model(slopes, offsets, master.minimizer, C, origin) == pytest.approx(master.bound, abs=slack)
    for scale in (1e-3, 0.1, 1.0, 10.0):
        for centre in (origin, master.minimizer, np.zeros(d)):
            w = centre + scale * random.normal(size=d)
            assert model(slopes, offsets, w, C, origin) >= master.bound - slack


def test_the_first_plane_is_zero():
    planes = Planes(3)
    master = planes.solve(2.0, np.ones(3))
    assert master.bound == 0
    np.testing.assert_array_equal(master.minimizer, np.ones(3))
    planes.add(np.zeros(3), -1.0)
    assert planes.solve(2.0, np.ones(3)).bound == 0


def test_more_planes_never_lower_the_bound():
    random = np.random.default_rng(0)
    planes, origin, bounds = Planes(4), random.normal(size=4), []
    for _ in range(25):
        planes.add(random.normal(size=4), random.normal())
        bounds.append(planes.solve(10.0, origin).bound)
    assert (np.diff(bounds) >= -1e-9).all()
    assert bounds[-1] > bounds[0]


def test_planes_without_weight_are_forgotten_and_the_bound_stays(monkeypatch):
    monkeypatch.setattr(planes_module, "_MAX_AGE", 3)
    random = np.random.default_rng(1)
    planes, origin = filled(random, 12, 2), np.zeros(2)
    bounds = [planes.solve(5.0, origin).bound for _ in range(3)]
    assert len(planes.offsets) < 13
    used = np.count_nonzero(planes.solve(5.0, origin).multipliers)
    bounds.append(planes.solve(5.0, origin).bound)
    assert len(planes.offsets) <= used + 1
    np.testing.assert_allclose(bounds, bounds[0], atol=1e-10)
    np.testing.assert_array_equal(planes.slopes[0], 0)
    # What is left still fits together: the products, the weights and new planes.
    np.testing.assert_allclose(planes._gram, planes.slopes @ planes.slopes.T, atol=1e-12)
    planes.add(random.normal(size=2), 1.0)
    np.testing.assert_allclose(planes._gram, planes.slopes @ planes.slopes.T, atol=1e-12)
    assert planes.solve(5.0, origin).bound >= bounds[0] - 1e-10


def test_planes_serve_another_C_and_origin():
    random = np.random.default_rng(2)
    slopes, offsets = random.normal(size=(6, 3)), random.normal(size=6)
    used, origin = Planes(3), random.normal(size=3)
    for slope, offset in zip(slopes, offsets, strict=True):
        used.add(slope, offset)
        used.solve(0.5, np.zeros(3))
    fresh = Planes(3)
    for slope, offset in zip(slopes, offsets, strict=True):
        fresh.add(slope, offset)
    assert used.solve(50.0, origin).bound == pytest.approx(fresh.solve(50.0, origin).bound, abs=1e-8)


@pytest.mark.parametrize("C", [0.01, 1.0, 300.0])
def test_certificate_proves_its_bound(C):
    random = np.random.default_rng(3)
    planes, origin = filled(random, 9, 4), random.normal(size=4)
    certificate = planes.certificate(planes.solve(C, origin))
    assert (certificate.multipliers > 0).all()
    assert certificate.multipliers.sum() == pytest.approx(C)
    assert len(certificate.multipliers) == len(certificate.offsets) == len(certificate.slopes)
    pull = certificate.multipliers @ certificate.slopes
    recomputed = certificate.multipliers @ (certificate.offsets + certificate.slopes @ origin) - pull @ pull / 2
    assert certificate.bound == pytest.approx(recomputed, abs=1e-9 * (1 + C))
    # It is a copy: later planes and pruning do not change what it proves.
    before = certificate.slopes.copy()
    for _ in range(40):
        planes.add(random.normal(size=4), -100.0)
        planes.solve(C, origin)
    np.testing.assert_array_equal(certificate.slopes, before)


def test_nothing_is_proved_at_first():
    certificate = Certificate.none(3)
    assert certificate.bound == -np.inf
    assert certificate.slopes.shape == (0, 3)
