"""Infinite Push, the ranking method for the very top of a list, is the band from 0 to 1/n.

    python examples/infinite_push.py

Infinite Push minimises the loss of the negative that beats the positives most: max_j mean_i (1 - s_i + z_j)_+ . With n
negatives, the band [0, 1/n] holds just the highest one, so that `PartialAUCSVC` with the hinge minimises the same, and
proves how near it is to the minimum. Where the classes overlap, the highest negative lies above most positives and the
constant score is the best that this loss knows; the bounded loss "ramp" goes on from there.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from rocband import CollapsedSolutionWarning, PartialAUCSVC
from rocband.datasets import load_letter


def main():
    print(f"{'':8}{'':18}{'positives above every negative':>32}")
    print(f"{'letter':8}{'model':18}{'training':>20}{'test':>12}")
    for letter in ("A", "Q"):
        X, y = load_letter(letter, return_X_y=True)
        train, test, y_train, y_test = train_test_split(X / 15, y, test_size=1 / 3, stratify=y, random_state=0)
        for name, model in models(np.count_nonzero(y_train == 0)).items():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", CollapsedSolutionWarning)
                model.fit(train, y_train)
            shares = [positives_at_the_top(model, *part) for part in ((train, y_train), (test, y_test))]
            note = "  (the constant score is optimal)" if caught else ""
            print(f"{letter:8}{name:18}{shares[0]:>20.1%}{shares[1]:>12.1%}{note}")


def models(n_negatives):
    """Infinite Push, the same band with the bounded loss, and a model for all thresholds."""
    top = (0.0, 1.0 / n_negatives)
    return {
        "Infinite Push": PartialAUCSVC(top, surrogate="hinge", anchor=None, C=100.0),
        "ramp, [0, 1/n]": PartialAUCSVC(top, C=100.0),
        "logistic": LogisticRegression(max_iter=1000),
    }


def positives_at_the_top(model, X, y):
    """Share of the positives with a score above that of every negative."""
    scores = model.decision_function(X)
    return float((scores[y == 1] > scores[y == 0].max()).mean())


if __name__ == "__main__":
    main()
