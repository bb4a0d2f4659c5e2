"""The score along a path of C."""

from __future__ import annotations

from typing import Any

import numpy as np

from rocband._errors import ParameterError
from rocband.plot.style import COLORS, QUIET, one_panel

__all__ = ["plot_path"]


def plot_path(cv: Any, *, ax: Any = None) -> Any:
    """Draw the cross-validated score along a path of C.

    Parameters
    ----------
    cv : fitted PartialAUCSVCCV
        Any object with ``Cs_``, ``scores_`` of shape (len(Cs_), folds) and ``C_``.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib, numpy as np
    >>> matplotlib.use("Agg")
    >>> from types import SimpleNamespace
    >>> from rocband.plot import plot_path
    >>> scores = np.array([[0.4, 0.5], [0.6, 0.7], [0.5, 0.7]])
    >>> ax = plot_path(SimpleNamespace(Cs_=[0.1, 1.0, 10.0], scores_=scores, C_=1.0))
    >>> ax.get_xscale()
    'log'
    """
    Cs = np.asarray(cv.Cs_, dtype=np.float64)
    scores = np.asarray(cv.scores_, dtype=np.float64)
    if scores.ndim != 2 or len(scores) != len(Cs):
        problem = f"must have one row for each of the {len(Cs)} values of C, got shape {scores.shape}."
        raise ParameterError("scores_", problem)
    ax = one_panel() if ax is None else ax
    mean = scores.mean(axis=1)
    ax.plot(Cs, scores, color=QUIET, linewidth=0.7, alpha=0.7)
    # One entry in the legend for all folds.
    ax.plot([], [], color=QUIET, linewidth=0.7, label="one fold")
    ax.plot(Cs, mean, color=COLORS[0], linewidth=2.2, marker="o", markersize=4, label="mean of the folds")
    best = float(cv.C_)
    ax.axvline(best, color=COLORS[1], linewidth=1.2, linestyle="--", label=f"chosen: C = {best:.3g}")
    ax.set(xscale="log", xlabel="C", ylabel="Partial AUC in validation")
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False, borderaxespad=0.2)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
