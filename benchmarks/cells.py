"""The resumable runner of the boards and of the paper's experiments.

Figures are kept one a line in a file as soon as they are there, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from threadpoolctl import threadpool_limits

RESULTS = Path(__file__).resolve().parent / "results"
# Cells handed out for each process: one at work and one waiting, so that none is idle and few are lost at the end.
AHEAD = 2


@dataclass(frozen=True)
class Cell:
    """One figure to measure: what it is called, what it depends on, and how to get it.

    For processes of their own ``measure`` must be picklable: a function of a module, or a `functools.partial` of one.
    """

    text: str
    key: dict[str, Any]
    measure: Callable[[], Any]


@dataclass(frozen=True)
class Outcome:
    """What measuring a cell gave: a value, or what the failure said; and the seconds it took."""

    value: Any
    failure: str | None
    seconds: float


def kept_in(board: str, quick: bool) -> Path:
    """Return the file of a board; those of quick runs are not for keeping."""
    return RESULTS / ("local_quick" if quick else "cells") / f"{board}.jsonl"


def name_of(key: dict[str, Any]) -> str:
    return json.dumps(key, sort_keys=True)


def read(path: Path) -> dict[str, Any]:
    """Return what is known; a line that is damaged, such as one that was cut short, is left out."""
    known: dict[str, Any] = {}
    if not path.exists():
        return known
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
            known[name_of(entry["key"])] = entry["value"]
        except (json.JSONDecodeError, KeyError, TypeError):
            continue
    return known


def mend(path: Path) -> None:
    """End a line that an interruption cut short, so that the next one is not glued to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if file.tell() and not path.read_bytes().endswith(b"\n"):
            file.write(b"\n")


def keep(path: Path, cell: Cell, value: Any) -> None:
    """Add a value to the file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"key": cell.key, "value": value}) + "\n")


def fill(path: Path, cells: list[Cell], *, jobs: int | None = None) -> tuple[list[Any], dict[str, str]]:
    """Return the values of all cells, None where one failed, and what those said; show progress and the time left.

    A failure is not kept, so that the next run tries again. Without ``jobs`` all is measured in this process.
    """
    known = read(path)
    failed: dict[str, str] = {}
    mend(path)
    missing = [cell for cell in cells if name_of(cell.key) not in known]
    if 1 < len(cells) > len(missing):
        print(f"  {len(cells) - len(missing)} of {len(cells)} are in {path.name} already", flush=True)
    began = time.perf_counter()
    measured = in_turn(missing) if jobs is None else side_by_side(missing, jobs)
    for number, (cell, outcome) in enumerate(measured, 1):
        if outcome.failure is None:
            known[name_of(cell.key)] = outcome.value
            keep(path, cell, outcome.value)
        else:
            failed[cell.text] = outcome.failure
        tell(cell, outcome, number, len(missing), time.perf_counter() - began)
    return [known.get(name_of(cell.key)) for cell in cells], failed


def attempt(measure: Callable[[], Any]) -> Outcome:
    """Measure, and turn a failure into what it said: it must not stop the others."""
    start = time.perf_counter()
    try:
        value = measure()
    except Exception as error:
        return Outcome(None, f"{type(error).__name__}: {error}", time.perf_counter() - start)
    return Outcome(value, None, time.perf_counter() - start)


def in_turn(cells: list[Cell]) -> Iterator[tuple[Cell, Outcome]]:
    """Measure one after the other in this process."""
    for cell in cells:
        yield cell, attempt(cell.measure)


def side_by_side(cells: list[Cell], jobs: int) -> Iterator[tuple[Cell, Outcome]]:
    """Measure in other processes, each with one thread, so that results do not depend on ``jobs``."""
    queue = iter(cells)
    waiting: dict[Future[Outcome], Cell] = {}
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=prepare)
    try:
        while True:
            for cell in islice(queue, AHEAD * jobs - len(waiting)):
                waiting[pool.submit(attempt, cell.measure)] = cell
            if not waiting:
                return
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield waiting.pop(future), future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def prepare() -> None:
    """Use one thread, and end with the process that asked, however that ends."""
    threadpool_limits(1)
    parent = parent_process()
    if parent is None:
        return

    def end_with_parent() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    Thread(target=end_with_parent, daemon=True).start()


def tell(cell: Cell, outcome: Outcome, number: int, total: int, gone: float) -> None:
    """Print how a cell ended and how long the others will take."""
    if outcome.failure is not None:
        print(f"  {cell.text}: failed, {outcome.failure}", flush=True)
        return
    line = f"  {cell.text}: {outcome.seconds:.1f} s"
    if total > 1:
        left = gone / number * (total - number)
        line += f"; {number} of {total}, about {duration(left)} left"
    print(line, flush=True)


def duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
