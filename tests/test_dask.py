"""rocband.dask: the same models as the local ones whatever the blocks are, on threads and on a cluster of processes."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

import rocband
from rocband import metrics
from rocband.dask import PartialAUCSVC, PartialAUCSVCCV, partial_auc_score
from rocband.dask import collections as collections_module
from rocband.dask import scores as scores_module
from rocband.dask.cluster import keep, task
from rocband.dask.collections import Table
from rocband.dask.problem import DaskProblem
from rocband.dask.scores import DistributedNegatives, KeptScores
from rocband.datasets import make_band_problem
from rocband.problems.rows import RowsProblem
from rocband.risks.scores import HeldNegatives
from rocband.rows import as_rows

SURROGATES = ("tight", "hinge", "ramp", "naive")
BAND = (0.05, 0.3)


@pytest.fixture(scope="module")
def data():
    return make_band_problem(600, n_features=4, random_state=0)


@pytest.fixture(autouse=True)
def synchronous():
    """One thread, unless a test starts a cluster."""
    with dask.config.set(scheduler="sync"):
        yield


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two processes that are started again when they are killed."""
    options = {"local_directory": tmp_path_factory.mktemp("workers"), "dashboard_address": ":0"}
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **options) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with dask.config.set(scheduler=None), Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


def blocks(X, y, sizes):
    return da.from_array(X, chunks=(tuple(sizes), -1)), da.from_array(y, chunks=(tuple(sizes),))


def assert_same_model(model, local):
    assert model.objective_ == pytest.approx(local.objective_, rel=1e-8)
    scale = np.abs(local.coef_).max()
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-8 * scale)
    assert model.threshold_ == pytest.approx(local.threshold_, abs=1e-8 * scale)
    np.testing.assert_array_equal(model.classes_, local.classes_)
    assert (model.n_iter_, model.converged_) == (local.n_iter_, local.converged_)
    assert len(model.history_) == len(local.history_)
    for name in ("lower_bound_", "dual_gap_"):
        np.testing.assert_allclose(getattr(model, name), getattr(local, name), atol=1e-8 * local.C)


# The same model as without Dask


@pytest.fixture(scope="module")
def local_models(data):
    cases = [(surrogate, band) for surrogate in SURROGATES for band in ((0.0, 0.2), BAND)]
    return {case: rocband.PartialAUCSVC(case[1], surrogate=case[0], C=5.0).fit(*data) for case in cases}


@st.composite
def chunkings(draw, total=600):
    """Sizes of blocks that add up to ``total``: unbalanced, empty, or of a single row."""
    cuts = draw(st.lists(st.integers(0, total), max_size=3))
    return np.diff([0, *sorted(cuts), total]).tolist()


@pytest.mark.parametrize("surrogate", SURROGATES)
@settings(max_examples=3)
@given(sizes=chunkings(), band=st.sampled_from([(0.0, 0.2), BAND]))
def test_agrees_whatever_the_blocks(data, local_models, surrogate, sizes, band):
    model = PartialAUCSVC(band, surrogate=surrogate, C=5.0).fit(*blocks(*data, sizes))
    assert_same_model(model, local_models[surrogate, band])


@pytest.mark.parametrize("anchor", [None, "auc"])
@pytest.mark.parametrize("surrogate", ["tight", "ramp"])
def test_agrees_whatever_the_anchor(data, surrogate, anchor):
    options = {"surrogate": surrogate, "C": 20.0, "anchor": anchor}
    model = PartialAUCSVC(BAND, **options).fit(*blocks(*data, (200, 400)))
    assert_same_model(model, rocband.PartialAUCSVC(BAND, **options).fit(*data))


def test_agrees_when_thresholds_and_pairs_are_sampled():
    # More negatives than are sampled for a guess, more pairs than curvature is estimated from, more rows than `ramp`
    # starts with.
    X, y = make_band_problem(45_000, n_features=3, random_state=1)
    for surrogate in ("tight", "ramp"):
        options = {"surrogate": surrogate, "C": 30.0, "tol": 1e-3}
        model = PartialAUCSVC((0.0, 0.02), **options).fit(*blocks(X, y, (30_000, 15_000)))
        assert_same_model(model, rocband.PartialAUCSVC((0.0, 0.02), **options).fit(X, y))


def test_blocks_of_one_class(data):
    X, y = data
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    sizes = (100, int((y == 0).sum()) - 100, int((y == 1).sum()))
    assert_same_model(PartialAUCSVC(BAND).fit(*blocks(X, y, sizes)), rocband.PartialAUCSVC(BAND).fit(X, y))


