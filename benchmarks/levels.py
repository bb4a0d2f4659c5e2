"""How often comparisons of two scorers reject a true null, at a nominal 5%, and a false one.

The run also writes ``docs/levels.md``. It takes some 15 minutes of two cores, and goes on where it stopped.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache, partial

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from benchmarks.cells import Cell, fill, kept_in
from benchmarks.pages import closing, save_page, table
from rocband.inference import compare_partial_auc
from rocband.metrics import NarrowBandWarning

POSITIVES = (20, 30, 50, 200)
NEGATIVES = (20, 200, 3000)
BANDS = ((0.0, 0.05), (0.0, 0.2), (0.0, 1.0))
LEVEL = 0.05
# What the default must not exceed, but for the noise of the simulation.
ALLOWED = 0.065
# The fewest allowed. Of 101 p-values that are equally likely 5 are below 5%: a level of 4.95%, and a little less power
# than with more.
EXCHANGES = 100
DRAWS = 200
SAMPLES = 2000
SAMPLES_FOR_POWER = 1000
SAMPLES_OF_SPACINGS = 300
# The method was chosen on other samples than these.
SEED = 20
SEPARATION = 1.0


@dataclass(frozen=True)
class Case:
    """One cell: sizes, the band's upper end, and how the two scorers resemble each other.

    Scores are normal, those of the positives shifted. ``correlation`` is that in each class, ``grid`` what scores are
    rounded to, and ``spread`` the standard deviation of the second scorer's positives, whose shift is such that the
    true partial AUCs are equal; ``better`` shifts the first scorer's positives further.
    """

    m: int
    n: int
    high: float
    correlation: float
    grid: float | None = None
    spread: float = 1.0
    better: float = 0.0


@cache
def partial_auc(shift: float, spread: float, high: float) -> float:
    """The true partial AUC in [0, high]."""
    edges = np.linspace(0.0, high, 20_001)
    middles = (edges[1:] + edges[:-1]) / 2
    return float(norm.sf((norm.isf(middles) - shift) / spread).mean())


@cache
def equal_shift(spread: float, high: float) -> float:
    """The shift of positives of another spread that has the same partial AUC."""
    if spread == 1.0:
        return SEPARATION
    target = partial_auc(SEPARATION, 1.0, high)
    return float(brentq(lambda shift: partial_auc(shift, spread, high) - target, -10.0, 10.0))


def samples(case: Case, count: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Labels and the scores of two scorers, again and again."""
    rng = np.random.default_rng([SEED, case.m, case.n, round(1000 * case.high), round(100 * case.correlation)])
    y = np.repeat([1, 0], (case.m, case.n))
    for _ in range(count):
        first, other = rng.normal(size=(2, len(y)))
        second = case.correlation * first + np.sqrt(1 - case.correlation**2) * other
        first = first + (SEPARATION + case.better) * y
        second = np.where(y == 1, case.spread * second + equal_shift(case.spread, case.high), second)
        if case.grid is not None:
            first, second = (np.round(scores / case.grid) for scores in (first, second))
        yield y, first, second


def pvalues(case: Case, method: str, count: int) -> np.ndarray:
    n_draws = DRAWS if method == "spacings" else EXCHANGES
    options = {"fpr_range": (0.0, case.high), "method": method, "n_draws": n_draws}
    found = []
    with warnings.catch_warnings():
        # That bands of few negatives mislead some methods is what is measured.
        warnings.simplefilter("ignore", NarrowBandWarning)
        for seed, data in enumerate(samples(case, count)):
            found.append(compare_partial_auc(*data, random_state=seed, **options).pvalue)
    return np.array(found)


def level(case: Case, method: str, count: int) -> float:
    return float(np.mean(pvalues(case, method, count) < LEVEL))


def level_and_power(case: Case, method: str, counts: tuple[int, int], reference: float | None) -> dict[str, float]:
    """Return the level, the power, and the power when p-values are cut so that the level is the reference."""
    null = pvalues(case, method, counts[0])
    alternative = pvalues(better(case), method, counts[1])
    cut = LEVEL if reference is None else np.quantile(null, reference)
    return {
        "level": float(np.mean(null < LEVEL)),
        "power": float(np.mean(alternative < LEVEL)),
        "adjusted": float(np.mean(alternative <= cut)),
    }


def better(case: Case) -> Case:
    """The same case with a first scorer so much better that about half of the samples show it."""
    scale = np.sqrt(1 / case.m + 1 / max(case.n * case.high, 1.0))
    return replace(case, better=float(min(2.5 * scale, 2.0)))


def permutes(case: Case) -> bool:
    """Whether the default permutes; else it is the analytic method."""
    return min(case.m, case.n * case.high) < 50


