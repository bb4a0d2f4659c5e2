"""Model files: what goes in comes out, and nothing in a file is ever run."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import random
import sys
import tracemalloc
import zipfile

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, OneHotEncoder, StandardScaler

import rocband
from rocband import KernelPartialAUCSVC, PartialAUCSVC, PartialAUCSVCCV, persist
from rocband.baselines import GreedyPartialAUC
from rocband.datasets import make_band_problem
from rocband.persist import ModelFileError, container, encoding
from rocband.threshold import FPRThresholdClassifier

X, Y = make_band_problem(600, random_state=0)


def mixed_table():
    draw = np.random.default_rng(0)
    table = pd.DataFrame({"a": X[:, 0], "kind": draw.choice(["x", "y", None], len(Y)), "b": X[:, 1]})
    table.loc[draw.random(len(Y)) < 0.1, "a"] = np.nan
    return table


TABLE = mixed_table()


def prepared(model, *, categories=True):
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    parts = [("numbers", numbers, ["b", "a"])]
    if categories:
        parts.append(("kinds", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["kind"]))
    return make_pipeline(ColumnTransformer(parts), model)


def models():
    yield "linear", PartialAUCSVC(), X
    yield "float32", PartialAUCSVC(), X.astype(np.float32)
    yield "sparse", make_pipeline(MaxAbsScaler(), PartialAUCSVC()), sparse.csr_matrix(X)
    yield "cross-validated", PartialAUCSVCCV(Cs=2, cv=StratifiedKFold(2)), X
    yield "anchored", PartialAUCSVC(anchor=LogisticRegression().fit(X, Y)), X
    yield "tight", PartialAUCSVC((0.0, 0.5), surrogate="tight", anchor=None, C=np.float64(1.0)), X
    yield "kernel", KernelPartialAUCSVC((0.0, 0.5)), X
    yield "landmarks", KernelPartialAUCSVC((0.0, 0.5), kernel="poly", n_components=20), X.astype(np.float32)
    yield "sparse kernel", KernelPartialAUCSVC((0.0, 0.5), n_components=20), sparse.csr_matrix(X)
    yield "precomputed", KernelPartialAUCSVC((0.0, 0.5), kernel="precomputed"), X @ X.T
    yield "greedy", GreedyPartialAUC(), X
    yield "table", prepared(PartialAUCSVC()), TABLE
    yield "threshold", FPRThresholdClassifier(prepared(PartialAUCSVC()), confidence=0.9, random_state=0), TABLE
    yield "frozen", FPRThresholdClassifier(FrozenEstimator(PartialAUCSVC().fit(X, Y))), X
    yield "logistic", make_pipeline(StandardScaler(), LogisticRegression()), X


MODELS = {name: (model.fit(rows, Y), rows) for name, model, rows in models()}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.rocband"


class TestRoundTrip:
    @pytest.mark.parametrize("name", MODELS)
    def test_same_scores_and_labels(self, name, path):
        model, rows = MODELS[name]
        again = persist.load(persist.save(model, path))
        assert type(again) is type(model)
        np.testing.assert_array_equal(again.decision_function(rows), model.decision_function(rows))
        np.testing.assert_array_equal(again.predict(rows), model.predict(rows))

    @pytest.mark.parametrize("name", MODELS)
    def test_same_bytes_again(self, name, path, tmp_path):
        persist.save(MODELS[name][0], path)
        second = persist.save(persist.load(path), tmp_path / "second")
        assert second.read_bytes() == path.read_bytes()

    def test_attributes_and_parameters(self, path):
        model = MODELS["cross-validated"][0]
        again = persist.load(persist.save(model, path))
        assert {k: v for k, v in again.get_params().items() if k != "cv"} == {
            k: v for k, v in model.get_params().items() if k != "cv"
        }
        assert again.cv.n_splits == 2
        assert str(again.history_) == str(model.history_)  # nan is not nan
        np.testing.assert_array_equal(again.scores_, model.scores_)
        assert np.isnan(again.lower_bound_)

    def test_text_labels(self, path):
        labels = np.where(Y == 1, "sick", "healthy")
        model = PartialAUCSVC(pos_label="sick").fit(X, labels)
        again = persist.load(persist.save(model, path))
        assert again.predict(X[:50]).tolist() == model.predict(X[:50]).tolist()
        assert again.classes_.dtype.kind == "U"

    @pytest.mark.parametrize("dtype", [">f8", ">f4"])
    def test_numbers_the_other_way_round(self, path, dtype):
        """As a machine with the other order of bytes has them."""
        model = PartialAUCSVC().fit(X, Y)
        model.coef_ = model.coef_.astype(dtype)
        again = persist.load(persist.save(model, path))
        np.testing.assert_array_equal(again.coef_, model.coef_)

    def test_a_loaded_model_can_be_fitted_again(self, path):
        again = persist.load(persist.save(MODELS["table"][0], path))
        np.testing.assert_array_equal(
            again.fit(TABLE, Y).decision_function(TABLE), MODELS["table"][0].decision_function(TABLE)
        )

    def test_unknown_categories_and_missing_values_after_loading(self, path):
        model = MODELS["table"][0]
        again = persist.load(persist.save(model, path))
        odd = TABLE.head(20).assign(kind="never seen", a=np.nan)
        np.testing.assert_array_equal(again.decision_function(odd), model.decision_function(odd))

    def test_description(self, path):
        persist.save(MODELS["threshold"][0], path, notes={"data": "train.csv"})
        about = persist.describe(path)
        assert about["rocband"] == rocband.__version__
        assert about["format"] == container.FORMAT
        assert about["fpr_range"] == [0.0, 0.05]
        assert about["feature_names"] == ["a", "kind", "b"]
        assert about["notes"] == {"data": "train.csv"}

    def test_another_version_of_sklearn_warns(self, path):
        persist.save(MODELS["linear"][0], path)
        rewrite(path, lambda manifest: manifest | {"sklearn": "0.1.0"})
        with pytest.warns(UserWarning, match=r"written with scikit-learn 0\.1\.0"):
            persist.load(path)


class TestSaving:
    def test_not_fitted(self, path):
        with pytest.raises(NotFittedError):
            persist.save(PartialAUCSVC(), path)
        assert not path.exists()

    def test_what_is_not_data_is_named(self, path):
        model = make_pipeline(FunctionTransformer(np.log1p), PartialAUCSVC()).fit(np.abs(X), Y)
        with pytest.raises(ModelFileError, match=r"Pipeline\.steps\[0\]\[1\] is of the type .*FunctionTransformer"):
            persist.save(model, path)
        assert not path.exists()

    def test_a_class_of_the_same_name_is_refused(self, path):
        other = type("PartialAUCSVC", (PartialAUCSVC,), {})().fit(X, Y)
        with pytest.raises(ModelFileError, match="cannot hold"):
            persist.save(other, path)

    def test_a_kernel_function_is_named(self, path):
        model = KernelPartialAUCSVC((0.0, 0.5), kernel=lambda A, B: A @ B.T, n_components=10).fit(X, Y)
        with pytest.raises(ModelFileError, match=r"KernelPartialAUCSVC\.kernel is of the type builtins\.function"):
            persist.save(model, path)

    def test_a_random_state_is_named(self, path):
        model = PartialAUCSVC(random_state=np.random.RandomState(0)).fit(X, Y)
        with pytest.raises(ModelFileError, match=r"PartialAUCSVC\.random_state"):
            persist.save(model, path)

    def test_no_estimator(self, path):
        with pytest.raises((ModelFileError, TypeError)):
            persist.save({"a": 1}, path)

    def test_missing_folder(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="The folder of the model file"):
            persist.save(MODELS["linear"][0], tmp_path / "no" / "model")

    def test_an_error_keeps_what_was_there(self, path):
        path.write_text("before")
        model = PartialAUCSVC(random_state=np.random.RandomState(0)).fit(X, Y)
        with pytest.raises(ModelFileError):
            persist.save(model, path)
        assert path.read_text() == "before"
        assert os.listdir(path.parent) == [path.name]


def rewrite(path, change):
    """Change the manifest of a file as an attacker would, with a checksum that fits."""
    manifest, arrays = container.unpack(path.read_bytes(), "file")
    del manifest["arrays"]
    path.write_bytes(container.pack(change(manifest), arrays))


class Bomb:
    """Leaves a mark if it is ever unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def hostile_states():
    """Objects that would do harm if names from a file were trusted."""
    yield {"object": "system", "state": {}}
    yield {"object": "os.system", "state": {"command": "true"}}
    yield {"object": "rocband.linear.PartialAUCSVC", "state": {}}
    yield {"object": "Memory", "state": {}}
    yield {"object": ["PartialAUCSVC"], "state": {}}
    yield {"object": None, "state": {}}
    yield {"object": "PartialAUCSVC", "state": {"decision_function": 1, "coef_": [1.0]}}
    yield {"object": "PartialAUCSVC", "state": {"__class__": "x", "coef_": [1.0]}}
    yield {"object": "PartialAUCSVC", "state": {"__dict__": {"dict": []}, "coef_": [1.0]}}
    yield {"object": "PartialAUCSVC", "state": {"predict": None, "coef_": [1.0]}}
    yield {"object": "PartialAUCSVC", "state": {"a b": None, "coef_": [1.0]}}
    yield {"object": "PartialAUCSVC", "state": ["coef_"]}
    yield {"object": "PartialAUCSVC"}
    yield {"object": "PartialAUCSVC", "state": {}}
    yield {"object": "PartialAUCSVC", "state": {"coef_": {"type": "object"}}}
    yield {"object": "PartialAUCSVC", "state": {"coef_": {"type": "__import__"}}}
    yield {"object": "PartialAUCSVC", "state": {"coef_": {"dtype": "O8"}}}
    yield {"object": "PartialAUCSVC", "state": {"coef_": {"array": 10**9}}}
    yield {"object": "PartialAUCSVC", "state": {"coef_": {"array": -1}}}
    yield {"object": "PartialAUCSVC", "state": {"coef_": {"array": 0, "tuple": []}}}
    yield {"object": "PartialAUCSVC", "state": {"coef_": {"call": "eval", "args": ["1"]}}}
    yield {"object": "PartialAUCSVC", "state": {"coef_": {"dict": [[{"dict": []}, 1]]}}}
    yield {"object": "PartialAUCSVC", "state": {"coef_": {"objects": [1, 2], "shape": [10**12]}}}
    yield {"object": "Pipeline", "state": {"steps": [], "memory": "/tmp/cache"}}
    yield {"object": "FPRThresholdClassifier", "state": {"response_method_": "__reduce__", "threshold_": 0.0}}
    csr = [{"array": 0}, {"array": 0}, {"array": 0}]
    yield {"object": "PartialAUCSVC", "state": {"coef_": {"csr": csr, "shape": [2, 2], "matrix": True}}}
    yield {"float": "nan"}
    yield {"tuple": []}
    yield []
    yield None
    yield "PartialAUCSVC"


