"""Rows of a kernel against features written out; its Newton system, smallest eigenvalue, features and landmarks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import reference_curvature
import reference_kernel
from rocband.risks.curvature import Clique
from rocband.rows import kernel as kernel_module
from rocband.rows.kernel import Kernel, KernelRows, check_gram, kernel_scores, smallest_eigenvalue, tiles
from rocband.rows.nystroem import NystroemFeatures, choose_landmarks
from rocband.solvers import kernel as kernel_solver
from rocband.solvers.kernel import KernelProblem

THOROUGH = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 2**32 - 1)
N = 31
BUDGETS = {"double": 8 * N**2, "single": 4 * N**2, "computed again": N**2}
KINDS = {
    "rbf": Kernel("rbf", 0.4),
    "poly": Kernel("poly", 0.5, 2, 1.0),
    "linear": Kernel("linear"),
    "callable": Kernel(lambda A, B: np.exp(-0.1 * np.abs(A[:, None] - B[None]).sum(axis=2))),
}
kinds = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(N, 4))


@pytest.fixture(params=[True, False], ids=["small tiles", "one tile"])
def some_tiles(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(kernel_module, "_TILE", 50)


def features(kind, X):
    """Features of each kernel, centred where its rows are."""
    if kind == "linear":
        return X - X.mean(axis=0)
    if kind == "callable":
        return reference_kernel.features(KINDS[kind].function(X, X))
    one = KINDS[kind]
    return reference_kernel.features(reference_kernel.matrix(kind, X, X, one.gamma, one.degree, one.coef0))


@kinds
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.usefixtures("some_tiles")
def test_rows_are_those_of_the_features(kind, budget, X):
    rows, written, random = KernelRows(KINDS[kind], X, BUDGETS[budget]), features(kind, X), np.random.default_rng(1)
    close = {"rtol": 0, "atol": 1e-5 if budget == "single" else 1e-10}
    assert rows.shape == (N, 2 * N)
    models = []
    for chosen in ([], [4], [9, 9, 3], list(range(N))):
        weights, index = random.normal(size=len(chosen)), np.array(chosen, dtype=np.intp)
        model = rows.accumulate(weights, index)
        w = weights @ written[index]
        np.testing.assert_allclose(rows.scores(model), written @ w, **close)
        np.testing.assert_allclose(rows.take(index), written[index] @ written[index].T, **close)
        models.append((model, w))
    stack = np.array([model for model, _ in models])
    for model, w in models:
        np.testing.assert_allclose(rows.inner(stack, model), [v @ w for _, v in models], **close)


@pytest.mark.usefixtures("some_tiles")
def test_sparse_rows(X):
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    for kernel in (Kernel("rbf", 0.4), Kernel("linear")):
        dense = kernel_scores(kernel, X, X[:9], np.arange(9), np.arange(9.0))
        values = kernel_scores(kernel, sparse.csr_array(X), sparse.csr_array(X[:9]), np.arange(9), np.arange(9.0))
        np.testing.assert_allclose(values, dense, atol=1e-12)


def test_a_linear_model_as_a_combination_of_rows(X):
    for data in (X, X + 100.0, sparse.csr_array(X)):
        w = np.arange(1.0, 5.0)
        rows = KernelRows(Kernel("linear"), data, 8 * N**2)
        model = rows.from_features(w)
        values = data @ w
        away = rows.scores(model) - values
        np.testing.assert_allclose(away, away[0], atol=1e-9)  # up to the origin of the features
        assert rows.inner(model, model) == pytest.approx(w @ w)
        assert not rows.from_features(np.zeros(4)).any()


@THOROUGH
@given(n_rows=st.integers(0, 200), width=st.integers(0, 300))
def test_tiles_cover_all_rows_once(n_rows, width):
    covered = [k for part in tiles(n_rows, width) for k in range(part.start, part.stop)]
    assert covered == list(range(n_rows))


# The Newton system


@THOROUGH
@given(seed=seeds, scale=st.sampled_from([1e-3, 1.0, 1e4]))
def test_newton_system_against_features(seed, scale):
    random = np.random.default_rng(seed)
    X, positive = random.normal(size=(N, 3)), random.random(N) < 0.4
    positive[:2] = True, False
    problem = KernelProblem(KernelRows(Kernel("rbf", 0.4), X, 8 * N**2), positive, (0.0, 0.5))
    written = reference_kernel.features(reference_kernel.matrix("rbf", X, X, 0.4))
    numbered = written[np.concatenate([problem.positives, problem.negatives])]
    graphs = reference_curvature.graphs(random, N)
    coefficients = random.normal(size=N)
    gradient = problem.gram.accumulate(coefficients, np.arange(N))
    direction = problem.newton_direction(graphs, scale, gradient, random)
    system = np.eye(N) + scale * sum(reference_curvature.scatter(graph, numbered) for graph in graphs)
    expected = -np.linalg.solve(system, coefficients @ written)
    np.testing.assert_allclose(direction[N:], written @ expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(problem.inner(direction, direction), expected @ expected, rtol=1e-5, atol=1e-6)


def test_some_rows_stand_for_all_when_they_are_many(monkeypatch):
    random = np.random.default_rng(0)
    X, positive = random.normal(size=(400, 3)), np.arange(400) < 200
    problem = KernelProblem(KernelRows(Kernel("rbf", 0.4), X, 8 * 400**2), positive, (0.0, 0.5))
    gradient = problem.gram.accumulate(random.normal(size=400), np.arange(400))
    graph = Clique(np.arange(400), np.full(400, 0.01))
    whole = problem.newton_direction([graph], 1.0, gradient, random)
    sizes = []
    take = problem.gram.take
    monkeypatch.setattr(problem.gram, "take", lambda index: (sizes.append(len(index)), take(index))[1])
    monkeypatch.setattr(kernel_solver, "MOST_ROWS", 200)
    some = problem.newton_direction([graph], 1.0, gradient, random)
    assert 60 < sizes[0] < 230
    assert problem.inner(some, whole) > 0.9 * np.sqrt(problem.inner(some, some) * problem.inner(whole, whole))


# Kernels that are not positive semi-definite


@THOROUGH
@given(seed=seeds, n=st.integers(1, 80), definite=st.booleans())
def test_smallest_eigenvalue(seed, n, definite):
    random = np.random.default_rng(seed)
    root = random.normal(size=(n, n))
    matrix = root @ root.T if definite else root + root.T
    found = smallest_eigenvalue(lambda weights, index: matrix[:, index] @ weights, n)
    exact = float(np.linalg.eigvalsh(matrix)[0])
    if definite:
        assert found == 0.0
    else:
        assert found <= min(exact, 0.0) * 0.999 + 1e-9
        assert found >= 2 * min(exact, 0.0) - 1e-9


def test_a_shift_makes_up_for_it(X):
    rows = KernelRows(Kernel("sigmoid", 1.0, coef0=-0.5), X, 8 * N**2)
    gram = np.tanh(X @ X.T - 0.5)
    assert np.linalg.eigvalsh(gram)[0] < -1
    assert rows.shift >= -np.linalg.eigvalsh(gram)[0] * 0.999
    np.testing.assert_allclose(rows.take(np.arange(N)), gram + rows.shift * np.eye(N), atol=1e-12)
    model = rows.accumulate(np.arange(N), np.arange(N))
    np.testing.assert_allclose(rows.scores(model), (gram + rows.shift * np.eye(N)) @ np.arange(N), atol=1e-9)
    assert KernelRows(Kernel("rbf"), X, 8 * N**2).shift == 0.0


def test_single_precision_noise_is_no_asymmetry(X):
    gram = reference_kernel.matrix("rbf", X, X, 0.4).astype(np.float32)
    gram[2, 7] *= 1 + 2e-6
    check_gram(gram)
    gram[2, 7] *= 1.1
    with pytest.raises(ValueError, match="symmetric"):
        check_gram(gram)


# Nystroem


@kinds
@pytest.mark.usefixtures("some_tiles")
def test_features_have_the_products_of_the_kernel(kind, X):
    landmarks = np.array([1, 4, 8, 15, 16, 23, 30])
    kernel = KINDS[kind]
    made = NystroemFeatures(kernel, X, landmarks)
    values = made.transform(X)
    assert values.dtype == np.float32
    products = kernel(X, X[landmarks])
    np.testing.assert_allclose(values @ values[landmarks].T, products, atol=2e-5 * np.abs(products).max())
    w = np.random.default_rng(0).normal(size=7)
    np.testing.assert_allclose(products @ made.weights(w), values @ w, atol=2e-5 * np.abs(values).max())
    given_matrix = NystroemFeatures(Kernel("precomputed"), kernel(X, X), landmarks)
    np.testing.assert_allclose(given_matrix.transform(kernel(X, X)), values, atol=2e-5 * np.abs(values).max())


@THOROUGH
@given(seed=seeds, n_positives=st.integers(1, 30), n_negatives=st.integers(1, 60), data=st.data())
def test_landmarks_are_distinct_rows_of_both_classes(seed, n_positives, n_negatives, data):
    n = n_positives + n_negatives
    count = data.draw(st.integers(1, n))
    random = np.random.default_rng(seed)
    positive = random.permutation(n) < n_positives
    landmarks = choose_landmarks(positive, count, random)
    assert len(np.unique(landmarks)) == len(landmarks) == count
    assert landmarks.min() >= 0
    assert landmarks.max() < n
    chosen = np.count_nonzero(positive[landmarks])
    assert chosen == min((count + 1) // 2, n_positives) or count - chosen == n_negatives
