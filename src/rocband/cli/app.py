"""The commands by their names, and what becomes of their errors."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from typing import Any

import click

import rocband
from rocband.cli.commands import COMMANDS
from rocband.cli.failures import Failure, as_failure, options_of, without_escapes
from rocband.cli.show import warnings_as_lines

__all__ = ["cli", "drop_output"]

EXAMPLES = """\b
Examples:
  rocband demo
  rocband fit train.csv --target sick --positive yes --fpr 0 0.05 -o model.rocband
  rocband evaluate test.csv --model model.rocband --plot roc.png
  rocband predict model.rocband new.csv -o scores.csv
  rocband report test.csv --model model.rocband -o page.html

Exit codes: 0 done; 1 it could not be done (no room on disk, interrupted); 2 the input or the command is at fault.
"""


class Commands(click.Group):
    """A group whose commands end in one sentence when something goes wrong."""

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Read the arguments before the command."""
        with _shown():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        with _shown(), _one_sentence(ctx), warnings_as_lines(lambda: options_of(ctx.invoked_subcommand)):
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of a first session."""
        return list(self.commands)


@contextlib.contextmanager
def _shown() -> Iterator[None]:
    try:
        yield
    except click.ClickException as error:
        raise without_escapes(error) from None


@contextlib.contextmanager
def _one_sentence(ctx: click.Context) -> Iterator[None]:
    try:
        yield
        sys.stdout.flush()
    except click.BadOptionUsage as error:
        if error.option_name == "--fpr":
            sentence = "--fpr takes two numbers, the ends of the band, such as --fpr 0 0.05."
            raise click.BadOptionUsage("--fpr", sentence, error.ctx) from None
        raise
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except KeyboardInterrupt:
        raise Failure("Interrupted; nothing was written.", exit_code=1) from None
    except Exception as error:
        # Else the interpreter would try to write the rest at its end, and complain.
        if isinstance(error, OSError) and error.errno in (errno.EPIPE, errno.ENOSPC):
            drop_output()
            if error.errno == errno.EPIPE:  # whoever read has had enough
                raise click.exceptions.Exit(1) from None
        if os.environ.get("ROCBAND_DEBUG"):
            raise
        raise as_failure(error, ctx.invoked_subcommand) from None


def drop_output() -> None:
    """Let go of what standard output could not take, or the interpreter would try again at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(
    cls=Commands,
    commands={command.name or "": command for command in COMMANDS},
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=EXAMPLES,
)
@click.version_option(rocband.__version__, prog_name="rocband")
def cli() -> None:
    """Train, measure and use models for the part of the ROC curve you operate in."""
