"""Intervals for one scorer's figure, and its test against a stated value."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from rocband._errors import ParameterError
from rocband._input import check_rate
from rocband._types import FloatArray
from rocband.inference.figures import Figure, Height, Heights, Rectangle, SmoothFigure, Steps
from rocband.inference.resampling import DRAWING_METHODS, RandomState, draw_figures
from rocband.inference.sample import Sample
from rocband.metrics.narrow import warn_if_narrow
from rocband.ranks import check_range

__all__ = ["Interval", "ValueTest", "partial_auc_interval", "partial_auc_test", "tpr_at_fpr_interval"]

FULL = (0.0, 1.0)
# The ends of a 95% interval leave 2.5% of the draws outside at each side: of fewer than 100 that is one or two draws.
MIN_DRAWS = 100
# With fewer negatives in the band, intervals that know only the scores seen hold the truth in 60 to 90% of samples; see
# docs/coverage.md.
FEWEST_NEGATIVES = 5
# How an interval was made, and what may be asked for.
MethodUsed = Literal["spacings", "bootstrap", "analytic"]
Method = Literal["auto", "spacings", "bootstrap", "analytic"]
METHODS: tuple[Method, ...] = ("auto", "spacings", "bootstrap", "analytic")


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval.

    Attributes
    ----------
    estimate, low, high : float
        The figure of the sample, and the ends of the interval.
    confidence : float
        The nominal coverage.
    method : str
        How the interval was made.
    """

    estimate: float
    low: float
    high: float
    confidence: float
    method: MethodUsed

    def __str__(self) -> str:
        ends = f"{100 * self.confidence:g}% interval {self.low:.4f} to {self.high:.4f}"
        return f"{self.estimate:.4f} ({ends}, {self.method})"


@dataclass(frozen=True, slots=True)
class ValueTest(Interval):
    """An estimate, its interval, and the test of a stated value.

    Attributes
    ----------
    value : float
        The stated value.
    pvalue : float
        Two-sided p-value of the hypothesis that the true figure is ``value``.
    """

    value: float = field(kw_only=True)
    pvalue: float = field(kw_only=True)

    def __str__(self) -> str:
        return f"{Interval.__str__(self)}, p = {self.pvalue:.2g} against {self.value:g}"


def partial_auc_interval(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    fpr_range: tuple[float, float] = FULL,
    tpr_range: tuple[float, float] | None = None,
    confidence: float = 0.95,
    method: Method = "auto",
    n_draws: int = 2000,
    groups: npt.ArrayLike | None = None,
    random_state: RandomState = None,
    pos_label: object = None,
    verbose: int = 0,
) -> Interval:
    """Estimate the partial AUC with a confidence interval.

    The figure is :func:`rocband.metrics.partial_auc_score` with ``normalize="width"``: for a band of false-positive
    rates, of true-positive rates, or both.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, at least 2 of each.
    y_score : array-like of shape (n_samples,)
        Scores, larger for what looks more positive.
    fpr_range, tpr_range : (float, float), default (0, 1)
        The band, with 0 <= low < high <= 1.
    confidence : float, default 0.95
        Nominal coverage, strictly between 0 and 1.
    method : {"auto", "spacings", "analytic", "bootstrap"}, default "auto"
        "auto" is "spacings" for one scorer; two are compared otherwise, see
        :func:`rocband.inference.compare_partial_auc`. "spacings" draws the gaps between the true rates at the sorted
        scores, whose distribution is known; it covers also where only a few negatives lie in the band, and for scorers
        that separate the classes almost or altogether.
        "analytic" is the interval of the influence functions (DeLong's for the full AUC [1]_ [2]_ [3]_) on the logit
        scale, with Student's t; it needs no draws, but about 20 negatives in the band. "bootstrap" is the stratified
        percentile bootstrap, as in R's pROC; it needs more, and is too narrow near an area of 1.
        The table in ``docs/coverage.md`` shows what each of them covers.
    n_draws : int, default 2000
        Number of draws, at least 100. Not used by "analytic".
    groups : array-like of shape (n_samples,), optional
        Which samples belong together, such as the images of one patient. Whole groups are resampled.
    random_state : int, RandomState, Generator or None
        Seed of the draws. With None they differ from call to call, everywhere in this package where intervals and
        p-values are drawn; pass a number to have the same again.
    pos_label : object, optional
        The label of the positives. The greater of two numbers by default; required for labels that are not numbers.
    verbose : int, default 0
        Whether to tell the progress on the standard error stream.

    Returns
    -------
    Interval
        With ``estimate``, ``low``, ``high``, ``confidence`` and ``method``. The estimate is never outside.

    Warns
    -----
    rocband.metrics.NarrowBandWarning
        If the band holds less than one negative, or fewer than five by another method than spacings.

    Notes
    -----
    The sample says in which order the scores come, and the spacings how far the true rates at them are apart; how the
    curve runs between them, nothing says. In two draws of three it is straight there, and in the third it bows as far
    as it may: up first and then right, or the other way round for a scorer that is worse than chance. Straight curves
    alone lie below that of a strong scorer, whose interval would end below the truth: with 143 positives and 85
    negatives and a true AUC of 0.998, six of ten held it. With them all bowed, weak scorers' intervals would begin too
    high. A curve that lies below the diagonal at the lowest rates, and above it elsewhere, is not foreseen: with 30
    negatives, intervals for a narrow band begin above the truth there in one sample of ten or more.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson (1988). Comparing the areas under two or more correlated
       receiver operating characteristic curves. Biometrics 44(3), 837-845.
    .. [2] L. E. Dodd, M. S. Pepe (2003). Partial AUC estimation and regression. Biometrics 59(3), 614-623.
    .. [3] Y. He, M. Escobar (2008). Nonparametric statistical inference method for partial areas under receiver
       operating characteristic curves, with application to genomic studies. Statistics in Medicine 27(25), 5291-5308.

    Examples
    --------
    >>> from rocband.datasets import make_band_problem
    >>> from rocband.inference import partial_auc_interval
    >>> X, y = make_band_problem(1000, random_state=0)
    >>> print(partial_auc_interval(y, X[:, 1], fpr_range=(0.0, 0.05), random_state=0))  # doctest: +ELLIPSIS
    0.3866 (95% interval 0.3... to 0.4..., spacings)
    """
    figure = rectangle(fpr_range, tpr_range)
    sample = Sample.of(y_true, {"y_score": y_score}, groups, pos_label)
    procedure = Procedure.of(method, confidence, n_draws, random_state, verbose)
    _warn_of_few(sample, figure.fpr, procedure.method)
    return _interval(sample, figure, procedure)