@pytest.mark.filterwarnings("ignore::rocband.CollapsedSolutionWarning")
def test_ties():
    random = np.random.default_rng(0)
    X, y = random.integers(0, 3, size=(800, 3)).astype(float), random.random(800) < 0.2
    X[y] += random.integers(0, 2, size=(y.sum(), 3))
    options = {"surrogate": "tight", "C": 10.0, "anchor": None}
    model = PartialAUCSVC((0.0, 0.2), **options).fit(*blocks(X, y, (300, 500)))
    local = rocband.PartialAUCSVC((0.0, 0.2), **options).fit(X, y)
    assert model.objective_ == pytest.approx(local.objective_, abs=2 * local.C * local.tol)
    assert model.lower_bound_ <= local.objective_
    assert local.lower_bound_ <= model.objective_


def test_single_precision(data):
    X, y = data[0].astype(np.float32), data[1]
    model = PartialAUCSVC(BAND).fit(*blocks(X, y, (250, 350)))
    local = rocband.PartialAUCSVC(BAND).fit(X, y)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=1e-3)
    assert model.objective_ == pytest.approx(local.objective_, rel=1e-4)


def test_sparse_blocks(data):
    X, y = data
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    stored = blocks(X, y, (200, 0, 400))[0].map_blocks(sparse.csr_matrix)
    model = PartialAUCSVC(BAND).fit(stored, y)
    assert_same_model(model, rocband.PartialAUCSVC(BAND).fit(sparse.csr_matrix(X), y))
    np.testing.assert_allclose(model.decision_function(stored).compute(), model.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("divided", ["columns", "rows of y"])
def test_blocks_that_do_not_match(data, divided):
    X, y = data
    chunks = (300, 2) if divided == "columns" else (200, 4)
    model = PartialAUCSVC(BAND).fit(da.from_array(X, chunks=chunks), da.from_array(y, chunks=300))
    assert_same_model(model, rocband.PartialAUCSVC(BAND).fit(X, y))


def test_same_again(data):
    first, second = (PartialAUCSVC(BAND).fit(*blocks(*data, (100, 500))) for _ in range(2))
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert first.objective_ == second.objective_


def test_features_that_do_not_fit_in_memory(data, monkeypatch):
    read = []

    def load(block):
        read.append(len(block))
        return block

    X, y = blocks(*data, (300, 300))
    counted = X.map_blocks(load, meta=np.empty((0, 0)))
    kept = PartialAUCSVC(BAND).fit(counted, y)
    assert len(read) == 4  # once to check, once to keep
    monkeypatch.setattr(collections_module, "_SHARE_OF_MEMORY", 0.0)
    again = PartialAUCSVC(BAND).fit(counted, y)
    assert len(read) > 4 + 2 * again.n_iter_
    np.testing.assert_array_equal(kept.coef_, again.coef_)


# Data frames


def frame(X, y):
    table = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    return table.assign(label=np.where(y == 1, "sick", "well"))


def test_data_frame_from_parquet(data, tmp_path):
    table = frame(*data)
    for number, part in enumerate((table[:250], table[250:300], table[300:])):
        part.to_parquet(tmp_path / f"{number}.parquet")
    stored = dd.read_parquet(tmp_path)
    stored = stored[stored["x0"] > -10]  # a filter: nobody knows how many rows are left
    X, y = stored[["x0", "x1", "x2", "x3"]], stored["label"]
    model = PartialAUCSVC(BAND, pos_label="well").fit(X, y)
    local = rocband.PartialAUCSVC(BAND, pos_label="well").fit(table[["x0", "x1", "x2", "x3"]], table["label"])
    assert_same_model(model, local)
    np.testing.assert_array_equal(model.feature_names_in_, local.feature_names_in_)
    np.testing.assert_array_equal(model.predict(X).compute(), local.predict(table[["x0", "x1", "x2", "x3"]]))
    assert_same_model(PartialAUCSVC(BAND, pos_label="well").fit(X, table["label"].to_numpy()), local)
    assert_same_model(PartialAUCSVC(BAND, pos_label="well").fit(X.to_dask_array(), y), local)


def test_columns_that_are_not_numbers(data):
    table = dd.from_pandas(frame(*data).assign(when=pd.Timestamp(0)), npartitions=2)
    with pytest.raises(ValueError, match=r"columns that are not numbers: 'label' \(str.*\), 'when' \(datetime64"):
        PartialAUCSVC().fit(table, table["label"])
    with pytest.raises(ValueError, match="must hold real numbers, got an array of dtype object"):
        PartialAUCSVC().fit(da.from_array(data[0].astype(object), chunks=(300, 4)), data[1])


def test_columns_of_several_kinds_of_number(data):
    table = frame(*data).astype({"x0": "float32", "x1": "Float64"}).assign(x2=lambda t: t["x2"].round().astype(int))
    columns = ["x0", "x1", "x2", "x3"]
    stored = dd.from_pandas(table, npartitions=2)
    model = PartialAUCSVC(BAND, pos_label="well").fit(stored[columns], stored["label"])
    assert_same_model(
        model, rocband.PartialAUCSVC(BAND, pos_label="well").fit(table[columns].astype(float), table["label"])
    )


# What is wrong with the data


def test_errors(data):
    X, y = data
    stored, labels = blocks(X, y, (300, 300))
    bad = X.copy()
    bad[400, 1] = np.nan
    frames = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    wrong = {
        "Block 1 of X holds NaN or infinity": (da.from_array(bad, chunks=(300, 4)), labels),
        "y must hold one label for each of the 600 rows of X, got the shape": (stored, labels[:-1]),
        "X has 3 blocks and y has 2; give both the same partitions": (frames, labels),
        "Block 0 of X has 200 rows, but that of y has 100": (frames, da.from_array(y, chunks=((100, 300, 200),))),
        "y must be one-dimensional, got 2 dimensions": (stored, labels[:, None]),
        "y holds only one class": (stored, np.zeros(600)),
        "y holds 3 classes": (stored, np.arange(600) % 3),
        "X must be a Dask array or data frame of rows and columns": (stored[:, 0], labels),
        "X has no rows": (stored[:0], labels[:0]),
    }
    for message, (features, own) in wrong.items():
        with pytest.raises(ValueError, match=message):
            PartialAUCSVC().fit(features, own)
    model = PartialAUCSVC().fit(stored, labels)
    with pytest.raises(ValueError, match="expecting 4 features as input"):
        model.predict(stored[:, :3])
    with pytest.raises(ValueError, match="scores overflow"):
        PartialAUCSVC(anchor=np.full(4, 1e300)).fit(stored * 1e200, labels)


def test_ordinary_model(data):
    X, y = data
    model = PartialAUCSVC(BAND).fit(*blocks(X, y, (250, 350)))
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict(X), model.predict(da.from_array(X, chunks=(100, 4))).compute())
    local = PartialAUCSVC(BAND).fit(X, y)
    np.testing.assert_array_equal(local.coef_, rocband.PartialAUCSVC(BAND).fit(X, y).coef_)
    warm = model.set_params(warm_start=True).fit(*blocks(X, y, (600,)))
    assert warm.objective_ <= local.objective_ * (1 + 1e-8)


