"""Compare the hot paths of two revisions in one run: ``python -m benchmarks.regression BASE [HEAD]``.

BASE is checked out into a temporary worktree; so is HEAD if it is given, else the working tree as it is counts. The
cases are those of this working tree's ``benchmarks.hot_paths`` for both. Each revision has a process of its own; they
take turns call by call, so that a busy moment of the machine hits both. A case has become slower when even the first
quartile of its ratios, head over base, round by round, is above the threshold. The objectives of fits, and what
the other cases return, must be the same within a tolerance. Where a case is slower or differs the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
# With the first quartile deciding, eleven of fifteen rounds must be slow: no burst of other work lasts so long.
ROUNDS = 15
# What counts as slower: smaller differences come and go with the layout of memory.
THRESHOLD = 1.1
# Either fit may end anywhere within C * tol of the minimum. A fit without a certificate has no such bound, and is held
# to the same.
MOST_APART = 2.0


@dataclass(frozen=True)
class Called:
    """What one call took, the figure it gave, if it has one, and by how much that may be off."""

    seconds: float
    figure: float | None = None
    allowed: float | None = None


@dataclass(frozen=True)
class Compared:
    """A case in both revisions: head's time over base's, round by round, and how far apart their figures are.

    ``apart`` is the largest difference of a round in units of what either may be off, None where there is no figure.
    """

    ratios: list[float]
    apart: float | None


@contextmanager
def checked_out(revision: str | None) -> Iterator[Path]:
    """Give the folder of a revision, or of the working tree for None."""
    if revision is None:
        yield ROOT
        return
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(target), revision], check=True)
        try:
            yield target
        finally:
            subprocess.run([*git, "remove", "--force", str(target)], check=True)


class Worker:
    """A process that runs the cases with the package of a tree, one call at a time."""

    def __init__(self, tree: Path) -> None:
        paths = os.pathsep.join([str(tree / "src"), str(ROOT)])
        words = [sys.executable, "-m", "benchmarks.hot_paths"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(words, env=os.environ | {"PYTHONPATH": paths}, **pipes)
        self.cases: list[str] = json.loads(self.answer())

    def answer(self) -> str:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("A revision cannot run the cases; what it said stands above.")
        return line

    def call(self, name: str) -> Called:
        print(name, file=self.process.stdin, flush=True)
        told = json.loads(self.answer())
        return Called(told["seconds"], **(told["figure"] or {}))

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def compare(base: Worker, head: Worker, rounds: int) -> dict[str, Compared]:
    """Run all cases in both, round by round after a warm-up; who starts alternates."""
    ratios: dict[str, list[float]] = {name: [] for name in head.cases}
    apart: dict[str, list[float]] = {name: [] for name in head.cases}
    for number in range(rounds + 1):
        order = [head, base] if number % 2 else [base, head]
        for name in head.cases:
            calls = {worker: worker.call(name) for worker in order}
            distance = difference(calls[base], calls[head])
            if distance is not None:
                apart[name].append(distance)
            if number:
                ratios[name].append(calls[head].seconds / calls[base].seconds)
        print(f"  round {number} of {rounds}" if number else "  warm-up", flush=True)
    return {name: Compared(ratios[name], largest(apart[name])) for name in head.cases}


def difference(base: Called, head: Called) -> float | None:
    """Return how far apart the figures are in units of what base's may be off, None where one has none."""
    if base.figure is None or head.figure is None or base.allowed is None:
        return None
    return abs(head.figure - base.figure) / base.allowed


def largest(values: list[float]) -> float | None:
    """Return the largest value, nan where one is, None of none."""
    return float(np.max(values)) if values else None


def slower(case: Compared, threshold: float) -> bool:
    """Tell whether a case is slower by more than the threshold, its spread taken off."""
    return float(np.quantile(case.ratios, 0.25)) > threshold


def differs(case: Compared) -> bool:
    """Tell whether the figures are too far apart; one that is not a number is."""
    return case.apart is not None and not case.apart <= MOST_APART


def report(found: dict[str, Compared], threshold: float) -> tuple[list[str], list[str]]:
    """Print a line for each case; return the names of the slower ones and of those whose figures differ."""
    late: list[str] = []
    changed: list[str] = []
    for name, case in found.items():
        low, middle, high = np.quantile(case.ratios, (0.25, 0.5, 0.75))
        line = f"  {name:42} {middle:6.3f} times base ({low:.3f} to {high:.3f})"
        if case.apart is not None:
            line += f", {case.apart:.2g} tolerances apart"
        if slower(case, threshold):
            line += "  SLOWER"
            late.append(name)
        if differs(case):
            line += "  DIFFERS"
            changed.append(name)
        print(line)
    return late, changed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regression", description=__doc__.splitlines()[0])
    parser.add_argument("base", help="a git revision")
    parser.add_argument("head", nargs="?", help="a git revision; the working tree by default")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--threshold", type=float, default=THRESHOLD, help="what ratio is too much")
    options = parser.parse_args()
    with (
        checked_out(options.base) as base,
        checked_out(options.head) as head,
        closing(Worker(base)) as one,
        closing(Worker(head)) as other,
    ):
        found = compare(one, other, options.rounds)
    late, changed = report(found, options.threshold)
    print(f"Slower by more than {options.threshold - 1:.0%}: {', '.join(late) or 'none'}.")
    print(f"Different by more than {MOST_APART:g} tolerances: {', '.join(changed) or 'none'}.")
    return 1 if late or changed else 0


if __name__ == "__main__":
    sys.exit(main())
