"""Kernels: an exact one on 10,000 rows, Nystroem's features beside LightGBM, landmarks, scoring a million rows."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit, train_test_split

from benchmarks.pages import glued, heading, paragraph, table
from benchmarks.sets import load
from benchmarks.standings import mean_and_error
from benchmarks.timing import watched
from rocband import KernelPartialAUCSVC, PartialAUCSVC
from rocband.metrics import partial_auc_score, partial_auc_scorer

BAND = (0.02, 0.05)
COMPONENTS = 1000
SPLITS = {"letter Q": 3, "ijcnn1": 3, "covtype 5": 3}
# What an exact kernel does at ease: its Gram matrix takes 400 MB.
EXACT_ROWS = 10_000
EXACT_BAND = (0.0, 0.05)
# gamma as a multiple of 1 / n_features, the features having variance 1. Chosen on some rows with fewer components.
GAMMAS = (1.0, 2.0, 4.0)
CS = (1e4, 1e5)
SEARCH_ROWS = 30_000
SEARCH_COMPONENTS = 300
# With a C that suits each.
LANDMARK_SETS = {"letter Q": 1e3, "mammography": 1e3, "ijcnn1": 1e4}
LANDMARK_ROWS = 20_000
LANDMARKS = 300
REPEATS = 3
PREDICT_ROWS = 1_000_000
PREDICT_COLUMNS = 20
PAGE = Path(__file__).resolve().parent.parent / "docs" / "kernels.md"
EXACT = f"""
RBF kernel, band {EXACT_BAND}, C = 100, to a gap of C * 1e-3: {{seconds:.1f}} s, {{steps}} steps,
{{added_megabytes:.0f}} MB at the peak, {{added_over_gram:.2f}} times the Gram matrix in single precision;
{{rows_with_weight:,}} rows have weight.
"""
NYSTROEM = f"""
Test pAUC in {BAND} over random two-thirds splits, mean and standard error; standardised features, {COMPONENTS:,}
components, tol = 1e-3. gamma and C are chosen on at most {SEARCH_ROWS:,} training rows with {SEARCH_COMPONENTS}
components and tol = 3e-3, a quarter held out. LightGBM has its default settings and two threads. Seconds and megabytes
are medians of the fits; those of the search come on top. The grid of gamma was set after seeing test figures of an
earlier run; see [choosing](choosing.md).
"""
DRAWN = f"""
Test pAUC in {BAND} with {LANDMARKS} landmarks, up to {LANDMARK_ROWS:,} rows of one split, gamma = 1 / n_features; mean
and standard error over {REPEATS} draws.
"""
SCORING = f"""
{{rows:,}} rows with {COMPONENTS:,} components: {{seconds:.1f}} s and {{added_megabytes:.0f}} MB beyond the
{{data_megabytes:.0f}} MB of the data.
"""

Figures = dict[str, Any]


def alone(part: str) -> Figures:
    """Run a part of this file in its own process, so that nothing else is in its memory."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.kernel", part], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def exact() -> Figures:
    """The exact RBF kernel on some rows of ijcnn1, to a gap of C * 1e-3."""
    A, a, _, _ = next(load("ijcnn1").splits(1, EXACT_ROWS))
    warm_up = KernelPartialAUCSVC(EXACT_BAND, C=100.0, tol=1e-3)
    warm_up.fit(A[:500], a[:500])
    model, cost = watched(lambda: clone(warm_up).fit(A, a))
    gram = 4 * EXACT_ROWS**2 / 2**20
    return {
        **cost,
        "gram_megabytes": gram,
        "added_over_gram": cost["added_megabytes"] / gram,
        "objective": model.objective_,
        "gap_over_C": model.dual_gap_ / model.C,
        "steps": model.n_iter_,
        "rows_with_weight": len(model.support_),
    }


