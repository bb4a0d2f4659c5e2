"""Everything that a run leaves behind: one JSON file, Markdown tables and PNG figures."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

from rocband import __version__
from rocband.reproduce import figures, tables
from rocband.reproduce.cells import Cell
from rocband.reproduce.plan import EXPERIMENTS

__all__ = ["write_results"]

Outcomes = Mapping[Cell, dict[str, Any]]


def write_results(out: Path, names: list[str], outcomes: Outcomes, quick: bool) -> None:
    """Write ``results.json``, the times apart from it, and a table or a figure for each experiment."""
    ordered = sorted(outcomes, key=lambda cell: json.dumps(asdict(cell), sort_keys=True))
    _write_json(out / "results.json", [{**asdict(cell), **outcomes[cell]["result"]} for cell in ordered])
    timed = [cell for cell in ordered if outcomes[cell]["seconds"]]
    _write_json(out / "times.json", [{**asdict(cell), **outcomes[cell]["seconds"]} for cell in timed])
    versions = {"rocband": __version__, "python": platform.python_version()}
    versions |= {module.__name__: module.__version__ for module in (np, scipy, sklearn)}
    command = f"python -m rocband.reproduce{' --quick' if quick else ''}"
    made = f"Made by `{command}` with " + ", ".join(f"{name} {version}" for name, version in versions.items()) + ".\n"
    for name in names:
        own = {cell: outcome for cell, outcome in outcomes.items() if cell.experiment == name}
        title, drawn = EXPERIMENTS[name].title, name in figures.FIGURES
        picture = f"![{title}]({name}.png)\n\n" if drawn else ""
        text = f"# {title}\n\n{made}\n{picture}{tables.TABLES[name](own)}"
        (out / f"{name}.md").write_text(text, encoding="utf-8")
        if drawn:
            figures.FIGURES[name](own, out)
    scored = {cell: outcome for cell, outcome in outcomes.items() if cell.kind == "score"}
    if scored:
        title = "Seconds to choose parameters and to fit"
        text = f"# {title}\n\n{made}\n![{title}](times.png)\n\n{tables.times(scored)}"
        (out / "times.md").write_text(text, encoding="utf-8")
        figures.times(scored, out)


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
