"""The ROC curve with the band that counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_curve

from rocband._errors import ParameterError
from rocband._input import positive_mask
from rocband.inference import Interval, partial_auc_interval
from rocband.inference.intervals import FULL, Method, method_used, own_figures, pointwise_band, rectangle
from rocband.inference.sample import Sample
from rocband.plot.style import COLORS, QUIET, SHADE, STYLES, one_panel

__all__ = ["PartialROCDisplay"]

_Array = npt.NDArray[np.float64]
_Range = tuple[float, float]

# Marks on what is drawn, by which a later curve on the same axes finds it.
_SHADE_ID = "rocband-band"
_ZOOM_ID = "rocband-zoom"
_CURVE_ID = "rocband-curve"
_ZOOM_MARK_ID = "rocband-zoom-mark"
# A little above 1, where a line along the top would be cut in half.
_TOP = 1.01
# The lower right half of the square, which the curve of a useful model leaves free, clear of both axes' labels.
_ZOOM_PLACE = (0.47, 0.09, 0.5, 0.5)
# Not white, so that the inset stands out, and lighter than the shade of the band.
_ZOOM_GROUND = "#F7F7F7"
# A point for each hundredth of the axis, which is as fine as a chart shows.
_GRID_SIZE = 101
# Twelve draws then lie beyond each limit of 95%, and a picture is there in a second.
_BAND_DRAWS = 500


class PartialROCDisplay:
    """The ROC curve of one scorer, with the band that counts.

    Make it with :meth:`from_estimator` or :meth:`from_predictions`. To compare scorers, pass the ``ax_`` of the first
    display as the ``ax`` of the next.

    Parameters
    ----------
    fpr, tpr : arrays
        Corners of the curve.
    fpr_range, tpr_range : (float, float)
        The band.
    interval : Interval, optional
        The partial AUC in the band with its interval, for the legend.
    band : (fpr, low, high), optional
        Pointwise limits of the curve.
    name : str, optional
        What to call the scorer.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Where it was drawn.
    line_ : matplotlib Line2D
        The curve inside the band.
    zoom_ : matplotlib Axes or None
        The inset, if there is one.
    """

    def __init__(
        self,
        *,
        fpr: npt.ArrayLike,
        tpr: npt.ArrayLike,
        fpr_range: _Range = FULL,
        tpr_range: _Range = FULL,
        interval: Interval | None = None,
        band: tuple[_Array, _Array, _Array] | None = None,
        name: str | None = None,
    ) -> None:
        self.fpr = np.asarray(fpr, dtype=np.float64)
        self.tpr = np.asarray(tpr, dtype=np.float64)
        self.fpr_range = fpr_range
        self.tpr_range = tpr_range
        self.interval = interval
        self.band = band
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: npt.ArrayLike, *, name: str | None = None, pos_label: Any = None, **options: Any
    ) -> PartialROCDisplay:
        """Draw the curve of a fitted classifier's ``decision_function``, or else ``predict_proba``.

        Parameters
        ----------
        estimator : fitted classifier
        X, y
            Data and labels, best not those of training.
        name : str, optional
            The name of the estimator's class by default.
        pos_label : object, optional
            The label of the positives, ``estimator.classes_[1]`` by default.
        **options
            As in :meth:`from_predictions`.

        Returns
        -------
        PartialROCDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from sklearn.linear_model import LogisticRegression
        >>> from rocband.datasets import make_band_problem
        >>> from rocband.plot import PartialROCDisplay
        >>> X, y = make_band_problem(500, random_state=0)
        >>> model = LogisticRegression().fit(X, y)
        >>> display = PartialROCDisplay.from_estimator(model, X, y, fpr_range=(0.0, 0.1), random_state=0)
        >>> display.ax_.get_xlabel()
        'False-positive rate'
        """
        label = estimator.classes_[1] if pos_label is None else pos_label
        scores = _scores(estimator, X, label)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, scores, name=name, pos_label=label, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: npt.ArrayLike,
        y_score: npt.ArrayLike,
        *,
        fpr_range: _Range = FULL,
        tpr_range: _Range | None = None,
        name: str | None = None,
        confidence: float | None = 0.95,
        method: Method = "auto",
        groups: npt.ArrayLike | None = None,
        curve_band: bool = False,
        random_state: Any = None,
        pos_label: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> PartialROCDisplay:
        """Draw the curve of given scores.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_samples,)
            Labels of two classes, and scores, larger for what looks more positive.
        fpr_range, tpr_range : (float, float), default (0, 1)
            The band.
        name : str, optional
            What to call the scorer in the legend.
        confidence : float or None, default 0.95
            Confidence of the interval in the legend; None leaves the interval out.
        method, groups, random_state
            How the interval is made, see :func:`rocband.inference.partial_auc_interval`.
        curve_band : bool, default False
            Whether to draw pointwise limits of the curve with the same confidence, from 500 draws.
        pos_label : object, optional
            The label of the positives.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        **options
            For :meth:`plot`.

        Returns
        -------
        PartialROCDisplay
        """
        figure = rectangle(fpr_range, tpr_range)
        sample = Sample.of(y_true, {"y_score": y_score}, groups, pos_label)
        fpr, tpr, _ = roc_curve(positive_mask(np.asarray(y_true), pos_label), y_score)
        if confidence is None:
            _, (estimate,) = own_figures(sample, figure)
            interval = Interval(estimate, math.nan, math.nan, math.nan, method_used(method))
        else:
            interval = partial_auc_interval(
                y_true,
                y_score,
                fpr_range=figure.fpr,
                tpr_range=figure.tpr,
                confidence=confidence,
                method=method,
                groups=groups,
                random_state=random_state,
                pos_label=pos_label,
            )
        band = None
        if curve_band and confidence is not None:
            # Only draws have limits at every rate.
            drawing = "bootstrap" if method == "bootstrap" else "spacings"
            band = _curve_band(sample, figure.fpr, confidence, drawing, random_state)
        display = cls(
            fpr=fpr, tpr=tpr, fpr_range=figure.fpr, tpr_range=figure.tpr, interval=interval, band=band, name=name
        )
        return display.plot(ax, with_interval=confidence is not None, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        with_interval: bool = True,
        zoom: bool = False,
        log_fpr: bool = False,
        chance: bool = True,
        **line_options: Any,
    ) -> PartialROCDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default. Axes that already hold such a curve get one more.
        name : str, optional
            What to call the scorer in the legend.
        with_interval : bool, default True
            Whether the legend shows the interval.
        zoom : bool, default False
            Whether to repeat the band in an inset.
        log_fpr : bool, default False
            Whether the false-positive rate has a logarithmic axis. It starts where one negative in two would be
            counted, or at a tenth of the band. Not together with ``zoom``, which shows the same.
        chance : bool, default True
            Whether to draw the curve of chance.
        **line_options
            For matplotlib's ``plot``.

        Returns
        -------
        PartialROCDisplay
            Itself.
        """
        if zoom and log_fpr:
            raise ParameterError("zoom", "and log_fpr both enlarge the band; choose one of them.")
        ax = one_panel((5.6, 5.6)) if ax is None else ax
        number = sum(line.get_gid() == _CURVE_ID for line in ax.get_lines())
        color = COLORS[number % len(COLORS)]
        linestyle = STYLES[number % len(STYLES)]
        style = {"color": color, "linestyle": linestyle} | line_options
        if number == 0:
            self._prepare(ax, log_fpr=log_fpr, chance=chance)
        self.line_ = self._draw(ax, style, self._label(name, with_interval))
        self.zoom_ = self._draw_zoom(ax, style) if zoom else None
        self._draw_legend(ax)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    def _prepare(self, ax: Any, *, log_fpr: bool, chance: bool) -> None:
        ends = (0.0, 1.0)
        if log_fpr:
            ends = (self._smallest_rate(), 1.0)
            ax.set_xscale("log")
        self._shade(ax, ends[0])
        if chance:
            rates = np.geomspace(*ends, 200) if log_fpr else np.array(ends)
            ax.plot(rates, rates, color=QUIET, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1.5)
        ax.set(xlabel="False-positive rate", ylabel="True-positive rate", xlim=ends, ylim=(0.0, _TOP))
        ax.set_aspect("auto" if log_fpr else "equal", adjustable="box")
        ax.spines[["top", "right"]].set_visible(False)

    def _smallest_rate(self) -> float:
        half_a_negative = self.fpr[self.fpr > 0].min(initial=1.0) / 2
        left_of_band = self.fpr_range[0] or self.fpr_range[1] / 10
        return float(min(half_a_negative, left_of_band))

    def _shade(self, ax: Any, smallest: float) -> None:
        if (self.fpr_range, self.tpr_range) == (FULL, FULL):
            return
        left = max(self.fpr_range[0], smallest)
        width = self.fpr_range[1] - left
        bottom = self.tpr_range[0]
        height = self.tpr_range[1] - bottom
        ax.bar(left, height, width, bottom, align="edge", color=SHADE, zorder=0.5, gid=_SHADE_ID)

    def _draw(self, ax: Any, style: Mapping[str, Any], label: str | None) -> Any:
        floor = ax.get_xlim()[0] if ax.get_xscale() == "log" else 0.0
        faint = dict(style) | {"linewidth": 1.0, "alpha": 0.55, "gid": _CURVE_ID}
        ax.plot(np.maximum(self.fpr, floor), self.tpr, **faint)
        if self.band is not None:
            rates, low, high = self.band
            ax.fill_between(rates, low, high, color=style["color"], alpha=0.15, linewidth=0, zorder=1)
        fpr, tpr = self._inside()
        strong = {"linewidth": 2.4, "solid_capstyle": "butt"} | dict(style) | {"label": label}
        (line,) = ax.plot(np.maximum(fpr, floor), tpr, **strong)
        return line

    def _inside(self) -> tuple[_Array, _Array]:
        """Corners of the part of the curve that runs inside the band."""
        left, right = self.fpr_range
        ends = np.interp((left, right), self.fpr, self.tpr)
        chosen = (self.fpr > left) & (self.fpr < right)
        # Where the curve is vertical, at the left end of the band, interpolation would skip its foot.
        foot = self.tpr[self.fpr <= left].min() if left == 0 else ends[0]
        fpr = np.concatenate(([left, left], self.fpr[chosen], [right]))
        tpr = np.concatenate(([foot, ends[0]], self.tpr[chosen], [ends[1]]))
        return _cut(fpr, tpr, *self.tpr_range)

    def _draw_zoom(self, ax: Any, style: Mapping[str, Any]) -> Any:
        insets = [child for child in ax.child_axes if child.get_gid() == _ZOOM_ID]
        if insets:
            zoom = insets[0]
            heights = [*zoom.get_ylim(), *self._zoom_heights()]
            zoom.set_ylim(min(heights), max(heights))
        else:
            zoom = self._new_zoom(ax)
        self._draw(zoom, style, None)
        # The frame around the band is drawn anew: the inset may have grown.
        old_marks = [artist for artist in ax.get_children() if artist.get_gid() == _ZOOM_MARK_ID]
        for mark in old_marks:
            mark.remove()
        ax.indicate_inset_zoom(zoom, edgecolor=QUIET).set_gid(_ZOOM_MARK_ID)
        return zoom

    def _new_zoom(self, ax: Any) -> Any:
        zoom = ax.inset_axes(_ZOOM_PLACE)
        zoom.set_gid(_ZOOM_ID)
        zoom.set_xscale(ax.get_xscale())
        zoom.set_facecolor(_ZOOM_GROUND)
        zoom.tick_params(labelsize="small")
        zoom.set_xlim(max(self.fpr_range[0], ax.get_xlim()[0]), self.fpr_range[1])
        zoom.set_ylim(*self._zoom_heights())
        return zoom

    def _zoom_heights(self) -> _Range:
        heights = self._inside()[1]
        if self.band is not None:
            rates, low, high = self.band
            chosen = (rates >= self.fpr_range[0]) & (rates <= self.fpr_range[1])
            heights = np.concatenate((heights, low[chosen], high[chosen]))
        # Room for the width of a line, also where the curve is flat.
        margin = max(0.05 * float(np.ptp(heights)), 0.01)
        bottom = max(float(heights.min()) - margin, 0.0)
        top = min(float(heights.max()) + margin, _TOP)
        return bottom, top

    def _label(self, name: str | None, with_interval: bool) -> str | None:
        name = self.name if name is None else name
        if self.interval is None:
            return name
        text = f"{self.interval.estimate:.3f}"
        if with_interval:
            text += f"  [{self.interval.low:.3f}, {self.interval.high:.3f}]"
        return text if name is None else f"{name}: {text}"

    def _draw_legend(self, ax: Any) -> None:
        if not ax.get_legend_handles_labels()[1]:
            return
        title = "AUC" if (self.fpr_range, self.tpr_range) == (FULL, FULL) else f"partial AUC, {self._range_text()}"
        # An inset, or curves on a logarithmic axis, leave no corner free.
        crowded = bool(ax.child_axes) or ax.get_xscale() == "log"
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.12)} if crowded else {"loc": "lower right"}
        legend = ax.legend(title=title, frameon=not crowded, framealpha=0.9, edgecolor="none", **place)
        legend.get_title().set_fontsize("medium")

    def _range_text(self) -> str:
        parts = []
        for name, bounds in (("FPR", self.fpr_range), ("TPR", self.tpr_range)):
            if bounds != FULL:
                parts.append(f"{name} {bounds[0]:g} to {bounds[1]:g}")
        return ", ".join(parts)


