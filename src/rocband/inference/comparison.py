"""Paired comparisons of scorers on the same samples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import stats

from rocband._errors import ParameterError
from rocband._types import FloatArray
from rocband.inference.figures import Influence, SmoothFigure
from rocband.inference.intervals import FULL, Method, Procedure, own_figures, quantiles, rectangle, two_sided
from rocband.inference.resampling import RandomState
from rocband.inference.sample import Sample

__all__ = ["Comparison", "compare_many", "compare_partial_auc"]

# The places of two scorers in the order of their names.
_Pair = tuple[int, int]


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
    method: Method

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
    method: Method = "spacings",
    n_draws: int = 2000,
    groups: npt.ArrayLike | None = None,
    random_state: RandomState = None,
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
    procedure = Procedure(method, confidence, n_draws, random_state, verbose)
    figure = rectangle(fpr_range, tpr_range)
    sample = Sample.of(y_true, {"score_a": score_a, "score_b": score_b}, groups, pos_label)
    (result,) = _compared(sample, figure, ["score_a", "score_b"], [(0, 1)], procedure)
    return result


def compare_many(
    y_true: npt.ArrayLike,
    scores: Mapping[str, npt.ArrayLike],
    *,
    reference: str | None = None,
    fpr_range: tuple[float, float] = FULL,
    tpr_range: tuple[float, float] | None = None,
    confidence: float = 0.95,
    method: Method = "spacings",
    n_draws: int = 2000,
    groups: npt.ArrayLike | None = None,
    random_state: RandomState = None,
    pos_label: object = None,
    verbose: int = 0,
) -> tuple[Comparison, ...]:
    """Compare the partial AUC of several scorers on the same samples, with the number of comparisons accounted for.

    The intervals hold all true differences at once with the nominal confidence, and the chance that any p-value falls
    below a level, where no difference exists, is at most that level. With draws, all scorers share each of them, so the
    largest of all standardised differences has a known joint distribution (max-T [1]_), which is sharper when scorers
    resemble each other. Without, the p-values are adjusted by Holm's method [2]_ and the intervals by Bonferroni's. A
    single pair needs no adjustment: its interval and p-value are those of :func:`compare_partial_auc`.

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
        In the order of the names. Drawn p-values are no smaller than 1 / (n_draws + 1), and that of a single pair than
        2 / (n_draws + 1).

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
    procedure = Procedure(method, confidence, n_draws, random_state, verbose)
    names = list(scores)
    pairs = _pairs(names, reference)
    figure = rectangle(fpr_range, tpr_range)
    called = {f"scores[{name!r}]": values for name, values in scores.items()}
    sample = Sample.of(y_true, called, groups, pos_label)
    return tuple(_compared(sample, figure, names, pairs, procedure))


def _pairs(names: list[str], reference: str | None) -> list[_Pair]:
    if len(names) < 2:
        raise ParameterError("scores", f"must hold at least two scorers, got {len(names)}.")
    if reference is None:
        return list(itertools.combinations(range(len(names)), 2))
    if reference not in names:
        raise ParameterError(
            "reference", f"must be one of the scorers {', '.join(map(repr, names))}, got {reference!r}."
        )
    compared_with = names.index(reference)
    return [(k, compared_with) for k in range(len(names)) if k != compared_with]


