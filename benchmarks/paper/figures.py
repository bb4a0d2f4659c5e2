"""Figures of the experiments: the same colour and mark for a method everywhere, names at the lines' ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.paper import published
from benchmarks.paper.tables import Outcomes, by_band, gather, how_often
from benchmarks.standings import mean_and_error

__all__ = ["FIGURES", "times"]

Range = tuple[float, float]
_End = tuple[str, str, float, float]
Values = Mapping[tuple[Any, ...], list[float]]

# Okabe and Ito's colours, which colour-blind readers tell apart, each with its own mark.
STYLES: dict[str, tuple[str, str]] = {
    "rocband, C chosen": ("#D55E00", "o"),
    "rocband, default": ("#E69F00", "s"),
    "rocband, no anchor": ("#8A5A44", "h"),
    "rocband": ("#D55E00", "o"),
    "SVM_pAUC": ("#0072B2", "^"),
    "SVM_pAUC^dc": ("#56B4E9", "v"),
    "SVM_AUC": ("#009E73", "D"),
    "ASVM": ("#CC79A7", "P"),
    "pAUCBoost": ("#000000", "X"),
    "Greedy": ("#777777", "*"),
    "logistic regression": ("#9A8700", "<"),
    "cutting planes": ("#0072B2", "^"),
}
_LABELS = {"SVM_pAUC^dc": r"SVM$_{\rm pAUC}^{\rm dc}$", "SVM_pAUC": r"SVM$_{\rm pAUC}$", "SVM_AUC": r"SVM$_{\rm AUC}$"}


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise ValueError("The figures need matplotlib: pip install 'rocband[plot]'.") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def _label_ends(ax: Any, ends: list[_End]) -> None:
    """Write (text, colour) at the right of each line's end (x, y), moved apart where lines end close together."""
    to_axes = ax.transData + ax.transAxes.inverted()
    heights = np.array([to_axes.transform((x, y))[1] for _, _, x, y in ends])
    order = np.argsort(heights)
    for lower, upper in pairwise(order):
        heights[upper] = max(heights[upper], heights[lower] + 0.055)
    heights -= max(heights.max() - 1.0, 0.0)
    for lower, upper in pairwise(order[::-1]):
        heights[upper] = min(heights[upper], heights[lower] - 0.055)
    for (text, color, _, _), height in zip(ends, heights, strict=True):
        ax.text(1.02, height, text, transform=ax.transAxes, color=color, fontsize=8, va="center")


