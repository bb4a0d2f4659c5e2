"""Who is better than whom: wins, ties and losses over repeated splits, and mean ranks."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from scipy.stats import rankdata

# Case (a set and a band) -> label of a model -> its figure in each split.
Scores = dict[Hashable, dict[str, list[float]]]


def mean_and_error(values: list[float]) -> tuple[float, float]:
    """Return the mean and its standard error, nan for a single value."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(np.mean(values)), float(error)


def verdict(ours: list[float], theirs: list[float]) -> str:
    """Compare split by split: a tie when the mean difference is within two of its standard errors."""
    mean, error = mean_and_error([a - b for a, b in zip(ours, theirs, strict=True)])
    if not abs(mean) > 2 * error:
        return "tie"
    return "win" if mean > 0 else "loss"


def win_tie_loss(scores: Scores, ours: str, theirs: str) -> tuple[int, int, int]:
    """Count the verdicts over the cases that both have."""
    found = [verdict(row[ours], row[theirs]) for row in scores.values() if ours in row and theirs in row]
    return found.count("win"), found.count("tie"), found.count("loss")


def mean_ranks(scores: Scores) -> dict[str, float]:
    """Return the mean rank of each model, 1 being the best, over the cases that all have; the best first."""
    labels = list(dict.fromkeys(label for row in scores.values() for label in row))
    rows = [row for row in scores.values() if len(row) == len(labels)]
    if not rows:
        return {}
    ranks = np.array([rankdata([-np.mean(row[label]) for label in labels]) for row in rows])
    return dict(sorted(zip(labels, ranks.mean(axis=0).tolist(), strict=True), key=lambda item: item[1]))
