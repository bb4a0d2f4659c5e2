"""The data sets: the embedded one, the synthetic one, and fetching from a server on this machine."""

from __future__ import annotations

import bz2
import gzip
import io
import subprocess
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from rocband.datasets import (
    fetch_a9a,
    fetch_codrna,
    fetch_covtype,
    fetch_ijcnn1,
    load_letter,
    make_band_problem,
    public,
    store,
)
from rocband.datasets.archive import read_archive
from rocband.datasets.store import Source, Table, fetch_table
from rocband.metrics import partial_auc_score


class TestLetter:
    def test_bunch(self):
        letters = load_letter()
        assert letters.data.shape == (20000, 16)
        assert letters.data.min() == 0
        assert letters.data.max() == 15
        assert letters.target.sum() == 783
        assert (letters.letters[letters.target == 1] == "Q").all()
        assert len(set(letters.feature_names)) == 16
        assert letters.target_names == ["not Q", "Q"]
        assert letters.frame is None

    def test_first_published_row(self):
        letters = load_letter("T")
        assert letters.letters[0] == "T"
        assert letters.target[0] == 1
        assert letters.data[0].tolist() == [2, 8, 3, 5, 1, 8, 13, 0, 6, 6, 10, 8, 0, 8, 0, 8]

    def test_attribution(self):
        description = load_letter().DESCR
        for words in ("David J. Slate", "CC BY 4.0", "10.24432/C5ZP40"):
            assert words in description
            assert words in load_letter.__doc__

    def test_tuple_and_frame(self):
        X, y = load_letter("A", return_X_y=True)
        frame, series = load_letter("A", return_X_y=True, as_frame=True)
        assert list(frame.columns) == load_letter().feature_names
        np.testing.assert_array_equal(frame.to_numpy(), X)
        np.testing.assert_array_equal(series.to_numpy(), y)
        assert load_letter("A", as_frame=True).frame.shape == (20000, 17)

    @pytest.mark.parametrize("letter", ["q", "", "QR", "1", 16, None])
    def test_unknown_letter(self, letter):
        with pytest.raises(ValueError, match="positive must be one capital letter"):
            load_letter(letter)

    def test_works_without_pandas_and_matplotlib(self):
        code = """if True:
            import sys
            sys.modules["pandas"] = sys.modules["matplotlib"] = None
            import rocband.metrics
            from rocband.datasets import load_letter
            print(load_letter().data.shape)
        """
        shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert shown.strip() == "(20000, 16)"


class TestBandProblem:
    def test_best_direction_depends_on_the_band(self):
        X, y = make_band_problem(40_000, random_state=0)
        angles = np.deg2rad(np.arange(0, 360, 5))
        scores = [X @ (np.cos(angle), np.sin(angle)) for angle in angles]
        full = np.array([partial_auc_score(y, s) for s in scores])
        band = np.array([partial_auc_score(y, s, fpr_range=(0, 0.05)) for s in scores])
        assert band[full.argmax()] < 0.5 * band.max()
        assert full[band.argmax()] < full.max() - 0.05
        assert band.max() > 0.3

    def test_shape_and_seed(self):
        X, y = make_band_problem(300, prevalence=0.1, n_features=5, random_state=3)
        assert X.shape == (300, 5)
        assert y.sum() == 30
        again = make_band_problem(300, prevalence=0.1, n_features=5, random_state=3)
        np.testing.assert_array_equal(X, again[0])
        np.testing.assert_array_equal(y, again[1])
        assert not np.array_equal(X, make_band_problem(300, prevalence=0.1, n_features=5, random_state=4)[0])

    def test_both_classes_even_in_the_smallest_sample(self):
        assert sorted(make_band_problem(2, prevalence=0.01, random_state=0)[1]) == [0, 1]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_samples": 1}, "n_samples must be a whole number of at least 2, got 1"),
            ({"n_samples": 9.5}, "n_samples must be a whole number"),
            ({"n_features": 1}, "n_features must be a whole number of at least 2"),
            ({"prevalence": 0}, "prevalence must be a number between 0 and 1, both excluded"),
            ({"prevalence": float("nan")}, "prevalence must be a number between 0 and 1, both excluded"),
        ],
    )
    def test_bad_sizes(self, options, message):
        with pytest.raises(ValueError, match=message):
            make_band_problem(**options)


class Shelf(BaseHTTPRequestHandler):
    """Serves what ``server.files`` holds; a file whose name ends in .cut promises more bytes than it sends."""

    def do_GET(self):
        self.server.requests.append(self.path)
        content = self.server.files.get(self.path.lstrip("/"))
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content) + (100 if self.path.endswith(".cut") else 0)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def running_server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shelf)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def server(running_server):
    running_server.files = {}
    running_server.requests = []
    return running_server


