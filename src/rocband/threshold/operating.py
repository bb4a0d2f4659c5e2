"""What a model does at chosen false-positive rates, with intervals: the table people put on a slide."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from rocband._errors import ParameterError
from rocband._input import check_open
from rocband._types import FloatArray
from rocband.inference import tpr_at_fpr_interval
from rocband.inference.intervals import Method
from rocband.inference.resampling import RandomState
from rocband.metrics.curve import ClassScores, split_classes
from rocband.threshold.cutoff import plain_rank

__all__ = ["operating_points"]

_Interval = tuple[float, float, float]  # a value, then the low and the high end

# Two Beta distributions are each cut into this many equal parts. The quantiles over all pairs of parts then agree
# with those of a million random pairs to 0.2%, which a test holds, and a row of the table takes a few milliseconds.
_N_PARTS = 400


def operating_points(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    fprs: float | Iterable[float] = (0.01, 0.02, 0.05, 0.1),
    *,
    confidence: float = 0.95,
    prevalence: float | None = None,
    pos_label: object = None,
    at_true_fpr: bool = False,
    method: Method = "auto",
    n_draws: int = 2000,
    groups: npt.ArrayLike | None = None,
    random_state: RandomState = None,
) -> Any:
    """Tabulate what scores achieve at some false-positive rates, with confidence intervals.

    For each rate, the threshold is the lowest score of a negative above which at most that share of the negatives
    lies. A sample raises an alert when its score is greater.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes. Use rows that the model was not trained on.
    y_score : array-like of shape (n_samples,)
        Scores, larger for what looks more positive.
    fprs : float or iterable of float, default (0.01, 0.02, 0.05, 0.1)
        The false-positive rates, at least 0 and less than 1.
    confidence : float, default 0.95
        The probability, in (0, 1), with which each interval is to cover the true value.
    prevalence : float, optional
        The share of positives, in (0, 1), where the model will be used. By default that of the sample, which must then
        be drawn as cases will come: pass it when positives were collected on purpose.
    pos_label : object, optional
        The label of the positives. The greater of two numbers by default; required for labels that are not numbers.
    at_true_fpr : bool, default False
        Whether to add the columns "TPR at true FPR", "TPR at true FPR low" and "TPR at true FPR high". They are the
        figures of :func:`rocband.inference.tpr_at_fpr_interval` and want at least 2 samples of each class.
    method, n_draws, groups, random_state
        How those columns are made, see :func:`rocband.inference.partial_auc_interval`. The other columns use none of
        them: their intervals take samples as independent.

    Returns
    -------
    pandas.DataFrame
        One row for each rate, the index. Columns "threshold", "FPR", "TPR", "PPV" (the share of alerts that are
        positives) and "alerts per 1,000" samples, each but the first followed by the ends of its interval, such as
        "FPR low" and "FPR high". Where nothing raises an alert, the PPV is NaN. All these are about the threshold in
        the row.

    See Also
    --------
    FPRThresholdClassifier : A classifier that acts at such a threshold.
    rocband.inference.tpr_at_fpr_interval : The TPR at a true FPR.

    Notes
    -----
    The intervals are those of Clopper and Pearson [1]_. Each is about the threshold in its row, which was itself chosen
    by counting negatives: without ties, the true FPR above the k-th largest of n scores is Beta(k, n - k + 1), and the
    Clopper-Pearson interval of k - 1 among n contains that distribution's. So they cover at least as often as
    promised, where an approximate interval such as Wilson's need not. The threshold does not look at the positives,
    so the TPR's interval is the ordinary one.

    "TPR low" and "TPR high" thus say what the threshold in the row finds, whatever its true FPR. They do **not** say
    what the model finds at the threshold whose true FPR is the index: that threshold is unknown, and intervals of 95%
    hold its TPR in only 63 to 96% of samples, the less the fewer the negatives. "TPR at true FPR" is about that one.
    Act at the threshold, and read the first; compare models or studies at one rate, and read the second.

    With the sample's prevalence, alerts are counted among all samples and positives among the alerts; stopping at the
    k-th negative makes the count of positives nearly negative binomial, whose interval again lies inside. With a given
    ``prevalence``, PPV and alerts are functions of TPR and FPR, which are estimated from different samples: the
    ends are quantiles of the function over the two independent Beta distributions whose quantiles are the
    Clopper-Pearson ends. Rows are not adjusted for each other.

    References
    ----------
    .. [1] C. J. Clopper, E. S. Pearson (1934). The use of confidence or fiducial limits illustrated in the case of the
       binomial. Biometrika 26(4), 404-413.

    Examples
    --------
    >>> from rocband.datasets import make_band_problem
    >>> from rocband.threshold import operating_points
    >>> X, y = make_band_problem(20_000, random_state=0)
    >>> table = operating_points(y, X[:, 1], fprs=(0.01, 0.05), prevalence=0.02)
    >>> table[["FPR", "TPR low", "TPR", "TPR high", "PPV", "alerts per 1,000"]].round(2)
                 FPR  TPR low   TPR  TPR high   PPV  alerts per 1,000
    target FPR
    0.01        0.01     0.34  0.36      0.37  0.42             16.94
    0.05        0.05     0.40  0.42      0.43  0.15             57.36
    """
    pandas = _import_pandas()
    rates = _check_fprs(fprs)
    level = check_open(confidence, "confidence")
    share = None if prevalence is None else check_open(prevalence, "prevalence")
    positives, negatives = split_classes(y_true, y_score, None, pos_label)
    rising_positives = _rising(positives)
    rising_negatives = _rising(negatives)
    rows = [_operating_point(rising_positives, rising_negatives, rate, level, share) for rate in rates]
    if at_true_fpr:
        for k, rate in enumerate(rates):
            true = tpr_at_fpr_interval(
                y_true,
                y_score,
                fpr=rate,
                confidence=level,
                method=method,
                n_draws=n_draws,
                groups=groups,
                random_state=random_state,
                pos_label=pos_label,
            )
            rows[k] |= _columns("TPR at true FPR", (true.estimate, true.low, true.high))
    return pandas.DataFrame(rows, index=pandas.Index(rates, name="target FPR", dtype=float))


def _rising(side: ClassScores) -> FloatArray:
    return np.sort(side.scores.astype(np.float64))


def _operating_point(
    positives: FloatArray, negatives: FloatArray, rate: float, confidence: float, prevalence: float | None
) -> dict[str, float]:
    """Return one row of the table; the scores are sorted."""
    threshold = float(negatives[-plain_rank(len(negatives), rate)])
    fpr = _Count.above(threshold, negatives)
    tpr = _Count.above(threshold, positives)
    if prevalence is None:
        ppv, alerts = _in_sample(fpr, tpr, confidence)
    else:
        ppv, alerts = _at_prevalence(fpr, tpr, confidence, prevalence)
    row = {"threshold": threshold}
    row |= _columns("FPR", fpr.interval(confidence))
    row |= _columns("TPR", tpr.interval(confidence))
    row |= _columns("PPV", ppv)
    row |= _columns("alerts per 1,000", alerts, factor=1000)
    return row


def _columns(name: str, interval: _Interval, factor: float = 1) -> dict[str, float]:
    value, low, high = interval
    return {name: factor * value, f"{name} low": factor * low, f"{name} high": factor * high}


@dataclass(frozen=True, slots=True)
class _Count:
    """How many of a total, and the two Beta distributions whose quantiles are the Clopper-Pearson ends."""

    count: int
    total: int

    @classmethod
    def above(cls, threshold: float, rising: FloatArray) -> _Count:
        """Count the scores, sorted, above a threshold."""
        n_passing = len(rising) - int(np.searchsorted(rising, threshold, side="right"))
        return cls(n_passing, len(rising))

    def share(self) -> float:
        """Observed share; NaN of nothing."""
        return self.count / self.total if self.total else math.nan

    def lower(self, level: float | FloatArray) -> FloatArray:
        """Quantiles of the distribution for the low end."""
        if self.count == 0:
            return np.zeros_like(level, dtype=float)
        return np.asarray(special.betaincinv(self.count, self.total - self.count + 1, level))

    def upper(self, level: float | FloatArray) -> FloatArray:
        """Quantiles of the distribution for the high end."""
        if self.count == self.total:
            return np.ones_like(level, dtype=float)
        return np.asarray(special.betaincinv(self.count + 1, self.total - self.count, level))

    def interval(self, confidence: float) -> _Interval:
        """Clopper-Pearson interval, the share first."""
        tail = (1 - confidence) / 2
        return self.share(), float(self.lower(tail)), float(self.upper(1 - tail))


def _in_sample(fpr: _Count, tpr: _Count, confidence: float) -> tuple[_Interval, _Interval]:
    """Return PPV and the share of alerts when the sample is drawn as cases will come."""
    alerts = _Count(fpr.count + tpr.count, fpr.total + tpr.total)
    ppv = _Count(tpr.count, alerts.count)
    return ppv.interval(confidence), alerts.interval(confidence)


def _at_prevalence(fpr: _Count, tpr: _Count, confidence: float, prevalence: float) -> tuple[_Interval, _Interval]:
    """Return PPV and the share of alerts for a given share of positives."""
    levels = (np.arange(_N_PARTS) + 0.5) / _N_PARTS
    # True alerts run down the rows and false alerts along the columns: all pairs of the two independent shares.
    hits_low = prevalence * tpr.lower(levels)[:, None]
    hits_high = prevalence * tpr.upper(levels)[:, None]
    false_low = (1 - prevalence) * fpr.lower(levels)
    false_high = (1 - prevalence) * fpr.upper(levels)
    hits = prevalence * tpr.share()
    alerts = hits + (1 - prevalence) * fpr.share()
    tail = (1 - confidence) / 2
    # PPV grows with the true alerts and falls with the false ones, so its ends take opposite ends of the two.
    ppv_low = np.quantile(hits_low / (hits_low + false_high), tail)
    ppv_high = np.quantile(hits_high / (hits_high + false_low), 1 - tail)
    alerts_low = np.quantile(hits_low + false_low, tail)
    alerts_high = np.quantile(hits_high + false_high, 1 - tail)
    ppv = hits / alerts if alerts else math.nan
    return (ppv, float(ppv_low), float(ppv_high)), (alerts, float(alerts_low), float(alerts_high))


def _check_fprs(fprs: float | Iterable[float]) -> list[float]:
    rates = list(fprs) if isinstance(fprs, Iterable) else [fprs]
    for rate in rates:
        if not isinstance(rate, Real) or isinstance(rate, bool) or not 0 <= float(rate) < 1:
            raise ParameterError("fprs", f"must be numbers from 0 to less than 1, got {rate!r}.")
    return [float(rate) for rate in rates]


def _import_pandas() -> Any:
    try:
        import pandas  # noqa: PLC0415
    except ImportError:
        raise ImportError("operating_points returns a data frame and needs pandas; install pandas first.") from None
    return pandas