# Cross-validation


def test_cross_validation(data):
    X, y = data
    options = {"Cs": [0.5, 20.0], "cv": StratifiedKFold(2, shuffle=True, random_state=0), "tol": 1e-3}
    model = PartialAUCSVCCV(BAND, **options).fit(*blocks(X, y, (200, 400)))
    local = rocband.PartialAUCSVCCV(BAND, **options).fit(X, y)
    np.testing.assert_allclose(model.scores_, local.scores_, rtol=1e-10)
    assert model.C_ == local.C_
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=1e-7)
    again = PartialAUCSVCCV(BAND, **options).fit(X, y)
    np.testing.assert_array_equal(again.coef_, local.coef_)


def test_cross_validation_errors(data):
    X, y = blocks(*data, (300, 300))
    with pytest.raises(ValueError, match="n_jobs must be None for Dask collections, got 2"):
        PartialAUCSVCCV(n_jobs=2).fit(X, y)
    twice = [(np.r_[0:400, 0:1], np.arange(400, 600))]
    with pytest.raises(ValueError, match="a row more than once"):
        PartialAUCSVCCV(BAND, cv=twice).fit(X, y)


# Metrics


@pytest.mark.filterwarnings("ignore::rocband.metrics.NarrowBandWarning")  # some bands hold less than a negative
@settings(max_examples=25)
@given(
    sizes=chunkings(total=200),
    band=st.tuples(st.floats(0, 0.9), st.floats(0.001, 1)).map(lambda ends: (ends[0] * ends[1], ends[1])),
    digits=st.integers(0, 3),
    normalize=st.sampled_from(["width", "none", "mcclish"]),
)
def test_partial_auc_score(sizes, band, digits, normalize):
    random = np.random.default_rng(sum(sizes[:2]))
    y = random.random(200) < 0.3
    scores = (random.normal(size=200) + y).round(digits)
    stored, labels = (da.from_array(each, chunks=(tuple(sizes),)) for each in (scores, y))
    options = {"fpr_range": band, "normalize": normalize}
    expected = metrics.partial_auc_score(y, scores, **options)
    assert partial_auc_score(labels, stored, **options) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert partial_auc_score(y, scores, **options) == expected


