"""Options that commands share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

import click

from rocband.cli.table_file import FORMATS, TableFile, TableOptions

__all__ = [
    "SEED",
    "Share",
    "fpr_option",
    "inference_options",
    "label_options",
    "output_options",
    "reading_options",
    "scorer_options",
    "table_of",
    "table_options",
]

F = TypeVar("F", bound=Callable[..., Any])
SEED = click.IntRange(0, 2**32 - 1)
_DRAWS = click.IntRange(100)


def _stack(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    def apply(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


class Share(click.FloatRange):
    """A number between 0 and 1, which are among them or not."""

    def __init__(self, low: bool = False, high: bool = False) -> None:
        super().__init__(0, 1, min_open=not low, max_open=not high)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        pair = "; it takes two numbers, such as --fpr 0 0.05." if param is not None and param.nargs == 2 else "."
        try:
            if math.isfinite(float(value)):
                return float(super().convert(value, param, ctx))
        except ValueError:
            pass
        except click.BadParameter as error:
            self.fail(f"{error.message.rstrip('.')}{pair}", param, ctx)
        self.fail(f"{value!r} is not a number{pair}", param, ctx)


_Band = tuple[float, float]


def _rising(ctx: click.Context, param: click.Parameter, value: _Band | None) -> _Band | None:
    if value is not None and not value[0] < value[1]:
        raise click.BadParameter(
            f"the first number must be less than the second, got {value[0]:g} and {value[1]:g}.", ctx, param
        )
    return value


reading_options = _stack(
    click.option("--format", type=click.Choice(FORMATS), help="Of the data; by default told by the file's name."),
    click.option("--separator", help="Between the fields of a CSV file.  [default: a comma, a tab for .tsv]"),
    click.option("--decimal", default=".", show_default=True, help="Decimal sign of a CSV file."),
    click.option("--encoding", default="utf-8", show_default=True, help="Of a CSV file."),
    click.option("--missing", multiple=True, metavar="TEXT", help="Text that means missing, besides empty and NA."),
    click.option("--zero-based", is_flag=True, help="Features of an SVMlight file are counted from 0, not from 1."),
)

label_options = _stack(
    click.option("--target", metavar="COLUMN", help="Column of the labels.  [default: that of the model or format]"),
    click.option("--positive", metavar="LABEL", help="Label of the positives; needed unless labels are two numbers."),
    click.option("--one-vs-rest", "rest", is_flag=True, help="Take all other labels as negatives."),
    click.option("--group", metavar="COLUMN", help="Column that says which rows belong together."),
)

output_options = _stack(
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text."),
    click.option("--quiet", "-q", is_flag=True, help="Print no more than errors and warnings."),
)

# For commands whose result is a table.
table_options = _stack(
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text."),
    click.option("--quiet", "-q", is_flag=True, help="Print the tables only, and errors and warnings."),
)

scorer_options = _stack(
    click.option("--score", "scores", multiple=True, metavar="COLUMN", help="Column of scores; may be repeated."),
    click.option("--model", "models", multiple=True, metavar="FILE", help="Model to score the rows; may be repeated."),
)

inference_options = _stack(
    click.option("--confidence", type=Share(), default=0.95, show_default=True, help="Of the intervals."),
    click.option(
        "--method",
        type=click.Choice(["auto", "spacings", "analytic", "bootstrap"]),
        default="auto",
        show_default=True,
        help="How intervals are made.",
    ),
    click.option("--draws", type=_DRAWS, default=2000, show_default=True, help="Of the intervals."),
    click.option("--seed", type=SEED, default=0, show_default=True, help="Of the draws."),
)


def fpr_option(text: str) -> Callable[[F], F]:
    """Return the option for the band."""
    share = Share(low=True, high=True)
    return click.option("--fpr", nargs=2, type=share, metavar="LOW HIGH", callback=_rising, help=text)


def table_of(path: str, options: Mapping[str, Any]) -> TableFile:
    """Return the table of a command, read as its options say."""
    names = [entry.name for entry in fields(TableOptions)]
    return TableFile.of(path, TableOptions(**{name: options[name] for name in names}))
