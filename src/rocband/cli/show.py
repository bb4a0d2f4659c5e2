"""What is printed: tables and sentences for people, JSON for machines, progress and warnings on standard error."""

from __future__ import annotations

import contextlib
import json
import math
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import click

from rocband._progress import listening
from rocband.cli.failures import in_options

__all__ = ["Output", "interval_text", "progress", "warnings_as_lines"]


class Output:
    """Where the result of a command goes: printed as it comes, or gathered into one JSON document."""

    def __init__(self, as_json: bool, quiet: bool) -> None:
        self.as_json, self.quiet = as_json, quiet
        self.document: dict[str, Any] = {}
        self._gap = True  # whether an empty line, or nothing, was printed last

    def add(self, **values: Any) -> None:
        """Gather values for the JSON document."""
        self.document |= values

    def say(self, text: str) -> None:
        """Print a line for people."""
        if not self.as_json and not self.quiet:
            click.echo(text)
            self._gap = False

    def table(
        self, head: Sequence[str], rows: Sequence[Sequence[str]], *, title: str | None = None, always: bool = False
    ) -> None:
        """Print a table, also when quiet if it is what the command is for; columns but the first are flushed right."""
        if self.as_json or (self.quiet and not always):
            return
        from rich import box  # noqa: PLC0415
        from rich.console import Console  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False)
        for position, name in enumerate(head):
            table.add_column(name, justify="left" if position == 0 else "right", overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        terminal = sys.stdout.isatty()
        # A pipe or a file has no width; a table is then as wide as it needs to be.
        console = Console(file=sys.stdout, width=None if terminal else 160, color_system="auto" if terminal else None)
        with console.capture() as captured:
            console.print(table)
        body = "\n".join(line.rstrip() for line in captured.get().splitlines()).strip("\n")
        click.echo(f"{body}\n" if self._gap else f"\n{body}\n")
        self._gap = True

    def end(self, python: str, *, err: bool = False) -> None:
        """Print the equivalent Python, or the JSON document with it."""
        if self.as_json:
            click.echo(json.dumps(_plain(self.document | {"python": python}), indent=2, allow_nan=False))
        elif not self.quiet:
            click.echo("The same in Python:\n" if self._gap and not err else "\nThe same in Python:\n", err=err)
            click.echo("\n".join(f"    {line}".rstrip() for line in python.splitlines()), err=err)


def _plain(value: Any) -> Any:
    """Return a value that JSON knows; what is not a number is null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def interval_text(value: float, low: float, high: float, digits: int = 3) -> str:
    """Return a figure with its interval."""
    return f"{value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


@contextlib.contextmanager
def progress(what: str, *, quiet: bool) -> Iterator[None]:
    """Show on standard error what the library tells while it works."""
    from rich.console import Console  # noqa: PLC0415

    console = Console(stderr=True)
    if quiet:
        with listening(lambda _: None):
            yield
    elif not console.is_terminal:
        yield
    else:
        with console.status(what) as status, listening(lambda text: status.update(f"{what}  {text}")):
            yield


@contextlib.contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print each warning once, as one line on standard error."""
    seen: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = in_options(" ".join(str(message).split()))
        # The same warning comes from every fold and C, with other numbers.
        key = re.sub(r"\d[\d.,e+-]*", "", text)
        if key not in seen:
            seen.add(key)
            click.echo(f"Warning: {text}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        # Categories that training has not seen are encoded as zeros, chunk after chunk.
        warnings.filterwarnings("ignore", message="Found unknown categories")
        warnings.showwarning = show
        yield
