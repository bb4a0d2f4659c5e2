"""Run tasks on the scheduler that Dask is set to, and notice when a cluster has lost all its workers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import dask
import psutil
from dask.base import get_scheduler
from distributed import Client

__all__ = ["gather", "keep", "memory", "task"]

# Seconds that a cluster may be without any worker; the key "rocband.patience" of Dask's configuration changes it.
_PATIENCE = 30.0
# Seconds between two looks at the cluster while results are awaited.
_LOOK_AGAIN = 1.0


def task(function: Any, *arguments: Any) -> Any:
    """Return a call that is not made yet; arguments may be such calls themselves."""
    return dask.delayed(function, pure=False)(*arguments)


def keep(tasks: Sequence[Any]) -> list[Any]:
    """Start tasks and leave their results on the workers; what a lost worker held is computed again when needed."""
    with _large_messages():
        return list(dask.persist(*tasks))


def gather(tasks: Sequence[Any]) -> list[Any]:
    """Run tasks and bring back their results."""
    client = _client()
    if client is None:
        return list(dask.compute(*tasks))
    with _large_messages():
        futures = client.compute(list(tasks))
    with ThreadPoolExecutor(1) as thread:
        results = thread.submit(client.gather, futures)
        _watch(client, futures, results)
        return list(results.result())


def memory() -> int:
    """Bytes that the workers may use, or without a cluster those that are free here."""
    client = _client()
    if client is None:
        return int(psutil.virtual_memory().available)
    return sum(client.run(_memory_limit).values())


def _memory_limit(dask_worker: Any) -> int:
    return int(dask_worker.memory_manager.memory_limit or psutil.virtual_memory().total)


def _client() -> Client | None:
    owner = getattr(get_scheduler(), "__self__", None)
    return owner if isinstance(owner, Client) else None


def _large_messages() -> AbstractContextManager[Any]:
    """Let weights of many rows travel with the tasks: unlike scattered ones they outlive the worker they are on."""
    setting: AbstractContextManager[Any] = dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"})
    return setting


def _watch(client: Client, futures: list[Any], results: Any) -> None:
    """Wait for the results; when no worker is left for too long, give up and say so."""
    patience = float(dask.config.get("rocband.patience", _PATIENCE))
    seen = time.monotonic()
    while True:
        try:
            results.exception(timeout=min(_LOOK_AGAIN, patience))
            return
        except CancelledError:
            return
        except TimeoutError:
            pass
        now = time.monotonic()
        if _has_workers(client):
            seen = now
        elif now - seen > patience:
            client.cancel(futures, force=True)
            raise RuntimeError(
                f"The cluster has had no worker for {patience:g} seconds, so the fit cannot go on; start workers and "
                "fit again."
            )


def _has_workers(client: Client) -> bool:
    try:
        return bool(client.nthreads())
    except (OSError, RuntimeError, TimeoutError):
        return False
