"""Every problem against plain NumPy: what a solver sees is the same wherever the rows are kept."""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from rocband.dask.collections import Table
from rocband.dask.problem import DaskProblem, LabelledBlocks
from rocband.kernels.function import Kernel
from rocband.kernels.gram import Gram
from rocband.problems.gram import GramProblem
from rocband.problems.members import Members
from rocband.problems.rows import LabelledRows, RowsProblem
from rocband.problems.sample import draw, sampled
from rocband.risks import Band, Plane, risk_for
from rocband.rows import ChunkedRows, as_rows
from rocband.rows.base import dense
from rocband.solvers.objective import Objective
from rocband.solvers.result import Settings
from rocband.solvers.solve import solve

N_ROWS = 40
N_FEATURES = 3
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(N_ROWS, N_FEATURES))
X[RANDOM.random(X.shape) < 0.3] = 0.0
POSITIVE = RANDOM.random(N_ROWS) < 0.4
# What the problems number: the positives first, each class in the order in which its rows came.
ORDERED = np.concatenate([X[POSITIVE], X[~POSITIVE]])
M = int(POSITIVE.sum())
seeds = st.integers(0, 2**32 - 1)


def on_dask(form):
    features = da.from_array(X, chunks=((7, 0, 13, 20), -1)).map_blocks(form, meta=np.empty((0, 0)))
    return DaskProblem(Table(features, POSITIVE).rows(True))


EXPLICIT = {
    "dense": lambda: RowsProblem(as_rows(X), POSITIVE),
    "sparse": lambda: RowsProblem(as_rows(sparse.csr_array(X)), POSITIVE),
    "chunked": lambda: RowsProblem(ChunkedRows(X, block_bytes=8 * N_FEATURES * 7), POSITIVE),
    "dask": lambda: on_dask(np.asarray),
    "dask, sparse": lambda: on_dask(sparse.csr_matrix),
}
# The products of a linear kernel are those of the features; centred, as a precomputed matrix is not.
GRAM = {"gram": lambda: GramProblem(Gram(Kernel("precomputed"), X @ X.T, np.inf), POSITIVE)}
explicit = pytest.mark.parametrize("kind", EXPLICIT)
every = pytest.mark.parametrize("kind", EXPLICIT | GRAM)
INDICES = {
    "none": [],
    "one": [4],
    "both classes": [0, M - 1, M, N_ROWS - 1],
    "repeated": [9, 9, 3, 30, 9],
    "all, backwards": list(range(N_ROWS))[::-1],
}
indices = pytest.mark.parametrize("numbers", [np.array(i, dtype=np.intp) for i in INDICES.values()], ids=INDICES)


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="sync"):
        yield


@pytest.fixture
def problem(kind):
    return (EXPLICIT | GRAM)[kind]()


def model_of(problem, weights):
    """The model that is a sum of all rows with these weights, in the problem's own terms."""
    return problem.combine(weights, np.arange(N_ROWS))


@every
def test_counts(problem):
    assert problem.n_positives == M
    assert problem.n_negatives == N_ROWS - M
    assert problem.passes == 0


@explicit
def test_dimensions(problem):
    assert problem.n_features == problem.dimension == N_FEATURES
    assert problem.features is not None


@every
def test_scores(problem):
    weights = np.random.default_rng(1).normal(size=N_ROWS)
    model = model_of(problem, weights)
    expected = ORDERED @ (weights @ ORDERED)
    scores = problem.scores(model)
    np.testing.assert_allclose(scores.positives, expected[:M], atol=1e-12)
    np.testing.assert_allclose(scores.negatives.at(np.arange(N_ROWS - M)), expected[M:], atol=1e-12)
    assert len(scores.negatives) == N_ROWS - M


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_scores_of_single_precision_are_added_up_in_double(form):
    problem = RowsProblem(as_rows(form(X.astype(np.float32))), POSITIVE)
    scores = problem.scores(np.ones(N_FEATURES))
    assert scores.positives.dtype == scores.negatives.at(np.arange(3)).dtype == np.float64


