"""Time to a stated accuracy: to a gap of C * 1e-4 beside dlib, in passes, and to 99% of the best test pAUC."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks import competitors, solver
from benchmarks.boards import time_to_accuracy_page as page
from benchmarks.cells import Cell, fill, kept_in
from benchmarks.sets import Split, load, made, missing, standardized
from benchmarks.tangent import tight_tangent
from benchmarks.timing import interleaved, summary
from rocband import PartialAUCSVC
from rocband.metrics import partial_auc_score

# What dlib can do too: the full AUC, to rocband's default tolerance.
FULL = (0.0, 1.0)
TOL = 1e-4
C = 100.0
# What is raced for; the training on the largest set is given more seconds.
BAND = (0.0, 0.05)
LARGEST = "covtype 5"
# rocband's points of a curve, and its configurations.
TOLS = (1e-1, 1e-2, 1e-3, 1e-4)
CS = (1.0, 10.0, 100.0, 1000.0)
SETTINGS = {
    "gap_sets": ("ijcnn1", "made 100,000 x 50"),
    "repeats": 3,
    "passes": solver.CASES,
    "test_sets": ("letter Q", "ijcnn1", "a9a", "covtype 5"),
    "seconds": 8.0,  # of training, for each configuration of LibAUC, and on the largest set
    "seconds_largest": 15.0,
    "configurations": 8,
    "seeds": (1, 2),
}
QUICK = {
    "gap_sets": ("letter Q", "made 5,000 x 20"),
    "repeats": 2,
    "passes": {"letter Q": solver.BANDS[:2]},
    "test_sets": ("letter Q",),
    "seconds": 1.5,
    "seconds_largest": 1.5,
    "configurations": 2,
    "seeds": (1,),
}
Curve = dict[str, list[float]]  # seconds and test pAUC


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return all rows of a set, or of a made one named by its size, in double precision."""
    if not name.startswith("made "):
        return standardized(name)
    rows, columns = (int(word.replace(",", "")) for word in name.removeprefix("made ").split(" x "))
    X, y = made(rows, columns)
    return X.astype(np.float64), y


