"""A fit on a cluster of two processes from Parquet: time per pass, memory per worker, and what travels in a step.

``python -m benchmarks.dask_scale 1000000`` runs it for that many rows; without a number it is 20 million.
"""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

BAND = (0.0, 0.01)
C = 100.0
TOL = 1e-3
ROWS = 20_000_000
COLUMNS = 20
# Rows of a block, fewer where there would be too few blocks to share out.
BLOCK = 500_000
LEAST_BLOCKS = 8
NAMES = [f"x{k}" for k in range(COLUMNS)]
WORKER_MEMORY = "1.5GB"
# The plan: so many positives, negatives and machines, eight blocks of rows on each, and such a network.
PREVALENCE = 0.02
# Bytes of a score, of a candidate (its scores for the model and for the direction, and its number) and of a weighted
# row (a weight and a number).
SCORE_BYTES = 8
CANDIDATE_BYTES = 20
WEIGHT_BYTES = 12
# Sets of scores that a worker keeps, of the model and of directions; bytes at the client for a candidate and for a
# positive, whose scores are sorted and summed.
SETS_OF_SCORES = 4
BYTES_OF_A_CANDIDATE_HERE = 100
BYTES_OF_A_POSITIVE_HERE = 60
GIGA = 1e9
# What a step may ask the workers for.
STEPS = ("summary", "passing", "accumulate", "take")
# Scores that the work done here is timed with.
HERE_POSITIVES = 100_000
HERE_NEGATIVES = 1_000_000
HERE_REPEATS = 3
PLAN = {"positives": 1e7, "negatives": 1e10, "machines": 100, "blocks": 800, "gigabits": 10.0}


def part(number: int, rows: int) -> pd.DataFrame:
    """One block of rows: positives are shifted, a tenth elsewhere too, so far that `tight` does not collapse."""
    random = np.random.default_rng([7, number])
    X = random.standard_normal((rows, COLUMNS), dtype=np.float32)
    y = random.random(rows) < PREVALENCE
    X[y, :4] += np.float32(1.7)
    X[y & (random.random(rows) < 0.1), 4:8] += np.float32(1.5)
    return pd.DataFrame(X, columns=NAMES).assign(y=y.astype(np.int8))


def write(folder: Path, rows: int) -> None:
    block = min(BLOCK, math.ceil(rows / LEAST_BLOCKS))
    for number in range(math.ceil(rows / block)):
        part(number, min(block, rows - number * block)).to_parquet(folder / f"{number:05d}.parquet", compression=None)


class Traffic:
    """Counts what tasks take along and bring back, by the name of what they do."""

    def __init__(self) -> None:
        self.sent: dict[str, int] = {}
        self.received: dict[str, int] = {}
        self.rounds: dict[str, int] = {}

    def watch(self) -> None:
        """Put the counters in the place of the functions that start and gather tasks."""
        from rocband.dask import cluster, collections, metrics, problem, rows, scores

        modules = (collections, metrics, problem, rows, scores)
        for module in modules:
            module.task = self._counting_task(cluster.task)
            module.gather = self._counting_gather(cluster.gather)

    def _counting_task(self, original: Callable[..., object]) -> Callable[..., object]:
        def task(function: Callable[..., object], *arguments: object) -> object:
            made = original(function, *arguments)
            name = getattr(function, "__name__", str(function))
            self.sent[name] = self.sent.get(name, 0) + size_of(arguments)
            self.name = name
            return made

        return task

    def _counting_gather(self, original: Callable[..., list[object]]) -> Callable[..., list[object]]:
        def gather(tasks: list[object]) -> list[object]:
            name = self.name
            results = original(tasks)
            self.received[name] = self.received.get(name, 0) + size_of(results)
            self.rounds[name] = self.rounds.get(name, 0) + 1
            return results

        return gather

    def figures(self) -> dict[str, dict[str, int]]:
        names = sorted({*self.sent, *self.received})
        kinds = {"rounds": self.rounds, "bytes_sent": self.sent, "bytes_received": self.received}
        return {name.strip("_"): {kind: of.get(name, 0) for kind, of in kinds.items()} for name in names}


