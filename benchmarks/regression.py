"""Compare the hot paths of two revisions in one run: ``python -m benchmarks.regression BASE [HEAD]``.

BASE is checked out into a temporary worktree; so is HEAD if it is given, else the working tree as it is counts. The
cases are those of this working tree's ``benchmarks.hot_paths`` for both, run in turn in processes of their own. A case
has become slower when even the first quartile of its ratios, head over base, round by round, is above the threshold;
then the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
ROUNDS, THRESHOLD = 7, 1.1


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


def seconds_of(tree: Path) -> dict[str, float]:
    """Run the cases once with the package of a tree."""
    paths = os.pathsep.join([str(tree / "src"), str(ROOT)])
    words = [sys.executable, "-m", "benchmarks.hot_paths"]
    done = subprocess.run(words, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def ratios(base: Path, head: Path, rounds: int) -> dict[str, list[float]]:
    """Return head's time over base's for each case, round by round; who comes first alternates."""
    found: dict[str, list[float]] = {}
    for number in range(rounds):
        trees = {"base": base, "head": head}
        order = list(trees)[:: -1 if number % 2 else 1]
        seconds = {which: seconds_of(trees[which]) for which in order}
        for name in seconds["head"]:
            found.setdefault(name, []).append(seconds["head"][name] / seconds["base"][name])
        print(f"  round {number + 1} of {rounds}", flush=True)
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
    with checked_out(options.base) as base, checked_out(options.head) as head:
        found = ratios(base, head, options.rounds)
    names = report(found, options.threshold)
    print(f"Slower by more than {options.threshold - 1:.0%}: {', '.join(names) or 'none'}.")
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
