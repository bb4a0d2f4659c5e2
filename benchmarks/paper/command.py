"""The command: choose experiments, compute the numbers that are missing, write tables, figures and one JSON file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import sets
from benchmarks.cells import fill
from benchmarks.paper.plan import EXPERIMENTS, trials_of
from benchmarks.paper.results import write_results
from benchmarks.paper.trials import Trial

# The file, in the folder of the results, that keeps every number as soon as it is there.
KEPT = "cells.jsonl"


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the arguments and run; a mistake ends in one sentence."""
    options = parser().parse_args(arguments)
    try:
        run(options.out, options.only, quick=options.quick, jobs=options.jobs)
    except ValueError as error:
        sys.exit(f"benchmarks.paper: {error}")
    except KeyboardInterrupt:
        sys.exit(f"Interrupted; the same command goes on from what {options.out} holds.")


def parser() -> argparse.ArgumentParser:
    """Return what reads the options."""
    reader = argparse.ArgumentParser(
        prog="python -m benchmarks.paper",
        description="Rebuild the tables and figures of Narasimhan & Agarwal (2017), with rocband's models beside them. "
        "Sets other than the letters are read from the folder that ROCBAND_DATA names. Every number is kept as soon "
        "as it is there, so that an interrupted run goes on where it stopped.",
    )
    reader.add_argument("--quick", action="store_true", help="small versions on the embedded letters, two minutes")
    reader.add_argument(
        "--only", type=names_in, default=list(EXPERIMENTS), help=f"some of {','.join(EXPERIMENTS)}, comma-separated"
    )
    reader.add_argument("--jobs", type=int, default=1, help="numbers computed at the same time (default 1)")
    reader.add_argument("--out", type=Path, default=Path("rocband-results"), help="folder for the results")
    return reader


def names_in(text: str) -> list[str]:
    """Read names of experiments."""
    names = text.split(",")
    for name in names:
        if name not in EXPERIMENTS:
            raise argparse.ArgumentTypeError(f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}")
    return names


def run(out: Path, names: list[str], *, quick: bool = False, jobs: int = 1) -> None:
    """Compute what is missing and write everything."""
    if jobs < 1:
        raise ValueError(f"--jobs must be at least 1, got {jobs}.")
    make_folder(out)
    wanted = trials_of(names, quick)
    check_data(wanted)
    print(f"{len(wanted)} numbers to compute or to find in {out}.", flush=True)
    values, failed = fill(out / KEPT, [trial.cell() for trial in wanted], jobs=jobs)
    if failed:
        which, reason = next(iter(failed.items()))
        raise ValueError(f"{len(failed)} numbers failed, the first being {which} ({reason}); try again to go on.")
    write_results(out, names, dict(zip(wanted, values, strict=True)), quick)
    print(f"Tables and figures are in {out}.", flush=True)


def make_folder(out: Path) -> None:
    """Make the folder of the results, or say why not."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{out} cannot be made a folder ({error.strerror}); choose another with --out.") from None


def check_data(trials: list[Trial]) -> None:
    """Say at the start, not after hours, which sets are not there."""
    lost = sorted({trial.data for trial in trials if not sets.is_there(trial.data)})
    if lost:
        raise ValueError(
            f"the sets {', '.join(lost)} are not there: set ROCBAND_DATA to the folder with their npz files, "
            "choose experiments with --only, or use --quick."
        )
