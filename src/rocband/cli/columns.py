"""Columns of a table as numbers, categories and dates, with the column and the row in every complaint."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rocband.cli.dates import are_dates
from rocband.cli.failures import Failure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame as Frame
    from pandas import Series as Column

    from rocband.cli.table_file import TableFile

__all__ = [
    "Kinds",
    "Problem",
    "as_text",
    "check_columns",
    "check_present",
    "column",
    "features",
    "group_names",
    "kinds_of",
    "like_identifiers",
    "like_target",
    "named_columns",
    "numbers",
    "option_list",
    "refuse",
    "row_number",
]

_SHOWN = 12
_LONGEST = 40  # characters of a value that are shown
_LARGEST = 1e100  # squares, and sums of squares of all rows, stay finite
_DECIMAL_COMMA = r"\s*[+-]?\d*,\d+\s*"
_FEW_ROWS = 20  # among fewer, whole numbers may well differ, or follow the target, by chance


@dataclass(frozen=True)
class Problem:
    """What keeps a column from being used.

    Attributes
    ----------
    name : str
        The column.
    what : str
        What is wrong, as in "holds nothing".
    remedy : str
        What to do about this column.
    for_all : str
        What mends all columns that have this problem.
    """

    name: str
    what: str
    remedy: str = ""
    for_all: str = ""


@dataclass(frozen=True)
class Kinds:
    """Columns of features by how they are used."""

    numeric: list[str]
    categories: list[str]
    dates: list[str]


def column(frame: Frame, name: str, source: str) -> Column:
    """Return a column, or say which there are."""
    check_columns(frame, [name], source)
    return frame[name]


def check_columns(frame: Frame, names: Iterable[str], source: str) -> None:
    """Name all columns that are asked for and not there."""
    absent = [repr(name) for name in dict.fromkeys(names) if name not in frame.columns]
    if not absent:
        return
    there = [repr(str(other)) for other in frame.columns[:_SHOWN]]
    more = f" and {len(frame.columns) - _SHOWN} more" if len(frame.columns) > _SHOWN else ""
    hint = "; are they parted by another character (--separator)?" if len(there) == 1 else "."
    raise Failure(
        f"There is no column {' and no '.join(absent)} in {source}; its columns are {', '.join(there)}{more}{hint}"
    )


def named_columns(given: Sequence[str], known: Iterable[str]) -> list[str]:
    """Return the columns that an option names, which may give several at once, parted by commas."""
    columns = set(known)
    names: list[str] = []
    for text in given:
        if text in columns:
            names.append(text)
        else:
            names += [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    return names


def option_list(names: Sequence[str]) -> str:
    """Return names as one argument for a shell, parted by commas."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return shlex.quote(line.getvalue())


def refuse(problems: Sequence[Problem], source: str, advice: str) -> None:
    """Name all columns that cannot be used, in one sentence."""
    if not problems:
        return
    if len(problems) == 1:
        (problem,) = problems
        remedy = f"; {problem.remedy}" if problem.remedy else ""
        raise Failure(f"Column {problem.name!r} of {source} {problem.what}{remedy}.")
    listed = "; ".join(f"{problem.name!r} {problem.what}" for problem in problems)
    hints = [f"{hint[0].upper()}{hint[1:]}." for hint in dict.fromkeys(problem.for_all for problem in problems) if hint]
    sentences = [f"{len(problems)} columns of {source} cannot be used as they are: {listed}.", *hints, advice]
    raise Failure(" ".join(sentences))


def drop_advice(problems: Sequence[Problem]) -> str:
    """Say how to leave these columns out."""
    names = option_list([problem.name for problem in problems])
    return f"Mend them, say what they are with --categories or --numeric, or leave them out with --drop {names}."


def numbers(values: Column, name: str, source: str) -> Column:
    """Return a column as floating-point numbers; what is missing is NaN."""
    found = _numbers(values, name)
    if isinstance(found, Problem):
        refuse([found], source, "")
    return found


