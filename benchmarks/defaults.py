"""Which surrogate, anchor and C make the best defaults: untuned test pAUC on ten real sets and two bands."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.pages import heading, paragraph, table
from benchmarks.sets import load
from rocband import PartialAUCSVC
from rocband.metrics import partial_auc_score

SETS = ("cod-rna", "covtype 5", "ijcnn1", "letter G", "letter Q", "mammography", "protein", "spambase", "w8a", "a9a")
BANDS = ((0.0, 0.05), (0.02, 0.05))
ROWS = 8_000
SPLITS = 3
CONFIGURATIONS = {
    f"{surrogate}, {anchor or 'no anchor'}, C={C:g}": {"surrogate": surrogate, "anchor": anchor, "C": C}
    for surrogate, anchors, Cs in (
        ("ramp", (None, "logistic"), (1.0, 10.0, 100.0, 1000.0)),
        ("ramp", ("auc",), (10.0, 100.0)),
        ("tight", (None, "logistic"), (10.0,)),
        ("hinge", ("logistic",), (10.0,)),
    )
    for anchor in anchors
    for C in Cs
}
PAGE = Path(__file__).resolve().parent.parent / "docs" / "defaults.md"
INTRODUCTION = f"""
Mean test pAUC over {SPLITS} random two-thirds splits (by group where rows belong together), trained on at most
{ROWS:,} rows, nothing tuned. *Regret* is the mean distance to the best entry of a column. Made by
`make bench ARGS=defaults`, with ROCBAND_DATA naming the folder of the data sets.
"""


def measure(name: str, band: tuple[float, float]) -> dict[str, list[float]]:
    scores: dict[str, list[float]] = {}
    for A, a, B, b in load(name).splits(SPLITS, ROWS):
        models = {"logistic regression": LogisticRegression(max_iter=1000)}
        models |= {label: PartialAUCSVC(band, **options) for label, options in CONFIGURATIONS.items()}
        for label, model in models.items():
            fitted = model.fit(A, a)
            scores.setdefault(label, []).append(partial_auc_score(b, fitted.decision_function(B), fpr_range=band))
    return scores


def run() -> dict[str, object]:
    warnings.simplefilter("ignore")
    results: dict[str, dict[str, list[float]]] = {}
    for name in SETS:
        for band in BANDS:
            began = time.perf_counter()
            results[f"{name} {list(band)}"] = measure(name, band)
            print(f"  {name} {list(band)}: {time.perf_counter() - began:.0f} s", flush=True)
    means = {case: {label: float(np.mean(v)) for label, v in scores.items()} for case, scores in results.items()}
    PAGE.write_text(page(means))
    return {"mean_regret": regret(means), "test_pauc": results}


def regret(means: dict[str, dict[str, float]]) -> dict[str, float]:
    """How far each configuration lies below the best of all on average over the cases; smallest first."""
    labels = next(iter(means.values()))
    lost = {label: float(np.mean([max(row.values()) - row[label] for row in means.values()])) for label in labels}
    return dict(sorted(lost.items(), key=lambda item: item[1]))


def page(means: dict[str, dict[str, float]]) -> str:
    """Lay out the means as a page of the documentation, the best of a column in bold."""
    best = {case: max(row.values()) for case, row in means.items()}
    rows = []
    for label, lost in regret(means).items():
        cells = [
            f"**{row[label]:.3f}**" if row[label] == best[case] else f"{row[label]:.3f}" for case, row in means.items()
        ]
        rows.append([label, f"{lost:.4f}", *cells])
    lines = [
        *heading("Evidence for the defaults", 1),
        *paragraph(INTRODUCTION),
        *table(["configuration", "regret", *means], rows),
    ]
    return "\n".join(lines[:-1]) + "\n"
