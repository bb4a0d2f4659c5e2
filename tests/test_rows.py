"""Every back end of rows against plain NumPy: scores, weighted sums, taking rows, and no copies of X."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from rocband.rows import ChunkedRows, DenseRows, SparseRows, as_rows
from rocband.rows import dense as dense_module

N_ROWS, N_FEATURES = 57, 5
DTYPES = (np.float64, np.float32)


@dataclass
class Sliceable:
    """What h5py and zarr offer: a shape and slices of rows, and nothing else."""

    data: np.ndarray
    most_rows_read: int = 0

    @property
    def shape(self):
        return self.data.shape

    def __getitem__(self, part):
        assert isinstance(part, slice), "only slices can be read"
        block = self.data[part]
        self.most_rows_read = max(self.most_rows_read, len(block))
        return block


def memory_map(X, path):
    mapped = np.memmap(path, dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    return np.memmap(path, dtype=X.dtype, mode="r", shape=X.shape)


def tiny_blocks(X, n_rows):
    return ChunkedRows(X, block_bytes=8 * X.shape[1] * n_rows)


BACK_ENDS = {
    "C order": lambda X, path: DenseRows(np.ascontiguousarray(X)),
    "F order": lambda X, path: DenseRows(np.asfortranarray(X)),
    "every other row": lambda X, path: DenseRows(np.repeat(X, 2, axis=0)[::2]),
    "CSR array": lambda X, path: SparseRows(sparse.csr_array(X)),
    "CSR matrix": lambda X, path: SparseRows(sparse.csr_matrix(X)),
    "memory map": lambda X, path: as_rows(memory_map(X, path)),
    "memory map, blocks of 7": lambda X, path: tiny_blocks(memory_map(X, path), 7),
    "memory map, blocks of 1": lambda X, path: tiny_blocks(memory_map(X, path), 1),
    "sliceable, blocks of 8": lambda X, path: tiny_blocks(Sliceable(X), 8),
    "sliceable": lambda X, path: as_rows(Sliceable(X)),
}


def make_X(dtype, n_rows=N_ROWS):
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, N_FEATURES)).astype(dtype)
    X[random.random(X.shape) < 0.4] = 0
    X[3] = 0
    return X


@pytest.fixture(params=DTYPES, ids=["float64", "float32"])
def X(request):
    return make_X(request.param)


@pytest.fixture(params=BACK_ENDS)
def rows(request, X, tmp_path):
    return BACK_ENDS[request.param](X, tmp_path / "X")


@pytest.fixture(params=[True, False], ids=["blocks of 2 rows", "one block"])
def block_of_dense_rows(request, monkeypatch):
    """Dense sums in many blocks, too."""
    if request.param:
        monkeypatch.setattr(dense_module, "_BLOCK", 2 * N_FEATURES)


INDICES = {
    "none": [],
    "one": [4],
    "few": [50, 2, 17],
    "few, repeated": [9, 9, 3, 9],
    "first and last": [0, N_ROWS - 1],
    "all": list(range(N_ROWS)),
    "all, backwards": list(range(N_ROWS))[::-1],
    "many, repeated": [(7 * i) % 31 for i in range(3 * N_ROWS)],
}
indices = pytest.mark.parametrize("index", INDICES.values(), ids=INDICES.keys())


def test_shape(rows):
    assert rows.shape == (N_ROWS, N_FEATURES)


def test_scores(rows, X):
    w = np.random.default_rng(1).normal(size=N_FEATURES)
    scores = rows.scores(w)
    assert scores.shape == (N_ROWS,)
    np.testing.assert_allclose(scores, X @ w.astype(X.dtype), rtol=0, atol=20 * np.finfo(X.dtype).eps)


@indices
@pytest.mark.usefixtures("block_of_dense_rows")
def test_accumulate(rows, X, index):
    index = np.array(index, dtype=np.intp)
    weights = np.random.default_rng(2).normal(size=len(index))
    total = rows.accumulate(weights, index)
    assert total.shape == (N_FEATURES,)
    assert total.dtype == np.float64
    expected = np.zeros(N_FEATURES)
    for weight, row in zip(weights, index, strict=True):
        expected += weight * X[row].astype(np.float64)
    # Close to double precision for data in single precision as well.
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-12)


@indices
def test_take(rows, X, index):
    taken = rows.take(np.array(index, dtype=np.intp))
    assert taken.dtype == np.float64
    assert sparse.issparse(taken) == isinstance(rows, SparseRows)
    dense = taken.toarray() if sparse.issparse(taken) else taken
    np.testing.assert_array_equal(dense, X[index].reshape(len(index), N_FEATURES))


def test_norms(rows, X):
    expected = (np.asarray(X, dtype=np.float64) ** 2).sum(axis=1)
    assert rows.norms().dtype == np.float64
    np.testing.assert_allclose(rows.norms(), expected, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_norms_beyond_single_precision(scale, tmp_path):
    X = np.full((3, 2), scale, dtype=np.float32)
    for number, back_end in enumerate(BACK_ENDS.values()):
        np.testing.assert_allclose(back_end(X, tmp_path / f"X{number}").norms(), 2 * scale**2, rtol=1e-6)


def test_what_is_taken_can_be_changed(rows, X):
    before = X.astype(np.float64)
    taken = rows.take(np.array([1, 5]))
    taken -= rows.take(np.array([2, 5]))
    np.testing.assert_array_equal(taken.toarray() if sparse.issparse(taken) else taken, before[[1, 5]] - before[[2, 5]])
    np.testing.assert_allclose(rows.take(np.arange(N_ROWS)).sum(axis=0), before.sum(axis=0), rtol=0, atol=1e-13)


@pytest.mark.parametrize("index", [np.arange(3), np.arange(2000)], ids=["few", "all"])
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_sums_are_in_double_precision(back_end, index, tmp_path):
    # 1 + 2^-30 terms vanish in single precision.
    X = np.full((2000, 2), 2.0**-12, dtype=np.float32)
    X[0] = 1.0
    weights = np.full(len(index), 2.0**-20)
    weights[0] = 1.0
    total = BACK_ENDS[back_end](X, tmp_path / "X").accumulate(weights, index)
    np.testing.assert_array_equal(total, 1.0 + (len(index) - 1) * 2.0**-32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_rows_do_not_copy(dtype, order):
    X = np.asarray(make_X(dtype), order=order)
    rows = as_rows(X)
    assert isinstance(rows, DenseRows)
    assert rows.X is X
    assert np.shares_memory(rows.X, X)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_do_not_copy(dtype, form):
    X = form(make_X(dtype))
    rows = as_rows(X)
    assert isinstance(rows, SparseRows)
    for part in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(rows.X, part), getattr(X, part))


def test_memory_maps_are_read_in_blocks(tmp_path):
    X = memory_map(make_X(np.float32), tmp_path / "X")
    rows = as_rows(X)
    assert isinstance(rows, ChunkedRows)
    assert rows.X is X


def test_no_more_than_a_block_is_read_at_a_time():
    X = Sliceable(make_X(np.float64))
    rows = tiny_blocks(X, 6)
    rows.scores(np.ones(N_FEATURES))
    rows.accumulate(np.ones(N_ROWS), np.arange(N_ROWS))
    rows.take(np.arange(0, N_ROWS, 3))
    assert X.most_rows_read == 6


def test_a_block_holds_at_least_one_row():
    X = make_X(np.float64)
    rows = ChunkedRows(X, block_bytes=1)
    np.testing.assert_allclose(rows.scores(np.ones(N_FEATURES)), X.sum(axis=1), atol=1e-14)


@settings(max_examples=60)
@given(
    n_rows=st.integers(1, 40),
    block=st.integers(1, 45),
    index=st.lists(st.integers(0, 10**6), max_size=60),
    seed=st.integers(0, 2**32 - 1),
)
def test_blocks_of_any_size(n_rows, block, index, seed):
    X = make_X(np.float64, max(n_rows, 4))[:n_rows]
    random = np.random.default_rng(seed)
    index = np.array(index, dtype=np.intp) % n_rows
    weights, w = random.normal(size=len(index)), random.normal(size=N_FEATURES)
    for rows in (tiny_blocks(X, block), SparseRows(sparse.csr_array(X)), DenseRows(X)):
        np.testing.assert_allclose(rows.scores(w), X @ w, atol=1e-13)
        np.testing.assert_allclose(rows.accumulate(weights, index), weights @ X[index], atol=1e-12)