def tpr_at_fpr_interval(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    fpr: float,
    confidence: float = 0.95,
    method: Method = "auto",
    n_draws: int = 2000,
    groups: npt.ArrayLike | None = None,
    random_state: RandomState = None,
    pos_label: object = None,
    verbose: int = 0,
) -> Interval:
    """Estimate the true-positive rate at one false-positive rate with a confidence interval.

    The figure is :func:`rocband.metrics.tpr_at_fpr_score`. The interval takes into account that the threshold for
    ``fpr`` is estimated too.

    Parameters
    ----------
    y_true, y_score
        As in :func:`partial_auc_interval`.
    fpr : float
        The false-positive rate, in [0, 1].
    confidence, method, n_draws, groups, random_state, pos_label, verbose
        As in :func:`partial_auc_interval`. The analytic interval takes the slope of the curve over one standard error
        of the FPR either side.

    Returns
    -------
    Interval

    Examples
    --------
    >>> from rocband.datasets import make_band_problem
    >>> from rocband.inference import tpr_at_fpr_interval
    >>> X, y = make_band_problem(1000, random_state=0)
    >>> print(tpr_at_fpr_interval(y, X[:, 1], fpr=0.05, random_state=0))  # doctest: +ELLIPSIS
    0.4... (95% interval 0.3... to 0.5..., spacings)
    """
    figure = Height(check_rate(fpr))
    sample = Sample.of(y_true, {"y_score": y_score}, groups, pos_label)
    procedure = Procedure.of(method, confidence, n_draws, random_state, verbose)
    # At an FPR of 0 no band is meant, and at so small a one the figure is that of 0.
    if procedure.method != "spacings" and figure.fpr > 0:
        _warn_of_few(sample, (0.0, figure.fpr), procedure.method)
    return _interval(sample, figure, procedure)


