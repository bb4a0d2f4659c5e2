"""What a model does inside the band, on the embedded letters: ``python -m rocband.demo``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rocband.datasets import load_letter
from rocband.metrics import partial_auc_score, tpr_at_fpr_score

__all__ = ["main"]

BAND = (0.02, 0.05)
LETTER = "Q"


def main() -> None:
    """Fit on two thirds of the letters and print the figures of the rest.

    Examples
    --------
    >>> from rocband.demo import main
    >>> main()  # doctest: +ELLIPSIS
    Letter Q against the other 25: ...
    """
    X, y = load_letter(LETTER, return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
    print(f"Letter {LETTER} against the other 25: {len(y_train):,} rows to learn from, {len(y_test):,} to test on,")
    print(f"{y_test.sum()} of them positive. The band is a false-positive rate from {BAND[0]:.0%} to {BAND[1]:.0%}.\n")
    columns = {name: figures(y_test, model.fit(X_train, y_train).decision_function(X_test)) for name, model in models()}
    print(table(columns))


def models() -> list[tuple[str, Any]]:
    """Return the models to compare, by name."""
    return [("logistic regression", make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)))]


def figures(y: npt.ArrayLike, scores: npt.NDArray[np.float64]) -> dict[str, float]:
    """Return the figures of one model's scores, by name."""
    low, high = BAND
    band = f"FPR {low:.0%} to {high:.0%}"
    return {
        f"partial AUC, {band}": partial_auc_score(y, scores, fpr_range=BAND),
        f"  rescaled (McClish), {band}": partial_auc_score(y, scores, fpr_range=BAND, normalize="mcclish"),
        f"TPR at FPR {low:.0%}": tpr_at_fpr_score(y, scores, fpr=low),
        f"TPR at FPR {high:.0%}": tpr_at_fpr_score(y, scores, fpr=high),
        "AUC": partial_auc_score(y, scores),
    }


def table(columns: dict[str, dict[str, float]]) -> str:
    """Lay out one row for each figure and one column for each model."""
    names = list(next(iter(columns.values())))
    width = max(map(len, names))
    widths = {model: max(len(model), len("0.0000")) + 2 for model in columns}
    head = " " * width + "".join(f"{model:>{widths[model]}}" for model in columns)
    rows = (
        f"{name:{width}}" + "".join(f"{column[name]:{widths[model]}.4f}" for model, column in columns.items())
        for name in names
    )
    return "\n".join([head, "-" * len(head), *rows])


if __name__ == "__main__":
    main()
