"""What models say of themselves on 1,000 random small convex problems, held to an independent quadratic program."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

# The problems, the claims and the slow optimiser are those of the tests.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from audit import case, false_claims

N_PROBLEMS = 1000
QUICK = 50


def run(*, quick: bool = False) -> dict[str, object]:
    """Count the problems, by precision and offset, and the claims on them that do not hold."""
    drawn: Counter[str] = Counter()
    false: list[str] = []
    for seed in range(QUICK if quick else N_PROBLEMS):
        problem = case(seed)
        drawn[f"{problem.X.dtype} about {problem.offset:g}"] += 1
        false += [f"{seed}: {claim}" for claim in false_claims(problem)]
    return {"problems": dict(sorted(drawn.items())), "false claims": len(false), "records": false}