def partial_auc_test(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    value: float,
    fpr_range: tuple[float, float] = FULL,
    tpr_range: tuple[float, float] | None = None,
    confidence: float = 0.95,
    method: Method = "auto",
    n_draws: int = 2000,
    groups: npt.ArrayLike | None = None,
    random_state: RandomState = None,
    pos_label: object = None,
    verbose: int = 0,
) -> ValueTest:
    """Test whether the true partial AUC equals a stated value.

    Parameters
    ----------
    y_true, y_score, fpr_range, tpr_range, confidence, method, n_draws, groups, random_state, pos_label, verbose
        As in :func:`partial_auc_interval`.
    value : float
        The stated value, in [0, 1]; (low + high) / 2 of ``fpr_range`` is what chance has in that band.

    Returns
    -------
    ValueTest
        An :class:`Interval` with ``value`` and the two-sided ``pvalue``, which is at most 1 - confidence where the
        interval leaves the value out. Drawn p-values are no smaller than 2 / (n_draws + 1).

    Examples
    --------
    >>> from rocband.datasets import make_band_problem
    >>> from rocband.inference import partial_auc_test
    >>> X, y = make_band_problem(1000, random_state=0)
    >>> result = partial_auc_test(y, X[:, 1], value=0.025, fpr_range=(0.0, 0.05), random_state=0)
    >>> result.pvalue < 0.01
    True
    """
    if not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ParameterError("value", f"must be a partial AUC in [0, 1], got {value!r}.")
    figure = rectangle(fpr_range, tpr_range)
    sample = Sample.of(y_true, {"y_score": y_score}, groups, pos_label)
    procedure = Procedure.of(method, confidence, n_draws, random_state, verbose)
    _warn_of_few(sample, figure.fpr, procedure.method)
    return _value_test(sample, figure, procedure, float(value))


