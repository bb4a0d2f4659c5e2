"""How often nominal 95% intervals hold the truth: simulated sizes, prevalences, bands, ties, pairs and groups.

The run also writes ``docs/coverage.md``. It takes half an hour of one core; with ``QUICK=1`` in the environment it
takes three minutes for fewer figures, sizes below 1,000 and 200 samples each.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy.stats import norm

from rocband.inference import compare_partial_auc, partial_auc_interval, tpr_at_fpr_interval
from rocband.metrics import partial_auc_score, tpr_at_fpr_score

METHODS = ("spacings", "analytic", "bootstrap")
SIZES = ((30, 30), (30, 300), (30, 3000), (300, 30), (300, 300), (3000, 3000))
SIZES_VERY_STRONG = ((30, 30), (30, 300), (143, 85), (300, 300), (300, 3000))
FIGURES = {
    "AUC": {"fpr_range": (0.0, 1.0)},
    "FPR 0 to 0.1": {"fpr_range": (0.0, 0.1)},
    "FPR 0 to 0.05": {"fpr_range": (0.0, 0.05)},
    "FPR 0.02 to 0.05": {"fpr_range": (0.02, 0.05)},
    "TPR 0.8 to 1": {"tpr_range": (0.8, 1.0)},
    "FPR 0 to 0.2, TPR 0.5 to 1": {"fpr_range": (0.0, 0.2), "tpr_range": (0.5, 1.0)},
    "TPR at FPR 0.05": {"fpr": 0.05},
}
SHIFTS = {"weak": (1.0, None), "strong": (2.5, None), "very strong": (4.0, None), "ties": (1.5, 0.5)}
GROUP_SIZE = 4
QUICK = os.environ.get("QUICK", "") not in ("", "0")
REPLICATES, DRAWS = (200, 300) if QUICK else (400, 400)
QUICK_FIGURES = ("AUC", "FPR 0 to 0.05", "TPR 0.8 to 1", "TPR at FPR 0.05")
QUICK_SAMPLES = 1000
LARGE = 3000
TARGET = (0.935, 0.965)
NOTES = """What to take from it:

- **Spacings**, the default, keep the level for one scorer and for groups, from {low} to {high} in every cell. They are
  above 96.5 where the band holds a few negatives (or positives), where scores tie, and for very strong scorers: there
  they are wide, and rather too wide than too narrow.
- **Analytic** intervals want about 20 negatives in a band of FPR (20 positives in a band of TPR). With few they cover
  too rarely: nothing in the sample tells that the next negative may be higher than all seen.
- The **bootstrap** wants more of them, and covers too rarely near an area of 1, down to {near_one} for a very strong
  scorer. For the TPR at one FPR it fails altogether when many scores tie: its draws then fall on the few heights that
  the tied curve has.
- **Differences of two scorers**: for the whole AUC take `method="analytic"` ({delong} to {delong_high}) when one class
  has 30 members; spacings cover {pair} or more there. In a band of few negatives every method may cover too rarely,
  spacings down to {pair_band} where a very strong scorer meets a weak one.