# scikit-learn warns before it tries a download again.
RETRYING = pytest.mark.filterwarnings("ignore:Retry downloading")


@pytest.fixture(autouse=True)
def empty_home(monkeypatch, tmp_path):
    """No test may see, or write to, the caches of whoever runs it; and none waits before it tries again."""
    monkeypatch.setattr(store, "_DELAY", 0)
    monkeypatch.delenv("ROCBAND_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def small_parts(seed=0):
    """Two published files: features with zeros, labels -1 and 1."""
    rng = np.random.default_rng(seed)
    rows = [np.where(rng.random((n, 4)) < 0.5, 0, rng.normal(size=(n, 4)).round(3)) for n in (6, 5)]
    return [(X.astype(np.float32), rng.choice([-1, 1], len(X))) for X in rows]


def svmlight_text(X, y):
    stream = io.BytesIO()
    dump_svmlight_file(X, y, stream, zero_based=False)
    return stream.getvalue()


def as_table(parts, dense):
    X = np.concatenate([X for X, _ in parts])
    labels = np.concatenate([y > 0 for _, y in parts]).astype(np.uint8)
    split = np.repeat([0, 1], [len(y) for _, y in parts]).astype(np.uint8)
    return Table(X if dense else sparse.csr_matrix(X), labels, split)


def address(server, name):
    return f"http://127.0.0.1:{server.server_port}/{name}"


@pytest.fixture(params=["", ".bz2", ".gz"], ids=["plain", "bz2", "gz"])
def packing(request):
    return request.param, {"": bytes, ".bz2": bz2.compress, ".gz": gzip.compress}[request.param]


@pytest.fixture(params=[True, False], ids=["dense", "sparse"])
def dense(request):
    return request.param


def publish(server, dense=True, suffix="", pack=bytes):
    """Put two svmlight files on the shelf and describe them."""
    parts = small_parts()
    names = [f"small{suffix}", f"small.t{suffix}"]
    server.files.update({name: pack(svmlight_text(*part)) for name, part in zip(names, parts, strict=True)})
    table = as_table(parts, dense)
    urls = tuple(address(server, name) for name in names)
    return Source("small", urls, "svmlight", 4, table.digest(), dense), table


def assert_same(table, expected):
    to_array = np.asarray if isinstance(table.X, np.ndarray) else lambda X: X.toarray()
    assert table.X.dtype == np.float32
    np.testing.assert_array_equal(to_array(table.X), to_array(expected.X))
    np.testing.assert_array_equal(table.labels, expected.labels)
    np.testing.assert_array_equal(table.split, expected.split)


class TestDownload:
    def test_parsed_then_cached(self, server, home, packing, dense):
        source, expected = publish(server, dense, *packing)
        assert_same(fetch_table(source, data_home=home), expected)
        assert [path.name for path in home.iterdir()] == ["small.npz"]
        assert len(server.requests) == 2
        assert_same(fetch_table(source, data_home=home), expected)
        assert len(server.requests) == 2

    def test_csv_with_classes(self, server, home):
        X = np.arange(12, dtype=np.float32).reshape(4, 3)
        classes = np.array([1, 5, 7, 5], dtype=np.uint8)
        text = "\n".join(",".join(map(str, [*row, label])) for row, label in zip(X.astype(int), classes, strict=True))
        server.files["cover.gz"] = gzip.compress(text.encode())
        expected = Table(X, classes, np.zeros(4, np.uint8))
        source = Source("cover", (address(server, "cover.gz"),), "csv", 3, expected.digest())
        for _ in ("download", "cache"):
            assert_same(fetch_table(source, data_home=home), expected)
        with pytest.raises(OSError, match="4 columns instead of 6"):
            fetch_table(replace(source, n_features=5), data_home=home / "other")

    def test_default_cache(self, server, tmp_path):
        source, _ = publish(server)
        fetch_table(source)
        assert (tmp_path / "cache" / "rocband" / "small.npz").is_file()

    def test_progress_only_when_asked_or_on_a_terminal(self, server, home, capsys):
        source, _ = publish(server)
        fetch_table(source, data_home=home / "quiet")
        assert capsys.readouterr().err == ""
        fetch_table(source, data_home=home / "loud", verbose=True)
        shown = capsys.readouterr().err
        assert f"[rocband] downloading {source.urls[1]}\n" in shown
        assert "[rocband] small.t: 0.0 MB\n" in shown

    def test_other_content(self, server, home):
        source, _ = publish(server)
        server.files["small.t"] = svmlight_text(*small_parts(seed=1)[1])
        with pytest.raises(OSError, match=r"is not the published small \(checksum differs\); try again later, or set"):
            fetch_table(source, data_home=home)
        assert not home.exists()

    @RETRYING
    def test_broken_off(self, server, home):
        source, _ = publish(server, suffix=".cut")
        with pytest.raises(OSError, match=r"small could not be downloaded from .* got only \d+ out of \d+ bytes"):
            fetch_table(source, data_home=home)
        assert len(server.requests) == 3
        assert not home.exists()

    @pytest.mark.parametrize(("suffix", "pack"), [(".bz2", bz2.compress), (".gz", gzip.compress)])
    @pytest.mark.parametrize("damage", [lambda c: c[: len(c) // 2], lambda c: b"<html>" + c])
    def test_damaged_file(self, server, home, suffix, pack, damage):
        source, _ = publish(server, suffix=suffix, pack=lambda content: damage(pack(content)))
        with pytest.raises(OSError, match=rf"The file from \S+small{suffix} is damaged \(.*\); try again\."):
            fetch_table(source, data_home=home)
        assert not home.exists()

    def test_web_page_instead_of_data(self, server, home):
        source, _ = publish(server, pack=lambda content: b"<html>moved</html>")
        with pytest.raises(OSError, match=r"small is damaged"):
            fetch_table(source, data_home=home)

    @RETRYING
    def test_missing_page_and_no_server(self, server, home):
        source, _ = publish(server)
        server.files.clear()
        for gone in (source, replace(source, urls=("http://127.0.0.1:9/small",))):
            with pytest.raises(OSError, match="could not be downloaded") as error:
                fetch_table(gone, data_home=home)
            assert "connect to the internet, or set ROCBAND_DATA to a folder that holds small.npz." in str(error.value)

    def test_nothing_half_written_stays(self, server, home):
        source, _ = publish(server)
        (home / "small.npz").mkdir(parents=True)  # the last step, the renaming, must fail
        with pytest.raises(OSError, match="small"):
            fetch_table(source, data_home=home)
        assert [path.name for path in home.iterdir()] == ["small.npz"]


def write_local(folder, name, table, **extra):
    """A local copy in the layout of ROCBAND_DATA."""
    folder.mkdir(parents=True, exist_ok=True)
    X = table.X
    rows = {"X": X} if isinstance(X, np.ndarray) else {k: getattr(X, k) for k in ("data", "indices", "indptr", "shape")}
    np.savez_compressed(folder / f"{name}.npz", **rows, y=table.labels, **extra)


class TestLocalCopy:
    def test_folder_named_by_the_environment(self, server, tmp_path, monkeypatch, dense):
        source, expected = publish(server, dense)
        write_local(tmp_path / "copies", "small", as_table(small_parts(), False), split=expected.split)
        monkeypatch.setenv("ROCBAND_DATA", str(tmp_path / "copies"))
        assert_same(fetch_table(source), expected)
        assert server.requests == []

    def test_data_home_comes_first(self, server, home, tmp_path, monkeypatch):
        source, expected = publish(server)
        monkeypatch.setenv("ROCBAND_DATA", str(tmp_path / "copies"))
        write_local(tmp_path / "copies", "small", as_table(small_parts(seed=1), True))
        write_local(home, "small", expected, split=expected.split)
        assert_same(fetch_table(source, data_home=home), expected)

    def test_named_folder_is_never_written_to(self, server, tmp_path, monkeypatch):
        source, expected = publish(server)
        (tmp_path / "copies").mkdir()
        monkeypatch.setenv("ROCBAND_DATA", str(tmp_path / "copies"))
        assert_same(fetch_table(source), expected)
        assert list((tmp_path / "copies").iterdir()) == []

    def test_other_content(self, server, home):
        source, _ = publish(server)
        write_local(home, "small", as_table(small_parts(seed=1), True))
        with pytest.raises(OSError, match=r"does not hold the published small \(checksum differs\); delete it"):
            fetch_table(source, data_home=home)

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"no archive at all"])
    def test_broken_copy(self, server, home, content):
        source, _ = publish(server)
        home.mkdir()
        (home / "small.npz").write_bytes(content)
        with pytest.raises(OSError, match=r"small\.npz is damaged or not such a copy \(.*\); delete it") as error:
            fetch_table(source, data_home=home)
        assert "\n" not in str(error.value)

    def test_truncated_copy(self, server, home):
        source, expected = publish(server)
        write_local(home, "small", expected)
        path = home / "small.npz"
        path.write_bytes(path.read_bytes()[:-40])
        with pytest.raises(OSError, match="is damaged"):
            fetch_table(source, data_home=home)

    def test_copy_without_labels(self, server, home):
        source, expected = publish(server)
        home.mkdir()
        np.savez(home / "small.npz", X=expected.X)
        with pytest.raises(OSError, match="is damaged or not such a copy"):
            fetch_table(source, data_home=home)

    def test_copy_without_features(self, server, home):
        source, expected = publish(server)
        home.mkdir()
        np.savez(home / "small.npz", y=expected.labels)
        with pytest.raises(OSError, match=r"not such a copy \(it holds no X\); delete it and fetch again"):
            fetch_table(source, data_home=home)

    def test_no_download(self, server, home):
        source, _ = publish(server)
        with pytest.raises(OSError, match="no local copy of small; pass download_if_missing=True, or set ROCBAND_DATA"):
            fetch_table(source, data_home=home, download_if_missing=False)
        assert server.requests == []


def read(path):
    with path.open("rb") as stream:
        return read_archive(stream)


class TestArchive:
    def test_a_single_array_is_no_archive(self, tmp_path):
        np.save(tmp_path / "X.npy", np.eye(2))
        with pytest.raises(ValueError, match="it is a single array; an archive with the arrays X and y is expected"):
            read(tmp_path / "X.npy")

    def test_csr_parts_are_features_and_the_rest_columns(self, tmp_path):
        X = sparse.csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
        parts = {name: getattr(X, name) for name in ("data", "indices", "indptr", "shape")}
        np.savez(tmp_path / "a.npz", y=[0, 1], **parts)
        archive = read(tmp_path / "a.npz")
        np.testing.assert_array_equal(archive.X.toarray(), X.toarray())
        assert list(archive.columns) == ["y"]

    def test_indices_outside_are_refused(self, tmp_path):
        np.savez(tmp_path / "a.npz", data=[1.0], indices=[5], indptr=[0, 1], shape=[1, 2])
        with pytest.raises(ValueError, match="ind"):
            read(tmp_path / "a.npz")

    def test_no_pickled_object_is_read(self, tmp_path):
        np.savez(tmp_path / "a.npz", X=np.eye(2), y=np.array([{}, None], dtype=object))
        with pytest.raises(ValueError, match="allow_pickle"):
            read(tmp_path / "a.npz")

    def test_features_may_be_missing(self, tmp_path):
        np.savez(tmp_path / "a.npz", y=[0, 1])
        assert read(tmp_path / "a.npz").X is None


PUBLIC = {fetch_a9a: "a9a", fetch_ijcnn1: "ijcnn1", fetch_codrna: "codrna_train_test", fetch_covtype: "covtype"}


class TestPublicFetchers:
    @pytest.mark.parametrize("fetch", PUBLIC)
    def test_says_what_to_do_without_a_copy(self, fetch, home):
        with pytest.raises(
            OSError, match=rf"no local copy of .*set ROCBAND_DATA to a folder .* {PUBLIC[fetch]}\.npz\."
        ):
            fetch(data_home=home, download_if_missing=False)

    @pytest.mark.parametrize("fetch", PUBLIC)
    def test_refuses_another_table(self, fetch, home):
        write_local(home, PUBLIC[fetch], as_table(small_parts(), False))
        with pytest.raises(OSError, match="checksum differs"):
            fetch(data_home=home)

    def test_sources_are_complete(self):
        sources = [public.A9A, public.IJCNN1, public.CODRNA, public.COVTYPE]
        assert {source.name for source in sources} == set(PUBLIC.values())
        for source in sources:
            assert len(bytes.fromhex(source.sha256)) == 32
            assert all(url.startswith("https://") for url in source.urls)

    @pytest.mark.parametrize("positive", [0, 8, "5", None])
    def test_unknown_cover_type(self, positive):
        with pytest.raises(ValueError, match="positive must be a cover type from 1 to 7"):
            fetch_covtype(positive=positive)

    @pytest.mark.parametrize("return_X_y", [False, True])
    def test_answer(self, return_X_y):
        table = as_table(small_parts(), True)
        answer = public.as_answer(fetch_a9a, table, table.labels, return_X_y, split=table.split)
        X, y = answer if return_X_y else (answer.data, answer.target)
        assert X is table.X
        assert y.dtype == np.int64
        np.testing.assert_array_equal(y, table.labels)
        if not return_X_y:
            assert answer.DESCR.startswith("Fetch a9a")
            assert answer.split is table.split
