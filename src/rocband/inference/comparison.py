"""Paired comparisons of scorers on the same samples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from rocband.inference.curve import FloatArray, Influence, SmoothFigure, Steps
from rocband.inference.intervals import FULL, check_settings, own_figures, quantiles, rectangle, two_sided
from rocband.inference.resampling import DRAWING_METHODS, draw_figures
from rocband.inference.sample import Sample

__all__ = ["Comparison", "compare_many", "compare_partial_auc"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference of two scorers' figures.

    Attributes
    ----------
    difference, low, high : float
        The figure of ``names[0]`` minus that of ``names[1]``, and the ends of its interval.
    pvalue : float
        Two-sided p-value of the hypothesis that the true figures are equal.
    estimates : (float, float)
        The two figures.
    names : (str, str)
        The two scorers.
    confidence : float
        The nominal coverage.
    method : str
        How interval and p-value were made.
    """

    difference: float
    low: float
    high: float
    pvalue: float
    estimates: tuple[float, float]
    names: tuple[str, str]
    confidence: float
    method: str

    def __str__(self) -> str:
        first, second = self.names
        return (
            f"{first} - {second}: {self.difference:+.4f} ({100 * self.confidence:g}% interval {self.low:+.4f} to "
            f"{self.high:+.4f}, p = {self.pvalue:.2g}, {self.method})"
        )


def compare_partial_auc(
    y_true: npt.ArrayLike,
    score_a: npt.ArrayLike,
    score_b: npt.ArrayLike,
    *,
    fpr_range: tuple[float, float] = FULL,
    tpr_range: tuple[float, float] | None = None,
    confidence: float = 0.95,
    method: str = "spacings",
    n_draws: int = 2000,
    groups: npt.ArrayLike | None = None,
    random_state: Any = None,
    pos_label: object = None,
    verbose: int = 0,
) -> Comparison:
    """Compare the partial AUC of two scorers on the same samples.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, at least 2 of each.
    score_a, score_b : array-like of shape (n_samples,)
        The scores that two models give the same samples, larger for what looks more positive. They may be on
        different scales.
    fpr_range, tpr_range, confidence, method, n_draws, groups, random_state, pos_label, verbose
        As in :func:`rocband.inference.partial_auc_interval`. Both scorers share every draw. "analytic" is DeLong's
        test for the full AUC, and its extension by influence functions for a band.

    Returns
    -------
    Comparison
        With ``difference`` (a minus b), ``low``, ``high`` and the two-sided ``pvalue``. Drawn p-values are no smaller
        than 2 / (n_draws + 1).

    Examples
    --------
    The sum of both features has the better AUC, the second alone the better band:

    >>> from rocband.datasets import make_band_problem
    >>> from rocband.inference import compare_partial_auc
    >>> X, y = make_band_problem(1000, random_state=0)
    >>> for band in ((0.0, 1.0), (0.0, 0.05)):
    ...     result = compare_partial_auc(y, X[:, 0] + X[:, 1], X[:, 1], fpr_range=band, random_state=0)
    ...     print(f"{result.difference:+.1f}, p < 0.01: {result.pvalue < 0.01}")
    +0.1, p < 0.01: True
    -0.3, p < 0.01: True
    """
    check_settings(method, (*DRAWING_METHODS, "analytic"), confidence, n_draws)
    figure = rectangle(fpr_range, tpr_range)
    sample = Sample.of(y_true, {"score_a": score_a, "score_b": score_b}, groups, pos_label)
    curves, figures = own_figures(sample, figure)
    difference = figures[0] - figures[1]
    if method == "analytic":
        low, high, pvalue = _analytic(sample, figure, curves, difference, confidence)
    else:
        draws = draw_figures(
            sample, figure, method=method, n_draws=int(n_draws), random_state=random_state, verbose=verbose
        )
        differences = draws[:, 0] - draws[:, 1]
        low, high = quantiles(differences, confidence, difference)
        pvalue = two_sided(differences, 0.0, difference)
    return Comparison(
        difference, low, high, pvalue, (figures[0], figures[1]), ("score_a", "score_b"), float(confidence), method
    )


def _analytic(
    sample: Sample, figure: SmoothFigure, curves: list[Steps], difference: float, confidence: float
) -> tuple[float, float, float]:
    first, second = (figure.influence(steps) for steps in curves)
    influence = Influence(first.positive - second.positive, first.negative - second.negative)
    variance, degrees = sample.variance(influence)
    if variance == 0:
        return difference, difference, float(difference == 0)
    error = math.sqrt(variance)
    half = float(stats.t.isf((1 - confidence) / 2, degrees)) * error
    return difference - half, difference + half, float(2 * stats.t.sf(abs(difference) / error, degrees))


