"""Run benchmarks: ``python -m benchmarks [--quick] [names]``.

A name may be shortened, a board's is found without ``boards.`` too, ``boards`` stands for all of them, and no names
means everything; --list names them. With --quick only those run that have a quick form, on data that need no file;
their pages and figures go to results/local_quick.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import pkgutil
import platform
import sys
from pathlib import Path

import numpy as np
import scipy
import sklearn

from benchmarks import competitors

HERE = Path(__file__).resolve().parent
# Parts of benchmarks, and commands of their own.
NO_BENCHMARKS = {
    "__main__",
    "band_objective",
    "cells",
    "pages",
    "regression",
    "sets",
    "standings",
    "style",
    "tangent",
    "timing",
}


def modules_in(folder: Path) -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules([str(folder)]) if not module.ispkg)


def available() -> list[str]:
    boards = [f"boards.{name}" for name in modules_in(HERE / "boards") if not name.endswith("_page")]
    return boards + [name for name in modules_in(HERE) if name not in NO_BENCHMARKS]


def means(word: str, name: str) -> bool:
    """Tell whether a word of the command line means this benchmark."""
    return name.startswith(word) or name.removeprefix("boards.").startswith(word)


def chosen(wanted: list[str]) -> list[str]:
    unknown = [word for word in wanted if not any(means(word, name) for name in available())]
    if unknown:
        sys.exit(f"There is no benchmark named {', '.join(unknown)}; there are {', '.join(available())}.")
    return [name for name in available() if not wanted or any(means(word, name) for word in wanted)]


def machine() -> dict[str, object]:
    versions = {module.__name__: module.__version__ for module in (np, scipy, sklearn)}
    versions |= competitors.versions()
    return {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count(), **versions}


def show(figures: dict[str, object], indent: str = "  ") -> None:
    for name, value in figures.items():
        if isinstance(value, dict):
            print(f"{indent}{name}")
            show(value, indent + "  ")
        else:
            print(f"{indent}{name}: {value:.4g}" if isinstance(value, float) else f"{indent}{name}: {value}")


def main(arguments: list[str]) -> None:
    if arguments == ["--list"]:
        print("\n".join(available()))
        return
    quick = "--quick" in arguments
    for name in chosen([word for word in arguments if word != "--quick"]):
        module = importlib.import_module(f"benchmarks.{name}")
        if quick and "quick" not in inspect.signature(module.run).parameters:
            continue
        print(f"{name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
        figures = module.run(quick=True) if quick else module.run()
        show({what: value for what, value in figures.items() if what != "records"})
        path = HERE / "results" / ("local_quick" if quick else "") / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"figures": figures, "machine": machine()}, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
