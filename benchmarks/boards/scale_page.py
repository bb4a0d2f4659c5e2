"""The page and the picture of the board of scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.pages import closing, glued, heading, paragraph, picture, save_figure, save_page, spread_labels, table
from rocband.plot.style import COLORS, STYLES

Records = list[dict[str, Any]]

INTRODUCTION = """
Seconds and memory beyond the data of one fit with default settings and one thread; made data in single precision with
2% positives, band [0, 0.05]; each in a process of its own after a fit to 2,000 rows. A model goes on to the next size
unless, if all grows in proportion, it would take more than {limit:g} s or more than 60% of the free memory. LibAUC
makes the same number of steps whatever the size, so its time says nothing of its quality. dlib's includes the copy into
its own vectors.
"""
# Below these a figure is noise: it is drawn there, since a logarithm has no 0.
LEAST = {"seconds": 1e-3, "added_megabytes": 0.5}
# Distance of the labels in shares of the axis.
LABELS_APART = 0.055


def cell(record: dict[str, Any] | None) -> str:
    if record is None:
        return ""
    if "stopped" in record:
        return record["stopped"]
    return glued(f"{record['seconds']:.3g} s, {record['added_megabytes']:.0f} MB")


def grid(records: Records) -> list[str]:
    """Return the models in rows and the sizes in columns."""
    sizes = sorted({(record["rows"], record["columns"]) for record in records})
    by = {(record["model"], record["rows"], record["columns"]): record for record in records}
    models = dict.fromkeys(record["model"] for record in records)
    body = [[model, *(cell(by.get((model, *size))) for size in sizes)] for model in models]
    return table(["", *(f"{rows:,} x {columns:,}" for rows, columns in sizes)], body)


def line_of(records: Records, model: str, along: str, what: str) -> list[tuple[int, float]]:
    """Return the figures of a model over rows or columns."""
    mine = [record for record in records if record["model"] == model and what in record]
    return [(record[along], max(record[what], LEAST[what])) for record in mine]


def look(number: int) -> tuple[str, str]:
    """Return the colour and the dashes of a line; colours come again with other dashes."""
    again, color = divmod(number, len(COLORS))
    return COLORS[color], STYLES[(color + again) % len(STYLES)]


def panel(ax: Any, records: Records, along: str, what: str) -> None:
    """Draw one figure over rows or columns, both in logarithms, each line labelled at its end."""
    models = dict.fromkeys(record["model"] for record in records if what in record)
    if not models:
        return
    lines = {model: line_of(records, model, along, what) for model in models}
    heights = [np.log10(value) for line in lines.values() for _, value in line]
    distance = LABELS_APART * (max(heights) - min(heights) + 0.5)
    places = spread_labels([np.log10(line[-1][1]) for line in lines.values()], distance)
    for number, ((model, line), place) in enumerate(zip(lines.items(), places, strict=True)):
        color, dashes = look(number)
        x, y = zip(*line, strict=True)
        ax.plot(x, y, color=color, ls=dashes, marker="o", ms=3)
        ax.annotate(
            model,
            line[-1],
            (1.03, 10**place),
            textcoords=ax.get_yaxis_transform(),
            color=color,
            fontsize=7,
            va="center",
            arrowprops={"arrowstyle": "-", "color": color, "lw": 0.4, "relpos": (0, 0.5), "shrinkA": 1},
        )
    ax.set(xscale="log", yscale="log", xlabel=along)
    ax.yaxis.set_minor_formatter("")
    ax.spines[["top", "right"]].set_visible(False)


def draw(records: dict[str, Records], quick: bool) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10.5, 7.0), layout="constrained")
    names = {"seconds": "seconds", "added_megabytes": "MB beyond the data"}
    for row, (what, name) in zip(axes, names.items(), strict=True):
        for ax, along in zip(row, ("rows", "columns"), strict=True):
            panel(ax, records[along], along, what)
            ax.set_title(name, fontsize=9, loc="left")
    save_figure(figure, "board-scale", quick)


def write(records: dict[str, Records], limit: float, skipped: dict[str, str], quick: bool) -> None:
    """Write the page and the picture."""
    lines = [
        *heading("Board: scale", 1),
        *paragraph(INTRODUCTION.format(limit=limit)),
        *picture("Seconds and memory over rows and columns", "board-scale"),
    ]
    for title, part in {"Rows": "rows", "Columns": "columns", "Memory maps": "maps"}.items():
        lines += [*heading(title), *grid(records[part])]
    save_page("board-scale", lines + closing(skipped, {}, "boards.scale"), quick)
    draw(records, quick)