def test_partial_auc_score_brings_back_little(monkeypatch):
    random = np.random.default_rng(0)
    y = random.random(100_000) < 0.3
    scores = random.normal(size=100_000) + y
    found = []

    def gather(tasks, original=scores_module.gather):
        results = original(tasks)
        found.append(sum(len(own[0]) for own in results))
        return results

    monkeypatch.setattr(scores_module, "gather", gather)
    area = partial_auc_score(da.from_array(y), da.from_array(scores, chunks=20_000), fpr_range=(0.0, 0.01))
    assert area == pytest.approx(metrics.partial_auc_score(y, scores, fpr_range=(0.0, 0.01)), rel=1e-9)
    assert len(found) == 1
    assert found[0] < 1.5 * 0.01 * (~y).sum()


def test_partial_auc_score_errors():
    scores = da.from_array(np.array([0.1, 0.4, 0.3, np.nan]), chunks=2)
    with pytest.raises(ValueError, match="y_score holds NaN or infinity"):
        partial_auc_score([0, 1, 0, 1], scores)
    with pytest.raises(ValueError, match="y_true must hold one label for each of the 4 rows of y_score"):
        partial_auc_score([0, 1, 0], scores)
    with pytest.raises(ValueError, match="holds only the label 0"):
        partial_auc_score([0, 0], scores[:2])


# Scores on the workers


def distributed_negatives(values, sizes, sample=None):
    X, y = np.zeros((len(values), 1)), np.r_[0, np.ones(len(values) - 1)]
    rows = Table(*blocks(X, 1 - y, sizes)).rows(1.0)
    parts = np.split(values[1:], np.cumsum([block.n_negatives for block in rows.blocks])[:-1])
    kept = KeptScores(rows, keep([task(tuple, [np.zeros(0), part]) for part in parts]))
    return DistributedNegatives.of(kept, values[1:] if sample is None else sample)


@settings(max_examples=30)
@given(
    values=st.lists(st.integers(-4, 4), min_size=6, max_size=40).map(lambda v: np.array(v) / 4),
    cut=st.integers(1, 5),
    k=st.integers(1, 5),
    width=st.sampled_from([0.01, 0.3, 5.0]),
)
def test_highest_scores(values, cut, k, width):
    negatives = values[1:]
    there = distributed_negatives(values, (cut, len(values) - cut))
    here = HeldNegatives(negatives)
    np.testing.assert_array_equal(there.highest_values(k), here.highest_values(k))
    np.testing.assert_array_equal(there.reaching(k), here.reaching(k))
    np.testing.assert_array_equal(here.reaching(k), np.sort(negatives[negatives >= np.sort(negatives)[-k]]))
    highest, index = there.highest(k)
    np.testing.assert_array_equal(highest, here.highest(k)[0])
    np.testing.assert_array_equal(negatives[index], highest)
    entering, numbers = there.entering(k, width)
    np.testing.assert_array_equal(negatives[numbers], entering)
    assert (np.diff(entering) >= 0).all()
    np.testing.assert_array_equal(np.sort(numbers), np.sort(here.entering(k, width)[1]))


def test_a_bad_guess_is_refined():
    values = np.linspace(0, 1, 1001)
    too_high = np.array([2.0, 3.0, 4.0, 5.0])
    negatives = distributed_negatives(values, (400, 601), too_high)
    np.testing.assert_array_equal(negatives.highest_values(50), values[-50:])
    _, entering = negatives.entering(50, 0.1)
    assert set(np.arange(900, 1000)) < set(entering)  # shares reach down to 0.9


