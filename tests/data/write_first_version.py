"""Wrote the files first-*.rocband beside it, with the last version of rocband that wrote that format.

Kept for the record: `rocband.persist.save` writes the second format now, so running it again makes other files. Each
file holds its first five rows and their scores in its notes.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from rocband import KernelPartialAUCSVC, PartialAUCSVC, persist
from rocband.datasets import make_band_problem
from rocband.threshold import FPRThresholdClassifier

X, y = make_band_problem(300, random_state=0)
words = np.where(y == 1, "sick", "healthy")
table = pd.DataFrame({"a": X[:, 0], "kind": np.where(X[:, 1] > 0, "x", "y"), "b": X[:, 1]})
table["kind"] = table["kind"].astype(object)
table.loc[::7, "a"] = np.nan
table.loc[::11, "kind"] = None

numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
parts = [("numbers", numbers, ["b", "a"]), ("kinds", OneHotEncoder(handle_unknown="ignore"), ["kind"])]
prepared = make_pipeline(ColumnTransformer(parts), PartialAUCSVC())
landmarks = KernelPartialAUCSVC((0.0, 0.5), n_components=10)
MODELS = {
    "linear": (PartialAUCSVC((0.0, 0.1)), X, y),
    "float32": (PartialAUCSVC(), X.astype(np.float32), words),
    "kernel": (landmarks, X, y),
    "sparse": (make_pipeline(MaxAbsScaler(), landmarks), sparse.csr_matrix(X), y),
    "threshold": (FPRThresholdClassifier(prepared, confidence=0.9, random_state=0), table, y),
}


def some(rows):
    """Return the first rows as JSON, and as the model takes them."""
    if isinstance(rows, pd.DataFrame):
        few = rows.head()
        return few.astype(object).where(few.notna(), None).to_dict("list"), few
    dense = rows[:5].toarray() if sparse.issparse(rows) else rows[:5]
    return dense.tolist(), rows[:5]


if __name__ == "__main__":
    for name, (model, rows, labels) in MODELS.items():
        model.fit(rows, labels)
        written, few = some(rows)
        notes = {"rows": json.dumps(written), "scores": json.dumps(model.decision_function(few).tolist())}
        persist.save(model, Path(__file__).with_name(f"first-{name}.rocband"), notes=notes)
