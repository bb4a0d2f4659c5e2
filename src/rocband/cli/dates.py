"""Dates as numbers that a linear model can use: year, month, weekday and days since 1970."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rocband.cli.failures import Failure

if TYPE_CHECKING:
    from pandas import DataFrame as Frame
    from pandas import Series as Column

    from rocband.cli.python import Script

__all__ = ["are_dates", "date_note", "noted_dates", "part_names", "with_parts", "write_parts"]

_NOTE = "dates"
# The features of a date, and the Python that is printed for what `_parts_of` does.
_PARTS = {
    "year": "when.dt.year",
    "month": "when.dt.month",
    "weekday": "when.dt.day_of_week",
    "days": '(when - pd.Timestamp("1970-01-01", tz="UTC")) / pd.Timedelta(days=1)',
}


def are_dates(values: Column) -> bool:
    """Whether a column holds dates, or texts such as 2024-12-31 or 2024-12-31 23:59."""
    import pandas as pd  # noqa: PLC0415

    if pd.api.types.is_datetime64_any_dtype(values):
        return True
    present = values.dropna()
    if not pd.api.types.is_string_dtype(present):
        return False
    # Other ways to write a date, such as 01/02/2024, do not say which is the month.
    return bool(pd.to_datetime(present, format="ISO8601", errors="coerce", utc=True).notna().all())


def part_names(dates: Sequence[str]) -> list[str]:
    """Return the names of the features that are made of these columns."""
    return [f"{name} {part}" for name in dates for part in _PARTS]


def with_parts(frame: Frame, dates: Sequence[str], source: str) -> Frame:
    """Return a table with the features of its dates beside its columns."""
    columns: dict[str, Column] = {}
    for name in dates:
        parts = _parts_of(frame[name], name, source)
        columns |= dict(zip(part_names([name]), parts, strict=True))
    taken = [repr(name) for name in columns if name in frame.columns]
    if taken:
        raise Failure(f"{source} has a column {taken[0]}, a name that a part of a date takes; rename it.")
    return frame.assign(**columns)


def _parts_of(given: Column, name: str, source: str) -> list[Column]:
    import pandas as pd  # noqa: PLC0415

    when = pd.to_datetime(given, format="ISO8601", errors="coerce", utc=True)
    lost = when.isna() & given.notna()
    if lost.any():
        row = given.index[lost][0]
        raise Failure(
            f"Column {name!r} of {source} holds {str(given[row])[:40]!r} in data row {int(row) + 1}, which is not a "
            "date as 2024-12-31 is."
        )
    days = (when - pd.Timestamp("1970-01-01", tz="UTC")) / pd.Timedelta(days=1)
    return [when.dt.year, when.dt.month, when.dt.day_of_week, days]


def write_parts(script: Script, dates: Sequence[str]) -> None:
    """Add the lines that make the features of dates."""
    if not dates:
        return
    script.use("pandas as pd")
    body = ['when = pd.to_datetime(table[name], format="ISO8601", utc=True)']
    body += [f'table[f"{{name}} {part}"] = {code}' for part, code in _PARTS.items()]
    script.add_block(f"for name in {script.expression(list(dates))}:", body)


def date_note(dates: Sequence[str]) -> dict[str, str]:
    """Return what a model file says of dates."""
    return {_NOTE: json.dumps(list(dates))} if dates else {}


def noted_dates(notes: Mapping[str, str]) -> list[str]:
    """Return the columns of dates that a model file names."""
    try:
        names = json.loads(notes.get(_NOTE, "[]"))
    except ValueError:
        return []
    return [str(name) for name in names] if isinstance(names, list) else []
