"""What is printed: tables and sentences for people, JSON for machines, progress and warnings on standard error."""

from __future__ import annotations

import contextlib
import json
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence

import click

from rocband._progress import listening
from rocband.cli.failures import with_options
from rocband.cli.visible import visible

__all__ = ["Output", "interval_text", "progress", "warn", "warnings_as_lines"]

# Where what the library advises is no option here. Keyed by name: importing the classes would cost a second.
_SENTENCES = {
    "ConvergenceWarning": (
        "The solver stopped before its model was as good as asked for; use --scale standard or a lower --C."
    ),
}
# A pipe or a file has no width; a table is then as wide as it needs to be, up to this.
_WIDEST = 160


class Output:
    """Where the result of a command goes: printed as it comes, or gathered into one JSON document.

    Parameters
    ----------
    as_json, quiet : bool
        Whether one document is printed, or no more than what the command is for.
    err : bool
        Whether text goes to standard error, since standard output takes the file that the command writes.
    """

    def __init__(self, *, as_json: bool, quiet: bool, err: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self._err = err
        self._document: dict[str, object] = {}
        self._gap = True  # whether an empty line, or nothing, was printed last

    def add(self, **values: object) -> None:
        """Gather values for the JSON document."""
        self._document |= values

    def say(self, text: str) -> None:
        """Print a line for people."""
        if not self.as_json and not self.quiet:
            click.echo(visible(text), err=self._err)
            self._gap = False

    def table(
        self, head: Sequence[str], rows: Sequence[Sequence[str]], *, title: str | None = None, always: bool = False
    ) -> None:
        """Print a table, also when quiet if it is what the command is for; columns but the first are flushed right."""
        if self.as_json or (self.quiet and not always):
            return
        body = _table_text(head, rows, title)
        click.echo(f"{body}\n" if self._gap else f"\n{body}\n", err=self._err)
        self._gap = True

    def end(self, python: str) -> None:
        """Print the equivalent Python, or the JSON document with it."""
        if self.as_json:
            document = _plain(self._document | {"python": python})
            click.echo(json.dumps(document, indent=2, allow_nan=False), err=self._err)
        elif not self.quiet:
            click.echo("The same in Python:\n" if self._gap else "\nThe same in Python:\n", err=self._err)
            click.echo("\n".join(f"    {line}".rstrip() for line in python.splitlines()), err=self._err)


def _table_text(head: Sequence[str], rows: Sequence[Sequence[str]], title: str | None) -> str:
    from rich import box  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table as Grid  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    heading = None if title is None else Text(visible(title))
    grid = Grid(box=box.SIMPLE_HEAD, title=heading, title_justify="left", title_style="bold", pad_edge=False)
    for position, name in enumerate(head):
        grid.add_column(Text(visible(name)), justify="left" if position == 0 else "right", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(visible(cell)) for cell in row))
    is_terminal = sys.stdout.isatty()
    console = Console(
        file=sys.stdout,
        width=None if is_terminal else _WIDEST,
        color_system="auto" if is_terminal else None,
    )
    with console.capture() as captured:
        console.print(grid)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()).strip("\n")


def _plain(value: object) -> object:
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
    """Show on standard error what is told while work goes on: beside a spinner, or line by line where none turns."""
    from rich.console import Console  # noqa: PLC0415

    console = Console(stderr=True)
    if quiet:
        with listening(lambda _: None):
            yield
    elif not console.is_terminal:
        yield
    else:
        with console.status(what) as status, listening(lambda text: status.update(f"{what}  {visible(text)}")):
            yield


def warn(text: str) -> None:
    """Print a warning as one line on standard error."""
    click.echo(f"Warning: {visible(text)}", err=True)


@contextlib.contextmanager
def warnings_as_lines(options: Callable[[], Mapping[str, str]]) -> Iterator[None]:
    """Print each warning once, as one line on standard error, with options in the place of parameters."""
    seen: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        text = " ".join(str(message).split())
        text = _SENTENCES.get(category.__name__) or with_options(text, options())
        # The same warning comes from every fold and C, with other numbers.
        key = re.sub(r"\d[\d.,e+-]*", "", text)
        if key not in seen:
            seen.add(key)
            warn(text)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        for category in (DeprecationWarning, FutureWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        # Categories that training has not seen are encoded as zeros, chunk after chunk.
        warnings.filterwarnings("ignore", message="Found unknown categories")
        warnings.showwarning = show
        yield