def prediction() -> Figures:
    """Score a million rows with 1,000 components."""
    random = np.random.default_rng(0)
    X = random.standard_normal((PREDICT_ROWS, PREDICT_COLUMNS), dtype=np.float32)
    y = X[:, 0] + 0.5 * random.standard_normal(PREDICT_ROWS) > 2
    some = slice(0, 20_000)
    model = KernelPartialAUCSVC(EXACT_BAND, n_components=COMPONENTS, C=1e3, tol=1e-2).fit(X[some], y[some])
    model.verbose = 1
    _, cost = watched(lambda: model.decision_function(X))
    return {**cost, "rows": PREDICT_ROWS, "data_megabytes": X.nbytes / 2**20}


def search(A: Any, a: Any) -> GridSearchCV:
    """Choose gamma and C on a part of the training rows, a quarter of it held out."""
    if len(A) > SEARCH_ROWS:
        A, _, a, _ = train_test_split(A, a, train_size=SEARCH_ROWS, stratify=a, random_state=0)
    model = KernelPartialAUCSVC(BAND, n_components=SEARCH_COMPONENTS, tol=3e-3)
    grid = {"gamma": [gamma / A.shape[1] for gamma in GAMMAS], "C": CS}
    holdout = StratifiedShuffleSplit(1, test_size=0.25, random_state=0)
    return GridSearchCV(model, grid, scoring=partial_auc_scorer(BAND), cv=holdout, refit=False).fit(A, a)


def split_figures(A: Any, a: Any, B: Any, b: Any) -> Figures:
    """One split: our search and fit, and LightGBM with its default settings."""
    from lightgbm import LGBMClassifier

    found, searching = watched(lambda: search(A, a))
    ours, fitting = watched(
        lambda: KernelPartialAUCSVC(BAND, n_components=COMPONENTS, tol=1e-3, **found.best_params_).fit(A, a)
    )
    trees, boosting = watched(lambda: LGBMClassifier(n_jobs=2, verbose=-1).fit(A, a))
    scores = {"Nystroem": ours.decision_function(B), "LightGBM": trees.predict_proba(B)[:, 1]}
    return {
        "pauc": {label: partial_auc_score(b, values, fpr_range=BAND) for label, values in scores.items()},
        "chosen": {"gamma times n_features": found.best_params_["gamma"] * A.shape[1], "C": found.best_params_["C"]},
        "cost": {"search": searching, "Nystroem": fitting, "LightGBM": boosting},
        "converged": ours.converged_,
    }


def features_of(X: Any, landmarks: Any) -> Nystroem:
    """Return Nystroem's features with exactly these landmarks: fitted to no other rows, it takes them all."""
    return Nystroem(kernel="rbf", gamma=1 / X.shape[1], n_components=len(landmarks)).fit(X[landmarks])


