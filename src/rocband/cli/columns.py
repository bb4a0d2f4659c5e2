"""Columns of a table as numbers and categories, checked, with the column and the row in every complaint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rocband.cli.failures import Failure
from rocband.cli.source import Source

__all__ = [
    "as_text",
    "check_present",
    "column",
    "features",
    "group_names",
    "kinds",
    "like_identifiers",
    "numbers",
    "row_number",
]

_SHOWN = 12
_LARGEST = 1e100  # squares, and sums of squares of all rows, stay finite
_DECIMAL_COMMA = r"\s*[+-]?\d*,\d+\s*"
_FEW_ROWS = 20  # among fewer, whole numbers may well differ by chance


def column(frame: Any, name: str, source: str) -> Any:
    """Return a column, or say which there are."""
    if name not in frame.columns:
        names = [repr(str(other)) for other in frame.columns[:_SHOWN]]
        more = f" and {len(frame.columns) - _SHOWN} more" if len(frame.columns) > _SHOWN else ""
        hint = "; are they parted by another character (--separator)?" if len(names) == 1 else "."
        raise Failure(f"There is no column {name!r} in {source}; its columns are {', '.join(names)}{more}{hint}")
    return frame[name]


def numbers(values: Any, name: str, source: str) -> Any:
    """Return a column as floating-point numbers; what is missing is NaN."""
    import numpy as np  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    if _is_truth(values):
        return values.astype("boolean").astype("Float64").astype(np.float64)
    result = values if pd.api.types.is_numeric_dtype(values) else pd.to_numeric(values, errors="coerce")
    lost = result.isna() & values.notna()
    if lost.any():
        raise Failure(
            f"Column {name!r} of {source} holds {str(values[lost].iloc[0])[:40]!r} in data row "
            f"{row_number(values[lost].index[0])}, which is not a number."
        )
    result = result.astype(np.float64)
    endless = np.isinf(result)
    if endless.any():
        raise Failure(f"Column {name!r} of {source} is infinite in data row {row_number(result[endless].index[0])}.")
    return result


def features(frame: Any, names: Sequence[str], categories: Sequence[str], source: Source) -> Any:
    """Return the columns of a model: categories as text, the rest as numbers; note which were something else."""
    import pandas as pd  # noqa: PLC0415

    columns = {}
    for name in names:
        values = column(frame, name, source.name)
        if name in categories:
            columns[name] = as_text(values)
            if _is_other_text(values, is_csv=source.format == "csv"):
                source.found.text.add(name)
        else:
            columns[name] = numbers(values, name, source.name)
            _check_size(columns[name], name, source.name)
            if values.dtype.kind not in "fiu":
                source.found.floats.add(name)
    return pd.DataFrame(columns)


def _check_size(values: Any, name: str, source: str) -> None:
    """Refuse numbers whose squares would overflow."""
    large = values.abs() > _LARGEST
    if large.any():
        raise Failure(
            f"Column {name!r} of {source} holds {values[large].iloc[0]:g} in data row "
            f"{row_number(values.index[large][0])}, which is too large to reckon with; mend it, or leave the row out."
        )


def check_present(values: Any, source: str, what: str) -> None:
    """Refuse missing numbers where nothing fills them in; ``what`` says why not."""
    for name in values.columns:
        missing = values[name].isna()
        if missing.any():
            row = row_number(values.index[missing][0])
            raise Failure(f"Column {name!r} of {source} is missing in data row {row}, and {what}.")


def kinds(
    frame: Any, names: Sequence[str], source: str, numeric: Sequence[str], categories: Sequence[str], most: int
) -> tuple[list[str], list[str]]:
    """Part columns into numbers and categories, and refuse text that is neither."""
    import pandas as pd  # noqa: PLC0415

    as_numbers, as_categories = [], []
    for name in names:
        values = column(frame, name, source)
        if name in categories:
            as_categories.append(name)
        elif values.isna().all():
            raise Failure(f"Column {name!r} of {source} holds nothing; leave it out with --drop {name}.")
        elif name in numeric or pd.api.types.is_numeric_dtype(values) or _is_truth(values) or _is_decimal(values):
            as_numbers.append(name)
        else:
            _check_text(values, name, source, most)
            as_categories.append(name)
    return as_numbers, as_categories


def _is_truth(values: Any) -> bool:
    """Whether a column holds truth values, with some missing perhaps: they count as 1 and 0."""
    import pandas as pd  # noqa: PLC0415

    return bool(values.dtype.kind in "Ob" and pd.api.types.infer_dtype(values, skipna=True) == "boolean")


def _is_decimal(values: Any) -> bool:
    """Whether a column holds decimal numbers of a database."""
    import pandas as pd  # noqa: PLC0415

    return bool(values.dtype.kind == "O" and pd.api.types.infer_dtype(values, skipna=True) == "decimal")


def like_identifiers(frame: Any, names: Sequence[str]) -> list[str]:
    """Return the columns of numbers that seem to count or name the rows."""
    found = []
    for name in names:
        whole = frame[name].dtype.kind in "iu" and len(frame) >= _FEW_ROWS
        if name.startswith("Unnamed: ") or (whole and frame[name].is_unique):
            found.append(name)
    return found


def _check_text(values: Any, name: str, source: str, most: int) -> None:
    import pandas as pd  # noqa: PLC0415

    present = values.dropna()
    if not pd.api.types.is_string_dtype(present) and present.dtype.kind not in "OUb":
        raise Failure(f"Column {name!r} of {source} holds {present.dtype}, which is no number; use --drop {name}.")
    text = pd.to_numeric(present.astype(str), errors="coerce").isna()
    if 2 * present.astype(str).str.fullmatch(_DECIMAL_COMMA).sum() > len(present):
        raise Failure(
            f"Column {name!r} of {source} holds numbers with decimal commas, such as {str(present.iloc[0])[:40]!r}; "
            "say --decimal , to read them."
        )
    if text.any() and 2 * text.sum() < len(text):
        odd = present[text]
        raise Failure(
            f"Column {name!r} of {source} holds numbers, but {str(odd.iloc[0])[:40]!r} in data row "
            f"{row_number(odd.index[0])}; mend it, say --missing {str(odd.iloc[0])[:40]!r}, --categories {name} or "
            f"--drop {name}."
        )
    count = present.astype(str).nunique()
    if count > most:
        raise Failure(
            f"Column {name!r} of {source} holds text with {count:,} different values, such as "
            f"{str(present.iloc[0])[:40]!r}; leave it out with --drop {name}, or encode it with --categories {name}."
        )


def as_text(values: Any) -> Any:
    """Return labels or categories as text without spaces around: 1, 1.0 and "1" are the same, missing stays NaN."""
    import numpy as np  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    if pd.api.types.is_string_dtype(values):
        known = {value: value.strip() for value in values.dropna().unique()}
    else:
        known = {value: _text_of(value) for value in values.dropna().unique()}
    text = values.astype(object)
    if any(value != name for value, name in known.items()):
        text = text.map(known)
    return text.where(values.notna(), np.nan)


def _is_other_text(values: Any, is_csv: bool) -> bool:
    """Whether a column is not plain text already: has spaces around values, or is missing in its own way."""
    import pandas as pd  # noqa: PLC0415

    if not pd.api.types.is_string_dtype(values) or (values.dtype == object and not is_csv):
        return True
    return any(value != value.strip() for value in values.dropna().unique())


def _text_of(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace").strip()
    if isinstance(value, str):
        return value.strip()
    number = getattr(value, "item", lambda: value)()
    return str(int(number)) if isinstance(number, float) and number.is_integer() else str(number)


def group_names(frame: Any, name: str, source: Source) -> Any:
    """Return the group of each row, none of them missing."""
    values = column(frame, name, source.name)
    if values.isna().any():
        row = row_number(values.index[values.isna()][0])
        raise Failure(f"The group {name!r} of {source.name} is missing in data row {row}; give every row one.")
    if values.dtype.kind not in "iufb" and _is_other_text(values, is_csv=True):
        source.found.text.add(name)
    return values.to_numpy() if values.dtype.kind in "iufb" else as_text(values).to_numpy(dtype=str)


def row_number(index: Any) -> int:
    """Count rows of data from 1."""
    return int(index) + 1
