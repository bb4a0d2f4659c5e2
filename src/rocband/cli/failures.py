"""Errors as one sentence and an exit code, with the options of the command line in the place of parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping

import click

from rocband._errors import ParameterError
from rocband.cli.visible import visible

__all__ = ["Failure", "as_failure", "options_of", "with_options", "without_escapes"]

# The parameters of the library by the options that set them.
_OPTIONS = {
    "C": "--C",
    "anchor": "--anchor",
    "confidence": "--confidence",
    "cv": "--folds",
    "fpr": "--fpr",
    "fpr_range": "--fpr",
    "fprs": "--at",
    "gamma": "--gamma",
    "groups": "--group",
    "kernel": "--kernel",
    "method": "--method",
    "n_components": "--components",
    "n_draws": "--draws",
    "prevalence": "--prevalence",
    "random_state": "--seed",
    "rates": "--at",
    "surrogate": "--surrogate",
    "target_fpr": "--target-fpr",
}
# Where a command says it in another way.
_OPTIONS_OF = {"fit": {"confidence": "--guarantee"}}
# A name, perhaps with an equals sign and a word in quotation marks after it.
_MENTION = re.compile(r"\b([A-Za-z]\w*)(=?)(?:'(\w+)')?")


class Failure(click.ClickException):
    """What went wrong, in one sentence; exit code 2 when input is at fault, 1 when it could not be done."""

    def __init__(self, message: str, *, exit_code: int = 2) -> None:
        super().__init__(visible(" ".join(message.split())))
        self.exit_code = exit_code  # type: ignore[misc]  # Click's own errors do so too


def options_of(command: str | None) -> Mapping[str, str]:
    """Return the options of a command by the parameters that they set."""
    return _OPTIONS | _OPTIONS_OF.get(command or "", {})


def with_options(text: str, options: Mapping[str, str]) -> str:
    """Name options where a sentence names parameters in the manner of Python.

    That is ``name=value``, or a name that is no English word for its underscore.
    """

    def option(found: re.Match[str]) -> str:
        name, equals, value = found.groups()
        if name not in options or not (equals or "_" in name):
            return found[0]
        return f"{options[name]} {value or ''}" if equals else options[name]

    return _MENTION.sub(option, text)


def as_failure(error: Exception, command: str | None = None) -> Failure:
    """Turn any error of a command into a sentence."""
    text = str(error)
    options = options_of(command)
    if isinstance(error, ParameterError):
        name = options.get(error.parameter, error.parameter)
        return Failure(f"{name} {with_options(error.problem, options)}")
    if isinstance(error, ValueError | FileNotFoundError | IsADirectoryError):
        return Failure(with_options(text, options) or f"The input was refused ({type(error).__name__}).")
    if isinstance(error, OSError):
        return Failure(f"{error.strerror}: {error.filename}" if error.filename else text, exit_code=1)
    if isinstance(error, ImportError):
        return Failure(f"{text.rstrip('.')}.", exit_code=1)
    if isinstance(error, MemoryError):
        return Failure("The memory of this machine does not hold the data; use fewer rows or columns.", exit_code=1)
    kind = type(error).__name__
    return Failure(f"Stopped by an unexpected {kind}: {text}; ROCBAND_DEBUG=1 shows where.", exit_code=1)


def without_escapes(error: click.ClickException) -> click.ClickException:
    """Return an error of Click whose sentence a terminal can show."""
    error.message = visible(error.message)  # type: ignore[misc]  # Final for others than its makers
    return error