def full_auc_objective(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    scores = X @ w
    tangent = tight_tangent(FULL, int((~y).sum()))
    return float(w @ w / 2 + C * tangent(scores[y], scores[~y]).value)


def to_gap(name: str, repeats: int) -> dict[str, Any]:
    """Train for the full AUC to the same gap, in turn, and look at the objectives from outside."""
    X, y = rows_of(name)
    found: dict[str, np.ndarray] = {}
    model = PartialAUCSVC(FULL, surrogate="tight", anchor=None, C=C, tol=TOL)

    def ours() -> None:
        found["rocband"] = model.fit(X, y).coef_[0]

    calls = {"rocband": ours}
    if competitors.why_not("dlib") is None:
        dlib = competitors.load("dlib")
        data = dlib.ranking_pair(X, y)
        calls["dlib"] = lambda: found.update(dlib=dlib.train(data, C, TOL))
    seconds = interleaved(calls, repeats)
    product = interleaved({"X @ w": lambda: X @ found["rocband"]}, 15)["X @ w"]
    return {
        "product": summary(product),
        "passes": model.n_iter_,
        "seconds": {label: summary(values) for label, values in seconds.items()},
        "over_product": {label: float(np.median(values) / np.median(product)) for label, values in seconds.items()},
        "gap_over_C": {label: (full_auc_objective(X, y, w) - model.lower_bound_) / C for label, w in found.items()},
    }


@lru_cache(maxsize=1)
def split_of(name: str) -> Split:
    return load(name).split(0)


def pauc(split: Split, w: np.ndarray) -> float:
    return float(partial_auc_score(split.y_test, split.X_test @ w, fpr_range=BAND)) if np.isfinite(w).all() else 0.0


def timed(model: Any, split: Split, repeats: int) -> tuple[list[float], float]:
    """Return the seconds of some fits after a warm-up, and the test pAUC."""
    seconds = []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        model.fit(split.X, split.y)
        seconds.append(time.perf_counter() - began)
    return sorted(seconds[1:]), pauc(split, model.coef_[0])


def our_curve(name: str, C: float, repeats: int) -> Curve:
    """Fit to one tolerance after the other, each from the start."""
    curve: Curve = {"seconds": [], "fastest": [], "slowest": [], "pauc": []}
    for tol in TOLS:
        seconds, value = timed(PartialAUCSVC(BAND, C=C, tol=tol), split_of(name), repeats)
        for what, figure in zip(curve, (np.median(seconds), seconds[0], seconds[-1], value), strict=True):
            curve[what].append(float(figure))
    return curve


def logistic_curve(name: str, repeats: int) -> Curve:
    seconds, value = timed(LogisticRegression(max_iter=1000), split_of(name), repeats)
    return {"seconds": [float(np.median(seconds))], "pauc": [value]}


def libauc_curve(name: str, configuration: dict[str, Any], limit: float, seed: int) -> Curve:
    """Train for so many seconds; the test pAUC is measured every eighth of an epoch at first, outside the clock."""
    libauc = competitors.load("libauc")
    split = split_of(name)
    every = max(len(split.y) // (2 * libauc.HALF) // 8, 1)
    curve: Curve = {"seconds": [], "pauc": []}
    steps = libauc.training(split.X, split.y, BAND, every=every, seed=seed, **configuration)
    for number, (seconds, w) in enumerate(steps, 1):
        # After 16 looks they come every tenth step of the logarithm, for the curve to stay small.
        if number <= 16 or int(10 * np.log2(number)) > int(10 * np.log2(number - 1)) or seconds > limit:
            curve["seconds"].append(seconds)
            curve["pauc"].append(pauc(split, w))
        if seconds > limit:
            return curve
    raise AssertionError("the training has no end")


def race_cells(settings: dict[str, Any]) -> Iterator[Cell]:
    """What the race to 99% needs: all configurations once."""
    versions = competitors.versions()
    libauc = competitors.load("libauc").recipes() if competitors.why_not("libauc") is None else {}
    for name in settings["test_sets"]:
        base = {"part": "test", "set": name, "band": BAND, "repeats": settings["repeats"]}
        call = partial(logistic_curve, name, settings["repeats"])
        yield Cell(f"{name}, LogisticRegression", base | {"model": "LogisticRegression"}, call)
        for C in CS[-settings["configurations"] :]:
            key = base | {"model": "rocband", "configuration": {"C": C}}
            yield Cell(f"{name}, rocband, C={C:g}", key, partial(our_curve, name, C, settings["repeats"]))
        for label, recipe in libauc.items():
            for configuration in recipe.grid[:: max(len(recipe.grid) // settings["configurations"], 1)]:
                yield libauc_cell(name, label, configuration, limit_of(name, settings), 0, versions)


def limit_of(name: str, settings: dict[str, Any]) -> float:
    """Seconds of training for LibAUC: more on the set that is ten times as large as the others."""
    return float(settings["seconds_largest" if name == LARGEST else "seconds"])


def libauc_cell(
    name: str, label: str, configuration: dict[str, Any], limit: float, seed: int, versions: dict[str, str]
) -> Cell:
    key = {"part": "test", "set": name, "band": BAND, "model": label, "configuration": configuration}
    key |= {"seed": seed, "seconds": limit, "versions": {p: versions.get(p) for p in ("libauc", "torch")}}
    text = f"{name}, {label}, {configuration}, seed {seed}"
    return Cell(text, key, partial(libauc_curve, name, configuration, limit, seed))


def repeat_cells(cells: list[Cell], values: list[Any], settings: dict[str, Any]) -> Iterator[Cell]:
    """Repeat LibAUC's best configuration of each set with other seeds."""
    versions = competitors.versions()
    for name in settings["test_sets"]:
        done = [(cell, curve) for cell, curve in zip(cells, values, strict=True) if cell.key["set"] == name and curve]
        target = page.target_of([curve for _, curve in done])
        for label in sorted({cell.key["model"] for cell, _ in done if "seed" in cell.key}):
            mine = [(cell.key["configuration"], curve) for cell, curve in done if cell.key["model"] == label]
            configuration, _ = min(mine, key=lambda pair: page.order(pair[1], target))
            for seed in settings["seeds"]:
                yield libauc_cell(name, label, configuration, limit_of(name, settings), seed, versions)


def gap_cells(settings: dict[str, Any]) -> list[Cell]:
    """What is trained to a gap beside dlib."""
    dlib = competitors.versions().get("dlib")
    repeats = settings["repeats"]
    return [
        Cell(
            f"{name}, full AUC to a gap",
            {"part": "gap", "set": name, "repeats": repeats, "dlib": dlib},
            partial(to_gap, name, repeats),
        )
        for name in settings["gap_sets"]
    ]


def pass_cells(settings: dict[str, Any]) -> list[Cell]:
    """The cases whose passes are counted."""
    return [
        Cell(
            f"{name}, {list(band)}, C={C:g}",
            {"part": "passes", "set": name, "band": band, "C": C},
            partial(solver.measure, name, band, C),
        )
        for name, bands in settings["passes"].items()
        for band in bands
        for C in solver.Cs
    ]


def without(settings: dict[str, Any], absent: dict[str, str]) -> dict[str, Any]:
    """Leave out the sets that cannot be read here."""
    there = {
        "gap_sets": [name for name in settings["gap_sets"] if name not in absent],
        "passes": {name: bands for name, bands in settings["passes"].items() if name not in absent},
        "test_sets": [name for name in settings["test_sets"] if name not in absent],
    }
    return settings | there


def run(quick: bool = False) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    settings = QUICK if quick else SETTINGS
    wanted = {*settings["gap_sets"], *settings["passes"], *settings["test_sets"]}
    absent = missing(name for name in sorted(wanted) if not name.startswith("made "))
    settings = without(settings, absent)
    path = kept_in("time_to_accuracy", quick)
    others = [*gap_cells(settings), *pass_cells(settings)]
    tests = list(race_cells(settings))
    values, failed = fill(path, others + tests)
    repeats = list(repeat_cells(tests, values[len(others) :], settings))
    more, failed_too = fill(path, repeats)
    records = [
        cell.key | {"figures": value}
        for cell, value in zip(others + tests + repeats, values + more, strict=True)
        if value is not None
    ]
    reasons = {name: competitors.why_not(name) for name in ("dlib", "libauc")}
    skipped = {name: reason for name, reason in reasons.items() if reason} | absent
    failed |= failed_too
    figures = page.write(records, settings, skipped, failed, quick)
    return figures | {"skipped": skipped, "failed": failed, "records": records}
