"""Test pAUC at an equal tuning budget: ten sets, three bands, repeated splits, linear and non-linear models."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import GroupShuffleSplit, StratifiedShuffleSplit

from benchmarks import competitors
from benchmarks.boards import quality_page
from benchmarks.cells import Cell, fill, kept_in
from benchmarks.competitors import Band, Recipe
from benchmarks.sets import Split, load, missing
from rocband.metrics import partial_auc_score

BANDS: tuple[Band, ...] = ((0.0, 0.01), (0.0, 0.05), (0.02, 0.05))
SETS = ("a9a", "cod-rna", "covtype 5", "hiv", "ijcnn1", "letter Q", "mammography", "protein", "spambase", "w8a")
ROWS = 6_000
SPLITS = 5
LEFT_OUT = {
    "XGBoost, band objective": "a third of the board's time; LightGBM's band objective stands for both",
    "LibAUC SOPA": "a fifth of the board's time; SOPAs, its smooth relative, is there",
}
FULL = {"sets": SETS, "rows": ROWS, "splits": SPLITS, "bands": BANDS, "budget": 8}
QUICK = {"sets": ("letter Q",), "rows": 1_500, "splits": 2, "bands": ((0.0, 0.05),), "budget": 2}


def subset(split: Split, rows: np.ndarray) -> tuple[Any, np.ndarray]:
    return split.X[rows], split.y[rows]


def halves(split: Split) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to fit and the quarter to choose on, the same for all; groups stay together."""
    kind = StratifiedShuffleSplit if split.groups is None else GroupShuffleSplit
    return next(kind(1, test_size=0.25, random_state=0).split(split.y, split.y, split.groups))


@lru_cache(maxsize=1)
def split_of(name: str, number: int, rows: int) -> Split:
    data = load(name)
    return data.split(number, rows / (2 / 3 * len(data.y)))


def pauc(y: np.ndarray, scores: np.ndarray, band: Band) -> float:
    return float(partial_auc_score(y, scores, fpr_range=band))


def chosen(
    recipe: Recipe, grid: tuple[dict[str, Any], ...], split: Split, bands: tuple[Band, ...]
) -> dict[Band, dict[str, Any]]:
    """Return for each band the configuration that is best on the held-out quarter; bands of one aim share fits."""
    if len(grid) == 1:
        return dict.fromkeys(bands, grid[0])
    fitted, held = halves(split)
    A, a = subset(split, fitted)
    B, b = subset(split, held)
    best: dict[Band, tuple[float, dict[str, Any]]] = {}
    for sharing in by_aim(recipe, bands):
        for configuration in grid:
            scores = recipe.fit(A, a, sharing[0], **configuration)(B)
            for band in sharing:
                value = pauc(b, scores, band)
                if band not in best or value > best[band][0]:
                    best[band] = value, configuration
    return {band: configuration for band, (_, configuration) in best.items()}


def by_aim(recipe: Recipe, bands: tuple[Band, ...]) -> Iterator[list[Band]]:
    """Yield the bands that one training serves."""
    for aim in dict.fromkeys(map(recipe.aim, bands)):
        yield [band for band in bands if recipe.aim(band) == aim]


def measure(
    recipe: Recipe, grid: tuple[dict[str, Any], ...], split: Split, bands: tuple[Band, ...]
) -> list[dict[str, Any]]:
    """Choose and fit again to the whole training part; return test figures, band by band, and the seconds of all."""
    began = time.perf_counter()
    choice = chosen(recipe, grid, split, bands)
    scores: dict[tuple[Any, str], np.ndarray] = {}
    figures = []
    for band in bands:
        what = recipe.aim(band), str(choice[band])
        if what not in scores:
            scores[what] = recipe.fit(split.X, split.y, band, **choice[band])(split.X_test)
        figures.append({"test": pauc(split.y_test, scores[what], band), "chosen": choice[band]})
    seconds = time.perf_counter() - began
    return [figure | {"seconds": seconds / len(bands)} for figure in figures]


def measured(
    name: str, number: int, rows: int, recipe: Recipe, grid: tuple[dict[str, Any], ...], bands: tuple[Band, ...]
) -> list[dict[str, Any]]:
    return measure(recipe, grid, split_of(name, number, rows), bands)


def thinned(grid: tuple[dict[str, Any], ...], budget: int) -> tuple[dict[str, Any], ...]:
    """Leave at most so many configurations, evenly spread."""
    return grid[:: max(len(grid) // budget, 1)]


def plan(recipes: dict[str, Recipe], settings: dict[str, Any]) -> list[Cell]:
    """List the cells split by split, so that a board that is cut short has whole splits."""
    rows = settings["rows"]
    bands = settings["bands"]
    versions = competitors.versions()
    cells = []
    for number, name in product(range(settings["splits"]), settings["sets"]):
        for label, recipe in recipes.items():
            grid = thinned(recipe.grid, settings["budget"])
            used = {package: versions.get(package) for package in recipe.packages}
            key = {"set": name, "split": number, "model": label, "rows": rows}
            key |= {"grid": grid, "bands": bands, "versions": used}
            call = partial(measured, name, number, rows, recipe, grid, bands)
            cells.append(Cell(f"{name}, split {number}, {label}", key, call))
    return cells


def run(quick: bool = False) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    everything, skipped = competitors.available()
    recipes = {label: recipe for label, recipe in everything.items() if label not in LEFT_OUT}
    settings = QUICK if quick else FULL
    absent = missing(settings["sets"])
    settings = settings | {"sets": [name for name in settings["sets"] if name not in absent]}
    skipped = skipped | LEFT_OUT
    cells = plan(recipes, settings)
    values, failed = fill(kept_in("quality", quick), cells)
    records = [
        {"set": cell.key["set"], "split": cell.key["split"], "model": cell.key["model"], "band": list(band), **figure}
        for cell, value in zip(cells, values, strict=True)
        if value is not None
        for band, figure in zip(settings["bands"], value, strict=True)
    ]
    kinds = {label: recipe.kind for label, recipe in recipes.items()}
    untuned = [label for label, recipe in recipes.items() if len(recipe.grid) == 1]
    figures = quality_page.write(records, kinds, untuned, settings, skipped | absent, failed, quick)
    return figures | {"skipped": skipped, "failed": failed, "records": records}
