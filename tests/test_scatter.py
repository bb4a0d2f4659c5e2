"""Graphs of rows against all their pairs, and what a random part of them keeps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import reference_curvature as reference
from rocband.risks.graphs import Bipartite, Clique, Star
from rocband.solvers.scatter import laplacian, scatter, thinned
from samples import seeds

THOROUGH = settings(max_examples=60)
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
    np.testing.assert_allclose(scatter(graph, lambda rows: X[rows]), expected, rtol=1e-7, atol=1e-8)
    found = scatter(graph, lambda rows: sparse.csr_array(X[rows]))
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


@THOROUGH
@given(seed=seeds, size=st.integers(2, 20))
def test_the_laplacian_gives_the_same_scatter(seed, size):
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, 3))
    graphs = reference.graphs(random, N, size)
    used, total = laplacian(graphs)
    np.testing.assert_array_equal(used, np.unique(np.concatenate([graph.rows for graph in graphs])))
    np.testing.assert_allclose(total, total.T, atol=1e-12)
    np.testing.assert_allclose(total.sum(axis=0), 0.0, atol=1e-10)
    expected = sum(reference.scatter(graph, X) for graph in graphs)
    np.testing.assert_allclose(X[used].T @ total @ X[used], expected, atol=1e-10)


@THOROUGH
@given(seed=seeds, size=st.integers(2, 20))
def test_degrees_are_those_of_all_pairs(seed, size):
    graph = reference.bipartite(np.random.default_rng(seed), N, size)
    weights = pairs(graph)
    of_left, of_right = graph.degrees()
    np.testing.assert_allclose(of_left, weights.sum(axis=1), rtol=0, atol=1e-12)
    np.testing.assert_allclose(of_right, weights.sum(axis=0), rtol=0, atol=1e-12)


def test_rows_without_a_pair_have_no_degree_at_all():
    # Sums of thirds and sevenths leave some rounding behind where the last run has ended.
    m = 50
    first = np.arange(m)
    last = np.arange(m) + 3
    graph = Bipartite(np.arange(m), np.arange(m, 3 * m), 1 / (3.0 + np.arange(m)), np.full(2 * m, 1 / 7), first, last)
    of_left, of_right = graph.degrees()
    assert (of_left > 0).all()
    np.testing.assert_array_equal(of_right > 0, np.arange(2 * m) < last[-1])


# A random part


def pairs(graph):
    """Weights of all pairs of a bipartite graph."""
    rank = np.arange(len(graph.right))
    joined = (graph.first[:, None] <= rank) & (rank < graph.last[:, None])
    return joined * np.outer(graph.left_weight, graph.right_weight)


def lengths(X):
    return lambda rows: (X[rows] ** 2).sum(axis=1)


@each
def test_few_rows_are_all_kept(name):
    random = np.random.default_rng(0)
    X = random.normal(size=(N, 3))
    graph = DRAW[name](random, N, 20)
    thin = thinned(graph, 20, lengths(X), random)
    np.testing.assert_allclose(scatter(thin, lambda rows: X[rows]), reference.scatter(graph, X), atol=1e-12)


@THOROUGH
@given(seed=seeds)
def test_the_kept_pairs_are_pairs(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(80, 3))
    graph = reference.bipartite(random, 80, 40)
    thin = thinned(graph, 10, lengths(X), random)
    left = np.array([graph.left.tolist().index(row) for row in thin.left], dtype=np.intp)
    right = np.array([graph.right.tolist().index(row) for row in thin.right], dtype=np.intp)
    np.testing.assert_array_equal(pairs(thin) > 0, pairs(graph)[np.ix_(left, right)] > 0)


# How often a graph is thinned where a mean is looked at.
DRAWS = 400
# A mean of draws that is right misses by more than this many standard errors once in 3 million.
ERRORS = 5


def assert_right_on_average(found, expected, bias=0.0):
    """The mean of the draws is ``expected``, to what their own spread and a known ``bias`` allow."""
    found = np.array(found)
    standard_error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (standard_error > 0).all()
    assert (np.abs(found.mean(axis=0) - expected) <= ERRORS * standard_error + bias).all()
    # So near that a weight that is doubled or left out, or a row that is not made up for, would show.
    assert (ERRORS * standard_error + bias < np.abs(expected) / 2).all()


def long_tailed(random, n):
    """Rows of very different lengths, so that their chances to be kept differ as much."""
    return 1 + random.standard_t(3, size=(n, 3)) ** 2


def test_pairs_of_a_bipartite_graph_are_right_on_average():
    random = np.random.default_rng(1)
    X = long_tailed(random, 300)
    graph = reference.bipartite(random, 300, 150)
    along = random.normal(size=3)
    parts = [thinned(graph, 50, lengths(X), random) for _ in range(DRAWS)]
    found = [along @ scatter(part, lambda rows: X[rows]) @ along for part in parts]
    assert_right_on_average(found, along @ reference.scatter(graph, X) @ along)
    assert_right_on_average([part.degrees()[0].sum() for part in parts], graph.degrees()[0].sum())
    # Fewer than 50 of a side where some are so long or heavy that they are always kept.
    assert 30 < np.mean([len(part.rows) for part in parts]) <= 100


def about(X, centre, rows, weight):
    """Squared differences from a centre, one for each feature."""
    return weight @ (X[rows] - centre) ** 2


def centre_bias(total, centre):
    """Most that the expectation of a ratio of two estimates is off (Hartley and Ross)."""
    return np.std(centre, axis=0) * np.std(total) / np.mean(total)


def test_a_clique_is_right_on_average():
    random = np.random.default_rng(2)
    X = long_tailed(random, 300)
    graph = reference.clique(random, 300, 150)
    mean = np.average(X[graph.rows], axis=0, weights=graph.weight)
    parts = [thinned(graph, 50, lengths(X), random) for _ in range(DRAWS)]
    # About the true mean the sums are right; a part's scatter is about its own mean, whose expectation is nearly so.
    found = [about(X, mean, part.rows, part.weight) for part in parts]
    assert_right_on_average(found, about(X, mean, graph.rows, graph.weight))
    total = [part.weight.sum() for part in parts]
    assert_right_on_average(total, graph.weight.sum())
    centre = [np.average(X[part.rows], axis=0, weights=part.weight) for part in parts]
    assert_right_on_average(centre, mean, centre_bias(total, centre))
    assert 30 < np.mean([len(part.rows) for part in parts]) < 55


def test_a_star_is_right_on_average():
    random = np.random.default_rng(3)
    X = long_tailed(random, 600)
    graph = reference.star(random, 600, 400)
    mean = np.average(X[graph.others], axis=0, weights=graph.others_weight)
    parts = [thinned(graph, 50, lengths(X), random) for _ in range(DRAWS)]
    found = [about(X, mean, part.members, part.weight) for part in parts]
    assert_right_on_average(found, about(X, mean, graph.members, graph.weight))
    assert_right_on_average([part.weight.sum() for part in parts], graph.weight.sum())
    total = [part.others_weight.sum() for part in parts]
    assert_right_on_average(total, graph.others_weight.sum())
    centre = [np.average(X[part.others], axis=0, weights=part.others_weight) for part in parts]
    assert_right_on_average(centre, mean, centre_bias(total, centre))
    assert 60 < np.mean([len(part.rows) for part in parts]) < 110


@each
def test_the_scatter_of_a_part_is_about_that_of_the_whole(name):
    random = np.random.default_rng(4)
    X = random.normal(size=(3000, 3))
    graph = DRAW[name](random, 3000, 1500)
    along = random.normal(size=3)
    whole = along @ scatter(graph, lambda rows: X[rows]) @ along
    parts = [thinned(graph, 300, lengths(X), random) for _ in range(DRAWS)]
    found = [along @ scatter(part, lambda rows: X[rows]) @ along for part in parts]
    # One degree of freedom in 300 goes to a mean that is estimated.
    assert_right_on_average(found, whole, bias=0.0 if name == "bipartite" else whole / 300 * 2)


@pytest.mark.parametrize("far", [17, 5017])
@each
def test_a_row_far_out_is_kept(name, far):
    random = np.random.default_rng(2)
    X = random.normal(size=(10_000, 2))
    X[far] = 1000.0, 0.0
    one = np.arange(5000)
    other = one + 5000
    graph = {
        "bipartite": Bipartite(one, other, np.ones(5000), np.ones(5000), np.zeros_like(one), np.full(5000, 5000)),
        "clique": Clique(np.arange(10_000), np.ones(10_000)),
        "star": Star(one, np.ones(5000), other, np.ones(5000)),
    }[name]
    assert all(far in thinned(graph, 100, lengths(X), random).rows for _ in range(20))
    # By chance alone it would be among 100 of 5,000 rows in one of 50 draws.


def test_a_heavy_row_is_kept():
    random = np.random.default_rng(2)
    weight = np.ones(5000)
    weight[17] = 1000.0
    graph = Clique(np.arange(5000), weight)
    assert all(17 in thinned(graph, 100, lambda rows: np.ones(len(rows)), random).rows for _ in range(20))


def test_rows_without_weight_are_left_out():
    random = np.random.default_rng(0)
    weight = np.repeat([0.0, 1.0], 500)
    thin = thinned(Clique(np.arange(1000), weight), 100, lambda rows: np.ones(len(rows)), random)
    assert thin.rows.min() >= 500
    assert (thin.weight > 0).all()


def test_lengths_beyond_the_numbers_do_no_harm():
    graph = Clique(np.arange(1000), np.ones(1000))
    thin = thinned(graph, 100, lambda rows: np.full(len(rows), np.inf), np.random.default_rng(0))
    assert 50 < len(thin.rows) < 150
    assert np.isfinite(thin.weight).all()


@each
def test_rows_of_length_0_are_drawn_evenly(name):
    random = np.random.default_rng(0)
    graph = DRAW[name](random, 3000, 1500)
    thin = thinned(graph, 100, lambda rows: np.zeros(len(rows)), random)
    assert 60 < len(thin.rows) < 260
    assert np.isfinite(scatter(thin, lambda rows: np.eye(2)[rows % 2])).all()


def test_a_star_without_members_needs_no_others():
    graph = Star(np.arange(5), np.zeros(5), np.arange(5, 9), np.ones(4))
    thin = thinned(graph, 3, lambda rows: np.ones(len(rows)), np.random.default_rng(0))
    assert len(thin.rows) == 0
    np.testing.assert_array_equal(scatter(thin, lambda rows: np.ones((len(rows), 2))), np.zeros((2, 2)))
    used, total = laplacian([thin])
    assert used.shape == (0,)
    assert total.shape == (0, 0)