def _compared(
    sample: Sample, figure: SmoothFigure, names: list[str], pairs: list[_Pair], procedure: Procedure
) -> list[Comparison]:
    """Compare every pair; both public functions come here, so that a pair has one p-value whoever is asked."""
    curves, figures = own_figures(sample, figure)
    differences = [figures[a] - figures[b] for a, b in pairs]
    if procedure.method == "analytic":
        influences = [figure.influence(steps) for steps in curves]
        contrasts = [_contrast(influences[a], influences[b]) for a, b in pairs]
        verdicts = _analytic(sample, contrasts, differences, procedure.confidence)
    else:
        draws = procedure.draws(sample, figure)
        first = [a for a, _ in pairs]
        second = [b for _, b in pairs]
        verdicts = _drawn(draws[:, first] - draws[:, second], differences, procedure.confidence)
    return [
        Comparison(
            difference=difference,
            low=verdict.low,
            high=verdict.high,
            pvalue=verdict.pvalue,
            estimates=(figures[a], figures[b]),
            names=(names[a], names[b]),
            confidence=float(procedure.confidence),
            method=procedure.method,
        )
        for (a, b), difference, verdict in zip(pairs, differences, verdicts, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The interval of one difference, and the p-value of there being none."""

    low: float
    high: float
    pvalue: float


def _contrast(first: Influence, second: Influence) -> Influence:
    """Return the influence on the difference of two figures."""
    return Influence(first.positive - second.positive, first.negative - second.negative)


def _analytic(
    sample: Sample, influences: list[Influence], differences: list[float], confidence: float
) -> list[_Verdict]:
    """Judge all pairs: intervals by Bonferroni's method, p-values by Holm's."""
    n_pairs = len(differences)
    level = confidence
    # Not computed for a single pair, since 1 - (1 - 0.95) is not 0.95 to the last digit.
    if n_pairs > 1:
        level = 1 - (1 - confidence) / n_pairs
    alone = [
        _students_t(sample, influence, difference, level)
        for influence, difference in zip(influences, differences, strict=True)
    ]
    adjusted = _holm(np.array([verdict.pvalue for verdict in alone]))
    return [replace(verdict, pvalue=float(pvalue)) for verdict, pvalue in zip(alone, adjusted, strict=True)]


def _students_t(sample: Sample, influence: Influence, difference: float, confidence: float) -> _Verdict:
    """Judge one pair: its difference, divided by its standard error, has Student's distribution."""
    variance, degrees = sample.variance(influence)
    if variance == 0:
        return _Verdict(difference, difference, float(difference == 0))
    error = math.sqrt(variance)
    half = float(stats.t.isf((1 - confidence) / 2, degrees)) * error
    pvalue = float(2 * stats.t.sf(abs(difference) / error, degrees))
    return _Verdict(difference - half, difference + half, pvalue)


def _holm(pvalues: FloatArray) -> FloatArray:
    """Multiply the smallest of k p-values by k, the next by k - 1, and so on, and let none fall below one before."""
    order = np.argsort(pvalues)
    left = np.arange(len(pvalues), 0, -1)
    adjusted = np.empty_like(pvalues)
    adjusted[order] = np.maximum.accumulate(pvalues[order] * left)
    return np.minimum(adjusted, 1.0)


def _drawn(draws: FloatArray, differences: list[float], confidence: float) -> list[_Verdict]:
    """Judge all pairs from their drawn differences, one column a pair."""
    if len(differences) == 1:
        return [_drawn_alone(draws[:, 0], differences[0], confidence)]
    return _drawn_together(draws, np.array(differences), confidence)


def _drawn_alone(draws: FloatArray, difference: float, confidence: float) -> _Verdict:
    low, high = quantiles(draws, confidence, difference)
    return _Verdict(low, high, two_sided(draws, 0.0, difference))


def _drawn_together(draws: FloatArray, differences: FloatArray, confidence: float) -> list[_Verdict]:
    """Judge each pair by the largest of all standardised differences (max-T)."""
    errors = draws.std(axis=0, ddof=1)
    # Two scorers that never differ have no error to divide by; any other than 0 leaves their difference 0.
    scale = np.where(errors > 0, errors, 1.0)
    standardised = (draws - draws.mean(axis=0)) / scale
    largest = np.abs(standardised).max(axis=1)
    halves = np.quantile(largest, confidence) * errors
    # A draw as large as the difference itself speaks for chance, and so does the sample, which is one more draw.
    at_least = largest[:, np.newaxis] >= np.abs(differences) / scale
    pvalues = (np.count_nonzero(at_least, axis=0) + 1) / (len(draws) + 1)
    return [
        _Verdict(float(difference - half), float(difference + half), float(pvalue))
        for difference, half, pvalue in zip(differences, halves, pvalues, strict=True)
    ]
