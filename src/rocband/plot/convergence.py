"""How a solver closed in on the optimum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rocband._errors import ParameterError
from rocband.plot.style import COLORS, SHADE, one_panel, two_panels

__all__ = ["plot_convergence"]

_Array = npt.NDArray[np.float64]

# The first values of a run, often far from the last, may lie outside the picture.
_EARLY = 0.2
# Room above and below the values, as a share of their height, so that no line runs on the frame.
_MARGIN = 0.1


def plot_convergence(history: Iterable[Any], *, axes: Sequence[Any] | None = None) -> Sequence[Any]:
    """Draw how a solver closed in on the optimum: objective and certified bound, and the gap between them.

    Parameters
    ----------
    history : iterable
        The ``history_`` of an estimator: records or dictionaries with ``passes``, ``objective``, ``lower_bound`` and
        ``gap``. Without a finite bound only the objective is drawn.
    axes : two matplotlib axes, optional
        For the values and for the gap; a new figure by default.

    Returns
    -------
    sequence of matplotlib axes
        That of the values and, where there is a bound, that of the gap.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from rocband.plot import plot_convergence
    >>> history = [
    ...     {"passes": 1, "objective": 1.0, "lower_bound": 0.1, "gap": 0.9},
    ...     {"passes": 2, "objective": 0.6, "lower_bound": 0.5, "gap": 0.1},
    ... ]
    >>> values, gap = plot_convergence(history)
    >>> gap.get_yscale()
    'log'
    """
    records = list(history)
    if not records:
        raise ParameterError("history", "is empty; pass the history_ of a fitted estimator.")
    passes = _column(records, "passes")
    objective = _column(records, "objective")
    bound = _column(records, "lower_bound")
    gap = _column(records, "gap")
    certified = bool(np.any(gap > 0))
    if axes is None:
        axes = two_panels() if certified else [one_panel()]
    _draw_values(axes[0], passes, objective, bound)
    if certified:
        # A logarithmic axis has no place for a gap of 0.
        open_gap = gap > 0
        axes[1].semilogy(passes[open_gap], gap[open_gap], color=COLORS[2], linewidth=1.8)
        axes[1].set(ylabel="Gap")
    axes[-1].set(xlabel="Passes over the data")
    for panel in axes:
        panel.spines[["top", "right"]].set_visible(False)
    return axes


def _draw_values(ax: Any, passes: _Array, objective: _Array, bound: _Array) -> None:
    ax.plot(passes, objective, color=COLORS[1], linewidth=1.8, label="objective")
    known = np.isfinite(bound)
    if known.any():
        ax.plot(passes, bound, color=COLORS[0], linewidth=1.8, linestyle="--", label="certified lower bound")
        ax.fill_between(passes, bound, objective, where=known, color=SHADE, linewidth=0, zorder=0)
    ax.set(ylabel="Value", ylim=_focus(objective, bound))
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False, borderaxespad=0.2)


def _column(records: Sequence[Any], key: str) -> _Array:
    values = [record[key] if isinstance(record, Mapping) else getattr(record, key) for record in records]
    # None, of a record without a bound, becomes NaN.
    return np.array(values, dtype=np.float64)


def _focus(objective: _Array, bound: _Array) -> tuple[float, float]:
    """Limits that show the end of a run well: early values may be far away."""
    first = int(_EARLY * len(objective))
    values = np.concatenate((objective[first:], bound[first:]))
    low = float(np.nanmin(values))
    high = float(np.nanmax(values))
    # A run that stands still has no height of its own.
    height = (high - low) or abs(high) or 1.0
    margin = _MARGIN * height
    return low - margin, high + margin