"""
DOCS = Path(__file__).resolve().parent.parent / "docs" / "coverage.md"


@dataclass(frozen=True)
class Case:
    """One cell of the table: normal scores, those of the positives shifted, perhaps rounded to a grid."""

    figure: str
    m: int
    n: int
    shift: str
    kind: str = "one scorer"


def rounded(values: np.ndarray, grid: float | None) -> np.ndarray:
    return values if grid is None else np.round(values / grid) * grid


@cache
def truth(figure: str, shift: str) -> float:
    """The figure of the population: its probabilities as weights of a fine grid, or of the grid of the ties."""
    distance, grid = SHIFTS[shift]
    step = grid or 1e-3
    centres = np.arange(-8, 12, step)
    edges = np.concatenate((centres - step / 2, [centres[-1] + step / 2]))
    weights = np.concatenate([np.diff(norm.cdf(edges - mean)) for mean in (distance, 0.0)])
    y = np.repeat([1, 0], len(centres))
    scores = np.tile(centres, 2)
    score = tpr_at_fpr_score if "fpr" in FIGURES[figure] else partial_auc_score
    return score(y, scores, sample_weight=weights, **FIGURES[figure])


def plain(case: Case, rng: np.random.Generator) -> Callable[[str], bool]:
    distance, grid = SHIFTS[case.shift]
    y = np.repeat([1, 0], (case.m, case.n))
    scores = rounded(rng.normal(size=case.m + case.n) + distance * y, grid)
    return held(case, y, scores, None, rng)


def clustered(case: Case, rng: np.random.Generator) -> Callable[[str], bool]:
    """Groups of both classes, half of the variance shared inside a group."""
    distance, grid = SHIFTS[case.shift]
    y = np.repeat([1, 0], (case.m, case.n))
    groups = np.concatenate([np.arange(size) * (case.m + case.n) // GROUP_SIZE // size for size in (case.m, case.n)])
    shared = rng.normal(size=groups.max() + 1)
    own = rng.normal(size=len(y))
    scores = rounded((shared[groups] + own) / np.sqrt(2) + distance * y, grid)
    return held(case, y, scores, groups, rng)


def held(
    case: Case, y: np.ndarray, scores: np.ndarray, groups: np.ndarray | None, rng: np.random.Generator
) -> Callable[[str], bool]:
    call = tpr_at_fpr_interval if "fpr" in FIGURES[case.figure] else partial_auc_interval

    def holds(method: str) -> bool:
        options = {"method": method, "n_draws": DRAWS, "groups": groups, "random_state": rng}
        interval = call(y, scores, **FIGURES[case.figure], **options)
        return interval.low <= truth(case.figure, case.shift) <= interval.high

    return holds


def paired(case: Case, rng: np.random.Generator) -> Callable[[str], bool]:
    """Two scorers with a correlation of 0.7 in each class; the first separates better, by half a deviation."""
    distance, grid = SHIFTS[case.shift]
    y = np.repeat([1, 0], (case.m, case.n))
    first, other = rng.normal(size=(2, case.m + case.n))
    second = 0.7 * first + np.sqrt(1 - 0.7**2) * other
    scores = rounded(first + distance * y, grid), rounded(second + SHIFTS["weak"][0] * y, grid)
    difference = truth(case.figure, case.shift) - truth(case.figure, "weak")

    def holds(method: str) -> bool:
        options = {"method": method, "n_draws": DRAWS, "random_state": rng}
        result = compare_partial_auc(y, *scores, **FIGURES[case.figure], **options)
        return result.low <= difference <= result.high

    return holds


SIMULATIONS = {"one scorer": plain, "pair of scorers": paired, "groups": clustered}


def cases() -> list[Case]:
    single = [
        Case(figure, m, n, shift)
        for shift, figure in itertools.product(SHIFTS, FIGURES)
        for m, n in (SIZES_VERY_STRONG if shift == "very strong" else SIZES)
    ]
    others = [
        Case(figure, m, n, shift, kind)
        for kind, shift in (*(("pair of scorers", shift) for shift in list(SHIFTS)[:3]), ("groups", "weak"))
        for figure in ("AUC", "FPR 0 to 0.1")
        for m, n in (SIZES_VERY_STRONG if shift == "very strong" else SIZES)[:-1]
    ]
    if not QUICK:
        return single + others
    return [c for c in (*(c for c in single if c.figure in QUICK_FIGURES), *others) if c.m + c.n < QUICK_SAMPLES]


def coverage(case: Case) -> dict[str, float]:
    """Share of simulated samples whose interval holds the truth, by method."""
    rng = np.random.default_rng([*case.figure.encode(), case.m, case.n, *case.shift.encode(), *case.kind.encode()])
    hits = dict.fromkeys(METHODS, 0)
    for _ in range(replicates(case)):
        holds = SIMULATIONS[case.kind](case, rng)
        for method in METHODS:
            hits[method] += holds(method)
    return {method: count / replicates(case) for method, count in hits.items()}


def replicates(case: Case) -> int:
    return REPLICATES if case.m + case.n < LARGE else REPLICATES // 2


def run() -> dict[str, object]:
    todo = cases()
    results = {}
    with ProcessPoolExecutor(2) as pool:
        for case, result in zip(todo, pool.map(coverage, todo), strict=True):
            print(f"  {case}: {result}", flush=True)
            results[case] = result
    return summary(results)


def summary(results: dict[Case, dict[str, float]]) -> dict[str, object]:
    DOCS.write_text(page(results))
    return {
        "share_within_target": {method: within(results, method) for method in METHODS},
        "lowest": {method: min(result[method] for result in results.values()) for method in METHODS},
        "cases": {f"{c.kind}, {c.shift}, {c.figure}, {c.m}+{c.n}": result for c, result in results.items()},
        "target": TARGET,
    }


def within(results: dict[Case, dict[str, float]], method: str) -> float:
    return sum(TARGET[0] <= result[method] <= TARGET[1] for result in results.values()) / len(results)


def page(results: dict[Case, dict[str, float]]) -> str:
    command = f"{'QUICK=1 ' if QUICK else ''}make bench ARGS=coverage"
    smaller = f" ({REPLICATES // 2:,} where they hold {LARGE:,} scores or more)" if not QUICK else ""
    error = f"{100 * simulation_error(REPLICATES):.1f}"
    if not QUICK:
        error += f" ({100 * simulation_error(REPLICATES // 2):.1f} for the larger samples)"
    head = f"""# What the intervals cover

