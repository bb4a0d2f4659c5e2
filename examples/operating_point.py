"""From data to an alarm: train for a band, choose C, set the threshold with a guarantee, read the operating points.

    python examples/operating_point.py                          the embedded letters
    python examples/operating_point.py mammography              a table in the folder that ROCBAND_DATA names
    python examples/operating_point.py protein_homology         its rows come in blocks, which stay together
    python examples/operating_point.py kddcup06_pe_test1391     the same with patients

A table is one ``.npz`` file: ``X`` (or ``data``, ``indices``, ``indptr`` and ``shape`` of a CSR matrix), ``y`` with 1
for the positives and, where rows belong together, ``groups``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from rocband import PartialAUCSVCCV
from rocband.datasets import load_letter
from rocband.inference import partial_auc_interval
from rocband.metrics import partial_auc_score
from rocband.threshold import FPRThresholdClassifier, operating_points

TABLES = ("letters", "mammography", "protein_homology", "kddcup06_pe_test1391")
TARGET = 0.05
BAND = (0.0, TARGET)
CONFIDENCE = 0.95
CS = (0.1, 1.0, 10.0, 100.0, 1000.0)


def main(arguments=None):
    options = read_arguments(arguments)
    X, y, groups = read_table(options.table)
    train, calibrate, test = three_parts(y, groups)
    print(f"{options.table}: {X.shape[0]:,} rows, {X.shape[1]} features, {int(y.sum()):,} positives.")
    print(f"Train on {len(train):,} rows, set the threshold on {len(calibrate):,}, test on {len(test):,}.\n")

    # 1. Train for the band and choose C by cross-validation; rows of one group are never on both sides of a fold.
    began = time.perf_counter()
    model = band_model(X, y, groups, train)
    chosen = model[-1]
    print(f"1. Trained for FPR {BAND[0]:.0%} to {BAND[1]:.0%} in {time.perf_counter() - began:.1f} s.")
    for C, mean in zip(chosen.Cs_, chosen.scores_.mean(axis=1), strict=True):
        print(f"   C = {C:<6g} cross-validated pAUC {mean:.3f}{'  <- chosen' if C == chosen.C_ else ''}")

    # 2. Set the threshold on rows that training has not seen.
    alarm = FPRThresholdClassifier(model, target_fpr=TARGET, confidence=CONFIDENCE, cv="prefit")
    alarm.fit(X[calibrate], y[calibrate])
    print(f"\n2. Threshold {alarm.threshold_:.3f}, set by {alarm.n_calibration_negatives_:,} negatives:")
    print(
        f"   its true FPR is at most {TARGET:.0%} with probability {CONFIDENCE:.0%}; expect {alarm.expected_fpr_:.1%}."
    )
    if groups is not None:
        count = len(np.unique(groups[calibrate]))
        print(f"   That holds for rows drawn one by one. These come from {count} groups of rows that are alike,")
        print("   so the promise, and the intervals of the table below, are too sure.")

    # 3. What the model and its threshold do on fresh rows.
    scores = model.decision_function(X[test])
    labels = y[test]
    part_groups = None if groups is None else groups[test]
    area = partial_auc_interval(labels, scores, fpr_range=BAND, groups=part_groups, random_state=0)
    called = alarm.predict(X[test]) == 1
    print(f"\n3. On the test rows: pAUC {area.estimate:.3f} ({area.low:.3f} to {area.high:.3f}), AUC", end=" ")
    print(f"{partial_auc_score(labels, scores):.3f}.")
    print(f"   The threshold calls {called[labels == 0].mean():.1%} of the negatives and", end=" ")
    print(f"{called[labels == 1].mean():.1%} of the positives.\n")
    print(slide(operating_points(labels, scores, fprs=(0.01, 0.02, TARGET, 0.1))))


def read_arguments(arguments):
    parser = argparse.ArgumentParser(description="Train for a band of false-positive rates and act at a threshold.")
    parser.add_argument("table", nargs="?", default=TABLES[0], choices=TABLES, help="data set (default: %(default)s)")
    return parser.parse_args(arguments)


def read_table(name):
    """Return rows, labels and groups, or None where every row stands for itself."""
    if name == "letters":
        return *load_letter("Q", return_X_y=True), None
    folder = os.environ.get("ROCBAND_DATA")
    path = Path(folder or ".").expanduser() / f"{name}.npz"
    if folder is None or not path.is_file():
        sys.exit(f"Set ROCBAND_DATA to a folder that holds {name}.npz.")
    with np.load(path, allow_pickle=False) as parts:
        if "X" in parts:
            X = parts["X"]
        else:
            X = sparse.csr_matrix((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
        return X, parts["y"].astype(int), parts.get("groups")


def three_parts(y, groups):
    """Half of the rows to train on, a quarter to set the threshold on, a quarter to test on."""
    quarters = [quarter for _, quarter in splitter(groups).split(y, y, groups)]
    return np.concatenate(quarters[:2]), quarters[2], quarters[3]


def splitter(groups):
    """Four stratified parts, of whole groups where there are groups."""
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    return kind(4, shuffle=True, random_state=0)


def band_model(X, y, groups, train):
    """Scale the features, choose C and fit."""
    scaler = MaxAbsScaler() if sparse.issparse(X) else StandardScaler()
    model = make_pipeline(scaler, PartialAUCSVCCV(BAND, Cs=CS, cv=splitter(groups)))
    fit_options = {} if groups is None else {"partialaucsvccv__groups": groups[train]}
    return model.fit(X[train], y[train], **fit_options)


def slide(table):
    """Lay out the operating points as people read them: a value with its interval in brackets."""
    percent = {"TPR": "{:.0%}", "PPV": "{:.0%}", "alerts per 1,000": "{:.0f}"}
    lines = [f"{'FPR':>4}  {'threshold':>9}" + "".join(f"  {name + ' (95% interval)':>31}" for name in percent)]
    for rate, row in table.iterrows():
        cells = (
            f"{form.format(row[name])} ({form.format(row[f'{name} low'])} to {form.format(row[f'{name} high'])})"
            for name, form in percent.items()
        )
        lines.append(f"{rate:>4.0%}  {row['threshold']:>9.3f}" + "".join(f"  {cell:>31}" for cell in cells))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