def _scores(estimator: Any, X: Any, label: Any) -> _Array:
    """Scores for the label, larger for what looks more like it."""
    classes = list(estimator.classes_)
    if label not in classes:
        raise ParameterError("pos_label", f"{label!r} is not among the estimator's classes {classes}.")
    index = classes.index(label)
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
        return scores if index == 1 else -scores
    return np.asarray(estimator.predict_proba(X), dtype=np.float64)[:, index]


def _curve_band(
    sample: Sample, fpr_range: _Range, confidence: float, method: str, random_state: Any
) -> tuple[_Array, _Array, _Array]:
    # Half of the points in the band: it may be narrow, and the inset shows nothing else.
    rates = np.union1d(np.linspace(0, 1, _GRID_SIZE), np.linspace(*fpr_range, _GRID_SIZE))
    low, high = pointwise_band(
        sample, rates, confidence=confidence, method=method, n_draws=_BAND_DRAWS, random_state=random_state
    )
    return rates, low, high


def _cut(fpr: _Array, tpr: _Array, low: float, high: float) -> tuple[_Array, _Array]:
    """Keep the part of a rising polyline between two heights."""
    ends = np.array([level for level in (low, high) if tpr[0] < level < tpr[-1]])
    at = np.searchsorted(tpr, ends)
    # Where the line between two corners reaches a level, put a corner.
    share = (ends - tpr[at - 1]) / (tpr[at] - tpr[at - 1])
    crossings = fpr[at - 1] + share * (fpr[at] - fpr[at - 1])
    fpr = np.insert(fpr, at, crossings)
    tpr = np.insert(tpr, at, ends)
    inside = (tpr >= low) & (tpr <= high)
    return fpr[inside], tpr[inside]
