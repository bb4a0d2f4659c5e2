"""Two models on the same rows: their curves in one picture, the difference with its interval, and a page to mail.

python examples/compare_models.py            writes compare.png and compare.html
python examples/compare_models.py --folder out
"""

from __future__ import annotations

import argparse
from pathlib import Path

from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from rocband import KernelPartialAUCSVC, report
from rocband.datasets import load_letter
from rocband.inference import compare_partial_auc
from rocband.plot import PartialROCDisplay

BAND = (0.0, 0.01)


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Compare two models in a band.")
    parser.add_argument("--folder", type=Path, default=Path(), help="where picture and page go")
    folder = parser.parse_args(arguments).folder

    X, y = load_letter("Q", return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 2, stratify=y, random_state=0)
    models = {
        "kernel for the band": make_pipeline(StandardScaler(), KernelPartialAUCSVC(BAND, n_components=200)),
        "quadratic logistic": make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression(max_iter=1000)),
    }
    scores = {name: model.fit(X_train, y_train).decision_function(X_test) for name, model in models.items()}

    # 1. The difference, on rows that neither has seen. Both share every draw.
    result = compare_partial_auc(y_test, *scores.values(), fpr_range=BAND, random_state=0)
    for name, area in zip(scores, result.estimates, strict=True):
        print(f"{name:<20} pAUC {area:.3f}")
    print(f"difference {result.difference:+.3f}, from {result.low:+.3f} to {result.high:+.3f}, p = {result.pvalue:.2g}")

    # 2. The curves around the band.
    figure = Figure(figsize=(7, 5), layout="constrained")
    ax = figure.subplots()
    for name, values in scores.items():
        PartialROCDisplay.from_predictions(y_test, values, fpr_range=BAND, name=name, ax=ax, random_state=0)
    ax.set(xlim=(0, 3 * BAND[1]), aspect="auto")
    figure.savefig(folder / "compare.png", dpi=130)

    # 3. Everything on one page that opens without a network.
    page = report.write(folder / "compare.html", y_test, scores, fpr_range=BAND, random_state=0)
    print(f"Written: {folder / 'compare.png'} and {page}")


if __name__ == "__main__":
    main()