def size_of(value: object) -> int:
    """Bytes of the arrays in nested lists and tuples."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, list | tuple):
        return sum(map(size_of, value))
    return 0


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def figures_of(model: object, seconds: float) -> dict[str, object]:
    return {
        "seconds": seconds,
        "passes": model.n_iter_,
        "steps": len(model.history_),
        "seconds_per_pass": seconds / model.n_iter_,
        "gap_over_C": model.dual_gap_ / C,
        "objective": model.objective_,
        "converged": model.converged_,
        "peak_megabytes_here": peak_megabytes(),
    }


def on_cluster(folder: Path) -> dict[str, object]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    from rocband.dask import PartialAUCSVC, partial_auc_score

    traffic = Traffic()
    traffic.watch()
    options = {"memory_limit": WORKER_MEMORY, "local_directory": folder / "workers", "dashboard_address": ":0"}
    with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster, Client(cluster) as client:
        table = dd.read_parquet(f"{folder}/*.parquet")
        X = table[NAMES]
        y = table["y"]
        before = sum(client.run(time.process_time).values())
        began = time.perf_counter()
        model = PartialAUCSVC(BAND, surrogate="tight", C=C, tol=TOL).fit(X, y)
        figures = figures_of(model, time.perf_counter() - began)
        used = sum(client.run(time.process_time).values()) - before
        figures["processor_seconds_of_workers_per_pass"] = used / model.n_iter_
        figures["blocks"] = X.npartitions
        figures["traffic"] = traffic.figures()
        began = time.perf_counter()
        figures["partial_auc"] = partial_auc_score(y, model.decision_function(X), fpr_range=BAND)
        figures["seconds_of_partial_auc"] = time.perf_counter() - began
        figures["peak_megabytes_of_workers"] = sorted(client.run(peak_megabytes).values())
    return figures


def default_model(folder: Path) -> dict[str, object]:
    """Count what travels for the default surrogate, without a cluster: the tasks are the same."""
    import dask
    import dask.dataframe as dd

    from rocband.dask import PartialAUCSVC

    traffic = Traffic()
    traffic.watch()
    table = dd.read_parquet(f"{folder}/*.parquet")
    with dask.config.set(scheduler="sync"):
        began = time.perf_counter()
        model = PartialAUCSVC(BAND, C=C, tol=TOL).fit(table[NAMES], table["y"])
        figures = figures_of(model, time.perf_counter() - began)
    return {**figures, "traffic": traffic.figures()}


def on_memory_map(folder: Path) -> dict[str, object]:
    """Fit the same data with the local back end that reads a memory map in chunks."""
    from rocband import PartialAUCSVC

    files = sorted(folder.glob("*.parquet"))
    sizes = [len(pd.read_parquet(file, columns=["y"])) for file in files]
    X = np.lib.format.open_memmap(folder / "X.npy", mode="w+", dtype=np.float32, shape=(sum(sizes), COLUMNS))
    y = np.empty(len(X), dtype=np.int8)
    for file, stop, size in zip(files, np.cumsum(sizes), sizes, strict=True):
        table = pd.read_parquet(file)
        X[stop - size : stop] = table[NAMES]
        y[stop - size : stop] = table["y"]
    X.flush()
    X = np.load(folder / "X.npy", mmap_mode="r")
    began = time.perf_counter()
    before = time.process_time()
    model = PartialAUCSVC(BAND, surrogate="tight", C=C, tol=TOL).fit(X, y)
    figures = figures_of(model, time.perf_counter() - began)
    return {**figures, "processor_seconds_per_pass": (time.process_time() - before) / model.n_iter_}


def alone(kind: str, folder: str) -> dict[str, object]:
    """Run one fit in a process of its own, so that its memory is its own."""
    command = [sys.executable, "-m", "benchmarks.dask_scale", kind, folder]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def run(rows: int = ROWS) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), rows)
        figures: dict[str, object] = {"rows": rows, "columns": COLUMNS, "cluster": alone("cluster", folder)}
        figures["memory_map"] = alone("map", folder)
        figures["default_model"] = alone("default", folder)
    for name in ("cluster", "default_model"):
        figures[name]["plan"] = plan(figures[name], figures["memory_map"]["processor_seconds_per_pass"], rows)
    return figures


def seconds_of_risk() -> float:
    """Processor time here of one evaluation of the risk for a score, once the scores have come in."""
    from rocband.risks import Band, Scores, Smoothing, risk_for

    random = np.random.default_rng(0)
    scores = Scores.of(random.normal(size=HERE_POSITIVES) + 1, random.normal(size=HERE_NEGATIVES))
    # Of the candidates, nine in ten are in the band.
    risk = risk_for("tight", Band(0, HERE_NEGATIVES - HERE_NEGATIVES // 10, HERE_NEGATIVES))
    before = time.process_time()
    for _ in range(HERE_REPEATS):
        risk.plane(scores, Smoothing(0.1, 0.1))
    seconds = (time.process_time() - before) / HERE_REPEATS
    return seconds / (HERE_POSITIVES + HERE_NEGATIVES)


@dataclass(frozen=True)
class Travel:
    """What a fit sent and received, in terms that hold for other sizes.

    Attributes
    ----------
    rounds : dict of str to float
        How often a step asked for what.
    reach : float
        Negatives with a share in the smoothed band over those in the band.
    weighed : float
        Share of the positives and of the band's negatives that a gradient gives weight.
    """

    rounds: dict[str, float]
    reach: float
    weighed: float

    @classmethod
    def of(cls, measured: dict[str, Any], rows: int) -> Travel:
        """Take the counts of a fit to so many rows apart."""
        traffic = measured["traffic"]
        rounds = {name: traffic[name]["rounds"] / measured["steps"] for name in STEPS}
        in_band = BAND[1] * (1 - PREVALENCE) * rows
        received = traffic["passing"]["bytes_received"] / traffic["passing"]["rounds"]
        sent = traffic["accumulate"]["bytes_sent"] / traffic["accumulate"]["rounds"]
        return cls(
            rounds,
            reach=received / CANDIDATE_BYTES / in_band,
            weighed=sent / WEIGHT_BYTES / (PREVALENCE * rows + in_band),
        )


def plan(measured: dict[str, Any], seconds_per_pass: float, rows: int) -> dict[str, float]:
    """Carry what was measured over to the rows and machines of the plan, with a core for each block."""
    travel = Travel.of(measured, rows)
    positives = PLAN["positives"]
    whole = positives + PLAN["negatives"]
    in_band = BAND[1] * PLAN["negatives"]
    candidates = travel.reach * in_band
    of_summaries = travel.rounds["summary"] * SCORE_BYTES * positives
    received = of_summaries + travel.rounds["passing"] * CANDIDATE_BYTES * candidates
    sent = travel.rounds["accumulate"] * WEIGHT_BYTES * travel.weighed * (positives + in_band)
    memory = BYTES_OF_A_CANDIDATE_HERE * candidates + BYTES_OF_A_POSITIVE_HERE * positives
    risk = travel.rounds["passing"] * (positives + candidates) * seconds_of_risk()
    return {
        **PLAN,
        **{f"rounds_per_step_of_{name}": count for name, count in travel.rounds.items()},
        "candidates_over_band": travel.reach,
        "gigabytes_received_per_step": received / GIGA,
        "gigabytes_sent_per_step": sent / GIGA,
        "network_seconds_per_step": (received + sent) * 8 / (PLAN["gigabits"] * GIGA),
        "worker_seconds_per_pass": seconds_per_pass / rows * whole / PLAN["blocks"],
        "processor_seconds_here_per_step": risk,
        "gigabytes_of_features_per_machine": whole * COLUMNS * 4 / PLAN["machines"] / GIGA,
        "gigabytes_of_scores_per_machine": SETS_OF_SCORES * whole * SCORE_BYTES / PLAN["machines"] / GIGA,
        "gigabytes_here": memory / GIGA,
    }


def main(arguments: list[str]) -> None:
    if len(arguments) == 2:
        kinds = {"cluster": on_cluster, "map": on_memory_map, "default": default_model}
        print(json.dumps(kinds[arguments[0]](Path(arguments[1]))))
        return
    print(json.dumps(run(*map(int, arguments)), indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])
