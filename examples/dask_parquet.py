"""A folder of Parquet files that need not fit in memory: fit, measure and predict on a local cluster.

    python examples/dask_parquet.py                                  # 40,000 rows, some seconds
    python examples/dask_parquet.py --rows 20000000 --memory 1.5GB   # 1.7 GB of features on two workers

The folder is written first, one file at a time; with --folder it is kept, and used as it is when it holds files. On a
cluster of your own, give its address to `distributed.Client` and leave the rest as it is.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from rocband.dask import PartialAUCSVC, partial_auc_score

BAND = (0.0, 0.01)
COLUMNS = [f"x{k}" for k in range(20)]


def payments(rows: int, seed: int) -> pd.DataFrame:
    """Make up one file of payments, 2% of them fraud, of which a tenth looks unlike the rest."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((rows, len(COLUMNS)), dtype=np.float32)
    fraud = random.random(rows) < 0.02
    X[fraud, :4] += np.float32(1.2)
    X[fraud & (random.random(rows) < 0.1), 4:8] += np.float32(2.0)
    return pd.DataFrame(X, columns=COLUMNS).assign(fraud=fraud.astype(np.int8))


def write(folder: Path, rows: int, files: int) -> None:
    for number in range(files):
        payments(rows // files, seed=number).to_parquet(folder / f"part-{number:04d}.parquet")


def run(folder: Path, memory: str, scratch: str) -> None:
    files = sorted(map(str, folder.glob("*.parquet")))
    last = max(len(files) // 4, 1)
    train = dd.read_parquet(files[:-last])
    test = dd.read_parquet(files[-last:])
    options = {"memory_limit": memory, "local_directory": scratch, "dashboard_address": ":0"}
    with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster, Client(cluster):
        model = PartialAUCSVC(BAND, tol=1e-3).fit(train[COLUMNS], train["fraud"])
        scores = model.decision_function(test[COLUMNS])  # nothing is computed yet
        area = partial_auc_score(test["fraud"], scores, fpr_range=BAND)
        alarms = (scores > 0).mean().compute()
    print(f"{model.n_iter_} passes over {len(files) - last} files, objective {model.objective_:.3f}")
    print(f"partial AUC up to 1% false alarms on {last} other files: {area:.3f}; alarms for {alarms:.2%} of the rows")
    print(f"The model is an ordinary one: one row scores {model.decision_function(test[COLUMNS].head(1))[0]:.3f}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--memory", default="1GB", help="memory of each of the two workers")
    parser.add_argument("--folder", type=Path, help="where the files are, or are to be kept")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary, "payments")
        folder.mkdir(parents=True, exist_ok=True)
        if not any(folder.glob("*.parquet")):
            write(folder, chosen.rows, chosen.files)
        run(folder, chosen.memory, f"{temporary}/workers")


if __name__ == "__main__":
    main()
