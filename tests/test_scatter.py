"""Graphs of rows against all their pairs, what a random part of them keeps, and the Newton systems made of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import reference_curvature as reference
from rocband.risks.curvature import Bipartite, Clique, laplacian
from rocband.risks.smoothed import SmoothedRisk, Smoothing
from rocband.rows import as_rows
from rocband.solvers.curvature import row_limit, solve_graph, solve_newton, within
from rocband.solvers.problem import Problem

THOROUGH = settings(max_examples=60, deadline=None)
seeds = st.integers(0, 2**32 - 1)
kinds = pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
DRAW = {"bipartite": reference.bipartite, "clique": reference.clique, "star": reference.star}
each = pytest.mark.parametrize("name", DRAW)
N = 40


@each
@THOROUGH
@given(seed=seeds, size=st.integers(2, 20), offset=st.sampled_from([0.0, 1e6]))
def test_scatter_is_that_of_all_pairs(name, seed, size, offset):
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, 3)) + offset
    graph = DRAW[name](random, N, size)
    expected = reference.scatter(graph, X)
    np.testing.assert_allclose(graph.scatter(lambda rows: X[rows]), expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(graph.scatter(lambda rows: sparse.csr_array(X[rows])), expected, rtol=1e-7, atol=1e-8)


@THOROUGH
@given(seed=seeds, size=st.integers(2, 20))
def test_the_laplacian_gives_the_same_scatter(seed, size):
    random = np.random.default_rng(seed)
    X, graphs = random.normal(size=(N, 3)), reference.graphs(random, N, size)
    used, total = laplacian(graphs)
    np.testing.assert_array_equal(used, np.unique(np.concatenate([graph.rows for graph in graphs])))
    np.testing.assert_allclose(total, total.T, atol=1e-12)
    np.testing.assert_allclose(total.sum(axis=0), 0.0, atol=1e-10)
    expected = sum(reference.scatter(graph, X) for graph in graphs)
    np.testing.assert_allclose(X[used].T @ total @ X[used], expected, atol=1e-10)


def test_rows_without_a_pair_have_no_degree_at_all():
    # Sums of thirds and sevenths leave some rounding behind where the last run has ended.
    m = 50
    first, last = np.arange(m), np.arange(m) + 3
    graph = Bipartite(np.arange(m), np.arange(m, 3 * m), 1 / (3.0 + np.arange(m)), np.full(2 * m, 1 / 7), first, last)
    of_left, of_right = graph.degrees()
    assert (of_left > 0).all()
    np.testing.assert_array_equal(of_right > 0, np.arange(2 * m) < last[-1])


# A random part


def lengths(X):
    return lambda rows: (X[rows] ** 2).sum(axis=1)


@each
def test_few_rows_are_all_kept(name):
    random = np.random.default_rng(0)
    X, graph = random.normal(size=(N, 3)), DRAW[name](random, N, 20)
    thin = graph.thinned(20, lengths(X), random)
    np.testing.assert_allclose(thin.scatter(lambda rows: X[rows]), reference.scatter(graph, X), atol=1e-12)


@pytest.mark.parametrize("name", ["bipartite", "clique"])
def test_a_random_part_is_right_on_average(name):
    random = np.random.default_rng(1)
    X, graph = random.standard_t(3, size=(300, 3)), DRAW[name](random, 300, 150)
    whole, along = graph.scatter(lambda rows: X[rows]), random.normal(size=3)
    thin = [graph.thinned(50, lengths(X), random) for _ in range(400)]
    sides = 2 if name == "bipartite" else 1
    assert 30 * sides < np.mean([len(part.rows) for part in thin]) < 55 * sides
    found = np.array([along @ part.scatter(lambda rows: X[rows]) @ along for part in thin])
    assert found.std() > 0
    # The mean of a clique is estimated too, which takes one part in as many as there are rows away.
    slack = 0.0 if name == "bipartite" else 0.04 * along @ whole @ along
    assert found.mean() == pytest.approx(along @ whole @ along, abs=4 * found.std() / 20 + slack)


def test_a_row_far_out_is_kept():
    random = np.random.default_rng(2)
    X = random.normal(size=(5000, 2))
    X[17] = 1000.0, 0.0
    graph = Clique(np.arange(5000), np.ones(5000))
    assert all(17 in graph.thinned(100, lengths(X), random).rows for _ in range(20))
    # By chance alone it would be among 100 of 5,000 rows in one of 50 draws.


def test_lengths_beyond_the_numbers_do_no_harm():
    graph = Clique(np.arange(1000), np.ones(1000))
    thin = graph.thinned(100, lambda rows: np.full(len(rows), np.inf), np.random.default_rng(0))
    assert 50 < len(thin.rows) < 150
    assert np.isfinite(thin.weight).all()


@each
def test_rows_of_length_0_are_drawn_evenly(name):
    random = np.random.default_rng(0)
    graph = DRAW[name](random, 3000, 1500)
    thin = graph.thinned(100, lambda rows: np.zeros(len(rows)), random)
    assert 60 < len(thin.rows) < 260
    assert np.isfinite(thin.scatter(lambda rows: np.eye(2)[rows % 2])).all()


@pytest.mark.parametrize("count", [3, 300, 5000])
def test_rows_in_play_are_kept_within_a_limit(count):
    random = np.random.default_rng(0)
    graphs = [Clique(np.arange(k, k + count), np.ones(count)) for k in (0, count)]
    some = within(graphs, 500, lambda rows: np.ones(len(rows)), random)
    used = len(np.unique(np.concatenate([graph.rows for graph in some])))
    assert used == 6 if count == 3 else 150 < used < 600


def test_a_thinned_newton_direction_is_near_that_of_all_rows():
    random = np.random.default_rng(0)
    X, positive = random.normal(size=(8000, 5)), random.random(8000) < 0.3
    problem = Problem(as_rows(X), positive, (0.0, 0.5))
    scores = problem.scores(random.normal(size=5) / 3)
    graphs = SmoothedRisk(problem.band).linearize(scores.positives, scores.negatives, Smoothing(0.5, 0.3)).graphs()
    gradient = random.normal(size=5)
    whole = problem.newton_direction(graphs, 1e3, gradient, random, effort=16.0)
    errors = {}
    for effort in (1.0, 4.0):
        drawn = [problem.newton_direction(graphs, 1e3, gradient, random, effort) for _ in range(20)]
        errors[effort] = np.mean([np.linalg.norm(each - whole) for each in drawn]) / np.linalg.norm(whole)
    assert errors[4.0] < errors[1.0] < 0.3


# The Newton system


def expected_direction(graphs, C, gradient, X):
    scatter = sum(reference.scatter(graph, X) for graph in graphs)
    return np.linalg.solve(np.eye(len(gradient)) + C * scatter, gradient)


@kinds
@pytest.mark.parametrize("n_features", [5, 30, 120])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_newton_systems_are_solved_in_either_dimension(n_features, kind, offset):
    random = np.random.default_rng(0)
    X, gradient = random.normal(size=(N, n_features)), random.normal(size=n_features)
    graphs = reference.graphs(random, N)
    shifted = kind(X + offset) if kind is np.asarray else kind(X)
    found = solve_newton(graphs, 3.0, gradient, lambda rows: shifted[rows])
    np.testing.assert_allclose(found, expected_direction(graphs, 3.0, gradient, X), rtol=1e-6, atol=1e-7)


def test_newton_systems_of_any_scale_are_solved():
    random = np.random.default_rng(0)
    scales = 10.0 ** np.array([9.0, 0.0, -3.0])
    X, gradient, graphs = random.normal(size=(N, 3)), random.normal(size=3), reference.graphs(random, N)
    direction = solve_newton(graphs, 1e3, gradient, lambda rows: (X * scales)[rows])
    scatter = 1e3 * sum(reference.scatter(graph, X) for graph in graphs)
    expected = np.linalg.solve(np.diag(scales**-2.0) + scatter, gradient / scales)
    np.testing.assert_allclose(direction * scales, expected, rtol=1e-6)
    # Of rank 1 and so large that the identity is lost: still finite, and a descent direction.
    direction = solve_newton(graphs, 1.0, gradient, lambda rows: np.outer(1e12 * X[rows, 0], np.ones(3)))
    assert np.isfinite(direction).all()
    assert direction @ gradient > 0


def test_no_rows_in_play_leave_the_gradient():
    nothing = np.array([], dtype=np.intp)
    graphs = [Clique(nothing, np.array([]))]
    gradient = np.array([1.0, -2.0])
    np.testing.assert_array_equal(solve_newton(graphs, 1.0, gradient, lambda rows: np.zeros((0, 2))), gradient)


@kinds
def test_a_graph_is_solved_by_its_rows(kind):
    random = np.random.default_rng(0)
    X, gradient, graphs = random.normal(size=(N, 60)), random.normal(size=60), reference.graphs(random, N)
    used, total = laplacian(graphs)
    expected = expected_direction(graphs, 1.0, gradient, X)
    np.testing.assert_allclose(solve_graph(kind(X[used]), total, gradient), expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("n_features", [1, 10, 100, 1000, 50_000])
def test_the_limit_of_rows_is_bearable(n_features):
    usual, most = row_limit(n_features), row_limit(n_features, effort=16.0)
    assert 1000 <= usual <= most <= 16 * usual
    assert most == 1000 or most * n_features**2 <= 1e9


def test_a_problem_numbers_positives_first_and_counts_the_pass_for_lengths():
    random = np.random.default_rng(0)
    X, positive = random.normal(size=(50, 3)), random.random(50) < 0.4
    problem = Problem(as_rows(X), positive, (0.0, 0.5))
    numbered, numbers = np.concatenate([X[positive], X[~positive]]), np.array([0, 49, 3, 30])
    np.testing.assert_array_equal(problem.take(numbers), numbered[numbers])
    assert problem.passes == 0
    for _ in range(2):
        np.testing.assert_allclose(problem.norms(numbers), (numbered[numbers] ** 2).sum(axis=1))
        assert problem.passes == 1
    problem.with_range((0.0, 1.0)).norms(numbers)
    assert problem.passes == 1