def nested(depth):
    node = 1
    for _ in range(depth):
        node = [node]
    return {"object": "PartialAUCSVC", "state": {"coef_": node}}


class TestHostileFiles:
    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_a_renamed_pickle_does_not_run(self, path, tmp_path, protocol):
        mark = tmp_path / "mark"
        payload = pickle.dumps(Bomb(mark), protocol=protocol)
        for content in (payload, container.MAGIC + payload, forged(payload), forged(body_of(payload))):
            path.write_bytes(content)
            with pytest.raises(ModelFileError):
                persist.load(path)
            with pytest.raises(ModelFileError):
                persist.describe(path)
        assert not mark.exists()
        pickle.loads(payload)  # the payload is live
        assert mark.exists()

    def test_an_object_array_does_not_run(self, path, tmp_path):
        """A .npy or .npz with a pickle inside is no model file, and object arrays are no dtype of one."""
        mark, stream = tmp_path / "mark", io.BytesIO()
        np.save(stream, np.array([Bomb(mark)], dtype=object), allow_pickle=True)
        path.write_bytes(stream.getvalue())
        with pytest.raises(ModelFileError, match="is not a rocband model file"):
            persist.load(path)
        persist.save(MODELS["linear"][0], path)
        head = json.dumps({"format": 1, "arrays": [{"dtype": "|O", "shape": [1], "start": 0}], "model": None})
        path.write_bytes(forged(body_of(head.encode(), bytes(8))))
        with pytest.raises(ModelFileError, match="manifest cannot be read"):
            persist.load(path)
        assert not mark.exists()

    @pytest.mark.parametrize("node", list(hostile_states()))
    def test_made_up_objects(self, path, node):
        persist.save(MODELS["linear"][0], path)
        rewrite(path, lambda manifest: manifest | {"model": node})
        modules = set(sys.modules)
        with pytest.raises(ModelFileError, match="cannot be loaded: ") as caught:
            persist.load(path)
        assert str(caught.value).count("\n") == 0
        assert {name for name in set(sys.modules) - modules if not name.startswith(("rocband", "sklearn"))} == set()

    @pytest.mark.parametrize("depth", [100, 5_000, 200_000])
    def test_deep_nesting(self, path, depth):
        text = "[" * depth + "]" * depth
        head = '{"format": 1, "arrays": [], "model": ' + text + "}"
        path.write_bytes(forged(body_of(head.encode())))
        with pytest.raises(ModelFileError):
            persist.load(path)

    def test_every_class_is_known(self):
        """The list holds no class that runs what it is given, and each is where the list says."""
        for name, module in encoding.CLASSES.items():
            assert module.split(".")[0] in ("rocband", "sklearn")
            assert name not in ("FunctionTransformer", "GridSearchCV", "Memory")

    @pytest.mark.parametrize(
        "entry",
        [
            {"dtype": "<f8", "shape": [10**18], "start": 0},
            {"dtype": "<f8", "shape": [2**40, 2**40], "start": 0},
            {"dtype": "<f8", "shape": [-1], "start": 0},
            {"dtype": "<f8", "shape": [1], "start": -8},
            {"dtype": "<f8", "shape": [1], "start": 10**6},
            {"dtype": "<f8", "shape": [1.5], "start": 0},
            {"dtype": "<f8", "shape": [True], "start": 0},
            {"dtype": "<M8[ns]", "shape": [1], "start": 0},
            {"dtype": "<U99999999", "shape": [1], "start": 0},
            {"dtype": "f8,O", "shape": [1], "start": 0},
            {"dtype": ["<f8"], "shape": [1], "start": 0},
            {"dtype": "<f8", "shape": 3, "start": 0},
            {},
            [],
        ],
    )
    def test_made_up_arrays(self, path, entry):
        head = json.dumps({"format": 1, "arrays": [entry], "model": None})
        path.write_bytes(forged(body_of(head.encode(), bytes(16))))
        with pytest.raises(ModelFileError, match="manifest cannot be read"):
            persist.load(path)

    def test_arrays_that_share_bytes(self, path):
        """A thousand views of one megabyte would take a gigabyte."""
        block = bytes(2**20)
        entries = [{"dtype": "<f8", "shape": [2**17], "start": 0}] * 1000
        head = json.dumps({"format": 1, "arrays": entries, "model": None})
        path.write_bytes(forged(body_of(head.encode(), block)))
        tracemalloc.start()
        with pytest.raises(ModelFileError, match="manifest cannot be read"):
            persist.load(path)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 10 * path.stat().st_size

    @pytest.mark.parametrize("start", [0, 7])
    def test_arrays_that_overlap_by_a_byte(self, path, start):
        entries = [{"dtype": "<f8", "shape": [1], "start": place} for place in (0, start)]
        head = json.dumps({"format": 1, "arrays": entries, "model": None})
        path.write_bytes(forged(body_of(head.encode(), bytes(16))))
        with pytest.raises(ModelFileError, match="manifest cannot be read"):
            persist.load(path)

    @pytest.mark.parametrize("name", ["coef_", "intercept_", "threshold_"])
    @pytest.mark.parametrize("number", [np.nan, np.inf])
    def test_numbers_that_score_nothing(self, path, name, number):
        model = PartialAUCSVC().fit(X, Y)
        setattr(model, name, getattr(model, name) * number)
        persist.save(model, path)
        with pytest.raises(ModelFileError, match=f"the {name} of its PartialAUCSVC is not finite"):
            persist.load(path)

    def test_a_zip_is_not_unpacked(self, path, tmp_path):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("../escaped", bytes(10_000_000))
        with pytest.raises(ModelFileError, match="is not a rocband model file"):
            persist.load(path)
        assert os.listdir(tmp_path) == [path.name]

    @pytest.mark.parametrize(
        "change",
        [{"notes": [1]}, {"notes": {"a": 1}}, {"fpr_range": "0 1"}, {"fpr_range": [0.0]}, {"feature_names": [1]}],
    )
    def test_made_up_descriptions(self, path, change):
        persist.save(MODELS["linear"][0], path)
        rewrite(path, lambda manifest: manifest | change)
        with pytest.raises(ModelFileError, match="not a sound rocband model file"):
            persist.describe(path)


