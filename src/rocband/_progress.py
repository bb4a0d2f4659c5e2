"""Progress of long work, told in one place and one form."""

from __future__ import annotations

import sys

__all__ = ["tell"]


def tell(text: str) -> None:
    """Print one line of progress to standard error, where it cannot mix with results."""
    print(f"[rocband] {text}", file=sys.stderr, flush=True)
