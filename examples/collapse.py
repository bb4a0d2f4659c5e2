"""Why a convex surrogate can collapse and the ramp does not: the risk along one ray, drawn.

    python examples/collapse.py                    writes collapse.png
    python examples/collapse.py docs/collapse.png  writes the figure of the theory page

A model w is scaled by t. At t = 0 every pair costs 1, whatever the surrogate. The share of pairs ranked wrongly does
not depend on t, but the convex surrogate charges a hopeless pair in proportion to t.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.preprocessing import StandardScaler

from rocband import CollapsedSolutionWarning, PartialAUCSVC
from rocband.datasets import load_letter
from rocband.risks import Band, Scores, risk_for

BAND = (0.0, 0.01)


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Draw the risk of two surrogates along a ray.")
    parser.add_argument("picture", nargs="?", type=Path, default=Path("collapse.png"))
    options = parser.parse_args(arguments)

    X, y = load_letter("Q", return_X_y=True)
    X = StandardScaler().fit_transform(X)
    convex = fitted(X, y, "tight")
    bounded = fitted(X, y, "ramp")
    print(f"Band {BAND[0]:.0%} to {BAND[1]:.0%}, C = {convex.C:g}.")
    print(f"tight: |w| = {size(convex):.2g}, objective {convex.objective_:.4f}, lower bound {convex.lower_bound_:.4f}")
    print(f"ramp:  |w| = {size(bounded):.2g}, objective {bounded.objective_:.4f}")

    direction = bounded.coef_[0] / size(bounded)
    lengths = np.linspace(0.0, 1.2 * size(bounded), 120)
    positives = X[y == 1] @ direction
    negatives = X[y == 0] @ direction
    band = Band.from_range(BAND, len(negatives))
    curves = {name: risks(name, lengths, positives, negatives, band) for name in ("tight", "ramp")}
    wrong = share_of_wrong_pairs(positives, negatives, band)
    draw(lengths, curves, wrong, size(bounded), options.picture)
    print(f"Along the ray of the ramp's model, {wrong:.0%} of the pairs are ranked wrongly. Picture: {options.picture}")


def fitted(X, y, surrogate):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapsedSolutionWarning)
        return PartialAUCSVC(BAND, surrogate=surrogate, anchor=None, C=100.0).fit(X, y)


def size(model):
    return float(np.linalg.norm(model.coef_))


def risks(surrogate, lengths, positives, negatives, band):
    risk = risk_for(surrogate, band)
    return [risk.value(Scores.of(t * positives, t * negatives)) for t in lengths]


def share_of_wrong_pairs(positives, negatives, band):
    top = -np.sort(-negatives)[band.start : band.stop]
    return float((positives[:, None] <= top).mean())


def draw(lengths, curves, wrong, chosen, path):
    figure = Figure(figsize=(9.5, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    margins = np.linspace(-4, 2, 200)
    hinge = np.maximum(1 - margins, 0)
    colors = {"tight": "#b5483a", "ramp": "#1f6f8b"}
    left.plot(margins, hinge, color=colors["tight"], linestyle="--", label="hinge: without limit")
    left.plot(margins, np.minimum(hinge, 1), color=colors["ramp"], label="ramp: at most 1")
    left.step([-4, 0, 2], [1, 1, 0], where="pre", color="0.5", linewidth=1, label="what is counted: wrong or right")
    left.set(xlabel="score of the positive minus that of the negative", ylabel="cost of the pair", ylim=(-0.1, 5.2))
    left.set_title("One pair")
    left.legend(frameon=False)
    right.plot(lengths, curves["tight"], color=colors["tight"], linestyle="--", label="tight")
    right.plot(lengths, curves["ramp"], color=colors["ramp"], label="ramp")
    right.axhline(1, color="0.7", linewidth=0.8)
    right.axhline(wrong, color="0.5", linewidth=1, label="share of pairs ranked wrongly")
    right.plot([chosen], [np.interp(chosen, lengths, curves["ramp"])], "o", color=colors["ramp"])
    right.plot([0], [1], "o", color=colors["tight"], clip_on=False)
    right.set(xlabel="length of w along the ray", ylabel="risk", xlim=(0, None), ylim=(0, 3))
    right.set_title(f"All pairs of letter Q in the band {BAND[0]:.0%} to {BAND[1]:.0%}")
    right.legend(frameon=False, loc="upper left")
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main()
