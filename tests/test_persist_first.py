"""Model files of the first version are still read, and are as inert as they were.

The files in the folder ``data`` were written by ``data/write_first_version.py``.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rocband import persist
from rocband.persist import ModelFileError

FILES = sorted(Path(__file__).with_name("data").glob("first-*.rocband"))
# The files keep the version of scikit-learn that wrote them.
pytestmark = pytest.mark.filterwarnings("ignore:.*was written with scikit-learn:UserWarning")


def rows_of(path, notes):
    written = json.loads(notes["rows"])
    if isinstance(written, dict):
        return pd.DataFrame(written, dtype=object).astype({"a": float, "b": float})
    rows = np.array(written, dtype=np.float32 if path.stem == "first-float32" else np.float64)
    return sparse.csr_matrix(rows) if path.stem == "first-sparse" else rows


def test_there_are_five():
    assert [path.stem for path in FILES] == [f"first-{name}" for name in KINDS]


KINDS = {
    "float32": {"fpr_range": [0.0, 0.05], "feature_names": None},
    "kernel": {"fpr_range": [0.0, 0.5], "feature_names": None},
    "linear": {"fpr_range": [0.0, 0.1], "feature_names": None},
    "sparse": {"fpr_range": [0.0, 0.5], "feature_names": None},
    "threshold": {"fpr_range": [0.0, 0.05], "feature_names": ["a", "kind", "b"]},
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_same_scores(path):
    notes = persist.describe(path)["notes"]
    model = persist.load(path)
    # The products may be summed in another order elsewhere.
    np.testing.assert_allclose(model.decision_function(rows_of(path, notes)), json.loads(notes["scores"]), rtol=1e-6)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_description(path):
    about = persist.describe(path)
    assert about["format"] == 1
    assert {name: about[name] for name in ("fpr_range", "feature_names")} == KINDS[path.stem.removeprefix("first-")]


def test_parts_of_sparse_rows_are_sparse():
    model = persist.load(FILES[3])
    assert sparse.issparse(model[-1].support_vectors_)


def test_text_labels():
    assert persist.load(FILES[0]).classes_.tolist() == ["healthy", "sick"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_parameter_is_there(path):
    model = persist.load(path)
    assert repr(model)
    assert model.get_params()


# ----------------------------------------------------------------------------------------------------------------------
# Made-up files, with a checksum that fits.


def forged(manifest, block=b""):
    """Return the bytes of a file of the first version."""
    head = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    body = len(head).to_bytes(8, "little") + head + block
    return b"ROCBAND-MODEL\n" + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def taken_apart(path):
    """Return the manifest and the arrays' bytes of a file."""
    body = path.read_bytes()[len(b"ROCBAND-MODEL\n") + 65 :]
    length = int.from_bytes(body[:8], "little")
    return json.loads(body[8 : 8 + length]), body[8 + length :]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.rocband"


def laid_out(*arrays):
    """Return the entries and the bytes of arrays."""
    entries, block = [], b""
    for array in arrays:
        entries.append({"dtype": array.dtype.str, "shape": list(array.shape), "start": len(block)})
        block += array.tobytes()
        block += bytes(-len(block) % 8)
    return entries, block


class TestHostileFiles:
    @pytest.mark.parametrize("indices", [[0, 5], [0, -1], [0, 2**31 - 1]])
    def test_sparse_indices_out_of_range(self, path, indices):
        """They would read memory outside the arrays."""
        entries, block = laid_out(np.ones(2), np.array(indices, dtype=np.int32), np.array([0, 2], dtype=np.int32))
        csr = {"csr": [{"array": 0}, {"array": 1}, {"array": 2}], "shape": [1, 2], "matrix": False}
        model = {"object": "KernelPartialAUCSVC", "state": {"support_vectors_": csr}}
        path.write_bytes(forged({"format": 1, "arrays": entries, "model": model}, block))
        with pytest.raises(ModelFileError, match="cannot be loaded"):
            persist.load(path)

    @pytest.mark.parametrize("dtype", [">f8", ">i4", ">U3"])
    def test_numbers_the_other_way_round(self, path, dtype):
        """The first version wrote little-endian numbers only."""
        entries, block = laid_out(np.ones(1, dtype=dtype))
        model = {"object": "PartialAUCSVC", "state": {"coef_": {"array": 0}}}
        path.write_bytes(forged({"format": 1, "arrays": entries, "model": model}, block))
        with pytest.raises(ModelFileError, match="manifest cannot be read"):
            persist.load(path)
