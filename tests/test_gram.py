"""Gram matrices and their problem against features written out; Newton systems, eigenvalues, Nystroem features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence, aslinearoperator

import reference_curvature
import reference_kernel
from rocband.kernels import function as function_module
from rocband.kernels import gram as gram_module
from rocband.kernels.function import Kernel, check_gram, kernel_scores, tiles
from rocband.kernels.gram import Gram
from rocband.kernels.nystroem import NystroemFeatures, choose_landmarks
from rocband.problems.gram import GramProblem
from rocband.risks.graphs import Clique
from rocband.solvers import newton

THOROUGH = settings(max_examples=40)
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
        monkeypatch.setattr(function_module, "TILE", 50)
        monkeypatch.setattr(gram_module, "TILE", 50)


def features(kind, X):
    """Features of each kernel, centred where its rows are."""
    if kind == "linear":
        return X - X.mean(axis=0)
    if kind == "callable":
        return reference_kernel.features(KINDS[kind].function(X, X))
    one = KINDS[kind]
    return reference_kernel.features(reference_kernel.matrix(kind, X, X, one.gamma, one.degree, one.coef0))


def make_problem(kernel, X, budget=8 * N**2, positive=None):
    if positive is None:
        positive = np.arange(X.shape[0]) % 3 == 0
    return GramProblem(Gram(kernel, X, budget), positive)


def rows_of(written):
    """Features of the rows as a problem numbers them: the positives first."""
    first = np.arange(len(written)) % 3 == 0
    return np.concatenate([written[first], written[~first]])


@kinds
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.usefixtures("some_tiles")
def test_models_are_those_of_the_features(kind, budget, X):
    problem = make_problem(KINDS[kind], X, BUDGETS[budget])
    written = rows_of(features(kind, X))
    random = np.random.default_rng(1)
    close = {"rtol": 0, "atol": 1e-5 if budget == "single" else 1e-10}
    assert problem.n_features == 2 * N
    assert problem.features is None
    models = []
    for chosen in ([], [4], [9, 9, 3], list(range(N))):
        weights = random.normal(size=len(chosen))
        numbers = np.array(chosen, dtype=np.intp)
        model = problem.combine(weights, numbers)
        w = weights @ written[numbers]
        scores = problem.scores(model)
        expected = written @ w
        np.testing.assert_allclose(scores.positives, expected[: problem.n_positives], **close)
        np.testing.assert_allclose(
            scores.negatives.at(np.arange(problem.n_negatives)), expected[problem.n_positives :], **close
        )
        np.testing.assert_allclose(problem.scores_of(model, numbers), expected[numbers], **close)
        np.testing.assert_allclose(problem.products(numbers), written[numbers] @ written[numbers].T, **close)
        models.append((model, w))
    stack = np.array([model for model, _ in models])
    for model, w in models:
        np.testing.assert_allclose(problem.inner(stack, model), [v @ w for _, v in models], **close)


def test_a_model_without_some_rows(X):
    problem = make_problem(KINDS["rbf"], X)
    coefficients = np.random.default_rng(2).normal(size=N)
    model = problem.model(coefficients)
    np.testing.assert_array_equal(problem.coefficients(model), coefficients)
    left_out = np.array([0, 5, 30])
    smaller = problem.without(model, left_out)
    coefficients[left_out] = 0.0
    assert not problem.coefficients(smaller)[left_out].any()
    np.testing.assert_allclose(smaller, problem.model(coefficients), atol=1e-12)


def test_passes_are_those_over_the_matrix(X):
    problem = make_problem(KINDS["rbf"], X)
    model = problem.combine(np.ones(3), np.arange(3))
    assert problem.passes == 0
    problem.scores(np.zeros(2 * N))
    problem.carried_scores(model)
    problem.scores_of(model, np.arange(4))
    assert problem.passes == 0
    problem.scores(model)
    assert problem.passes == 1
    problem.count(4)
    assert problem.passes == 5


def test_scores_that_overflow_are_one_sentence(X):
    problem = make_problem(KINDS["linear"], X)
    model = np.full(problem.n_features, np.inf)
    with pytest.raises(ValueError, match="The scores overflow; scale the features"):
        problem.scores(model)


@pytest.mark.parametrize("kind", ["rbf", "linear"])
def test_dimension_is_the_largest_rank(kind, X):
    problem = make_problem(KINDS[kind], X)
    assert problem.dimension == (4 if kind == "linear" else N)


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
        problem = make_problem(Kernel("linear"), data)
        model = problem.model(problem.gram.coefficients_of(w))
        away = model[N:] - data @ w
        np.testing.assert_allclose(away, away[0], atol=1e-9)  # up to the origin of the features
        assert problem.inner(model, model) == pytest.approx(w @ w)
        assert not problem.gram.coefficients_of(np.zeros(4)).any()


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
    X = random.normal(size=(N, 3))
    problem = make_problem(KINDS["rbf"], X)
    written = rows_of(features("rbf", X))
    graphs = reference_curvature.graphs(random, N)
    weights = random.normal(size=N)
    gradient = problem.combine(weights, np.arange(N))
    direction = newton.direction(problem, graphs, scale, gradient, random)
    system = np.eye(N) + scale * sum(reference_curvature.scatter(graph, written) for graph in graphs)
    expected = -np.linalg.solve(system, weights @ written)
    np.testing.assert_allclose(problem.scores_of(direction, np.arange(N)), written @ expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(problem.inner(direction, direction), expected @ expected, rtol=1e-5, atol=1e-6)


def test_some_rows_stand_for_all_when_they_are_many(monkeypatch):
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    problem = make_problem(Kernel("rbf", 0.4), X, 8 * 400**2, np.arange(400) < 200)
    gradient = problem.combine(random.normal(size=400), np.arange(400))
    graph = Clique(np.arange(400), np.full(400, 0.01))
    whole = newton.direction(problem, [graph], 1.0, gradient, random)
    sizes = []
    products = problem.products
    monkeypatch.setattr(problem, "products", lambda numbers: (sizes.append(len(numbers)), products(numbers))[1])
    monkeypatch.setattr(newton, "MOST_UNKNOWNS", 200)
    some = newton.direction(problem, [graph], 1.0, gradient, random)
    assert 60 < sizes[0] < 230
    assert problem.inner(some, whole) > 0.9 * np.sqrt(problem.inner(some, some) * problem.inner(whole, whole))


# Kernels that are not positive semi-definite


def given_matrix(matrix):
    """A Gram matrix that is given, without the shift that makes up for a negative eigenvalue."""
    return Gram(Kernel("precomputed"), matrix, 8 * matrix.size)


@THOROUGH
@given(seed=seeds, n=st.integers(1, 80), definite=st.booleans())
def test_lowest_eigenvalue(seed, n, definite):
    random = np.random.default_rng(seed)
    root = random.normal(size=(n, n))
    half = root[:, : (n + 1) // 2]  # rounding makes some of the eigenvalues of 0 negative
    matrix = half @ half.T if definite else root + root.T
    gram = given_matrix(matrix)
    found = -gram.shift
    exact = float(np.linalg.eigvalsh(matrix)[0])
    if definite:
        assert found == 0.0
    else:
        assert found <= min(exact, 0.0) + 1e-9
        assert found >= 2 * min(exact, 0.0) - 1e-9
    # What the shift makes up for is found no more.
    np.testing.assert_allclose(gram.between(np.arange(n)), matrix + gram.shift * np.eye(n), atol=1e-12)


@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize("lowest", [-1e-2, -1e-5, -1e-9])
def test_a_small_eigenvalue_is_told_from_rounding(n, lowest):
    # Single precision keeps seven digits of a matrix that is given; a negative eigenvalue below that is its noise.
    values = np.linspace(0.1, 1.0, n)
    values[0] = lowest
    turned, _ = np.linalg.qr(np.random.default_rng(n).normal(size=(n, n)))
    matrix = (turned * values) @ turned.T
    shift = given_matrix((matrix + matrix.T) / 2).shift
    if lowest == -1e-9:
        assert shift == 0.0
    else:
        # Eigenvalues are found to 1e-4 of the largest, and what may be missing is added.
        assert -lowest * (1 - 1e-6) <= shift <= -lowest + 1e-4


@pytest.mark.parametrize("seed", range(4))
def test_what_a_rough_eigenvalue_misses_is_in_the_shift(seed, monkeypatch):
    monkeypatch.setattr(gram_module, "_EIGENVALUE_TOLERANCE", 0.5)
    root = np.random.default_rng(seed).normal(size=(60, 60))
    matrix = root + root.T
    shifted = matrix + given_matrix(matrix).shift * np.eye(60)
    assert np.linalg.eigvalsh(shifted)[0] >= -1e-9


def test_an_eigenvalue_that_is_not_found_is_still_bounded(monkeypatch, X):
    """Without ARPACK one vector and its residual have to do: the bound is poor, and a bound."""

    def fails(*args, **options):
        raise ArpackNoConvergence("", np.zeros(0), np.zeros((0, 0)))

    matrix = np.diag(np.linspace(-3.0, 5.0, 60))
    monkeypatch.setattr(gram_module, "eigsh", fails)
    value, residual = gram_module._extreme_eigenvalue(aslinearoperator(matrix), 0.0)
    assert np.abs(np.diagonal(matrix) - value).min() <= residual


INDEFINITE = {
    "sigmoid": (Kernel("sigmoid", 1.0, coef0=-0.5), lambda products: np.tanh(products - 0.5)),
    "poly": (Kernel("poly", 1.0, degree=2, coef0=-2.0), lambda products: (products - 2.0) ** 2),
    "callable": (Kernel(lambda A, B: -(A @ B.T)), lambda products: -products),
}


@pytest.mark.parametrize("kind", INDEFINITE)
def test_a_shift_makes_up_for_it(X, kind):
    kernel, definition = INDEFINITE[kind]
    problem = make_problem(kernel, X)
    gram = definition(X @ X.T)
    shift = problem.gram.shift
    assert np.linalg.eigvalsh(gram)[0] < -1
    assert shift >= -np.linalg.eigvalsh(gram)[0] * 0.999
    np.testing.assert_allclose(problem.gram.between(np.arange(N)), gram + shift * np.eye(N), atol=1e-12)
    model = problem.model(np.arange(float(N)))
    np.testing.assert_allclose(model[N:], (gram + shift * np.eye(N)) @ np.arange(N), atol=1e-9)
    # What comes from the kernel function itself has no shift: new rows have none.
    exact = problem.gram.exact_products(np.arange(float(N)), np.arange(N))
    np.testing.assert_allclose(exact, gram @ np.arange(N), atol=1e-9)
    assert Gram(Kernel("rbf"), X, 8 * N**2).shift == 0.0


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
    from_products = NystroemFeatures(Kernel("precomputed"), kernel(X, X), landmarks)
    np.testing.assert_allclose(from_products.transform(kernel(X, X)), values, atol=2e-5 * np.abs(values).max())


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
