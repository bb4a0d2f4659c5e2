"""The generalisation bound over the size of the sample."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from rocband._errors import ParameterError
from rocband.inference import generalization_bound
from rocband.inference.intervals import FULL
from rocband.plot.style import COLORS, SHADE, STYLES, one_panel

__all__ = ["plot_generalization_bound"]

_Range = tuple[float, float]

# Darker than other quiet text, which would have too little contrast on the shade.
_ON_SHADE = "#595959"


def plot_generalization_bound(
    *,
    fpr_ranges: Sequence[_Range] = (FULL, (0.0, 0.1), (0.0, 0.01)),
    vc_dimension: int = 11,
    sizes: npt.ArrayLike | None = None,
    prevalence: float = 0.5,
    ax: Any = None,
) -> Any:
    """Draw how the generalisation bound shrinks with the size of the sample, for bands of several widths.

    Parameters
    ----------
    fpr_ranges : sequence of (float, float)
        The bands.
    vc_dimension : int, default 11
        d + 1 for linear scorers of d features.
    sizes : array-like of int, optional
        Numbers of samples, from 1,000 to 1e9 by default.
    prevalence : float, default 0.5
        The share of positives among them.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from rocband.plot import plot_generalization_bound
    >>> plot_generalization_bound(fpr_ranges=[(0.0, 0.1)]).get_xscale()
    'log'
    """
    if not isinstance(prevalence, Real) or not 0 < prevalence < 1:
        raise ParameterError("prevalence", f"must lie strictly between 0 and 1, got {prevalence!r}.")
    totals = np.geomspace(1e3, 1e9, 61) if sizes is None else np.asarray(sizes, dtype=np.float64)
    ax = one_panel() if ax is None else ax
    for number, band in enumerate(fpr_ranges):
        bounds = [_bound(size, prevalence, band, vc_dimension) for size in totals.tolist()]
        color = COLORS[number % len(COLORS)]
        style = STYLES[number % len(STYLES)]
        label = f"FPR {band[0]:g} to {band[1]:g}"
        ax.loglog(totals, bounds, color=color, linestyle=style, linewidth=1.8, label=label)
    # A risk is at most 1, so that a bound above says nothing.
    ax.axhspan(1.0, ax.get_ylim()[1], color=SHADE, zorder=0)
    ax.annotate("says nothing", (totals[-1], 1.0), (-4, 4), textcoords="offset points", ha="right", color=_ON_SHADE)
    ax.set(xlabel="Samples", ylabel="Bound on risk above training risk", xlim=(totals[0], totals[-1]))
    ax.margins(y=0)
    ax.legend(frameon=False, loc="lower left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _bound(size: float, prevalence: float, band: _Range, vc_dimension: int) -> float:
    n_positives = max(round(prevalence * size), 1)
    n_negatives = max(round((1 - prevalence) * size), 1)
    return generalization_bound(n_positives, n_negatives, fpr_range=band, vc_dimension=vc_dimension).risk
