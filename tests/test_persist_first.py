"""Model files of the first version are still read, and are as inert as they were.

The files in the folder ``data`` were written by ``data/write_first_version.py``.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rocband import persist

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
