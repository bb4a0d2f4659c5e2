"""Times and peak memory of calls, to be compared within one run."""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

Call = Callable[[], Any]


def interleaved(calls: dict[str, Call], repeats: int) -> dict[str, list[float]]:
    """Seconds of each call, in turn, so that a busy moment of the machine hits all; the first round is the warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for round_ in range(repeats + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if round_:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def summary(values: list[float]) -> dict[str, float]:
    """Median and extremes."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def ratios(slower: list[float], faster: list[float]) -> dict[str, float]:
    """How many times slower, round by round."""
    return summary([a / b for a, b in zip(slower, faster, strict=True)])


def peak_bytes(call: Call) -> int:
    """Memory that the call allocates on top of what is there."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
