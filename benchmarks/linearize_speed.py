"""Linearising ``tight`` on [0, 0.05] against one ``X @ w``: a million negatives, 20,000 positives, 50 columns.

NumPy sorts with AVX-512 where it can, which on some processors is slower than with AVX2: where it does, a second run
without AVX-512 shows how much of the time that is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks.tangent import tight_tangent
from benchmarks.timing import interleaved, peak_bytes, ratios, summary

NEGATIVES = 1_000_000
POSITIVES = 20_000
COLUMNS = 50
HIGH = 0.05
TARGETS = {"share_of_product": 1 / 3}


def measure() -> dict[str, object]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(POSITIVES + NEGATIVES, COLUMNS))
    w = rng.normal(size=COLUMNS) / np.sqrt(COLUMNS)
    scores = X @ w
    positives = scores[:POSITIVES] + 1
    negatives = scores[POSITIVES:]
    tangent = tight_tangent((0.0, HIGH), NEGATIVES)
    calls = {"product": lambda: X @ w, "linearize": lambda: tangent(positives, negatives)}
    seconds = interleaved(calls, repeats=50)
    return {
        "share_of_product": ratios(seconds["linearize"], seconds["product"]),
        "seconds": {name: summary(values) for name, values in seconds.items()},
        "peak_per_score": peak_bytes(calls["linearize"]) / scores.nbytes,
    }


def avx512() -> list[str]:
    """Names of NumPy's AVX-512 features in use."""
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    return [name for name in found if name.startswith("AVX512") or name == "X86_V4"]


def measure_without(features: list[str]) -> dict[str, object]:
    environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(features)}
    command = [sys.executable, "-m", "benchmarks.linearize_speed"]
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(command, env=environment, cwd=root, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def run() -> dict[str, object]:
    figures = measure()
    if features := avx512():
        figures["without_avx512"] = measure_without(features)
    return {**figures, "targets": TARGETS}


if __name__ == "__main__":
    json.dump(measure(), sys.stdout)