def pointwise_band(
    sample: Sample, fpr: FloatArray, *, confidence: float, method: str, n_draws: int, random_state: RandomState
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the intervals of the TPR at each of several false-positive rates."""
    check_settings(method, DRAWING_METHODS, confidence, n_draws)
    figure = Heights(tuple(map(float, fpr)))
    draws = draw_figures(sample, figure, method=method, n_draws=int(n_draws), random_state=random_state, verbose=0)
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, (tail, (1 + confidence) / 2), axis=0)
    return low, high


def rectangle(fpr_range: object, tpr_range: object) -> Rectangle:
    """Check the ranges of a partial AUC."""
    across = check_range(fpr_range)
    upwards = FULL if tpr_range is None else check_range(tpr_range, "tpr_range")
    return Rectangle(across, upwards)


def check_settings(method: str, methods: tuple[str, ...], confidence: float, n_draws: int) -> None:
    """Check what every inference is asked for."""
    if method not in methods:
        names = ", ".join(map(repr, methods[:-1]))
        raise ParameterError("method", f"must be {names} or {methods[-1]!r}, got {method!r}.")
    if not isinstance(confidence, Real) or not 0 < confidence < 1:
        raise ParameterError("confidence", f"must lie strictly between 0 and 1, got {confidence!r}.")
    if not isinstance(n_draws, Integral) or n_draws < MIN_DRAWS:
        raise ParameterError("n_draws", f"must be a whole number of at least {MIN_DRAWS}, got {n_draws!r}.")


def method_used(method: Method) -> MethodUsed:
    """Return the method of a single scorer's interval, where it was left open too."""
    # Of all methods, only this one keeps its level for one scorer whatever the band holds; see docs/coverage.md.
    return "spacings" if method == "auto" else method


def own_figures(sample: Sample, figure: Figure) -> tuple[list[Steps], list[float]]:
    """Return the curve and the figure of each scorer."""
    curves = []
    figures = []
    for positives, negatives in zip(sample.positives, sample.negatives, strict=True):
        steps = Steps.of(positives, negatives)
        (value,) = figure.values(steps, *steps.own_counts())
        curves.append(steps)
        figures.append(float(value))
    return curves, figures


def quantiles(draws: FloatArray, confidence: float, estimate: float) -> tuple[float, float]:
    """Return the central interval of the draws, stretched to hold the estimate."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, (tail, 1 - tail))
    return min(float(low), estimate), max(float(high), estimate)


def two_sided(draws: FloatArray, value: float, estimate: float) -> float:
    """Return twice the smaller share of draws on either side of the value, itself counted on both.

    No interval leaves out what lies between the estimate and the middle of the draws, so nothing speaks against it.
    """
    near, far = sorted((estimate, float(np.median(draws))))
    if near <= value <= far:
        return 1.0
    below = int(np.count_nonzero(draws <= value))
    above = int(np.count_nonzero(draws >= value))
    fewer = min(below, above)
    # The sample itself is one more draw on either side, so that no p-value is 0.
    return min(2 * (fewer + 1) / (len(draws) + 1), 1.0)


@dataclass(frozen=True, slots=True)
class Procedure:
    """How intervals of single scorers are made, checked."""

    method: MethodUsed
    confidence: float
    n_draws: int
    random_state: RandomState
    verbose: int

    @classmethod
    def of(cls, method: Method, confidence: float, n_draws: int, random_state: RandomState, verbose: int) -> Procedure:
        """Check the settings, and choose the method where it was left open."""
        check_settings(method, METHODS, confidence, n_draws)
        return cls(method_used(method), float(confidence), int(n_draws), random_state, verbose)

    def draws(self, sample: Sample, figure: Figure) -> FloatArray:
        """Return the figure of every scorer for every draw, shape (n_draws, n_scorers)."""
        return draw_figures(
            sample,
            figure,
            method=self.method,
            n_draws=self.n_draws,
            random_state=self.random_state,
            verbose=self.verbose,
        )


def _warn_of_few(sample: Sample, fpr_range: tuple[float, float], method: MethodUsed) -> None:
    """Warn where an interval, or the figure itself, would mislead."""
    n = sample.sizes[1]
    if method == "spacings":
        warn_if_narrow(fpr_range, n, 1, "the figure rests on one or two of them", 4)
    else:
        consequence = f"with fewer than {FEWEST_NEGATIVES}, method={method!r} covers too rarely; 'spacings' does not"
        warn_if_narrow(fpr_range, n, FEWEST_NEGATIVES, consequence, 4)


def _interval(sample: Sample, figure: SmoothFigure, procedure: Procedure) -> Interval:
    (steps,), (estimate,) = own_figures(sample, figure)
    if procedure.method == "analytic":
        low, high = _logit(sample, figure, steps, estimate).interval(procedure.confidence)
    else:
        draws = procedure.draws(sample, figure)[:, 0]
        low, high = quantiles(draws, procedure.confidence, estimate)
    return Interval(estimate, low, high, procedure.confidence, procedure.method)


def _value_test(sample: Sample, figure: SmoothFigure, procedure: Procedure, value: float) -> ValueTest:
    (steps,), (estimate,) = own_figures(sample, figure)
    if procedure.method == "analytic":
        distribution = _logit(sample, figure, steps, estimate)
        low, high = distribution.interval(procedure.confidence)
        pvalue = distribution.pvalue(value)
    else:
        draws = procedure.draws(sample, figure)[:, 0]
        low, high = quantiles(draws, procedure.confidence, estimate)
        pvalue = two_sided(draws, value, estimate)
    return ValueTest(estimate, low, high, procedure.confidence, procedure.method, value=value, pvalue=pvalue)


def _logit(sample: Sample, figure: SmoothFigure, steps: Steps, estimate: float) -> _Logit:
    variance, degrees = sample.variance(figure.influence(steps))
    return _Logit(estimate, math.sqrt(variance), degrees, trials(sample, figure))


def trials(sample: Sample, figure: SmoothFigure) -> float:
    """Return of how many trials a figure without any variation in the sample is a proportion, at most.

    Nothing but the number of samples, or of groups, that decide the figure says how sure it then is.
    """
    m, n = sample.sizes
    deciding = min(m, figure.reached(n))
    if sample.clusters is not None:
        deciding = min(deciding, *sample.clusters.sizes)
    return max(deciding, 1.0)


@dataclass(frozen=True, slots=True)
class _Logit:
    """The distribution of an estimate in [0, 1]: Student's t around its logit, or a proportion's at 0 and 1."""

    estimate: float
    error: float
    degrees: float
    trials: float

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return Student's interval, carried back from the logit scale."""
        tail = (1 - confidence) / 2
        if self._degenerate():
            return self._proportion(tail)
        centre = special.logit(self.estimate)
        half = stats.t.isf(tail, self.degrees) * self._scale()
        return float(special.expit(centre - half)), float(special.expit(centre + half))

    def _proportion(self, tail: float) -> tuple[float, float]:
        """Return Clopper and Pearson's interval of a proportion."""
        hits = self.estimate * self.trials
        misses = self.trials - hits
        low = 0.0 if self.estimate == 0 else float(stats.beta.ppf(tail, hits, misses + 1))
        high = 1.0 if self.estimate == 1 else float(stats.beta.ppf(1 - tail, hits + 1, misses))
        return low, high

    def pvalue(self, value: float) -> float:
        """Return the two-sided p-value of a stated value, for which the interval of that level ends there."""
        # The logit of 0 and 1 is infinite.
        if self._degenerate() or value in (0, 1):
            return self._proportion_pvalue(value)
        distance = abs(special.logit(self.estimate) - special.logit(value)) / self._scale()
        return float(2 * stats.t.sf(distance, self.degrees))

    def _proportion_pvalue(self, value: float) -> float:
        hits = self.estimate * self.trials
        misses = self.trials - hits
        lower = stats.beta.cdf(value, hits, misses + 1) if self.estimate > 0 else 1.0
        upper = stats.beta.sf(value, hits + 1, misses) if self.estimate < 1 else 1.0
        return float(min(2 * min(lower, upper), 1.0))

    def _degenerate(self) -> bool:
        return self.error == 0 or self.estimate in (0, 1)

    def _scale(self) -> float:
        # The delta method: the derivative of logit(p) is 1 / (p (1 - p)).
        return self.error / (self.estimate * (1 - self.estimate))
