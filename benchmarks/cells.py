"""Figures kept one a line in a file, so that an interrupted board goes on where it stopped."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True)
class Cell:
    """One figure to measure: what it is called, what it depends on, and how to get it."""

    text: str
    key: dict[str, Any]
    measure: Callable[[], Any]


def kept_in(board: str, quick: bool) -> Path:
    """Return the file of a board; those of quick runs are not for keeping."""
    return RESULTS / ("local_quick" if quick else "cells") / f"{board}.jsonl"


def name_of(key: dict[str, Any]) -> str:
    return json.dumps(key, sort_keys=True)


def read(path: Path) -> dict[str, Any]:
    """Return what is known; a last line that an interruption cut short is left out."""
    known = {}
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue
            known[name_of(entry["key"])] = entry["value"]
    return known


def mend(path: Path) -> None:
    """End a line that an interruption cut short, so that the next one is not glued to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if file.tell() and not path.read_bytes().endswith(b"\n"):
            file.write(b"\n")


def duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def fill(path: Path, cells: list[Cell]) -> tuple[list[Any], dict[str, str]]:
    """Return the values of all cells, None where one failed, and what those said; show progress and the time left.

    A failure is not kept, so that the next run tries again.
    """
    known, failed = read(path), {}
    mend(path)
    missing = [cell for cell in cells if name_of(cell.key) not in known]
    if 1 < len(cells) > len(missing):
        print(f"  {len(cells) - len(missing)} of {len(cells)} are in {path.name} already", flush=True)
    began = time.perf_counter()
    for number, cell in enumerate(missing, 1):
        start = time.perf_counter()
        try:
            value = cell.measure()
        except Exception as error:  # of a competitor: it must not stop the others
            failed[cell.text] = f"{type(error).__name__}: {error}"
            print(f"  {cell.text}: failed, {failed[cell.text]}", flush=True)
            continue
        known[name_of(cell.key)] = value
        with path.open("a") as file:
            file.write(json.dumps({"key": cell.key, "value": value}) + "\n")
        print(f"  {cell.text}: {time.perf_counter() - start:.1f} s", end="", flush=True)
        left = (time.perf_counter() - began) / number * (len(missing) - number)
        print(f"; {number} of {len(missing)}, about {duration(left)} left" if len(missing) > 1 else "", flush=True)
    return [known.get(name_of(cell.key)) for cell in cells], failed
