"""Thresholds in decimals that people can copy and that part the scores as the exact number does."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal

import numpy as np
import numpy.typing as npt

__all__ = ["threshold_text"]

# Four digits can be read off and typed without error; people write thresholds so.
_FEWEST_DIGITS = 4
# 17 digits tell any two floating-point numbers apart.
_MOST_DIGITS = 17


def threshold_text(threshold: float, scores: npt.ArrayLike) -> str:
    """Return a threshold in few digits, rounded upwards, above which the same scores lie.

    Parameters
    ----------
    threshold : float
        The exact threshold; a score raises an alert when it is greater.
    scores : array-like
        All scores, of positives and negatives.

    Returns
    -------
    str
        The threshold in 4 significant digits, or in as many more as keep it below the next higher score.

    Examples
    --------
    >>> from rocband.threshold.decimals import threshold_text
    >>> threshold_text(1.52349, [0.0, 1.52349, 2.0])
    '1.524'
    >>> threshold_text(1.52349, [0.0, 1.52349, 1.5235])
    '1.52349'
    """
    threshold = float(threshold)
    values = np.asarray(scores, dtype=np.float64)
    next_score = float(np.min(values, where=values > threshold, initial=np.inf))
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        upwards = Context(prec=digits, rounding=ROUND_CEILING)
        rounded = float(upwards.plus(Decimal(threshold)))
        # Adding 0 turns -0.0 into 0.0, so that no "-0" is shown.
        text = f"{rounded + 0.0:.{digits}g}"
        if threshold <= float(text) < next_score:
            return text
    return repr(threshold + 0.0)