def _numbers(values: Column, name: str) -> Column | Problem:
    import numpy as np  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    if _is_truth(values):
        return values.astype("boolean").astype("Float64").astype(np.float64)
    found = values if pd.api.types.is_numeric_dtype(values) else pd.to_numeric(values, errors="coerce")
    lost = found.isna() & values.notna()
    if lost.any():
        return Problem(name, f"holds {_first(values, lost)}, which is not a number")
    found = found.astype(np.float64)
    endless = np.isinf(found)
    if endless.any():
        return Problem(name, f"is infinite in data row {row_number(found[endless].index[0])}")
    return found


def features(frame: Frame, numeric: Sequence[str], categories: Sequence[str], table: TableFile, advice: str) -> Frame:
    """Return the columns of a model: numbers, then categories as text; note which were something else."""
    import pandas as pd  # noqa: PLC0415

    check_columns(frame, [*numeric, *categories], table.name)
    columns: dict[str, Column] = {}
    problems: list[Problem] = []
    for name in numeric:
        found = _feature(frame[name], name)
        if isinstance(found, Problem):
            problems.append(found)
            continue
        columns[name] = found
        if frame[name].dtype.kind not in "fiu":
            table.layout.floats.add(name)
    refuse(problems, table.name, advice)
    for name in categories:
        columns[name] = as_text(frame[name])
        if _is_other_text(frame[name], is_csv=table.format == "csv"):
            table.layout.text.add(name)
    return pd.DataFrame(columns, index=frame.index)


def _feature(values: Column, name: str) -> Column | Problem:
    """Return numbers whose squares do not overflow."""
    found = _numbers(values, name)
    if isinstance(found, Problem):
        return found
    large = found.abs() > _LARGEST
    if not large.any():
        return found
    row = row_number(found.index[large][0])
    what = f"holds {found[large].iloc[0]:g} in data row {row}, which is too large to reckon with"
    return Problem(name, what, "mend it, or leave the row out")


def check_present(values: Frame, source: str, what: str) -> None:
    """Refuse missing numbers where nothing fills them in; ``what`` says why not."""
    problems = []
    for name in values.columns:
        missing = values[name].isna()
        if missing.any():
            row = row_number(values.index[missing][0])
            problems.append(Problem(name, f"is missing in data row {row}", what))
    if len(problems) == 1:
        raise Failure(f"Column {problems[0].name!r} of {source} {problems[0].what}, and {what}.")
    refuse(problems, source, f"And {what}.")


def kinds_of(
    frame: Frame, names: Sequence[str], source: str, numeric: Sequence[str], categories: Sequence[str], most: int
) -> Kinds:
    """Part columns into numbers, categories and dates, and refuse all that are none of them at once."""
    check_columns(frame, names, source)
    kinds = Kinds([], [], [])
    problems = []
    for name in names:
        values = frame[name]
        if name in categories:
            kinds.categories.append(name)
        elif values.isna().all():
            problems.append(Problem(name, "holds nothing", f"leave it out with --drop {option_list([name])}"))
        elif name in numeric or _is_number(values):
            kinds.numeric.append(name)
        elif are_dates(values):
            kinds.dates.append(name)
        else:
            kinds.categories.append(name)
            problems += _problems_of_text(values, name, most)
    refuse(problems, source, drop_advice(problems))
    return kinds


def _is_number(values: Column) -> bool:
    import pandas as pd  # noqa: PLC0415

    return bool(pd.api.types.is_numeric_dtype(values)) or _is_truth(values) or _is_decimal(values)


def _is_truth(values: Column) -> bool:
    """Whether a column holds truth values, with some missing perhaps: they count as 1 and 0."""
    import pandas as pd  # noqa: PLC0415

    return bool(values.dtype.kind in "Ob" and pd.api.types.infer_dtype(values, skipna=True) == "boolean")


def _is_decimal(values: Column) -> bool:
    """Whether a column holds decimal numbers of a database."""
    import pandas as pd  # noqa: PLC0415

    return bool(values.dtype.kind == "O" and pd.api.types.infer_dtype(values, skipna=True) == "decimal")


