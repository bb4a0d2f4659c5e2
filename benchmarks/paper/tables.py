"""Markdown tables of the experiments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from benchmarks.paper import published
from benchmarks.paper.methods import METHODS
from benchmarks.paper.trials import Trial
from benchmarks.standings import mean_and_error

__all__ = ["TABLES", "Outcomes", "by_band", "gather", "how_often", "times"]

Outcomes = Mapping[Trial, dict[str, Any]]
Range = tuple[float, float]

_OURS = ("logistic regression", "rocband, default", "rocband, no anchor", "rocband, C chosen")


def gather(outcomes: Outcomes, what: str, *keys: str) -> dict[tuple[Any, ...], list[Any]]:
    """Collect a figure over the splits, by some attributes of the trials."""
    found: dict[tuple[Any, ...], list[Any]] = {}
    for trial in sorted(outcomes, key=lambda trial: trial.split):
        part = "result" if what in outcomes[trial]["result"] else "seconds"
        found.setdefault(tuple(getattr(trial, key) for key in keys), []).append(outcomes[trial][part][what])
    return found


def by_band(band: Range) -> str:
    """Write a band as text."""
    return f"[{band[0]:.3g}, {band[1]:.3g}]"


def _ordered(names: Iterable[str]) -> list[str]:
    found = set(names)
    return [name for name in METHODS if name in found]


def _grid(header: list[str], rows: list[list[str]]) -> str:
    """Write a Markdown table in which a figure and its error stay on one line."""
    lines = [" | ".join(header), " | ".join(["---"] * len(header)), *(" | ".join(row) for row in rows)]
    table = "\n".join(f"| {line} |" for line in lines) + "\n"
    return re.sub(r"(?<=\d|\*) ([±+]|of) (?=\d)", "\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", table)


def _entry(values: list[float], theirs: float | None, bar: float | None) -> str:
    """Mean ± standard error, the paper's figure in brackets; bold where it is above ``bar`` by more than the error."""
    mean, error = mean_and_error(values)
    spread = f" ± {error:.4f}" if np.isfinite(error) else ""
    above = bar is not None and mean - bar > np.nan_to_num(error)
    shown = f"**{mean:.4f}**" if above else f"{mean:.4f}"
    return f"{shown}{spread}" + (f" ({theirs:.4f})" if theirs is not None else "")


_LEGEND = """Mean test figure over {splits} random splits, ± its standard error; in brackets what the paper reports for
that method. Bold: above the paper's figure (for methods that are not in the paper: above its best support vector
machine) by more than the standard error.
"""


def _bar(experiment: str, data: str, method: str, band: Range) -> float | None:
    if method not in _OURS:
        return published.figure(experiment, data, method, band)
    names = ("SVM_pAUC", "SVM_pAUC^dc", "SVM_AUC")
    bands = {band} | {key[1] for key in published.KDDCUP06} if experiment == "kddcup06" else {band}
    figures = [published.figure(experiment, data, name, each) for name in names for each in bands]
    return max((value for value in figures if value is not None), default=None)


def uci(outcomes: Outcomes) -> str:
    """Methods by data sets."""
    scores = gather(outcomes, "score", "data", "method")
    sets = sorted({data for data, _ in scores})
    rows = []
    for method in _ordered(method for _, method in scores):
        row = [method.replace("^dc", "<sup>dc</sup>")]
        for data in sets:
            theirs = published.figure("uci", data, method, (0.02, 0.05))
            values = scores.get((data, method))
            row.append(_entry(values, theirs, _bar("uci", data, method, (0.02, 0.05))) if values else "")
        rows.append(row)
    splits = max(len(values) for values in scores.values())
    return _LEGEND.format(splits=splits) + "\n" + _grid(["", *sets], rows) + _substituted(sets)


def spread(outcomes: Outcomes) -> str:
    """Means over many splits, and where the paper's mean of five would lie among means of five others."""
    scores = gather(outcomes, "score", "data", "method", "band")
    rows = []
    for (data, method, band), values in scores.items():
        deviation = float(np.std(values, ddof=1))
        apart = deviation * np.sqrt(1 / 5 + 1 / len(values))
        theirs = published.figure("uci", data, method, band)
        shown = f"{theirs:.4f}, {(theirs - np.mean(values)) / apart:+.1f}" if theirs is not None else ""
        rows.append([data, method, _entry(values, None, None), f"{deviation:.4f}", f"{apart:.4f}", shown])
    header = ["data", "", "mean", "deviation of a split", "of a mean of 5 from this mean", "paper, in such deviations"]
    splits = max(len(values) for values in scores.values())
    legend = (
        f"Partial AUC in [0.02, 0.05] over {splits} random splits, ± the standard error of the mean. The paper\n"
        "reports means of five splits of its own: how far such a mean lies from ours by chance, and how far the\n"
        "paper's lies.\n\n"
    )
    return legend + _grid(header, rows) + _substituted(sorted({key[0] for key in scores}))


