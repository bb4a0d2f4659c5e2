"""A fit on a cluster of two processes from Parquet: time per pass, memory per worker, and what travels in a step.

``python -m benchmarks.dask_scale 1000000`` runs it for that many rows; without a number it is 20 million.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

BAND, C, TOL = (0.0, 0.01), 100.0, 1e-3
ROWS, COLUMNS, BLOCK = 20_000_000, 20, 500_000
NAMES = [f"x{k}" for k in range(COLUMNS)]
WORKER_MEMORY = "1.5GB"
# The plan: so many rows and machines, with that many positives and such a network.
PLAN = {"rows": 1e10, "machines": 100, "share_of_positives": 0.001, "gigabits": 10.0}


def part(number: int, rows: int) -> pd.DataFrame:
    """One block of rows: the positives of two of them are shifted, and those of a tenth lie elsewhere."""
    random = np.random.default_rng([7, number])
    X = random.standard_normal((rows, COLUMNS), dtype=np.float32)
    y = random.random(rows) < 0.02
    X[y, :4] += np.float32(0.9)
    X[y & (random.random(rows) < 0.1), 4:8] += np.float32(1.5)
    return pd.DataFrame(X, columns=NAMES).assign(y=y.astype(np.int8))


def write(folder: Path, rows: int) -> None:
    for number in range(-(-rows // BLOCK)):
        size = min(BLOCK, rows - number * BLOCK)
        part(number, size).to_parquet(folder / f"{number:05d}.parquet", compression=None)


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
            name, results = self.name, original(tasks)
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
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": WORKER_MEMORY, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        table = dd.read_parquet(folder)
        X, y = table[NAMES], table["y"]
        began = time.perf_counter()
        model = PartialAUCSVC(BAND, surrogate="tight", C=C, tol=TOL, verbose=1).fit(X, y)
        figures = figures_of(model, time.perf_counter() - began)
        figures["blocks"] = X.npartitions
        figures["traffic"] = traffic.figures()
        began = time.perf_counter()
        figures["partial_auc"] = partial_auc_score(y, model.decision_function(X), fpr_range=BAND)
        figures["seconds_of_partial_auc"] = time.perf_counter() - began
        figures["peak_megabytes_of_workers"] = sorted(client.run(peak_megabytes).values())
    return figures


def on_memory_map(folder: Path) -> dict[str, object]:
    """Fit the same data with the local back end that reads a memory map in chunks."""
    from rocband import PartialAUCSVC

    files = sorted(folder.glob("*.parquet"))
    sizes = [len(pd.read_parquet(file, columns=["y"])) for file in files]
    X = np.lib.format.open_memmap(folder / "X.npy", mode="w+", dtype=np.float32, shape=(sum(sizes), COLUMNS))
    y = np.empty(len(X), dtype=np.int8)
    for file, stop, size in zip(files, np.cumsum(sizes), sizes, strict=True):
        table = pd.read_parquet(file)
        X[stop - size : stop], y[stop - size : stop] = table[NAMES], table["y"]
    X.flush()
    X = np.load(folder / "X.npy", mmap_mode="r")
    began = time.perf_counter()
    model = PartialAUCSVC(BAND, surrogate="tight", C=C, tol=TOL, verbose=1).fit(X, y)
    return figures_of(model, time.perf_counter() - began)


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
    figures["plan"] = plan(figures["cluster"], rows)
    return figures


def plan(measured: dict[str, object], rows: int) -> dict[str, float]:
    """Scale what was measured to the rows and machines of the plan."""
    traffic = measured["traffic"]
    steps = measured["steps"]
    per_step = {
        kind: sum(traffic[name][kind] for name in ("score", "summary", "passing", "at", "accumulate", "take")) / steps
        for kind in ("bytes_sent", "bytes_received")
    }
    grown = PLAN["rows"] / rows
    moved = grown * sum(per_step.values())
    return {
        **PLAN,
        "bytes_per_step": moved,
        "network_seconds_per_step": moved * 8 / (PLAN["gigabits"] * 1e9),
        "worker_seconds_per_step": measured["seconds"] / steps * grown * 2 / PLAN["machines"],
        "gigabytes_of_features_per_machine": PLAN["rows"] * COLUMNS * 4 / PLAN["machines"] / 1e9,
        "gigabytes_of_scores_per_machine": 4 * PLAN["rows"] * 8 / PLAN["machines"] / 1e9,
    }


def main(arguments: list[str]) -> None:
    if len(arguments) == 2:
        kinds = {"cluster": on_cluster, "map": on_memory_map}
        print(json.dumps(kinds[arguments[0]](Path(arguments[1]))))
        return
    print(json.dumps(run(*map(int, arguments)), indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])
