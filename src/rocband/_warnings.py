"""What is said about a model or its data that is no error, at the line of whoever called."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from types import FrameType

__all__ = ["CollapsedSolutionWarning", "PositiveClassWarning", "TrainingDataWarning", "warn"]

_PACKAGE = str(Path(__file__).parent)


class CollapsedSolutionWarning(UserWarning):
    """The model gives all rows the same score; where the message says that this is optimal, it is proved."""


class PositiveClassWarning(UserWarning):
    """Nothing says which of two classes is the positive one; the message names the class that was taken."""


class TrainingDataWarning(UserWarning):
    """The training data ask for something before a model is fitted to them; the message says for what."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line outside of this package that the call came from, however deep inside it was noticed."""
    frame = inspect.currentframe()
    warnings.warn(message, category, stacklevel=1 + _depth(frame))


def _depth(frame: FrameType | None) -> int:
    """How many frames lie inside this package before the first one outside."""
    depth = 0
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        depth += 1
        frame = frame.f_back
    return depth
