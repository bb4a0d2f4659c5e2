"""Paired comparisons of scorers on the same samples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from rocband._errors import ParameterError
from rocband._types import FloatArray
from rocband.inference.figures import Influence, Rectangle, Steps
from rocband.inference.intervals import (
    FEWEST_NEGATIVES,
    FULL,
    MethodUsed,
    Procedure,
    check_settings,
    own_figures,
    quantiles,
    rectangle,
    trials,
    two_sided,
)
from rocband.inference.permutation import Exchanges
from rocband.inference.resampling import RandomState, generator_of
from rocband.inference.sample import Sample
from rocband.metrics.narrow import warn_if_narrow
from rocband.ranks import position

__all__ = ["Comparison", "compare_many", "compare_partial_auc", "draws_of_each", "smallest_pvalue"]

ComparisonMethodUsed = Literal["permutation", "spacings", "bootstrap", "analytic"]
ComparisonMethod = Literal["auto", "permutation", "spacings", "bootstrap", "analytic"]
_METHODS: tuple[ComparisonMethod, ...] = ("auto", "permutation", "spacings", "bootstrap", "analytic")

# With fewer positives or negatives than these to decide a figure, Student's distribution is no good account of a
# difference: in [0, 0.05], with one negative in the band, it rejects a true null in 13 to 30% of samples, and with ten
# and scorers that resemble each other in 1%, at a loss of power. From so many on it rejects in 4 to 6%. The benchmark
# "levels" shows it.
_FEW = 50
# So many draws lie beyond the ends of the strictest interval of many pairs, so that its ends are not one draw's whim.
_BEYOND = 10
# Seeds of generators are drawn below this.
_SEEDS = 1 << 63

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
    method: ComparisonMethodUsed

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
    method: ComparisonMethod = "auto",
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
    fpr_range, tpr_range, confidence, groups, random_state, pos_label, verbose
        As in :func:`rocband.inference.partial_auc_interval`.
    method : {"auto", "permutation", "analytic", "spacings", "bootstrap"}, default "auto"
        "permutation" exchanges the two scorers' ranks of each sample, or group, by the toss of a coin [1]_ [2]_, and
        divides each difference by its standard error [3]_. "analytic" is DeLong's test for the full AUC, and its
        extension by influence functions for a band, with Student's t. "auto" takes "permutation" where fewer than 50
        positives or negatives decide the figure, and "analytic" from there on, where both agree. "spacings" and
        "bootstrap" draw curves, as for the interval of one scorer; both scorers share each draw. These two may reject
        a true null too often, spacings in 12% of samples of 20 positives and 200 negatives.
    n_draws : int, default 2000
        Number of draws, at least 100. Not used by "analytic".

    Returns
    -------
    Comparison
        With ``difference`` (a minus b), ``low``, ``high``, the two-sided ``pvalue``, and the ``method`` used. The
        interval leaves 0 out if the p-value is below 1 - confidence, and only then. The smallest p-value that draws
        can show is 1 / (n_draws + 1) by permutation and 2 / (n_draws + 1) by the others.

    Notes
    -----
    The permutation test is exact, but for the estimation of the ranks, if each sample might as well have had its two
    ranks from the other scorer. Where only the two figures are equal, and the curves cross, the division by the
    standard error makes it right for large samples; for small ones it is right as far as Student's t would be.
    ``docs/levels.md`` shows how often it rejects true and false nulls.

    References
    ----------
    .. [1] E. S. Venkatraman, C. B. Begg (1996). A distribution-free procedure for comparing receiver operating
       characteristic curves from a paired experiment. Biometrika 83(4), 835-848.
    .. [2] A. I. Bandos, H. E. Rockette, D. Gur (2005). A permutation test sensitive to differences in areas for
       comparing ROC curves from a paired design. Statistics in Medicine 24(18), 2873-2893.
    .. [3] M. Pauly, T. Asendorf, F. Konietschke (2016). Permutation-based inference for the AUC: a unified approach for
       continuous and discontinuous data. Biometrical Journal 58(6), 1319-1337.

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
    asked = _Asked.of(method, confidence, n_draws, random_state, verbose)
    figure = rectangle(fpr_range, tpr_range)
    sample = Sample.of(y_true, {"score_a": score_a, "score_b": score_b}, groups, pos_label)
    (result,) = _compared(sample, figure, ["score_a", "score_b"], [(0, 1)], asked)
    return result


def compare_many(
    y_true: npt.ArrayLike,
    scores: Mapping[str, npt.ArrayLike],
    *,
    reference: str | None = None,
    fpr_range: tuple[float, float] = FULL,
    tpr_range: tuple[float, float] | None = None,
    confidence: float = 0.95,
    method: ComparisonMethod = "auto",
    n_draws: int = 2000,
    groups: npt.ArrayLike | None = None,
    random_state: RandomState = None,
    pos_label: object = None,
    verbose: int = 0,
) -> tuple[Comparison, ...]:
    """Compare the partial AUC of several scorers on the same samples, with the number of comparisons accounted for.

    The intervals hold all true differences at once with the nominal confidence, and the chance that any p-value falls
    below a level, where no difference exists, is at most that level. The p-values of :func:`compare_partial_auc` are
    adjusted by Holm's method [1]_ and the intervals by Bonferroni's. "spacings" and "bootstrap" have all scorers share
    each draw, so that the largest of all standardised differences has a known joint distribution (max-T [2]_). A single
    pair needs no adjustment: its interval and p-value are those of :func:`compare_partial_auc`, by any method.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, at least 2 of each.
    scores : mapping of str to array-like of shape (n_samples,)
        The scores of each model by its name, at least two.
    reference : str, optional
        Compare every other scorer with this one; by default every pair is compared.
    fpr_range, tpr_range, confidence, method, n_draws, groups, random_state, pos_label, verbose
        As in :func:`compare_partial_auc`. "permutation" makes more than ``n_draws`` draws of each pair where there are
        so many pairs that fewer could not show a difference.

    Returns
    -------
    tuple of Comparison
        In the order of the names.

    References
    ----------
    .. [1] S. Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics
       6(2), 65-70.
    .. [2] P. H. Westfall, S. S. Young (1993). Resampling-based multiple testing. Wiley.

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
    asked = _Asked.of(method, confidence, n_draws, random_state, verbose)
    names = list(scores)
    pairs = _pairs(names, reference)
    figure = rectangle(fpr_range, tpr_range)
    called = {f"scores[{name!r}]": values for name, values in scores.items()}
    sample = Sample.of(y_true, called, groups, pos_label)
    return tuple(_compared(sample, figure, names, pairs, asked))


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


