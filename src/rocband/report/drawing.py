"""What the charts are drawn from: curves, operating points and histograms, thinned to what the eye needs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special
from sklearn.metrics import roc_curve

from rocband.metrics import tpr_at_fpr_score
from rocband.study import Study
from rocband.threshold.cutoff import plain_rank

__all__ = ["COLUMNS", "QUANTILES", "chart_data", "quantile_table"]

_Array = npt.NDArray[Any]
_Range = tuple[float, float]

# A chart is some 600 pixels wide, on fine screens twice that.
_CELLS = 800
# Stops of the slider: most in the band, some over all rates, and some at rates so small that even steps miss them.
_BAND_STOPS = 121
_WIDE_STOPS = 41
_SMALL_STOPS = 41
# Bars of a histogram, some 15 pixels wide each.
_BINS = 40
# Beyond these, a histogram of probabilities counts all in its last bins; the logit of 0 and 1 is infinite.
_PROBABILITIES = (1e-4, 1 - 1e-4)
# A chart shows fewer digits than these.
_CHART_DIGITS = 6
# Of figures more than are shown, so that they are not rounded twice.
_FIGURE_DIGITS = 9
COLUMNS = ("FPR", "TPR", "PPV", "alerts per 1,000")
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def chart_data(study: Study) -> dict[str, Any]:
    """Return what the script of the page reads; only numbers, text and None."""
    return {
        "band": list(study.fpr_range),
        "prevalence": study.sample_prevalence if study.prevalence is None else study.prevalence,
        "scorers": [_scorer(study, name) for name in study.scores],
    }


def _scorer(study: Study, name: str) -> dict[str, Any]:
    study.tell(f"curve and operating points of {name!r}")
    scores = study.scores[name]
    positive = study.positive
    fpr, tpr, _ = roc_curve(positive, scores)
    kept = thinned(fpr, tpr, study.fpr_range)
    return {
        "name": name,
        "curve": {"fpr": _rounded(fpr[kept]), "tpr": _rounded(tpr[kept])},
        "ends": [tpr_at_fpr_score(positive, scores, fpr=rate) for rate in study.fpr_range],
        "points": _points(study, name),
        "histogram": _histogram(scores[positive], scores[~positive]),
    }


def thinned(fpr: _Array, tpr: _Array, band: _Range) -> npt.NDArray[np.intp]:
    """Choose the corners that a chart of the whole curve, or of the band, can tell apart."""
    low, high = band
    # With one corner outside at each end, so that the lines across the ends are right.
    start = max(int(np.searchsorted(fpr, low)) - 1, 0)
    stop = int(np.searchsorted(fpr, high, side="right")) + 1
    span = np.ptp(tpr[start + 1 : stop - 1]) if stop - start > 2 else 0.0
    close = _first_in_each_cell(fpr[start:stop] / (high - low), tpr[start:stop] / (span or 1.0))
    return np.union1d(_first_in_each_cell(fpr, tpr), start + close)


def _first_in_each_cell(x: _Array, y: _Array) -> npt.NDArray[np.intp]:
    """Return the first corner of a rising curve in each cell of a grid, and the last of all."""
    column = np.floor(x * _CELLS)
    row = np.floor(y * _CELLS)
    enters_cell = (np.diff(column) > 0) | (np.diff(row) > 0)
    starts = np.concatenate(([True], enters_cell))
    starts[-1] = True
    return np.flatnonzero(starts)


def stops(n_negatives: int, band: _Range) -> list[float]:
    """Return the false-positive rates at which the slider stops, each a share of the negatives."""
    in_band = np.linspace(*band, _BAND_STOPS)
    wide = np.linspace(0.0, 1.0, _WIDE_STOPS)
    small = np.geomspace(1 / n_negatives, 1.0, _SMALL_STOPS)
    rates = np.concatenate((in_band, wide, small))
    counts = sorted({plain_rank(n_negatives, rate) - 1 for rate in rates.tolist()})
    return [count / n_negatives for count in counts]


def _points(study: Study, name: str) -> dict[str, list[Any]]:
    """Return the operating points by rising FPR: thresholds, and each figure with its ends."""
    rates = stops(study.n_negatives, study.fpr_range)
    table = study.operating_points(name, rates)
    # Where positives and negatives are as many: the ends of the PPV at any prevalence follow from these.
    even = study.operating_points(name, rates, prevalence=0.5)
    distinct = ~table["threshold"].duplicated().to_numpy()
    figures = {label: _with_ends(table[distinct], label) for label in COLUMNS}
    return {
        "threshold": table["threshold"][distinct].tolist(),
        "fpr": figures["FPR"],
        "tpr": figures["TPR"],
        "ppv": figures["PPV"],
        "alerts": figures["alerts per 1,000"],
        "even": _even(even[distinct]),
    }


def _even(table: Any) -> list[list[float | None]]:
    """Return both ends of the PPV, each followed by what it lacks to 1, whose digits rounding would cost."""
    low = table["PPV low"].to_numpy()
    high = table["PPV high"].to_numpy()
    columns = [_rounded(values) for values in (low, 1 - low, high, 1 - high)]
    return [list(row) for row in zip(*columns, strict=True)]


def _with_ends(table: Any, label: str) -> list[list[float | None]]:
    names = (label, f"{label} low", f"{label} high")
    columns = [_rounded(table[name].to_numpy(), _FIGURE_DIGITS) for name in names]
    return [list(row) for row in zip(*columns, strict=True)]


def _histogram(positives: _Array, negatives: _Array) -> dict[str, Any]:
    """Return the share of each class in bins; what lies beyond the last bins is counted in them.

    Scores that may be probabilities are binned by their logit, since most are near 0. Of others, the outermost
    thousandths are beyond the last bins.
    """
    sides = [side.astype(np.float64) for side in (positives, negatives)]
    both = np.concatenate(sides)
    probabilities = bool(both.min() >= 0 and both.max() <= 1)
    if probabilities:
        reach = float(special.logit(_PROBABILITIES[1]))
        edges = np.linspace(-reach, reach, _BINS + 1)
        sides = [special.logit(np.clip(side, *_PROBABILITIES)) for side in sides]
    else:
        low, high = np.quantile(both, (0.001, 0.999), method="nearest")
        edges = _between(low, high) if low < high else np.linspace(low - 0.5, low + 0.5, _BINS + 1)
    return {
        "edges": _rounded(edges),
        "positives": _shares(sides[0], edges),
        "negatives": _shares(sides[1], edges),
        "logit": probabilities,
    }


def _between(low: float, high: float) -> _Array:
    # In quarters, since the width of the range of very large scores is infinite.
    edges: _Array = 4 * np.linspace(low / 4, high / 4, _BINS + 1)
    return edges


def _shares(scores: _Array, edges: _Array) -> list[float | None]:
    places = np.searchsorted(edges[1:-1], scores, side="right")
    return _rounded(np.bincount(places, minlength=len(edges) - 1) / len(scores))


def quantile_table(study: Study) -> list[tuple[str, str, list[float]]]:
    """Return the quantiles of the scores of each class: the histograms as text."""
    rows = []
    for name, scores in study.scores.items():
        for label, side in (("positives", study.positive), ("negatives", ~study.positive)):
            own = scores[side].astype(np.float64)
            quantiles = np.quantile(own, QUANTILES, method="nearest")
            rows.append((name, label, quantiles.tolist()))
    return rows


def _rounded(values: _Array, digits: int = _CHART_DIGITS) -> list[float | None]:
    """Return numbers with some digits, and None for NaN, which JSON does not know."""
    return [None if math.isnan(value) else float(f"{value:.{digits}g}") for value in values.tolist()]