def like_identifiers(frame: Frame, names: Sequence[str]) -> list[str]:
    """Return the columns of numbers that seem to count or name the rows."""
    found = []
    for name in names:
        whole = frame[name].dtype.kind in "iu" and len(frame) >= _FEW_ROWS
        if name.startswith("Unnamed: ") or (whole and frame[name].is_unique):
            found.append(name)
    return found


def like_target(X: Frame, y: NDArray[np.int64]) -> list[str]:
    """Return the columns that tell the classes apart by their two values alone."""
    import pandas as pd  # noqa: PLC0415

    if len(X) < _FEW_ROWS:
        return []
    found = []
    for name in X.columns:
        codes, values = pd.factorize(X[name])
        if len(values) == 2 and ((codes == y).all() or (codes == 1 - y).all()):
            found.append(str(name))
    return found


def _problems_of_text(values: Column, name: str, most: int) -> list[Problem]:
    """Return what keeps a column of text from being categories, at most one thing."""
    import pandas as pd  # noqa: PLC0415

    present = values.dropna()
    drop = f"--drop {option_list([name])}"
    if not pd.api.types.is_string_dtype(present) and present.dtype.kind not in "OUb":
        return [Problem(name, f"holds {present.dtype}, which is no number", f"use {drop}")]
    text = present.astype(str)
    if 2 * text.str.fullmatch(_DECIMAL_COMMA).sum() > len(text):
        what = f"holds numbers with decimal commas, such as {text.iloc[0][:_LONGEST]!r}"
        remedy = "say --decimal , to read them"
        return [Problem(name, what, remedy, for_all=remedy)]
    odd = pd.to_numeric(text, errors="coerce").isna()
    # Mostly numbers: what is odd is a slip rather than a category.
    if odd.any() and 2 * odd.sum() < len(odd):
        value = text[odd].iloc[0].strip()[:_LONGEST]
        remedy = f"mend it, say --missing {value!r}, --categories {option_list([name])} or {drop}"
        return [Problem(name, f"holds numbers, but {_first(text, odd)}", remedy)]
    count = text.nunique()
    if count > most:
        what = f"holds text with {count:,} different values, such as {text.iloc[0][:_LONGEST]!r}"
        remedy = f"leave it out with {drop}, or encode it with --categories {option_list([name])}"
        return [Problem(name, what, remedy)]
    return []


def _first(values: Column, chosen: Column) -> str:
    """Return the first of the chosen values and its row."""
    place = values[chosen].index[0]
    return f"{str(values[place]).strip()[:_LONGEST]!r} in data row {row_number(place)}"


def as_text(values: Column) -> Column:
    """Return labels or categories as text without spaces around: 1, 1.0 and "1" are the same, missing stays NaN."""
    import numpy as np  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    text = values.map(_decoded, na_action="ignore") if values.dtype.kind == "O" else values
    text = text.astype("string").str.strip()
    # Whole numbers beside missing ones are floating-point numbers to pandas.
    if pd.api.types.is_float_dtype(values):
        text = text.str.removesuffix(".0")
    return text.astype(object).where(values.notna(), np.nan)


def _decoded(value: object) -> object:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _is_other_text(values: Column, is_csv: bool) -> bool:
    """Whether a column is not plain text already: has spaces around values, or is missing in its own way."""
    import pandas as pd  # noqa: PLC0415

    if not pd.api.types.is_string_dtype(values) or (values.dtype == object and not is_csv):
        return True
    return any(value != value.strip() for value in values.dropna().unique())


def group_names(frame: Frame, name: str, table: TableFile) -> NDArray[Any]:
    """Return the group of each row, none of them missing."""
    values = column(frame, name, table.name)
    if values.isna().any():
        row = row_number(values.index[values.isna()][0])
        raise Failure(f"The group {name!r} of {table.name} is missing in data row {row}; give every row one.")
    if values.dtype.kind in "iufb":
        found: NDArray[Any] = values.to_numpy()
        return found
    if _is_other_text(values, is_csv=True):
        table.layout.text.add(name)
    names: NDArray[Any] = as_text(values).to_numpy(dtype=str)
    return names


def row_number(index: int) -> int:
    """Count rows of data from 1."""
    return int(index) + 1