@dataclass(frozen=True, slots=True)
class _Asked:
    """How comparisons are to be made, checked."""

    method: ComparisonMethod
    confidence: float
    n_draws: int
    random_state: RandomState
    verbose: int

    @classmethod
    def of(
        cls, method: ComparisonMethod, confidence: float, n_draws: int, random_state: RandomState, verbose: int
    ) -> _Asked:
        """Check the settings."""
        check_settings(method, _METHODS, confidence, n_draws)
        return cls(method, float(confidence), int(n_draws), random_state, verbose)

    def method_for(self, sample: Sample, figure: Rectangle) -> ComparisonMethodUsed:
        """Return the method, chosen by how many samples decide the figure where that was left open."""
        if self.method != "auto":
            return self.method
        return "permutation" if min(_deciding(sample, figure)) < _FEW else "analytic"


def _deciding(sample: Sample, figure: Rectangle) -> tuple[float, float]:
    """Return how many positives and negatives, or groups of them, decide a figure."""
    m, n = sample.sizes
    if sample.clusters is not None:
        m, n = sample.clusters.sizes
    return position(figure.tpr[1] - figure.tpr[0], m), position(figure.fpr[1] - figure.fpr[0], n)


def _warn_of_few(sample: Sample, figure: Rectangle, method: ComparisonMethodUsed) -> None:
    """Warn where a p-value, or the figures themselves, would mislead."""
    n = sample.sizes[1]
    if method == "permutation":
        warn_if_narrow(figure.fpr, n, 1, "the figures rest on one or two of them", 5)
    else:
        problem = f"method={method!r} finds differences where there are none; 'permutation' does not"
        warn_if_narrow(figure.fpr, n, FEWEST_NEGATIVES, f"with fewer than {FEWEST_NEGATIVES}, {problem}", 5)


