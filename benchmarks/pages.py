"""Pages and figures of the boards: of a full run into the documentation, of a quick one beside its cells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from typing import Any

from benchmarks.cells import RESULTS
from benchmarks.competitors import versions

DOCS = Path(__file__).resolve().parent.parent / "docs"
# Characters of a line, as everywhere in the repository.
WIDTH = 120
# Rounds of moving labels apart: each settles neighbours, and no picture has this many labels.
ROUNDS = 50


def folder(quick: bool) -> Path:
    return RESULTS / "local_quick" if quick else DOCS


def paragraph(text: str) -> list[str]:
    """Return the lines of a paragraph, whose source may be broken anywhere."""
    return [*wrap(" ".join(text.split()), WIDTH), ""]


def heading(text: str, level: int = 2) -> list[str]:
    return ["#" * level + f" {text}", ""]


def picture(what: str, name: str) -> list[str]:
    return [f"![{what}]({name}.png)", ""]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table and the empty one after it."""
    first, *others = ["| " + " | ".join(cells) + " |" for cells in (head, *rows)]
    return [first, "|" + "---|" * len(head), *others, ""]


def glued(text: str) -> str:
    """Keep a cell on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def closing(skipped: dict[str, str], failed: dict[str, str], command: str) -> list[str]:
    """What every board ends with: what did not run and why, the versions, and how to make it."""
    lines: list[str] = []
    for what, reasons in {"Skipped": skipped, "Failed": failed}.items():
        if reasons:
            listed = "; ".join(f"{name} ({reason})" for name, reason in reasons.items())
            lines += [f"{what}: {listed}.", ""]
    shown = ", ".join(f"{package} {version}" for package, version in versions().items())
    return [*lines, f"Versions: {shown}.", "", f"Made by `make bench ARGS={command}`."]


def save_page(name: str, lines: Sequence[str], quick: bool) -> None:
    target = folder(quick)
    target.mkdir(parents=True, exist_ok=True)
    (target / f"{name}.md").write_text("\n".join(lines) + "\n")


def save_figure(figure: Any, name: str, quick: bool) -> None:
    import matplotlib.pyplot as plt

    target = folder(quick)
    target.mkdir(parents=True, exist_ok=True)
    figure.savefig(target / f"{name}.png", dpi=150)
    plt.close(figure)


def spread_labels(places: Sequence[float], distance: float) -> list[float]:
    """Move heights apart, keeping their order, so that labels at them do not overlap."""
    order = sorted(range(len(places)), key=lambda k: places[k])
    moved = list(places)
    for _ in range(ROUNDS):
        for low, high in pairwise(order):
            lack = distance - (moved[high] - moved[low])
            if lack > 0:
                moved[low] -= lack / 2
                moved[high] += lack / 2
    return moved