def _substituted(sets: Iterable[str]) -> str:
    notes = [f"- {name}: {published.STAND_INS[name]}." for name in sets if name in published.STAND_INS]
    return "\nWhat differs from the paper's data:\n\n" + "\n".join(notes) + "\n" if notes else ""


def kddcup(outcomes: Outcomes) -> str:
    """Methods and bands of one data set, with the paper's figures for the real one."""
    scores = gather(outcomes, "score", "experiment", "data", "method", "band")
    rows = []
    for method in _ordered(key[2] for key in scores):
        for (experiment, data, name, band), values in scores.items():
            if name == method:
                theirs = published.figure(experiment, data, method, band)
                shown = f"{theirs:.4f}" if theirs is not None else ""
                rows.append([method, by_band(band), _entry(values, None, None), shown])
    data = sorted({key[1] for key in scores})
    splits = max(len(values) for values in scores.values())
    legend = f"Mean over {splits} random splits of {', '.join(data)}, ± its standard error.\n\n"
    return legend + _grid(["", "band", "ours", "the paper, its data"], rows) + _substituted(data)


def fractions(outcomes: Outcomes) -> str:
    """Methods by fraction of the training data, one table a set and band."""
    scores = gather(outcomes, "score", "data", "band", "method", "fraction")
    parts = []
    for data, band in sorted({key[:2] for key in scores}):
        chosen = {key[2:]: values for key, values in scores.items() if key[:2] == (data, band)}
        sizes = sorted({fraction for _, fraction in chosen})
        rows = [
            [method, *(_entry(chosen[method, size], None, None) for size in sizes)]
            for method in _ordered(method for method, _ in chosen)
        ]
        parts.append(f"## {data}, {by_band(band)}\n\n" + _grid(["", *(f"{size:.0%}" for size in sizes)], rows))
    return "\n".join(parts) + _substituted(sorted({key[0] for key in scores}))


def steps(outcomes: Outcomes) -> str:
    """Median steps of both solvers."""
    counts = gather(outcomes, "steps", "data", "band", "C", "method")
    enough = gather(outcomes, "enough", "data", "band", "C", "method")
    rows = []
    for data, band, C in sorted({key[:3] for key in counts}):
        row = [data, by_band(band), f"{C:g}"]
        for solver in ("rocband", "cutting planes"):
            key = (data, band, C, solver)
            row.append(f"{'' if all(enough[key]) else '> '}{np.median(counts[key]):g}")
        rows.append(row)
    legend = (
        "Median over the splits of the passes over the data that rocband takes to prove a gap of C * 1e-4, and of the\n"
        "calls of the textbook's cutting-plane method until no constraint is violated by more than 1e-4; at most\n"
        "10,000 rows. `>` marks where some split was stopped.\n\n"
    )
    return legend + _grid(["data", "band", "C", "rocband", "cutting planes"], rows)


def collapse(outcomes: Outcomes) -> str:
    """Share of the splits in which the constant scorer is optimal."""
    found = gather(outcomes, "collapsed", "data", "band", "method")
    bands = sorted({band for _, band, _ in found})
    rows = [
        [data, kind, *(how_often(found[data, band, kind]) for band in bands)]
        for data, kind in sorted({(key[0], key[2]) for key in found})
    ]
    legend = (
        "In how many random splits a convex surrogate, with C = 10,000, is minimised by the constant scorer, by the\n"
        "solver's lower bound; at most 10,000 training rows. In a band that starts at 0 `tight` is the hinge. Open:\n"
        "neither proved nor refuted after 500 passes.\n\n"
    )
    return legend + _grid(["data", "surrogate", *map(by_band, bands)], rows)


def how_often(collapsed: list[bool | None]) -> str:
    """Say in how many splits a surrogate collapsed, and in how many that is open."""
    undecided = sum(each is None for each in collapsed)
    return f"{sum(each is True for each in collapsed)} of {len(collapsed)}" + f", {undecided} open" * bool(undecided)


def times(outcomes: Outcomes) -> str:
    """Median seconds by method and data set."""
    whole = {trial: outcome for trial, outcome in outcomes.items() if trial.fraction == 1}
    tuning, fit = (gather(whole, what, "data", "method") for what in ("tuning", "fit"))
    sets = sorted({data for data, _ in fit})
    rows = []
    for method in _ordered(method for _, method in fit):
        keys = [(data, method) for data in sets]
        seconds = [f"{np.median(tuning[key]):.1f} + {np.median(fit[key]):.1f}" if key in fit else "" for key in keys]
        rows.append([method, *seconds])
    return "Median seconds of one core to choose the parameters + to fit, over splits and bands.\n\n" + _grid(
        ["", *sets], rows
    )


TABLES: dict[str, Callable[[Outcomes], str]] = {
    "uci": uci,
    "spread": spread,
    "fractions": fractions,
    "kddcup08": kddcup,
    "kddcup06": kddcup,
    "steps": steps,
    "collapse": collapse,
}
