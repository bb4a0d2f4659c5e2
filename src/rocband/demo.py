"""The main job on the embedded letters: models for a band, side by side, and a picture: ``python -m rocband.demo``."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rocband import CollapsedSolutionWarning, PartialAUCSVCCV
from rocband._progress import tell
from rocband._types import FloatArray
from rocband.datasets import load_letter
from rocband.metrics import partial_auc_score, partial_auc_scorer, tpr_at_fpr_score
from rocband.risks import Surrogate

__all__ = ["main"]

# The band and, as far as one can tell, a letter like that of the paper's table.
BAND = (0.02, 0.05)
LETTER = "Q"
PICTURE = Path("rocband-demo.png")
# Coarse grids, so that a newcomer waits for seconds; the logistic regression's C counts the rows, ours does not.
LOGISTIC_CS = (0.01, 0.1, 1, 10, 100)
BAND_CS = (0.1, 1, 10, 100, 1000)
FOLDS = 3
# The first columns of the table are words, the others numbers.
WORDS = 2


@dataclass(frozen=True)
class Contender:
    """A model of the table; ``published`` is the paper's figure for its letter, which it does not name."""

    name: str
    what: str
    estimator: BaseEstimator
    published: float | None = None


def main() -> None:
    """Fit on two thirds of the letters, print the figures of the rest and draw the ROC curves."""
    X, y = load_letter(LETTER, return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
    print(introduction(y_train, y_test))
    scores: dict[str, FloatArray] = {}
    everyone = contenders()
    for number, contender in enumerate(everyone, 1):
        tell(f"{number} of {len(everyone)}: {contender.name}")
        scores[contender.name] = fit_and_score(contender, X_train, y_train, X_test)
    print(table([row(contender, y_test, scores[contender.name]) for contender in everyone]))
    print()
    print(
        "pAUC: area under the ROC curve in the band, divided by its width. TPR: share of positives found at that FPR."
    )
    print(f"Paper: Narasimhan & Agarwal's figure for a letter they do not name. {draw(y_test, scores, PICTURE)}")


def introduction(y_train: Any, y_test: Any) -> str:
    """Say what is compared on what."""
    low, high = BAND
    return (
        f"Letter {LETTER} against the other 25: {len(y_train):,} rows to learn from, {len(y_test):,} to test on,\n"
        f"{y_test.sum()} of them positive. The band is a false-positive rate from {low:.0%} to {high:.0%};\n"
        "each model chooses its C by cross-validation on the rows it learns from.\n"
    )


def contenders() -> list[Contender]:
    """Return the models to compare."""
    scoring = partial_auc_scorer(BAND)
    logistic = GridSearchCV(LogisticRegression(max_iter=1000), {"C": LOGISTIC_CS}, scoring=scoring, cv=FOLDS)
    return [
        Contender("logistic regression", "log-loss", logistic),
        Contender("SVM_AUC", "hinge, all FPR", band_model((0.0, 1.0), "tight", None), 0.4455),
        Contender("SVM_pAUC", "tight, convex", band_model(BAND, "tight", None), 0.5208),
        Contender("SVM_pAUC^dc", "hinge, DC", band_model(BAND, "hinge", None), 0.5182),
        Contender("rocband default", "ramp, anchored", band_model(BAND, "ramp", "logistic")),
    ]


def band_model(
    fpr_range: tuple[float, float], surrogate: Surrogate, anchor: Literal["logistic"] | None
) -> PartialAUCSVCCV:
    """Return a model that chooses its own C."""
    return PartialAUCSVCCV(fpr_range, surrogate=surrogate, anchor=anchor, Cs=BAND_CS, cv=FOLDS)


def fit_and_score(contender: Contender, X: Any, y: Any, X_test: Any) -> FloatArray:
    """Fit a model on scaled features and score the test rows; a collapse shows in the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapsedSolutionWarning)
        model = make_pipeline(StandardScaler(), contender.estimator).fit(X, y)
    scores: FloatArray = model.decision_function(X_test)
    return scores


def row(contender: Contender, y: npt.ArrayLike, scores: npt.ArrayLike) -> list[str]:
    """Return one line of the table, as text."""
    area = partial_auc_score(y, scores, fpr_range=BAND)
    rates = [tpr_at_fpr_score(y, scores, fpr=fpr) for fpr in BAND]
    whole = partial_auc_score(y, scores)
    figures = [f"{figure:.4f}" for figure in (area, *rates, whole)]
    published = "" if contender.published is None else f"{contender.published:.4f}"
    return [contender.name, contender.what, *figures, published]


def table(rows: list[list[str]]) -> str:
    """Lay out one row for each model under a heading."""
    low, high = BAND
    rates = [f"TPR at {fpr:.0%}" for fpr in BAND]
    heading = ["model", "surrogate", f"pAUC {low:.0%}-{high:.0%}", *rates, "AUC", "paper's pAUC"]
    columns = zip(heading, *rows, strict=True)
    aligned = [justified(column, left=number < WORDS) for number, column in enumerate(columns)]
    first, *others = ["  ".join(cells) for cells in zip(*aligned, strict=True)]
    return "\n".join([first, "-" * len(first), *(line.rstrip() for line in others)])


def justified(cells: tuple[str, ...], *, left: bool) -> list[str]:
    """Fill up the cells of a column to one width."""
    width = max(map(len, cells))
    return [cell.ljust(width) if left else cell.rjust(width) for cell in cells]


def draw(y: npt.ArrayLike, scores: dict[str, FloatArray], path: Path) -> str:
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
    # The curves of this band and letter, with room for the legend at the right.
    ax.set(xlim=(0.0, 2.4 * BAND[1]), ylim=(0.0, 0.85), aspect="auto", title=title)
    legend = ax.get_legend()
    if legend is not None:
        legend.set_loc("lower right")
    figure.savefig(path, dpi=130)
    return f"Picture: {path}"


if __name__ == "__main__":
    main()