def body_of(head, rest=b""):
    return len(head).to_bytes(8, "little") + head + rest


def forged(body):
    return container.MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


class TestDamagedFiles:
    def test_every_truncation(self, path):
        whole = persist.save(MODELS["linear"][0], path).read_bytes()
        for length in range(0, len(whole), 7):
            path.write_bytes(whole[:length])
            with pytest.raises(ModelFileError):
                persist.load(path)

    def test_flipped_bits(self, path):
        whole = persist.save(MODELS["table"][0], path).read_bytes()
        draw = random.Random(0)
        for _ in range(300):
            damaged = bytearray(whole)
            damaged[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
            path.write_bytes(bytes(damaged))
            with pytest.raises(ModelFileError, match=r"is damaged|is not a rocband model file"):
                persist.load(path)

    def test_flipped_bits_with_a_checksum_that_fits(self, path):
        """Whoever can forge the checksum gets a model or a sentence, and nothing else."""
        whole = persist.save(MODELS["table"][0], path).read_bytes()
        body, draw = whole[whole.index(b"\n", 20) + 1 :], random.Random(1)
        refused = 0
        for _ in range(400):
            damaged = bytearray(body)
            damaged[draw.randrange(len(body))] ^= 1 << draw.randrange(8)
            path.write_bytes(forged(bytes(damaged)))
            try:
                persist.load(path)
            except ModelFileError:
                refused += 1
            except UserWarning:  # the version of scikit-learn was hit
                continue
        assert refused > 50

    def test_something_appended(self, path):
        whole = persist.save(MODELS["linear"][0], path).read_bytes()
        path.write_bytes(whole + b"x")
        with pytest.raises(ModelFileError, match="is damaged"):
            persist.load(path)

    def test_a_newer_format(self, path):
        persist.save(MODELS["linear"][0], path)
        rewrite(path, lambda manifest: manifest | {"format": container.FORMAT + 1, "rocband": "9.0"})
        for read in (persist.load, persist.describe):
            with pytest.raises(ModelFileError, match=r"has format 2, written by rocband 9\.0; .* newer rocband"):
                read(path)

    @pytest.mark.parametrize("version", [0, -1, "1", None, 1.0, True])
    def test_a_format_that_is_no_number(self, path, version):
        persist.save(MODELS["linear"][0], path)
        rewrite(path, lambda manifest: manifest | {"format": version})
        with pytest.raises(ModelFileError, match="manifest cannot be read"):
            persist.load(path)

    def test_a_missing_file(self, path):
        with pytest.raises(FileNotFoundError, match=r"The model file .* cannot be read: No such file"):
            persist.load(path)

    def test_a_folder(self, tmp_path):
        with pytest.raises(IsADirectoryError, match="cannot be read"):
            persist.load(tmp_path)


def run_onnx(path, rows):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(["score", "label"], {"X": np.asarray(rows, dtype=np.float32)})


class TestOnnx:
    def check(self, model, rows, numbers, path):
        persist.to_onnx(model, path)
        scores, labels = run_onnx(path, numbers)
        expected = model.decision_function(rows)
        np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-5 * max(1, np.abs(expected).max()))
        sure = np.abs(expected) > 1e-4
        assert sure.mean() > 0.9
        np.testing.assert_array_equal(labels[sure], model.predict(rows)[sure])

    @pytest.mark.parametrize("name", ["linear", "float32", "cross-validated", "frozen", "logistic", "greedy"])
    def test_models_of_numbers(self, name, path):
        model, rows = MODELS[name]
        if name == "frozen":
            model = FPRThresholdClassifier(PartialAUCSVC().fit(X, Y), cv="prefit").fit(X, Y)
        self.check(model, rows, rows, path)

    def test_a_table_with_missing_numbers(self, path):
        model = prepared(PartialAUCSVC(), categories=False).fit(TABLE, Y)
        self.check(model, TABLE, TABLE.assign(kind=np.nan), path)

    def test_a_threshold_around_a_pipeline(self, path):
        model = FPRThresholdClassifier(prepared(PartialAUCSVC(), categories=False), confidence=0.9, random_state=0)
        self.check(model.fit(TABLE, Y), TABLE, TABLE.assign(kind=0), path)

    def test_features_far_from_zero(self, path):
        rows = X + np.array([1e4, -1e3])
        self.check(make_pipeline(StandardScaler(), PartialAUCSVC()).fit(rows, Y), np.float32(rows), rows, path)

    def test_scalers_in_a_row_and_empty_steps(self, path):
        steps = (StandardScaler(with_std=False), MaxAbsScaler(), "passthrough", StandardScaler(with_mean=False))
        model = make_pipeline(*steps, PartialAUCSVC()).fit(X, Y)
        self.check(model, X, X, path)

    def test_text_labels(self, path):
        labels = np.where(Y == 1, "sick", "healthy")
        self.check(PartialAUCSVC(pos_label="sick").fit(X, labels), X, X, path)

    def test_missing_numbers_without_an_imputer_stay_missing(self, path):
        persist.to_onnx(MODELS["linear"][0], path)
        scores, _ = run_onnx(path, [[np.nan, 1.0]])
        assert np.isnan(scores[0])

    @pytest.mark.parametrize("name", ["table", "threshold"])
    def test_text_cannot_be_exported(self, name, path):
        with pytest.raises(ValueError, match=r"OneHotEncoder.* cannot be exported"):
            persist.to_onnx(MODELS[name][0], path)
        assert not path.exists()

    def test_only_linear_models(self, path):
        with pytest.raises(ValueError, match="KernelPartialAUCSVC has no coef_"):
            persist.to_onnx(MODELS["kernel"][0], path)
        model = make_pipeline(StandardScaler()).fit(X)
        with pytest.raises(ValueError, match="Only linear models"):
            persist.to_onnx(FPRThresholdClassifier(Constant().fit(X, Y), cv="prefit").fit(X, Y), path)
        with pytest.raises(ValueError, match="Only linear models"):
            persist.to_onnx(model, path)

    def test_the_lesser_label_as_positive(self, path):
        model = FPRThresholdClassifier(PartialAUCSVC().fit(X, Y), cv="prefit", pos_label=0).fit(X, Y)
        with pytest.raises(ValueError, match="greater label"):
            persist.to_onnx(model, path)

    def test_a_column_used_twice(self, path):
        parts = [("one", StandardScaler(), ["a"]), ("two", MaxAbsScaler(), ["a"])]
        model = make_pipeline(ColumnTransformer(parts), PartialAUCSVC()).fit(TABLE.fillna({"a": 0.0}), Y)
        with pytest.raises(ValueError, match="uses a column twice"):
            persist.to_onnx(model, path)

    def test_without_the_package(self, path, monkeypatch):
        monkeypatch.setitem(sys.modules, "onnx", None)
        with pytest.raises(ImportError, match=r"rocband\[onnx\]"):
            persist.to_onnx(MODELS["linear"][0], path)


class Constant(LogisticRegression):
    """A fitted classifier without coefficients."""

    def fit(self, X, y):
        super().fit(X, y)
        self.scores = float(self.intercept_[0])
        del self.coef_
        return self

    def decision_function(self, X):
        return np.full(len(X), self.scores)