def balanced(positive: Any, count: int, random: np.random.Generator) -> Any:
    """Draw rows of both classes, half of them positives where there are enough."""
    positives = np.flatnonzero(positive)
    half = min(count // 2, len(positives))
    drawn = random.choice(positives, half, replace=False)
    others = random.choice(np.flatnonzero(~positive), count - half, replace=False)
    return np.concatenate([drawn, others])


def score_driven(X: Any, positive: Any, random: np.random.Generator) -> Any:
    """Half positives, a quarter negatives that a pilot model puts high, a quarter others."""
    pilot = features_of(X, balanced(positive, LANDMARKS // 4, random))
    model = LogisticRegression(tol=1e-2, max_iter=1000).fit(pilot.transform(X), positive)
    positives = np.flatnonzero(positive)
    negatives = np.flatnonzero(~positive)
    ranked = negatives[np.argsort(-model.decision_function(pilot.transform(X[negatives])))]
    half = min(LANDMARKS // 2, len(positives))
    top = random.choice(ranked[: int(3 * BAND[1] * len(ranked))], (LANDMARKS - half) // 2, replace=False)
    rest = random.choice(np.setdiff1d(negatives, top), LANDMARKS - half - len(top), replace=False)
    return np.concatenate([random.choice(positives, half, replace=False), top, rest])


def landmark_figures(name: str, C: float) -> dict[str, list[float]]:
    """Test pAUC with landmarks drawn at random, in balance, and by a pilot's scores; one split, several draws."""
    A, a, B, b = next(load(name).splits(1, LANDMARK_ROWS))
    scores: dict[str, list[float]] = {"random": [], "balanced": [], "score-driven": []}
    for repeat in range(REPEATS):
        random = np.random.default_rng(repeat)
        choices = {
            "random": random.choice(len(a), LANDMARKS, replace=False),
            "balanced": balanced(a, LANDMARKS, random),
            "score-driven": score_driven(A, a, random),
        }
        for label, landmarks in choices.items():
            features = features_of(A, landmarks)
            model = PartialAUCSVC(BAND, surrogate="tight", C=C, anchor=None, tol=1e-3)
            model.fit(features.transform(A), a)
            values = model.decision_function(features.transform(B))
            scores[label].append(partial_auc_score(b, values, fpr_range=BAND))
    return scores


def run() -> Figures:
    warnings.simplefilter("ignore")
    figures: Figures = {"exact": alone("exact"), "prediction": alone("prediction")}
    figures["nystroem"] = {}
    for name, count in SPLITS.items():
        rows = figures["nystroem"][name] = []
        for part in load(name).splits(count):
            rows.append(split_figures(*part))
            print(f"  {name}: {rows[-1]['pauc']}, {rows[-1]['chosen']}", flush=True)
    figures["landmarks"] = {name: landmark_figures(name, C) for name, C in LANDMARK_SETS.items()}
    PAGE.write_text(page(figures))
    return figures


def spread(values: list[float]) -> str:
    mean, error = mean_and_error(values)
    return f"{mean:.4f}" if len(values) < 2 else glued(f"{mean:.4f} ± {error:.4f}")


def median(figures: list[Figures], what: str) -> float:
    return float(np.median([each[what] for each in figures]))


def nystroem_row(name: str, splits: list[Figures]) -> list[str]:
    """Return the line of a set: both models with their cost, and the cost of our search."""
    cells = {}
    for label in ("Nystroem", "LightGBM"):
        costs = [split["cost"][label] for split in splits]
        seconds = f"{median(costs, 'seconds'):.1f}"
        megabytes = f"{median(costs, 'added_megabytes'):.0f}"
        cells[label] = [spread([split["pauc"][label] for split in splits]), seconds, megabytes]
    search = f"{median([split['cost']['search'] for split in splits], 'seconds'):.1f}"
    return [name, str(len(splits)), *cells["Nystroem"], search, *cells["LightGBM"]]


def page(figures: Figures) -> str:
    """Lay out the figures as a page of the documentation."""
    landmarks = figures["landmarks"]
    ways = list(next(iter(landmarks.values())))
    head = ["", "splits", "Nystroem", "seconds", "MB", "search, seconds", "LightGBM", "seconds", "MB"]
    lines = [
        *heading("Kernels", 1),
        *heading(f"Exact: {EXACT_ROWS:,} rows of ijcnn1"),
        *paragraph(EXACT.format(**figures["exact"])),
        *heading("Nystroem's features beside LightGBM"),
        *paragraph(NYSTROEM),
        *table(head, [nystroem_row(name, splits) for name, splits in figures["nystroem"].items()]),
        *heading("Landmarks"),
        *paragraph(DRAWN),
        *table(["", *ways], [[name, *(spread(row[way]) for way in ways)] for name, row in landmarks.items()]),
        *heading("Scoring"),
        *paragraph(SCORING.format(**figures["prediction"])),
        "Made by `make bench ARGS=kernel`.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(json.dumps({"exact": exact, "prediction": prediction}[sys.argv[1]]()))
