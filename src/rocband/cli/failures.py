"""Errors as one sentence and an exit code."""

from __future__ import annotations

import re

import click

__all__ = ["Failure", "as_failure", "in_options"]

# What the library calls its parameters, and how they are said here.
_OPTIONS = {
    r"surrogate='(\w+)'": r"--surrogate \1",
    r"raise max_iter or tol, scale the features, or lower C": "use --scale standard or a lower --C",
    r" \(its objective .*? bound [^)]*\)": "",
    r"\bmax_iter=": "",
    r"\btol=": "a tolerance of ",
    r"^confidence (?=\S+ at target_fpr)": "--guarantee ",
    r"\btarget_fpr=": "--target-fpr ",
    r"\bn_components=": "--components ",
    r"\bfpr_range\b": "--fpr",
    r"\bfprs\b": "--at",
    r"\bn_draws\b": "--draws",
    r"\bn_components\b": "--components",
    r"\btarget_fpr\b": "--target-fpr",
    r", or an anchor\.": ", or --anchor logistic.",
    r"^(C|gamma) must": r"--\1 must",
}


class Failure(click.ClickException):
    """What went wrong, in one sentence; exit code 2 when input is at fault, 1 when it could not be done."""

    def __init__(self, message: str, *, exit_code: int = 2) -> None:
        super().__init__(" ".join(message.split()))
        self.exit_code = exit_code  # type: ignore[misc]  # Click's own errors do so too


def in_options(text: str) -> str:
    """Name the options of the command line where the library names its parameters."""
    for pattern, option in _OPTIONS.items():
        text = re.sub(pattern, option, text)
    return text


def as_failure(error: Exception) -> Failure:
    """Turn any error into a sentence."""
    text = str(error)
    if isinstance(error, ValueError | FileNotFoundError | IsADirectoryError):
        return Failure(in_options(text) or f"The input was refused ({type(error).__name__}).")
    if isinstance(error, OSError):
        return Failure(f"{error.strerror}: {error.filename}" if error.filename else text, exit_code=1)
    if isinstance(error, ImportError):
        return Failure(f"{text.rstrip('.')}.", exit_code=1)
    if isinstance(error, MemoryError):
        return Failure("The memory of this machine does not hold the data; use fewer rows or columns.", exit_code=1)
    kind = type(error).__name__
    return Failure(f"Stopped by an unexpected {kind}: {text}; ROCBAND_DEBUG=1 shows where.", exit_code=1)
