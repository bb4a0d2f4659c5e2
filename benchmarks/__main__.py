"""Run benchmarks: ``python -m benchmarks [names]``. A name may be shortened; no names means all; --list names them."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import platform
import sys
from pathlib import Path

import numpy as np
import scipy
import sklearn

HERE = Path(__file__).resolve().parent
NO_BENCHMARKS = {"__main__", "sets", "timing"}


def available() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules([str(HERE)]) if module.name not in NO_BENCHMARKS)


def chosen(wanted: list[str]) -> list[str]:
    unknown = [name for name in wanted if not any(known.startswith(name) for known in available())]
    if unknown:
        sys.exit(f"There is no benchmark named {', '.join(unknown)}; there are {', '.join(available())}.")
    return [known for known in available() if not wanted or known.startswith(tuple(wanted))]


def machine() -> dict[str, object]:
    versions = {module.__name__: module.__version__ for module in (np, scipy, sklearn)}
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
    for name in chosen(arguments):
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"{name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
        figures = module.run()
        show(figures)
        path = HERE / "results" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"figures": figures, "machine": machine()}, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