def compare_many(
    y_true: npt.ArrayLike,
    scores: Mapping[str, npt.ArrayLike],
    *,
    reference: str | None = None,
    fpr_range: tuple[float, float] = FULL,
    tpr_range: tuple[float, float] | None = None,
    confidence: float = 0.95,
    method: str = "spacings",
    n_draws: int = 2000,
    groups: npt.ArrayLike | None = None,
    random_state: Any = None,
    pos_label: object = None,
    verbose: int = 0,
) -> tuple[Comparison, ...]:
    """Compare the partial AUC of several scorers on the same samples, with the number of comparisons accounted for.

    The intervals hold all true differences at once with the nominal confidence, and the chance that any p-value falls
    below a level, where no difference exists, is at most that level. With draws, all scorers share each of them, so the
    largest of all standardised differences has a known joint distribution (max-T [1]_), which is sharper when scorers
    resemble each other. Without, the p-values are adjusted by Holm's method [2]_ and the intervals by Bonferroni's.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, at least 2 of each.
    scores : mapping of str to array-like of shape (n_samples,)
        The scores of each model by its name, at least two.
    reference : str, optional
        Compare every other scorer with this one; by default every pair is compared.
    fpr_range, tpr_range, confidence, n_draws, groups, random_state, pos_label, verbose
        As in :func:`rocband.inference.partial_auc_interval`.
    method : {"spacings", "bootstrap", "analytic"}, default "spacings"
        How the draws are made; "analytic" makes none, see :func:`compare_partial_auc`.

    Returns
    -------
    tuple of Comparison
        In the order of the names.

    References
    ----------
    .. [1] P. H. Westfall, S. S. Young (1993). Resampling-based multiple testing. Wiley.
    .. [2] S. Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics
       6(2), 65-70.

    Examples
    --------
    >>> from rocband.datasets import make_band_problem
    >>> from rocband.inference import compare_many
    >>> X, y = make_band_problem(1000, random_state=0)
    >>> scores = {"second": X[:, 1], "both": X[:, 0] + X[:, 1], "first": X[:, 0]}
    >>> for result in compare_many(y, scores, fpr_range=(0.0, 0.05), reference="second", random_state=0):
    ...     print(f"{result.names[0]} - {result.names[1]}: {result.difference:+.1f}, p < 0.01: {result.pvalue < 0.01}")
    both - second: -0.3, p < 0.01: True
    first - second: -0.4, p < 0.01: True
    """
    check_settings(method, (*DRAWING_METHODS, "analytic"), confidence, n_draws)
    pairs = _pairs(list(scores), reference)
    figure = rectangle(fpr_range, tpr_range)
    sample = Sample.of(y_true, {f"scores[{name!r}]": values for name, values in scores.items()}, groups, pos_label)
    curves, figures = own_figures(sample, figure)
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    differences = np.array(figures)[first] - np.array(figures)[second]
    if method == "analytic":
        half, pvalues = _each_adjusted(
            sample, figure, [(curves[a], curves[b]) for a, b in pairs], differences, confidence
        )
    else:
        draws = draw_figures(
            sample, figure, method=method, n_draws=int(n_draws), random_state=random_state, verbose=verbose
        )
        half, pvalues = _largest_of_all(draws[:, first] - draws[:, second], differences, confidence)
    names = list(scores)
    return tuple(
        Comparison(
            difference=float(differences[k]),
            low=float(differences[k] - half[k]),
            high=float(differences[k] + half[k]),
            pvalue=float(pvalues[k]),
            estimates=(figures[a], figures[b]),
            names=(names[a], names[b]),
            confidence=float(confidence),
            method=method,
        )
        for k, (a, b) in enumerate(pairs)
    )


def _pairs(names: list[str], reference: str | None) -> list[tuple[int, int]]:
    if len(names) < 2:
        raise ValueError(f"scores must hold at least two scorers, got {len(names)}.")
    if reference is None:
        return list(itertools.combinations(range(len(names)), 2))
    if reference not in names:
        raise ValueError(f"reference={reference!r} is not among the scorers {', '.join(map(repr, names))}.")
    return [(k, names.index(reference)) for k, name in enumerate(names) if name != reference]


def _each_adjusted(
    sample: Sample,
    figure: SmoothFigure,
    pairs: list[tuple[Steps, Steps]],
    differences: FloatArray,
    confidence: float,
) -> tuple[FloatArray, FloatArray]:
    """Return half the width of Bonferroni's intervals, and Holm's p-values."""
    level = 1 - (1 - confidence) / len(pairs)
    alone = [
        _analytic(sample, figure, list(curves), float(difference), level)
        for curves, difference in zip(pairs, differences, strict=True)
    ]
    low, high, pvalues = (np.array(column) for column in zip(*alone, strict=True))
    return (high - low) / 2, _holm(pvalues)


def _holm(pvalues: FloatArray) -> FloatArray:
    order = np.argsort(pvalues)
    adjusted = np.empty_like(pvalues)
    adjusted[order] = np.maximum.accumulate(pvalues[order] * np.arange(len(pvalues), 0, -1))
    return np.minimum(adjusted, 1.0)


def _largest_of_all(draws: FloatArray, differences: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Return half the width of each simultaneous interval, and the adjusted p-values."""
    errors = draws.std(axis=0, ddof=1)
    scale = np.where(errors > 0, errors, 1.0)
    largest = np.abs((draws - draws.mean(axis=0)) / scale).max(axis=1)
    exceeding = np.count_nonzero(largest[:, np.newaxis] >= np.abs(differences) / scale, axis=0)
    return np.quantile(largest, confidence) * errors, (exceeding + 1) / (len(draws) + 1)