def test_a_plane_is_made_of_the_rows_with_weight():
    members = Members.among(np.array([True, False, False, True, False]))
    plane = Plane(0.0, 0.0, np.array([1.0, 2.0]), np.array([0.0, 3.0]), np.array([0, 2]))
    weights, rows = members.weighted(plane)
    np.testing.assert_array_equal(weights, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(rows, [0, 3, 4])


@every
def test_passes(problem):
    scores = problem.scores(np.zeros(problem.n_features))
    assert not scores.positives.any()
    assert not scores.negatives.at(np.arange(N_ROWS - M)).any()
    assert problem.passes == 0  # the scores of 0 are known
    model = model_of(problem, np.ones(N_ROWS))
    assert problem.passes == 0
    problem.scores(model)
    assert problem.passes == 1
    problem.count(3)
    assert problem.passes == 4


@explicit
def test_lengths_take_one_pass_in_all(problem):
    for _ in range(2):
        np.testing.assert_allclose(problem.norms(np.array([0, 5])), (ORDERED[[0, 5]] ** 2).sum(axis=1))
        assert problem.passes == 1


@every
@indices
def test_some_rows(problem, numbers):
    weights = np.random.default_rng(2).normal(size=N_ROWS)
    model = model_of(problem, weights)
    rows = ORDERED[numbers]
    np.testing.assert_allclose(problem.scores_of(model, numbers), rows @ (weights @ ORDERED), atol=1e-12)
    np.testing.assert_allclose(problem.products(numbers), rows @ rows.T, atol=1e-12)
    assert problem.passes == 0


@explicit
@indices
def test_features(problem, numbers):
    np.testing.assert_array_equal(dense(problem.features.take(numbers)), ORDERED[numbers].reshape(-1, N_FEATURES))
    expected = (ORDERED[numbers] ** 2).sum(axis=1)
    np.testing.assert_allclose(problem.norms(numbers), expected, atol=1e-12)


@explicit
@indices
def test_combinations(problem, numbers):
    weights = np.random.default_rng(3).normal(size=len(numbers))
    np.testing.assert_allclose(problem.combine(weights, numbers), weights @ ORDERED[numbers], atol=1e-12)


@every
def test_inner_products(problem):
    random = np.random.default_rng(4)
    weights = random.normal(size=(3, N_ROWS))
    stack = np.array([model_of(problem, each) for each in weights])
    written = weights @ ORDERED
    np.testing.assert_allclose(problem.inner(stack, stack[1]), written @ written[1], rtol=1e-10)
    assert problem.inner(stack[0], stack[2]) == pytest.approx(written[0] @ written[2])


@every
@settings(max_examples=20)
@given(seed=seeds)
def test_gradients(kind, seed):
    """The gradient is the model whose inner product with any other is the plane's slope along that one's scores."""
    random = np.random.default_rng(seed)
    problem = (EXPLICIT | GRAM)[kind]()
    index = random.permutation(N_ROWS - M)[: random.integers(0, N_ROWS - M + 1)]
    some = random.random(len(index)) < 0.7
    plane = Plane(0.0, 0.0, random.normal(size=M), some * random.normal(size=len(index)), index)
    weights = random.normal(size=N_ROWS)
    model = model_of(problem, weights)
    slope = problem.scores(model).slope(plane)
    assert problem.inner(problem.gradient(plane), model) == pytest.approx(slope, rel=1e-9, abs=1e-9)


@explicit
def test_overflow_is_one_sentence(problem):
    model = np.full(N_FEATURES, 1.7e308)
    with pytest.raises(ValueError, match=r"The scores overflow; scale the features, .* or lower C"):
        problem.scores(model)


# Parts of the rows


def labelled(kind):
    if kind == "local":
        return LabelledRows(as_rows(X), POSITIVE)
    return LabelledBlocks(Table(da.from_array(X, chunks=((9, 31), -1)), POSITIVE).rows(True))


labels = pytest.mark.parametrize("kind", ["local", "dask"])


@labels
def test_labels_are_in_the_order_in_which_rows_came(kind):
    np.testing.assert_array_equal(labelled(kind).positive, POSITIVE)


@labels
@settings(max_examples=20)
@given(members=st.sets(st.integers(0, N_ROWS - 1)))
def test_a_fold_is_a_set_of_row_numbers(kind, members):
    members = np.array(sorted(members), dtype=np.intp)
    problem = labelled(kind).problem(members)
    chosen = POSITIVE[members]
    rows = X[members]
    w = np.array([1.0, -2.0, 0.5])
    assert problem.n_positives == np.count_nonzero(chosen)
    assert problem.n_negatives == len(members) - problem.n_positives
    scores = problem.scores(w)
    np.testing.assert_allclose(scores.positives, rows[chosen] @ w, atol=1e-12)
    np.testing.assert_allclose(scores.negatives.at(np.arange(problem.n_negatives)), rows[~chosen] @ w, atol=1e-12)
    numbered = np.concatenate([rows[chosen], rows[~chosen]])
    everything = np.arange(len(members))
    np.testing.assert_allclose(dense(problem.features.take(everything)), numbered, atol=1e-12)
    np.testing.assert_allclose(problem.norms(everything), (numbered**2).sum(axis=1), atol=1e-12)


def test_a_model_of_a_fold_is_that_of_its_rows():
    members = np.flatnonzero(np.random.default_rng(5).random(N_ROWS) < 0.7)
    fold = labelled("local").problem(members)
    alone = RowsProblem(as_rows(X[members]), POSITIVE[members])
    risk = risk_for("tight", Band.from_range((0.0, 0.5), fold.n_negatives))
    zero = np.zeros(N_FEATURES)
    models = [solve(Objective(each, risk, 5.0, zero), Settings(), zero).w for each in (fold, alone)]
    np.testing.assert_allclose(*models, rtol=1e-9)


def test_members_that_are_not_in_order_keep_their_order():
    members = Members.among(np.array([True, False, True, False, False]), np.array([4, 2, 1, 0]))
    np.testing.assert_array_equal(members.positives, [2, 0])
    np.testing.assert_array_equal(members.negatives, [4, 1])
    np.testing.assert_array_equal(members.rows(np.array([3, 0, 1])), [1, 2, 0])


@every
@settings(max_examples=20)
@given(seed=seeds, n_positives=st.integers(1, M + 3), n_negatives=st.integers(1, N_ROWS))
def test_draws_are_rows_of_each_class(kind, seed, n_positives, n_negatives):
    problem = (EXPLICIT | GRAM)[kind]()
    numbers, positive = draw(problem, n_positives, n_negatives, np.random.default_rng(seed))
    assert len(np.unique(numbers)) == len(numbers)
    np.testing.assert_array_equal(positive, numbers < M)
    assert np.count_nonzero(positive) == min(n_positives, M)
    assert np.count_nonzero(~positive) == min(n_negatives, N_ROWS - M)


def test_each_row_is_drawn_as_often():
    problem = EXPLICIT["dense"]()
    random = np.random.default_rng(6)
    times = np.zeros(N_ROWS)
    for _ in range(2000):
        numbers, _ = draw(problem, 4, 8, random)
        times[numbers] += 1
    for share, own in ((4 / M, times[:M]), (8 / (N_ROWS - M), times[M:])):
        # Five standard deviations of a count of 2000 draws.
        assert np.abs(own / 2000 - share).max() < 5 * np.sqrt(share * (1 - share) / 2000)


@explicit
def test_a_sample_is_a_problem_of_its_own(problem):
    part = sampled(problem, problem.features, 5, 10, np.random.default_rng(7))
    assert (part.n_positives, part.n_negatives) == (5, 10)
    rows = dense(part.features.take(np.arange(15)))
    known = {tuple(row) for row in ORDERED[:M]}, {tuple(row) for row in ORDERED[M:]}
    assert all(tuple(row) in known[0] for row in rows[:5])
    assert all(tuple(row) in known[1] for row in rows[5:])
    part.scores(np.ones(N_FEATURES))
    assert part.passes == 1
    assert problem.passes == 0