def _compared(
    sample: Sample, figure: Rectangle, names: list[str], pairs: list[_Pair], asked: _Asked
) -> list[Comparison]:
    """Compare every pair; both public functions come here, so that a pair has one p-value whoever is asked."""
    curves, figures = own_figures(sample, figure)
    differences = [figures[a] - figures[b] for a, b in pairs]
    method = asked.method_for(sample, figure)
    _warn_of_few(sample, figure, method)
    known = [_trials(sample, figure, curves[a], curves[b]) for a, b in pairs]
    if method == "permutation":
        verdicts = _exchanged(sample, figure, pairs, known, asked)
    elif method == "analytic":
        influences = [figure.influence(steps) for steps in curves]
        contrasts = [_contrast(influences[a], influences[b]) for a, b in pairs]
        verdicts = _analytic(sample, contrasts, differences, known, asked.confidence)
    else:
        verdicts = _drawn(_drawn_differences(sample, figure, pairs, method, asked), differences, asked.confidence)
    return [
        Comparison(
            difference=difference,
            low=verdict.low,
            high=verdict.high,
            pvalue=verdict.pvalue,
            estimates=(figures[a], figures[b]),
            names=(names[a], names[b]),
            confidence=asked.confidence,
            method=method,
        )
        for (a, b), difference, verdict in zip(pairs, differences, verdicts, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The interval of one difference, and the p-value of there being none."""

    low: float
    high: float
    pvalue: float


def _trials(sample: Sample, figure: Rectangle, first: Steps, second: Steps) -> float:
    """Return how many trials a difference without variation is worth: no end of them for scorers of one order."""
    same_positives = np.array_equal(first.positive, second.positive)
    same_negatives = np.array_equal(first.negative, second.negative)
    return math.inf if same_positives and same_negatives else trials(sample, figure)


def _widened(verdict: _Verdict, difference: float, n_trials: float, confidence: float) -> _Verdict:
    """Leave room for what a sample without variation does not show.

    It is what Clopper and Pearson leave for a proportion of 0; the p-value is that of the difference at its end.
    """
    tail = (1 - confidence) / 2
    room = 1 - tail ** (1 / n_trials)
    pvalue = min(2 * (1 - abs(difference)) ** n_trials, 1.0)
    low = min(verdict.low, max(difference - room, -1.0))
    high = max(verdict.high, min(difference + room, 1.0))
    return _Verdict(low, high, max(verdict.pvalue, pvalue))


def _contrast(first: Influence, second: Influence) -> Influence:
    """Return the influence on the difference of two figures."""
    return Influence(first.positive - second.positive, first.negative - second.negative)


def _level(confidence: float, n_pairs: int) -> float:
    """Return Bonferroni's confidence of each of several intervals."""
    # Not computed for a single pair, since 1 - (1 - 0.95) is not 0.95 to the last digit.
    return confidence if n_pairs == 1 else 1 - (1 - confidence) / n_pairs


def _adjusted(alone: list[_Verdict]) -> list[_Verdict]:
    """Account for the number of p-values by Holm's method."""
    pvalues = _holm(np.array([verdict.pvalue for verdict in alone]))
    return [replace(verdict, pvalue=float(pvalue)) for verdict, pvalue in zip(alone, pvalues, strict=True)]


def _exchanged(
    sample: Sample, figure: Rectangle, pairs: list[_Pair], known: list[float], asked: _Asked
) -> list[_Verdict]:
    """Judge each pair by exchanges: intervals by Bonferroni's method, p-values by Holm's."""
    level = _level(asked.confidence, len(pairs))
    n_draws = draws_of_each(asked.n_draws, len(pairs), asked.confidence)
    # Each pair has the generator that it would have alone.
    seed = int(generator_of(asked.random_state).integers(_SEEDS))
    alone = []
    for pair, n_trials in zip(pairs, known, strict=True):
        exchanges = Exchanges(sample, figure, pair)
        judgement = exchanges.judged(n_draws, np.random.default_rng(seed), asked.verbose)
        low, high = judgement.interval(level)
        verdict = _Verdict(low, high, judgement.pvalue)
        if not judgement.varies:
            verdict = _widened(verdict, judgement.difference, n_trials, level)
        alone.append(verdict)
    return _adjusted(alone)


def draws_of_each(n_draws: int, n_pairs: int, confidence: float) -> int:
    """Return how many exchanges each of several pairs needs: more, the stricter each of them is judged."""
    if n_pairs == 1:
        return n_draws
    needed = math.ceil(position(_BEYOND * n_pairs / (1 - confidence), 1.0))
    return max(n_draws, needed)


def smallest_pvalue(method: ComparisonMethodUsed, n_draws: int, n_pairs: int, confidence: float) -> float:
    """Return the smallest p-value that so many draws can show, for each of so many pairs; 0 without draws.

    Examples
    --------
    >>> smallest_pvalue("permutation", 1999, 1, 0.95)
    0.0005
    """
    if method == "analytic":
        return 0.0
    if method == "permutation":
        return n_pairs / (draws_of_each(n_draws, n_pairs, confidence) + 1)
    # The share of draws on one side of 0 is doubled; max-T, for more pairs, counts both sides at once.
    counted = 2 if n_pairs == 1 else 1
    return counted / (n_draws + 1)


def _drawn_differences(
    sample: Sample, figure: Rectangle, pairs: list[_Pair], method: MethodUsed, asked: _Asked
) -> FloatArray:
    """Return the difference of each pair for every draw, one column a pair."""
    procedure = Procedure.of(method, asked.confidence, asked.n_draws, asked.random_state, asked.verbose)
    draws = procedure.draws(sample, figure)
    first = [a for a, _ in pairs]
    second = [b for _, b in pairs]
    return draws[:, first] - draws[:, second]


def _analytic(
    sample: Sample, influences: list[Influence], differences: list[float], known: list[float], confidence: float
) -> list[_Verdict]:
    """Judge all pairs: intervals by Bonferroni's method, p-values by Holm's."""
    level = _level(confidence, len(differences))
    alone = [
        _students_t(sample, influence, difference, n_trials, level)
        for influence, difference, n_trials in zip(influences, differences, known, strict=True)
    ]
    return _adjusted(alone)


def _students_t(
    sample: Sample, influence: Influence, difference: float, n_trials: float, confidence: float
) -> _Verdict:
    """Judge one pair: its difference, divided by its standard error, has Student's distribution."""
    variance, degrees = sample.variance(influence)
    if variance == 0:
        return _widened(_Verdict(difference, difference, 0.0), difference, n_trials, confidence)
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
