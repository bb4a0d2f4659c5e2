"""Newton systems made of graphs and rows, in either dimension and from as many rows as are wanted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import reference_curvature as reference
from rocband.problems.rows import RowsProblem
from rocband.risks import Band, Smoothing, risk_for
from rocband.risks.graphs import Clique
from rocband.rows import as_rows
from rocband.solvers.newton import direction, row_limit, solve_features, solve_system, within
from rocband.solvers.scatter import laplacian

kinds = pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
N = 40


class Watched(RowsProblem):
    """A problem that remembers which rows were looked at."""

    def __init__(self, X, positive):
        super().__init__(as_rows(X), positive)
        self.taken = set()

    def take(self, numbers):
        self.taken.update(numbers.tolist())
        return super().take(numbers)


def many_rows(n=8000, n_features=5):
    """A problem, and the graphs of a smoothed risk at a random model."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, n_features))
    problem = Watched(X, random.random(n) < 0.3)
    scores = problem.scores(random.normal(size=n_features) / 3)
    band = Band.from_range((0.0, 0.5), problem.n_negatives)
    graphs = risk_for("tight", band).plane(scores, Smoothing(0.5, 0.3)).curvature()
    return problem, graphs, random


# How many rows


@pytest.mark.parametrize("n_features", [1, 10, 100, 1000, 50_000])
def test_the_limit_of_rows_is_bearable(n_features):
    usual = row_limit(n_features)
    most = row_limit(n_features, effort=16.0)
    assert 1000 <= usual <= most <= 16 * usual
    assert most == 1000 or most * n_features**2 <= 1e9


def test_effort_multiplies_the_limit_while_it_is_bearable():
    assert [row_limit(50, effort) for effort in (1.0, 2.0, 16.0)] == [2000, 4000, 32_000]
    assert [row_limit(5, effort) for effort in (1.0, 2.0, 16.0)] == [1000, 2000, 16_000]


@pytest.mark.parametrize("count", [3, 300, 5000])
def test_rows_in_play_are_kept_within_a_limit(count):
    random = np.random.default_rng(0)
    graphs = [Clique(np.arange(k, k + count), np.ones(count)) for k in (0, count)]
    some = within(graphs, 500, lambda rows: np.ones(len(rows)), random)
    used = len(np.unique(np.concatenate([graph.rows for graph in some])))
    assert used == 6 if count == 3 else 150 < used < 600


def test_more_effort_sees_more_rows():
    problem, graphs, random = many_rows()
    seen = []
    for effort in (1.0, 2.0, 4.0, 16.0):
        problem.taken.clear()
        direction(problem, graphs, 1.0, np.ones(5), random, effort)
        seen.append(len(problem.taken))
    assert 1.3 < seen[1] / seen[0] < 2.2
    # From about 4,000 rows on, all that have a weight are seen.
    assert seen[0] < seen[1] < seen[2] <= seen[3]


def test_more_effort_brings_the_direction_nearer_to_that_of_all_rows():
    problem, graphs, random = many_rows()
    gradient = random.normal(size=5)
    whole = direction(problem, graphs, 1e3, gradient, random, effort=16.0)
    errors = {}
    for effort in (1.0, 4.0):
        drawn = [direction(problem, graphs, 1e3, gradient, random, effort) for _ in range(20)]
        errors[effort] = np.mean([np.linalg.norm(each - whole) for each in drawn]) / np.linalg.norm(whole)
    assert errors[4.0] < errors[1.0] < 0.3


# The system


def expected_solution(graphs, C, gradient, X):
    scatter = sum(reference.scatter(graph, X) for graph in graphs)
    return np.linalg.solve(np.eye(len(gradient)) + C * scatter, gradient)


@pytest.mark.parametrize("n_features", [5, 120])
def test_a_direction_leads_down_the_gradient(n_features):
    random = np.random.default_rng(0)
    X = random.normal(size=(N, n_features))
    positive = np.repeat([True, False], N // 2)
    problem = RowsProblem(as_rows(X), positive)
    gradient = random.normal(size=n_features)
    graphs = reference.graphs(random, N)
    found = direction(problem, graphs, 3.0, gradient, random)
    np.testing.assert_allclose(found, -expected_solution(graphs, 3.0, gradient, X), rtol=1e-6, atol=1e-7)


@kinds
@pytest.mark.parametrize("n_features", [5, 30, 120])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_systems_are_solved_in_either_dimension(n_features, kind, offset):
    random = np.random.default_rng(0)
    X = random.normal(size=(N, n_features))
    gradient = random.normal(size=n_features)
    graphs = reference.graphs(random, N)
    shifted = kind(X + offset) if kind is np.asarray else kind(X)
    found = solve_system(graphs, 3.0, gradient, lambda rows: shifted[rows])
    np.testing.assert_allclose(found, expected_solution(graphs, 3.0, gradient, X), rtol=1e-6, atol=1e-7)


def test_systems_of_any_scale_are_solved():
    random = np.random.default_rng(0)
    scales = 10.0 ** np.array([9.0, 0.0, -3.0])
    X = random.normal(size=(N, 3))
    gradient = random.normal(size=3)
    graphs = reference.graphs(random, N)
    found = solve_system(graphs, 1e3, gradient, lambda rows: (X * scales)[rows])
    scatter = 1e3 * sum(reference.scatter(graph, X) for graph in graphs)
    expected = np.linalg.solve(np.diag(scales**-2.0) + scatter, gradient / scales)
    np.testing.assert_allclose(found * scales, expected, rtol=1e-6)
    # Of rank 1 and so large that the identity is lost: still finite, and along the gradient.
    found = solve_system(graphs, 1.0, gradient, lambda rows: np.outer(1e12 * X[rows, 0], np.ones(3)))
    assert np.isfinite(found).all()
    assert found @ gradient > 0


def test_no_rows_in_play_leave_the_gradient():
    nothing = np.array([], dtype=np.intp)
    graphs = [Clique(nothing, np.array([]))]
    gradient = np.array([1.0, -2.0])
    np.testing.assert_array_equal(solve_system(graphs, 1.0, gradient, lambda rows: np.zeros((0, 2))), gradient)


@kinds
def test_a_laplacian_is_solved_by_its_rows(kind):
    random = np.random.default_rng(0)
    X = random.normal(size=(N, 60))
    gradient = random.normal(size=60)
    graphs = reference.graphs(random, N)
    used, total = laplacian(graphs)
    expected = expected_solution(graphs, 1.0, gradient, X)
    np.testing.assert_allclose(solve_features(kind(X[used]), total, gradient), expected, rtol=1e-8, atol=1e-9)


def test_a_problem_numbers_positives_first_and_counts_the_pass_for_lengths():
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 3))
    positive = random.random(50) < 0.4
    problem = RowsProblem(as_rows(X), positive)
    numbered = np.concatenate([X[positive], X[~positive]])
    numbers = np.array([0, 49, 3, 30])
    np.testing.assert_array_equal(problem.take(numbers), numbered[numbers])
    assert problem.passes == 0
    for _ in range(2):
        np.testing.assert_allclose(problem.norms(numbers), (numbered[numbers] ** 2).sum(axis=1))
        assert problem.passes == 1
