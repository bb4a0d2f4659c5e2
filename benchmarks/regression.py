"""Compare the hot paths of two revisions in one run: ``python -m benchmarks.regression BASE [HEAD]``.

BASE is checked out into a temporary worktree; so is HEAD if it is given, else the working tree as it is counts. The
cases are those of this working tree's ``benchmarks.hot_paths`` for both. Each revision has a process of its own; they
take turns call by call, so that a busy moment of the machine hits both. A case has become slower when even the first
quartile of its ratios, head over base, round by round, is above the threshold; then the exit code is 1.
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
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
ROUNDS, THRESHOLD = 15, 1.1


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

    def seconds(self, name: str) -> float:
        print(name, file=self.process.stdin, flush=True)
        return float(self.answer())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def ratios(base: Worker, head: Worker, rounds: int) -> dict[str, list[float]]:
    """Return head's time over base's for each case, round by round after a warm-up; who starts alternates."""
    found: dict[str, list[float]] = {name: [] for name in head.cases}
    for number in range(rounds + 1):
        order = [base, head][:: -1 if number % 2 else 1]
        for name, values in found.items():
            seconds = {worker: worker.seconds(name) for worker in order}
            if number:
                values.append(seconds[head] / seconds[base])
        print(f"  round {number} of {rounds}" if number else "  warm-up", flush=True)
    return found


def slower(values: list[float], threshold: float) -> bool:
    """Tell whether a case is slower by more than the threshold, its spread taken off."""
    return float(np.quantile(values, 0.25)) > threshold


def report(found: dict[str, list[float]], threshold: float) -> list[str]:
    """Print a line for each case; return the names of the slower ones."""
    for name, values in found.items():
        low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
        mark = "  SLOWER" if slower(values, threshold) else ""
        print(f"  {name:42} {middle:6.3f} times base ({low:.3f} to {high:.3f}){mark}")
    return [name for name, values in found.items() if slower(values, threshold)]


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
        found = ratios(one, other, options.rounds)
    names = report(found, options.threshold)
    print(f"Slower by more than {options.threshold - 1:.0%}: {', '.join(names) or 'none'}.")
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