def alike(case: Case, counts: tuple[int, int, int]) -> dict[str, dict[str, float]]:
    """Scorers of one shape: levels and powers of the default, of the analytic method and of the former default."""
    of_all = counts[:2]
    of_spacings = (counts[2], counts[2])
    default = level_and_power(case, "auto", of_all, None)
    reference = default["level"]
    return {
        "auto": default,
        "analytic": level_and_power(case, "analytic", of_all, reference) if permutes(case) else default,
        "spacings": level_and_power(case, "spacings", of_spacings, reference),
    }


def other(case: Case, counts: tuple[int, int, int]) -> dict[str, float]:
    return {"auto": level(case, "auto", counts[0])}


def run(quick: bool = False) -> dict[str, object]:
    counts = (100, 50, 20) if quick else (SAMPLES, SAMPLES_FOR_POWER, SAMPLES_OF_SPACINGS)
    positives, negatives = ((20,), (20, 200)) if quick else (POSITIVES, NEGATIVES)
    cells = []
    for (_, high), m, n in itertools.product(BANDS, positives, negatives):
        cases = {
            "alike": (alike, Case(m, n, high, 0.5)),
            "near": (other, Case(m, n, high, 0.95)),
            "ties": (other, Case(m, n, high, 0.95, grid=0.5)),
            "shapes": (other, Case(m, n, high, 0.8, spread=1.5)),
        }
        for kind, (measure, case) in cases.items():
            key = {"kind": kind, "counts": list(counts), **asdict(case)}
            cells.append(Cell(f"[0, {high:g}] {m} + {n}, {kind}", key, partial(measure, case, counts)))
    values, failed = fill(kept_in("levels", quick), cells, jobs=None if quick else 2)
    found = zip(cells, values, strict=True)
    results = {(cell.key["high"], cell.key["m"], cell.key["n"], cell.key["kind"]): value for cell, value in found}
    save_page("levels", page(results, counts, failed), quick)
    return summary(results)


def summary(results: dict) -> dict[str, object]:
    levels = [value["auto"]["level"] if key[3] == "alike" else value["auto"] for key, value in results.items()]
    return {"highest_level": max(levels), "lowest_level": min(levels), "target": ALLOWED}


HEAD = """# Levels of comparisons

How often `compare_partial_auc` calls two scorers different, at a p-value below 5%, in percent: first where their true
partial AUCs are equal, then where the first is better. Scores are normal, those of the positives shifted by 1.

- *alike*: the scorers correlate by 0.5 in each class; *near*: by 0.95; *ties*: by 0.95, and are rounded to halves.
- *shapes*: they correlate by 0.8, and the second scorer's positives have one and a half times the standard deviation
  and a shift that gives both the same true partial AUC, so that the curves cross.
- *power*: alike, with the first scorer's positives shifted further, the less the more samples there are. *At auto's
  level* cuts the p-values of another method so that it rejects as many true nulls as auto does; what is left tells what
  a method finds from how often it errs.

*Auto* is the default: it permutes where the second column says P, and is analytic where it says A. {samples:,} samples
a level, {power:,} a power, {spacings:,} for spacings, the default before. The simulation's own standard error of a
level is {error:.1f}, for spacings {more:.1f}. Levels above 6.5 are **bold**.
"""


HEADS = ["positives + negatives", "", "alike: auto", "analytic", "spacings", "near: auto", "ties: auto"]
HEADS += ["shapes: auto", "power: auto", "analytic", "spacings", "at auto's level: analytic", "spacings"]
KINDS = ("alike", "near", "ties", "shapes")


def page(results: dict, counts: tuple[int, int, int], failed: dict[str, str]) -> list[str]:
    errors = [100 * float(np.sqrt(LEVEL * (1 - LEVEL) / count)) for count in (counts[0], counts[2])]
    text = HEAD.format(samples=counts[0], power=counts[1], spacings=counts[2], error=errors[0], more=errors[1])
    lines = [text]
    for high in dict.fromkeys(key[0] for key in results):
        sizes = dict.fromkeys(key[1:3] for key in results if key[0] == high)
        rows = [row(Case(m, n, high, 0.5), {kind: results[high, m, n, kind] for kind in KINDS}) for m, n in sizes]
        lines += [f"## FPR 0 to {high:g}", "", *table(HEADS, rows), ""]
    return lines + closing({}, failed, "levels")


def row(case: Case, values: dict) -> list[str]:
    alike = values["alike"]
    levels = [alike[method]["level"] for method in ("auto", "analytic", "spacings")]
    levels += [values[kind]["auto"] for kind in ("near", "ties", "shapes")]
    powers = [alike[method]["power"] for method in ("auto", "analytic", "spacings")]
    powers += [alike[method]["adjusted"] for method in ("analytic", "spacings")]
    shown_powers = [f"{100 * power:.0f}" for power in powers]
    used = "P" if permutes(case) else "A"
    return [f"{case.m} + {case.n}", used, *map(shown_level, levels), *shown_powers]


def shown_level(level: float) -> str:
    text = f"{100 * level:.1f}"
    return f"**{text}**" if level > ALLOWED else text
