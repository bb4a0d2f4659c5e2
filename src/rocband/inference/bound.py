"""A bound on what training on a band can promise for new data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from scipy import special

from rocband.ranks import check_range
from rocband.risks.band import Band

__all__ = ["GeneralizationBound", "generalization_bound"]


@dataclass(frozen=True, slots=True)
class GeneralizationBound:
    """An upper bound on the true partial-AUC risk, 1 - pAUC, and its parts.

    Attributes
    ----------
    risk : float
        The bound. Above 1 it says nothing.
    empirical_risk : float
        The risk on the training sample.
    positive_term, negative_term : float
        What the finite numbers of positives and of negatives add.
    """

    risk: float
    empirical_risk: float
    positive_term: float
    negative_term: float

    @property
    def vacuous(self) -> bool:
        """Whether the bound says nothing."""
        return self.risk >= 1

    def __str__(self) -> str:
        note = ", which says nothing" if self.vacuous else ""
        return (
            f"risk <= {self.risk:.4f}{note}: {self.empirical_risk:.4f} in training, {self.positive_term:.4f} for the "
            f"positives, {self.negative_term:.4f} for the negatives"
        )


def generalization_bound(
    n_positives: int,
    n_negatives: int,
    *,
    fpr_range: tuple[float, float],
    vc_dimension: int,
    empirical_risk: float = 0.0,
    confidence: float = 0.95,
) -> GeneralizationBound:
    r"""Bound the true partial-AUC risk of every scorer of a class, and so of the one that training picks.

    The bound holds for all scorers and continuous distributions at once, and is therefore **loose**: for a linear
    scorer of 10 features and the band [0, 0.05] it says nothing below some 50,000 of each class. Use it to see how the
    number of samples and the width of the band trade off; use :func:`rocband.inference.partial_auc_interval` on
    held-out data to know how good a model is.

    Parameters
    ----------
    n_positives, n_negatives : int
        Sizes of the training sample.
    fpr_range : (float, float)
        The band of false-positive rates.
    vc_dimension : int
        The VC dimension of the thresholded scorers: d + 1 for linear scorers of d features.
    empirical_risk : float, default 0
        1 - :func:`rocband.metrics.empirical_partial_auc` on the training sample.
    confidence : float, default 0.95
        The probability, over training samples, with which the bound holds.

    Returns
    -------
    GeneralizationBound

    Notes
    -----
    This is the theorem of Narasimhan and Agarwal [1]_ with explicit constants. Let :math:`\epsilon(N)` bound, with
    probability :math:`1 - \delta/2`, how far the share of N samples above any threshold of any scorer is from its
    expectation. With W the width of the band and :math:`\hat W = (j_\beta - j_\alpha) / n` that of its ranks,

    .. math:: R \le \frac{\hat W}{W} (\hat R + \epsilon(m)) + \frac{\epsilon(n)}{W}.

    For a scorer f let G(u) be the share of positives below the threshold whose FPR is u; G falls from at most 1, and
    :math:`R W = \int_\alpha^\beta G`. Counting with the true distribution of the positives changes :math:`\hat R` by
    :math:`\epsilon(m)` at most. The threshold at rank :math:`\lceil n u \rceil` has a true FPR of at most
    :math:`u + \epsilon(n)`, so that :math:`\hat W (\hat R + \epsilon(m))` is at least the integral of G from
    :math:`j_\alpha/n + \epsilon(n)` to :math:`j_\beta/n + \epsilon(n)`. Since :math:`j_\alpha/n \le \alpha`,
    :math:`j_\beta/n \ge \beta` and :math:`G \le 1`, that is at least :math:`R W - \epsilon(n)`.

    :math:`\epsilon` is the smaller of Vapnik's and Devroye's [2]_ bounds,
    :math:`\sqrt{8 \ln(4 \Pi(2N) 2/\delta) / N}` and :math:`\sqrt{\ln(4 e^8 \Pi(N^2) 2/\delta) / (2 N)}`, where
    :math:`\Pi(k) = \sum_{i \le d} \binom{k}{i}` by Sauer's lemma.

    References
    ----------
    .. [1] H. Narasimhan, S. Agarwal (2017). Support vector algorithms for optimizing the partial area under the ROC
       curve. Neural Computation 29(7), 1919-1963.
    .. [2] L. Devroye, L. Györfi, G. Lugosi (1996). A probabilistic theory of pattern recognition. Springer, chapter 12.

    Examples
    --------
    >>> from rocband.inference import generalization_bound
    >>> for n in (10_000, 1_000_000):
    ...     print(generalization_bound(n, n, fpr_range=(0.0, 0.1), vc_dimension=11, empirical_risk=0.2))
    risk <= 1.2950, which says nothing: 0.2000 in training, 0.0995 for the positives, 0.9955 for the negatives
    risk <= 0.3346: 0.2000 in training, 0.0122 for the positives, 0.1224 for the negatives
    """
    low, high = check_range(fpr_range)
    for name, number in (("n_positives", n_positives), ("n_negatives", n_negatives), ("vc_dimension", vc_dimension)):
        if not isinstance(number, Integral) or number < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {number!r}.")
    for name, share in (("empirical_risk", empirical_risk), ("confidence", confidence)):
        if not isinstance(share, Real) or not 0 <= float(share) <= 1 or (name == "confidence" and share in (0, 1)):
            raise ValueError(f"{name} must be a number between 0 and 1, got {share!r}.")
    stretch = Band.from_range((low, high), int(n_negatives)).width / int(n_negatives) / (high - low)
    positive = stretch * _deviation(int(n_positives), int(vc_dimension), float(confidence))
    negative = _deviation(int(n_negatives), int(vc_dimension), float(confidence)) / (high - low)
    trained = float(empirical_risk)
    return GeneralizationBound(stretch * trained + positive + negative, trained, positive, negative)


def _deviation(size: int, vc_dimension: int, confidence: float) -> float:
    """Bound the deviation of shares from expectations with half of the probability of failure."""
    failure = math.log(4) - math.log((1 - confidence) / 2)
    vapnik = math.sqrt(8 * (failure + _log_growth(2 * size, vc_dimension)) / size)
    devroye = math.sqrt((failure + 8 + _log_growth(size**2, vc_dimension)) / (2 * size))
    return min(vapnik, devroye)


def _log_growth(size: int, vc_dimension: int) -> float:
    """Logarithm of the number of ways to part so many points, by Sauer's lemma."""
    if size <= vc_dimension:
        return size * math.log(2)
    # Near 1e12 points, the difference of log-gammas loses digits; the product of ratios does not.
    k = np.arange(1, vc_dimension + 1, dtype=np.float64)
    terms = np.cumsum(np.log((size - k + 1) / k))
    return float(special.logsumexp(np.append(terms, 0.0)))
