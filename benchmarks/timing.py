"""Times and peak memory of calls, to be compared within one run."""

from __future__ import annotations

import statistics
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
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


def anonymous_megabytes() -> float:
    """Memory of this process that is not backed by a file."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) / 1024


def watched(call: Call) -> tuple[Any, dict[str, float]]:
    """Result of a call, its seconds, and the memory it added at its peak, looked at every 5 milliseconds."""
    before = anonymous_megabytes()
    peak = 0.0
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.005):
            peak = max(peak, anonymous_megabytes())

    thread = threading.Thread(target=watch)
    thread.start()
    began = time.perf_counter()
    try:
        result = call()
    finally:
        seconds = time.perf_counter() - began
        done.set()
        thread.join()
    return result, {"seconds": seconds, "added_megabytes": max(peak - before, 0.0)}
