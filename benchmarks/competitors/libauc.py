"""LibAUC's SOPA and SOPAs with a linear model on the CPU; they train for [0, b] whatever the band's lower end.

The losses and optimisers are LibAUC's. Batches of 64 positives and 64 negatives are drawn as its ``DualSampler`` does,
but by indexing one tensor, which is many times faster than a ``DataLoader`` and is to LibAUC's advantage.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from benchmarks.competitors import Band, Recipe, Scorer, no_aim, upper_end

REQUIRES = {"torch": "torch", "libauc": "libauc.losses"}
# rows of each class in a batch; batches of a fit
HALF = 64
STEPS = 600
RATES = (0.03, 0.01, 0.003, 0.001)


def dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if issparse(X) else X, dtype=np.float32)


def batches(positive: np.ndarray, seed: int) -> Iterator[Any]:
    """Yield row numbers, one class after the other, each reshuffled when it is used up."""
    import torch

    random = np.random.default_rng(seed)
    pools = [np.flatnonzero(positive), np.flatnonzero(~positive)]
    ends = [np.array([], dtype=np.int64)] * 2
    while True:
        for k, pool in enumerate(pools):
            while len(ends[k]) < HALF:
                ends[k] = np.concatenate([ends[k], random.permutation(pool)])
        yield torch.from_numpy(np.concatenate([end[:HALF] for end in ends]))
        ends = [end[HALF:] for end in ends]


def training(
    X: Any, y: Any, band: Band, method: str, lr: float, hardness: float, every: int, seed: int = 0
) -> Iterator[tuple[float, np.ndarray]]:
    """Yield the seconds of training so far and the coefficients, after every so many batches, without an end."""
    import torch
    from libauc.losses import pAUC_CVaR_Loss, pAUC_DRO_Loss
    from libauc.optimizers import SOPA, SOPAs

    torch.manual_seed(seed)
    began = time.perf_counter()
    positive = np.asarray(y) == 1
    rows = torch.from_numpy(dense(X))
    labels = torch.from_numpy(positive.astype(np.float32))
    model = torch.nn.Linear(rows.shape[1], 1, bias=False)
    if method == "SOPA":
        loss = pAUC_CVaR_Loss(len(labels), int(positive.sum()), beta=band[1], eta=hardness, device="cpu")
        optimizer = SOPA(model.parameters(), lr=lr, device="cpu")
    else:
        loss = pAUC_DRO_Loss(len(labels), Lambda=hardness, device="cpu")
        optimizer = SOPAs(model.parameters(), lr=lr, verbose=False, device="cpu")
    seconds = 0.0
    for number, index in enumerate(batches(positive, seed), 1):
        optimizer.zero_grad()
        loss(model(rows[index]), labels[index], index).backward()
        optimizer.step()
        if number % every == 0:
            seconds += time.perf_counter() - began
            yield seconds, model.weight.detach().numpy()[0].copy()
            began = time.perf_counter()


def fit(X: Any, y: Any, band: Band, **options: Any) -> Scorer:
    """Fit; what has diverged scores all rows 0."""
    _, weights = next(training(X, y, band, every=STEPS, **options))
    weights = weights if np.isfinite(weights).all() else np.zeros_like(weights)
    return lambda rows: dense(rows) @ weights


def recipes() -> dict[str, Recipe]:
    import torch

    torch.set_num_threads(1)
    # What decides how hard the hardest negatives weigh: SOPA's eta, and SOPAs' Lambda, with which 0.1 overflows.
    ways = {"SOPA": (upper_end, (1.0, 0.1)), "SOPAs": (no_aim, (1.0, 10.0))}
    return {
        f"LibAUC {method}": Recipe(
            fit,
            tuple({"method": method, "lr": lr, "hardness": hardness} for lr in RATES for hardness in values),
            {"method": method, "lr": 0.01, "hardness": 1.0},
            aim=aim,
            packages=("libauc", "torch"),
        )
        for method, (aim, values) in ways.items()
    }