def test_sums_of_scores(data):
    X, y = data
    table = Table(*blocks(X, y, (250, 350)))
    problem = DaskProblem(table.rows(1))
    local = RowsProblem(as_rows(X), y == 1)
    random = np.random.default_rng(0)
    models = random.normal(size=(5, X.shape[1]))
    here, expected = problem.scores(models[0]), local.scores(models[0])
    index = random.permutation(len(expected.negatives))[:50]
    for w in models[1:]:
        here = here.moved(problem.scores(w), 0.5)
        expected = expected.moved(local.scores(w), 0.5)
        np.testing.assert_allclose(here.positives, expected.positives, rtol=1e-12)
        np.testing.assert_allclose(here.negatives.at(index), expected.negatives.at(index), rtol=1e-12, atol=1e-14)
        highest = expected.negatives.highest_values(20)
        np.testing.assert_allclose(here.negatives.highest_values(20), highest, rtol=1e-12)
    back = here.moved(here, -1.0).negatives
    np.testing.assert_array_equal(back.at(index), 0.0)
    np.testing.assert_allclose(here.scaled(-1.0).negatives.at(index), -expected.negatives.at(index), rtol=1e-12)


def test_a_long_walk_keeps_two_scores_on_the_workers(data, monkeypatch):
    X, y = data
    problem = DaskProblem(Table(*blocks(X, y, (250, 350))).rows(1))
    seen = []

    def passing(task_function, *arguments, original=scores_module.task):
        if task_function is scores_module._passing:
            seen.append(len(arguments) - 2)  # after the threshold and the factors come the kept scores
        return original(task_function, *arguments)

    monkeypatch.setattr(scores_module, "task", passing)
    here = problem.scores(np.ones(X.shape[1]))
    for step, w in enumerate(np.eye(X.shape[1])[:4]):
        here = here.moved(problem.scores(w), 0.5 + step)
        here.negatives.highest_values(5)
    assert max(seen) == 2


# A cluster


class Interrupted(PartialAUCSVC):
    """Calls ``interrupt`` once, in the middle of the fit."""

    def _settings(self, seed, *, show):
        called = []

        def on_step(step):
            if step.step == 2 and not called:
                called.append(step)
                interrupt()

        settings = super()._settings(seed, show=show)
        return type(settings)(settings.tol, settings.max_passes, settings.random, on_step)


def interrupt():
    """What a test puts here."""


OPTIONS = {"surrogate": "tight", "C": 50.0, "tol": 1e-3}


def test_cluster_and_a_killed_worker(data, client, monkeypatch):
    X, y = blocks(*data, (150, 250, 200))
    whole = PartialAUCSVC(BAND, **OPTIONS).fit(X, y)
    assert_same_model(whole, rocband.PartialAUCSVC(BAND, **OPTIONS).fit(*data))
    killed = []

    def kill():
        address, process = next(iter(client.run(os.getpid).items()))
        os.kill(process, signal.SIGKILL)
        killed.append(address)

    monkeypatch.setitem(globals(), "interrupt", kill)
    model = Interrupted(BAND, **OPTIONS).fit(X, y)
    assert len(killed) == 1
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    assert (model.objective_, model.n_iter_) == (whole.objective_, whole.n_iter_)
    area = partial_auc_score(y, model.decision_function(X), fpr_range=BAND)
    assert area == pytest.approx(metrics.partial_auc_score(data[1], model.decision_function(data[0]), fpr_range=BAND))


def test_no_worker_left(data, client, cluster, monkeypatch):
    monkeypatch.setitem(globals(), "interrupt", lambda: cluster.scale(0))
    message = "The cluster has had no worker for 2 seconds, so the fit cannot go on"
    with dask.config.set({"rocband.patience": 2}), pytest.raises(RuntimeError, match=message):
        Interrupted(BAND, **OPTIONS).fit(*blocks(*data, (100, 500)))
    cluster.scale(2)
    client.wait_for_workers(2, timeout=60)


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_without_a_cluster(data, scheduler):
    options = {"surrogate": "tight", "C": 1.0, "tol": 1e-2}
    kinds = {"threads": ThreadPoolExecutor, "processes": partial(ProcessPoolExecutor, mp_context=get_context("spawn"))}
    with kinds[scheduler](2) as pool, dask.config.set(scheduler=scheduler, pool=pool):
        model = PartialAUCSVC(BAND, **options).fit(*blocks(*data, (100, 500)))
    assert_same_model(model, rocband.PartialAUCSVC(BAND, **options).fit(*data))


def test_without_dask():
    script = """
import sys
sys.modules["dask"] = None
import rocband
try:
    import rocband.dask
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "rocband.dask needs dask; install the extra with pip install 'rocband[dask]'.\n"
