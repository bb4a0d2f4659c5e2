"""Progress of long work, told in one place and one form."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["listening", "tell"]


def _print(text: str) -> None:
    print(f"[rocband] {text}", file=sys.stderr, flush=True)


_listener: ContextVar[Callable[[str], None]] = ContextVar("listener", default=_print)


def tell(text: str) -> None:
    """Tell one line of progress: printed to standard error, where it cannot mix with results, or to who listens."""
    _listener.get()(text)


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Hand the lines of progress to a function instead of printing them."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
