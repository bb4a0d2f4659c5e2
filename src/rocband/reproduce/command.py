"""The command: choose experiments, compute the cells that are missing, write tables, figures and one JSON file."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from threadpoolctl import threadpool_limits

from rocband.reproduce import sets
from rocband.reproduce.cells import Cell, compute, read, write
from rocband.reproduce.plan import EXPERIMENTS, cells_of
from rocband.reproduce.results import write_results

__all__ = ["main", "run"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the arguments and run; a mistake ends in one sentence."""
    options = _parser().parse_args(arguments)
    try:
        run(options.out, options.only, quick=options.quick, jobs=options.jobs)
    except ValueError as error:
        sys.exit(f"rocband reproduce: {error}")
    except KeyboardInterrupt:
        sys.exit(f"Interrupted; the same command goes on from what {options.out} holds.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m rocband.reproduce",
        description="Rebuild the tables and figures of Narasimhan & Agarwal (2017), with rocband's models beside them. "
        "Sets other than the letters are read from the folder that ROCBAND_DATA names. Every number is kept as soon "
        "as it is there, so that an interrupted run goes on where it stopped.",
    )
    parser.add_argument("--quick", action="store_true", help="small versions on the embedded letters, two minutes")
    parser.add_argument(
        "--only", type=_names, default=list(EXPERIMENTS), help=f"some of {','.join(EXPERIMENTS)}, comma-separated"
    )
    parser.add_argument("--jobs", type=int, default=1, help="cells computed at the same time (default 1)")
    parser.add_argument("--out", type=Path, default=Path("rocband-results"), help="folder for the results")
    return parser


def _names(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in EXPERIMENTS:
            raise argparse.ArgumentTypeError(f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}")
    return names


def run(out: Path, names: list[str], *, quick: bool = False, jobs: int = 1) -> None:
    """Compute what is missing and write everything."""
    if jobs < 1:
        raise ValueError(f"--jobs must be at least 1, got {jobs}.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{out} cannot be made a folder ({error.strerror}); choose another with --out.") from None
    wanted = cells_of(names, quick)
    _check_data(wanted)
    outcomes = {cell: read(out, cell) for cell in wanted}
    missing = [cell for cell, outcome in outcomes.items() if outcome is None]
    print(f"{len(wanted)} cells, {len(wanted) - len(missing)} of them there.", flush=True)
    for cell, outcome in _computed(missing, jobs):
        write(out, cell, outcome)
        outcomes[cell] = outcome
    write_results(out, names, {cell: outcome for cell, outcome in outcomes.items() if outcome}, quick)
    print(f"Tables and figures are in {out}.", flush=True)


def _check_data(cells: list[Cell]) -> None:
    lost = sorted({cell.data for cell in cells if not sets.is_there(cell.data)})
    if lost:
        raise ValueError(
            f"the sets {', '.join(lost)} are not there: set ROCBAND_DATA to the folder with their npz files, "
            "choose experiments with --only, or use --quick."
        )


def _computed(cells: list[Cell], jobs: int) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Compute cells in other processes, each with one thread, so that results do not depend on ``jobs``."""
    began, done, queue = time.monotonic(), 0, iter(cells)
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_prepare)
    waiting: dict[Future[dict[str, Any]], Cell] = {}
    try:
        while done < len(cells):
            for cell in islice(queue, 2 * jobs - len(waiting)):
                waiting[pool.submit(compute, cell)] = cell
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                done += 1
                cell = waiting.pop(future)
                yield cell, future.result()
                _report(cell, done, len(cells), time.monotonic() - began)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _prepare() -> None:
    """Use one thread, and end with the process that asked, however that ends."""
    threadpool_limits(1)
    parent = parent_process()
    if parent is not None:
        Thread(target=lambda: connection.wait([parent.sentinel]) and os._exit(1), daemon=True).start()


def _report(cell: Cell, done: int, total: int, seconds: float) -> None:
    left = seconds / done * (total - done)
    what = f"{cell.experiment} {cell.data} {cell.method} [{cell.band[0]:.3g}, {cell.band[1]:.3g}] split {cell.split}"
    print(f"[{done}/{total}] {what}  ({_clock(seconds)} gone, {_clock(left)} left)", flush=True)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