Share of {REPLICATES:,} simulated samples{smaller} whose nominal 95% interval holds the
true value, in percent. Scores are normal, those of the positives shifted by 1 ("weak"), 2.5 ("strong"), 4 ("very
strong", an AUC of 0.998), or 1.5 and rounded to halves ("ties"). The pairs correlate by 0.7 in each class, "weak",
"strong" or "very strong" against "weak"; groups of {GROUP_SIZE} hold both classes and share half of the variance.
Drawing methods take {DRAWS} draws. The simulation's own standard error is
{error}; a figure is **bold** when it is outside of 93.5 to 96.5 by more than twice that. Made by

```console
$ {command}
```
"""
    parts = [head, notes(results)]
    for kind, shift in dict.fromkeys((case.kind, case.shift) for case in results):
        parts.append(table(kind, shift, {c: r for c, r in results.items() if (c.kind, c.shift) == (kind, shift)}))
    return "\n".join(parts)


def notes(results: dict[Case, dict[str, float]]) -> str:
    """What the tables show, with its figures taken from them."""

    def shares(method: str, *, pairs: bool, **fields: str) -> list[float]:
        return [
            result[method]
            for case, result in results.items()
            if (case.kind == "pair of scorers") == pairs
            and all(getattr(case, name) == value for name, value in fields.items())
        ]

    alone = shares("spacings", pairs=False)
    delong = shares("analytic", pairs=True, figure="AUC")
    figures = {
        "low": min(alone),
        "high": max(alone),
        "near_one": min(shares("bootstrap", pairs=False, shift="very strong")),
        "delong": min(delong),
        "delong_high": max(delong),
        "pair": min(shares("spacings", pairs=True, figure="AUC")),
        "pair_band": min(shares("spacings", pairs=True, figure="FPR 0 to 0.1")),
    }
    return NOTES.format(**{name: f"{100 * share:.1f}" for name, share in figures.items()})


def table(kind: str, shift: str, results: dict[Case, dict[str, float]]) -> str:
    """One row for each figure and method, one column for each pair of sizes."""
    sizes = list(dict.fromkeys((case.m, case.n) for case in results))
    heads = " | ".join(f"{m} + {n}" for m, n in sizes)
    rows = [f"## {kind.capitalize()}, {shift}\n", f"| positives + negatives | | {heads} |"]
    rows.append("|---|---|" + "---:|" * len(sizes))
    for figure in dict.fromkeys(case.figure for case in results):
        for method in METHODS:
            row = [Case(figure, m, n, shift, kind) for m, n in sizes]
            cells = [shown(results[case][method], replicates(case)) for case in row]
            rows.append(f"| {figure if method == METHODS[0] else ''} | {method} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def shown(share: float, count: int) -> str:
    text = f"{100 * share:.1f}"
    margin = 2 * simulation_error(count)
    return text if TARGET[0] - margin <= share <= TARGET[1] + margin else f"**{text}**"


def simulation_error(count: int) -> float:
    return float(np.sqrt(0.95 * 0.05 / count))