def _tidy(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#E5E5E5", linewidth=0.7)
    ax.set_axisbelow(True)


def fractions(outcomes: Outcomes, out: Path) -> None:
    """Partial AUC against the fraction of the training data, a panel for each set and band."""
    plt = _pyplot()
    scores = gather(outcomes, "score", "data", "band", "method", "fraction")
    panels = sorted({key[:2] for key in scores})
    rows = math.ceil(len(panels) / 2)
    columns = min(len(panels), 2)
    size = (4.6 * columns, 3.6 * rows)
    fig, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    for ax, (data, band) in zip(axes.flat, panels, strict=False):
        _fraction_panel(ax, {key[2:]: values for key, values in scores.items() if key[:2] == (data, band)})
        ax.set_title(f"{data}, FPR {band[0]:g} to {band[1]:g}", fontsize=10, loc="left")
    for ax in axes[:, 0]:
        ax.set_ylabel("test partial AUC in the band")
    fig.savefig(out / "fractions.png", dpi=150)
    plt.close(fig)


def _fraction_panel(ax: Any, scores: Values) -> None:
    ends = []
    sizes = sorted({key[1] for key in scores})
    for method in (name for name in STYLES if any(key[0] == name for key in scores)):
        middle, error = np.array([mean_and_error(scores[method, size]) for size in sizes]).T
        color, mark = STYLES[method]
        ax.errorbar(
            sizes, middle, np.nan_to_num(error), color=color, marker=mark, markersize=5, linewidth=1.4, capsize=2
        )
        ends.append((_LABELS.get(method, method), color, sizes[-1], float(middle[-1])))
    ax.set_xscale("log")
    ax.set_xticks(sizes, [f"{size:.0%}" for size in sizes])
    ax.minorticks_off()
    ax.set_xlabel("fraction of the training data")
    _tidy(ax)
    _label_ends(ax, ends)


def steps(outcomes: Outcomes, out: Path) -> None:
    """Draw steps against beta for bands from 0, and against the length for bands that start higher."""
    plt = _pyplot()
    counts = gather(outcomes, "steps", "data", "band", "C", "method")
    sets = sorted({key[0] for key in counts})
    Cs = sorted({key[2] for key in counts})
    fig, axes = plt.subplots(len(sets), 2, figsize=(9.5, 3.5 * len(sets)), squeeze=False, layout="constrained")
    for row, data in zip(axes, sets, strict=True):
        own = {key[1:]: values for key, values in counts.items() if key[0] == data}
        _steps_from_zero(row[0], own, Cs)
        _steps_by_length(row[1], own, Cs[-1])
        row[0].set_title(f"{data}: bands from 0", fontsize=10, loc="left")
        row[1].set_title(f"{data}: bands from alpha, C = {Cs[-1]:g}", fontsize=10, loc="left")
    fig.savefig(out / "steps.png", dpi=150)
    plt.close(fig)


def _steps_from_zero(ax: Any, counts: Values, Cs: list[float]) -> None:
    highs = sorted({band[1] for band, _, _ in counts if band[0] == 0})
    ends = []
    for solver in ("cutting planes", "rocband"):
        for C, line in zip(Cs, ("-", "--", ":"), strict=False):
            values = [float(np.median(counts[(0.0, high), C, solver])) for high in highs]
            ends.append(_steps_line(ax, highs, values, solver, line, f"{solver}, C = {C:g}"))
    _steps_axes(ax, highs, r"upper end of the band, $\beta$")
    _label_ends(ax, ends)
    ax.set_ylabel("steps (median)")


def _steps_by_length(ax: Any, counts: Values, C: float) -> None:
    starts = sorted({band[0] for band, _, _ in counts if band[0] > 0})
    lengths: list[float] = []
    ends = []
    for solver in ("cutting planes", "rocband"):
        for start, line in zip(starts, ("-", "--", ":"), strict=False):
            bands = sorted({band for band, _, _ in counts if band[0] == start})
            lengths = [band[1] - band[0] for band in bands]
            values = [float(np.median(counts[band, C, solver])) for band in bands]
            ends.append(_steps_line(ax, lengths, values, solver, line, rf"{solver}, $\alpha$ = {start:g}"))
    _steps_axes(ax, lengths, "length of the band")
    _label_ends(ax, ends)


def _steps_line(ax: Any, x: list[float], y: list[float], solver: str, line: str, text: str) -> _End:
    color, mark = STYLES[solver]
    ax.plot(x, y, color=color, marker=mark, markersize=4.5, linewidth=1.4, linestyle=line)
    return text, color, x[-1], y[-1]


def _steps_axes(ax: Any, ticks: list[float], name: str) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(ticks, [f"{tick:.2g}" for tick in ticks])
    ax.minorticks_off()
    ax.set_xlabel(name)
    _tidy(ax)


def collapse(outcomes: Outcomes, out: Path) -> None:
    """Share of the splits that collapse, as a table of shades with the numbers written in."""
    plt = _pyplot()
    found = gather(outcomes, "collapsed", "data", "band", "method")
    bands = sorted({key[1] for key in found})
    rows = sorted({(key[0], key[2]) for key in found})
    trials = [[found[data, band, kind] for band in bands] for data, kind in rows]
    shares = np.array([[np.mean([each is True for each in trial]) for trial in row] for row in trials])
    fig, ax = plt.subplots(figsize=(1.3 + 0.95 * len(bands), 1.0 + 0.32 * len(rows)), layout="constrained")
    ax.imshow(shares, cmap="Oranges", vmin=0, vmax=2, aspect="auto")
    for (i, j), share in np.ndenumerate(shares):
        text = "never" if share == 0 else "always" if share == 1 else f"{share:.0%}"
        text = how_often(trials[i][j]).replace(", ", ",\n") if None in trials[i][j] else text
        ax.text(j, i, text, ha="center", va="center", fontsize=8, color="#777777" if share == 0 else "black")
    ax.set_xticks(range(len(bands)), [by_band(band) for band in bands], fontsize=8)
    ax.set_yticks(range(len(rows)), [f"{data}, {kind}" for data, kind in rows], fontsize=8)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_title("How often the constant scorer is optimal", fontsize=10, loc="left")
    fig.savefig(out / "collapse.png", dpi=150)
    plt.close(fig)


def _panels(plt: Any, titles: list[str], names: list[str]) -> tuple[Any, list[Any]]:
    """Make a panel for each title, three in a row, with a line for each method."""
    rows = math.ceil(len(titles) / 3)
    columns = min(len(titles), 3)
    size = (2.0 + 2.2 * columns, 0.6 + (0.6 + 0.24 * len(names)) * rows)
    fig, grid = plt.subplots(rows, columns, figsize=size, sharey=True, squeeze=False, layout="constrained")
    for ax, title in zip(grid.flat, titles, strict=False):
        ax.set_title(title, fontsize=10, loc="left")
        ax.set_ylim(-0.6, len(names) - 0.4)
    for ax in grid.flat[len(titles) :]:
        ax.set_visible(False)
    for ax in grid[:, 0]:
        ax.set_yticks(range(len(names)), [_LABELS.get(name, name) for name in names], fontsize=9)
    return fig, list(grid.flat[: len(titles)])


def uci(outcomes: Outcomes, out: Path) -> None:
    """Partial AUC of every method, a panel for each data set, the paper's figures as hollow marks."""
    plt = _pyplot()
    scores = gather(outcomes, "score", "data", "method")
    sets = sorted({data for data, _ in scores})
    names = [name for name in reversed(STYLES) if any(method == name for _, method in scores)]
    fig, axes = _panels(plt, sets, names)
    for ax, data in zip(axes, sets, strict=True):
        for height, name in enumerate(names):
            middle, error = mean_and_error(scores[data, name])
            color, mark = STYLES[name]
            ax.errorbar(middle, height, xerr=np.nan_to_num(error), color=color, marker=mark, capsize=2)
            theirs = published.figure("uci", data, name, (0.02, 0.05))
            if theirs is not None:
                ax.plot(theirs, height, marker="o", markersize=9, mfc="none", mec=color, linestyle="none")
        _tidy(ax)
    fig.supxlabel("test partial AUC in [0.02, 0.05]; rings: the paper's figures", fontsize=9)
    fig.savefig(out / "uci.png", dpi=150)
    plt.close(fig)


def times(outcomes: Outcomes, out: Path) -> None:
    """Median seconds to choose and to fit, by method, for the largest sets."""
    plt = _pyplot()
    whole = {trial: outcome for trial, outcome in outcomes.items() if trial.fraction == 1}
    tuning, fit = (gather(whole, what, "data", "method") for what in ("tuning", "fit"))
    sets = sorted({data for data, _ in fit})
    names = [name for name in reversed(STYLES) if any(method == name for _, method in fit)]
    fig, axes = _panels(plt, sets, names)
    for ax, data in zip(axes, sets, strict=True):
        for height, name in enumerate(names):
            if (data, name) not in fit:
                continue
            last, choice = (max(float(np.median(part[data, name])), 1e-3) for part in (fit, tuning))
            color, mark = STYLES[name]
            ax.plot(last, height, color=color, marker=mark, linestyle="none")
            if choice > 1e-3:
                ax.plot(choice, height, color=color, marker=mark, mfc="none", linestyle="none")
                ax.plot([last, choice], [height, height], color=color, linewidth=0.8)
        ax.set_xscale("log")
        _tidy(ax)
    fig.supxlabel("seconds of one core; filled: the last fit, hollow: the choice of parameters", fontsize=9)
    fig.savefig(out / "times.png", dpi=150)
    plt.close(fig)


FIGURES: dict[str, Callable[[Outcomes, Path], None]] = {
    "uci": uci,
    "fractions": fractions,
    "steps": steps,
    "collapse": collapse,
}
