"""The page and the picture of the board of scale."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import numpy as np

from benchmarks.pages import closing, glued, save_figure, save_page, spread_labels, table
from rocband.plot.style import COLORS, STYLES

Records = list[dict[str, Any]]


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


def panel(ax: Any, records: Records, along: str, what: str) -> None:
    """Draw one figure over rows or columns, both in logarithms, each line labelled at its end."""
    models = dict.fromkeys(record["model"] for record in records if what in record)
    lines = [
        [(r[along], max(r[what], 0.5 if "mega" in what else 1e-3)) for r in records if r["model"] == m and what in r]
        for m in models
    ]
    if not lines:
        return
    heights = [np.log10(value) for line in lines for _, value in line]
    places = spread_labels([np.log10(line[-1][1]) for line in lines], 0.055 * (max(heights) - min(heights) + 0.5))
    for k, (model, line, place) in enumerate(zip(models, lines, places, strict=True)):
        color = COLORS[k % len(COLORS)]
        ax.plot(
            *zip(*line, strict=True), color=color, ls=STYLES[(k % len(COLORS) + k // len(COLORS)) % 4], marker="o", ms=3
        )
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
    for row, (what, name) in zip(
        axes, {"seconds": "seconds", "added_megabytes": "MB beyond the data"}.items(), strict=True
    ):
        for ax, along in zip(row, ("rows", "columns"), strict=True):
            panel(ax, records[along], along, what)
            ax.set_title(name, fontsize=9, loc="left")
    save_figure(figure, "board-scale", quick)


def write(records: dict[str, Records], limit: float, skipped: dict[str, str], quick: bool) -> None:
    lines = [
        "# Board: scale",
        "",
        *wrap(
            "Seconds and memory beyond the data of one fit with default settings and one thread; made data in single "
            "precision with 2% positives, band [0, 0.05]; each in a process of its own after a fit to 2,000 rows. A "
            "model goes on to the next size unless, if all grows in proportion, it would take more than "
            f"{limit:g} s or more than 60% of the free memory. LibAUC makes the same number of steps whatever the "
            "size, so its time says nothing of its quality. dlib's includes the copy into its own vectors.",
            120,
        ),
        "",
        "![Seconds and memory over rows and columns](board-scale.png)",
        "",
        "## Rows",
        "",
        *grid(records["rows"]),
        "",
        "## Columns",
        "",
        *grid(records["columns"]),
        "",
        "## Memory maps",
        "",
        *grid(records["maps"]),
    ]
    save_page("board-scale", lines + closing(skipped, {}, "boards.scale"), quick)
    draw(records, quick)
