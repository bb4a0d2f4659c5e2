"""The main job on the embedded letters: models for a band, side by side, and a picture: ``python -m rocband.demo``."""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rocband import CollapsedSolutionWarning, PartialAUCSVCCV
from rocband.datasets import load_letter
from rocband.metrics import partial_auc_score, partial_auc_scorer, tpr_at_fpr_score

__all__ = ["main"]

BAND = (0.02, 0.05)
LETTER = "Q"
PICTURE = Path("rocband-demo.png")


@dataclass(frozen=True)
class Contender:
    """A model of the table; ``published`` is the paper's figure for its letter, which it does not name."""

    name: str
    what: str
    estimator: Any
    published: float | None = None


def main() -> None:
    """Fit on two thirds of the letters, print the figures of the rest and draw the ROC curves."""
    X, y = load_letter(LETTER, return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
    print(f"Letter {LETTER} against the other 25: {len(y_train):,} rows to learn from, {len(y_test):,} to test on,")
    print(f"{y_test.sum()} of them positive. The band is a false-positive rate from {BAND[0]:.0%} to {BAND[1]:.0%};")
    print("each model chooses its C by cross-validation on the rows it learns from.\n")
    scores, rows = {}, []
    everyone = contenders()
    for number, contender in enumerate(everyone, 1):
        print(f"[{number}/{len(everyone)}] {contender.name} ...", end="", file=sys.stderr, flush=True)
        scores[contender.name], seconds = fit_and_score(contender, X_train, y_train, X_test)
        print(f" {seconds:.1f} s", file=sys.stderr, flush=True)
        rows.append(row(contender, y_test, scores[contender.name]))
    print(table(rows))
    print(
        "\npAUC: area under the ROC curve in the band, divided by its width. TPR: share of positives found at that FPR."
    )
    print(f"Paper: Narasimhan & Agarwal's figure for a letter they do not name. {draw(y_test, scores, PICTURE)}")


def contenders() -> list[Contender]:
    """Return the models to compare."""
    grid = {"C": [0.01, 0.1, 1, 10, 100]}
    logistic = GridSearchCV(LogisticRegression(max_iter=1000), grid, scoring=partial_auc_scorer(BAND), cv=3)
    return [
        Contender("logistic regression", "log-loss", logistic),
        Contender("SVM_AUC", "hinge, all FPR", band_model((0.0, 1.0), "tight", None), 0.4455),
        Contender("SVM_pAUC", "tight, convex", band_model(BAND, "tight", None), 0.5208),
        Contender("SVM_pAUC^dc", "hinge, DC", band_model(BAND, "hinge", None), 0.5182),
        Contender("rocband default", "ramp, anchored", band_model(BAND, "ramp", "logistic")),
    ]


def band_model(fpr_range: tuple[float, float], surrogate: str, anchor: str | None) -> PartialAUCSVCCV:
    """Return a model that chooses its own C."""
    return PartialAUCSVCCV(fpr_range, surrogate=surrogate, anchor=anchor, Cs=[0.1, 1, 10, 100, 1000], cv=3)


def fit_and_score(contender: Contender, X: Any, y: Any, X_test: Any) -> tuple[npt.NDArray[np.float64], float]:
    """Fit a model on scaled features and score the test rows; a collapse shows in the table."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapsedSolutionWarning)
        model = make_pipeline(StandardScaler(), contender.estimator).fit(X, y)
    scores: npt.NDArray[np.float64] = model.decision_function(X_test)
    return scores, time.perf_counter() - began


def row(contender: Contender, y: npt.ArrayLike, scores: npt.NDArray[np.float64]) -> list[str]:
    """Return one line of the table, as text."""
    figures = [
        partial_auc_score(y, scores, fpr_range=BAND),
        *(tpr_at_fpr_score(y, scores, fpr=fpr) for fpr in BAND),
        partial_auc_score(y, scores),
    ]
    published = "" if contender.published is None else f"{contender.published:.4f}"
    return [contender.name, contender.what, *(f"{figure:.4f}" for figure in figures), published]


def table(rows: list[list[str]]) -> str:
    """Lay out one row for each model under a heading."""
    low, high = BAND
    band = f"pAUC {low:.0%}-{high:.0%}"
    head = ["model", "surrogate", band, f"TPR at {low:.0%}", f"TPR at {high:.0%}", "AUC", "paper's pAUC"]
    widths = [max(len(line[k]) for line in (head, *rows)) for k in range(len(head))]
    lines = [
        "  ".join(f"{cell:<{width}}" if k < 2 else f"{cell:>{width}}" for k, (cell, width) in cells)
        for cells in (list(enumerate(zip(line, widths, strict=True))) for line in (head, *rows))
    ]
    return "\n".join([lines[0].rstrip(), "-" * len(lines[0]), *(line.rstrip() for line in lines[1:])])


def draw(y: npt.ArrayLike, scores: dict[str, npt.NDArray[np.float64]], path: Path) -> str:
    """Draw the ROC curves around the band and say where the picture is."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  (the plot extra is optional)

        from rocband.plot import PartialROCDisplay  # noqa: PLC0415
    except ImportError:
        return "No picture: install rocband[plot] for one."
    figure = Figure(figsize=(7.5, 5.5), layout="constrained")
    ax = figure.subplots()
    for name, values in scores.items():
        PartialROCDisplay.from_predictions(y, values, fpr_range=BAND, name=name, ax=ax, random_state=0)
    title = f"Letter {LETTER}: ROC curves around the band"
    ax.set(xlim=(0.0, 2.4 * BAND[1]), ylim=(0.0, 0.85), aspect="auto", title=title)
    legend = ax.get_legend()
    if legend is not None:
        legend.set_loc("lower right")
    figure.savefig(path, dpi=130)
    return f"Picture: {path}"


if __name__ == "__main__":
    main()
