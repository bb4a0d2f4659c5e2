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

from benchmarks.paper import figures, tables
from benchmarks.paper.plan import EXPERIMENTS
from benchmarks.paper.trials import Trial
from rocband import __version__

__all__ = ["write_results"]

Outcomes = Mapping[Trial, dict[str, Any]]


def write_results(out: Path, names: list[str], outcomes: Outcomes, quick: bool) -> None:
    """Write ``results.json``, the times apart from it, and a table or a figure for each experiment."""
    ordered = sorted(outcomes, key=lambda trial: json.dumps(asdict(trial), sort_keys=True))
    _write_json(out / "results.json", [{**asdict(trial), **outcomes[trial]["result"]} for trial in ordered])
    timed = [trial for trial in ordered if outcomes[trial]["seconds"]]
    _write_json(out / "times.json", [{**asdict(trial), **outcomes[trial]["seconds"]} for trial in timed])
    versions = {"rocband": __version__, "python": platform.python_version()}
    versions |= {module.__name__: module.__version__ for module in (np, scipy, sklearn)}
    command = f"make paper{' ARGS=--quick' if quick else ''}"
    made = f"Made by `{command}` with " + ", ".join(f"{name} {version}" for name, version in versions.items()) + ".\n"
    for name in names:
        own = {trial: outcome for trial, outcome in outcomes.items() if trial.experiment == name}
        title = EXPERIMENTS[name].title
        drawn = name in figures.FIGURES
        picture = f"![{title}]({name}.png)\n\n" if drawn else ""
        text = f"# {title}\n\n{made}\n{picture}{tables.TABLES[name](own)}"
        (out / f"{name}.md").write_text(text, encoding="utf-8")
        if drawn:
            figures.FIGURES[name](own, out)
    scored = {trial: outcome for trial, outcome in outcomes.items() if trial.kind == "score"}
    if scored:
        title = "Seconds to choose parameters and to fit"
        text = f"# {title}\n\n{made}\n![{title}](times.png)\n\n{tables.times(scored)}"
        (out / "times.md").write_text(text, encoding="utf-8")
        figures.times(scored, out)


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
