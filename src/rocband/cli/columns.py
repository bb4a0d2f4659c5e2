"""Columns of a table as labels, numbers and categories, checked, with the column and the row in every complaint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rocband.cli.failures import Failure

__all__ = ["Labels", "as_text", "column", "group_names", "kinds", "numbers", "positive_rows"]

_SHOWN = 12


@dataclass(frozen=True)
class Labels:
    """What the target's positives and negatives are called."""

    positive: str
    negative: str
    typed: bool

    @property
    def literal(self) -> str:
        """The positive label in Python, as pandas reads it from a file."""
        return self.positive if self.typed else repr(self.positive)


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
            f"{_row(values[lost].index[0])}, which is not a number."
        )
    result = result.astype(np.float64)
    endless = np.isinf(result)
    if endless.any():
        raise Failure(f"Column {name!r} of {source} is infinite in data row {_row(result[endless].index[0])}.")
    return result


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
        elif name in numeric or pd.api.types.is_numeric_dtype(values) or _is_truth(values):
            as_numbers.append(name)
        elif values.isna().all():
            raise Failure(f"Column {name!r} of {source} holds nothing; leave it out with --drop {name}.")
        else:
            _check_text(values, name, source, most)
            as_categories.append(name)
    return as_numbers, as_categories


def _is_truth(values: Any) -> bool:
    """Whether a column holds truth values, with some missing perhaps: they count as 1 and 0."""
    import pandas as pd  # noqa: PLC0415

    return bool(values.dtype.kind in "Ob" and pd.api.types.infer_dtype(values, skipna=True) == "boolean")


def _check_text(values: Any, name: str, source: str, most: int) -> None:
    import pandas as pd  # noqa: PLC0415

    present = values.dropna()
    if not pd.api.types.is_string_dtype(present) and present.dtype.kind not in "OUb":
        raise Failure(f"Column {name!r} of {source} holds {present.dtype}, which is no number; use --drop {name}.")
    text = pd.to_numeric(present.astype(str), errors="coerce").isna()
    if not text.all() and 2 * text.sum() < len(text):
        odd = present[text]
        raise Failure(
            f"Column {name!r} of {source} holds numbers, but {str(odd.iloc[0])[:40]!r} in data row "
            f"{_row(odd.index[0])}; mend it, say --missing {str(odd.iloc[0])[:40]!r}, --categories {name} or "
            f"--drop {name}."
        )
    count = present.astype(str).nunique()
    if count > most:
        raise Failure(
            f"Column {name!r} of {source} holds text with {count:,} different values, such as "
            f"{str(present.iloc[0])[:40]!r}; leave it out with --drop {name}, or encode it with --categories {name}."
        )


def as_text(values: Any) -> Any:
    """Return labels or categories as text: 1, 1.0 and "1" are the same, what is missing stays NaN."""
    import numpy as np  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    if pd.api.types.is_string_dtype(values):
        return values.astype(object).where(values.notna(), np.nan)
    known = {value: _text_of(value) for value in values.dropna().unique()}
    return values.map(known).astype(object).where(values.notna(), np.nan)


def _text_of(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    number = getattr(value, "item", lambda: value)()
    return str(int(number)) if isinstance(number, float) and number.is_integer() else str(number)


def positive_rows(values: Any, name: str, source: str, positive: str | None, rest: bool) -> tuple[Any, Labels]:
    """Return 1 for each positive row and 0 for the others, and what the two are called."""
    import numpy as np  # noqa: PLC0415

    text = as_text(values)
    if text.isna().any():
        row = _row(text.index[text.isna()][0])
        raise Failure(f"The target {name!r} of {source} is missing in data row {row}; leave such rows out.")
    # Labels that are numbers are compared as such: "1" and "1.0" are the same.
    forms = {label: _plain_number(str(label)) for label in text.unique()}
    labels = sorted(set(forms.values()), key=_order)
    wanted = None if positive is None else _plain_number(positive)
    chosen = _choose(labels, wanted, name, source, rest)
    negative = next(label for label in labels if label != chosen) if len(labels) == 2 else f"not {chosen}"
    typed = all(_is_number(label) for label in labels) or set(labels) == {"False", "True"}
    return (text.map(forms) == chosen).to_numpy(dtype=np.int64), Labels(chosen, negative, typed)


def group_names(frame: Any, name: str, source: str) -> Any:
    """Return the group of each row, none of them missing."""
    values = column(frame, name, source)
    if values.isna().any():
        row = _row(values.index[values.isna()][0])
        raise Failure(f"The group {name!r} of {source} is missing in data row {row}; give every row one.")
    return values.to_numpy() if values.dtype.kind in "iufb" else as_text(values).to_numpy(dtype=str)


def _choose(labels: list[str], positive: str | None, name: str, source: str, rest: bool) -> str:
    shown = ", ".join(repr(label[:40]) for label in labels[:_SHOWN]) + (", ..." if len(labels) > _SHOWN else "")
    if len(labels) < 2:
        raise Failure(f"The target {name!r} of {source} holds only {shown}; positives and negatives are needed.")
    if positive is not None and positive not in labels:
        raise Failure(f"The target {name!r} of {source} never is {positive!r}; it holds {shown}.")
    if len(labels) > 2 and not rest:
        raise Failure(
            f"The target {name!r} of {source} holds {len(labels)} classes ({shown}); say --positive for one of them "
            "and --one-vs-rest to take all others as negatives."
        )
    if positive is None and (len(labels) > 2 or not all(_is_number(label) for label in labels)):
        raise Failure(f"The target {name!r} of {source} holds {shown}; say which is positive with --positive.")
    return labels[-1] if positive is None else positive


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False


def _plain_number(text: str) -> str:
    text = text.strip()
    if not _is_number(text):
        return text
    number = float(text)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _order(label: str) -> tuple[bool, float, str]:
    return (True, float(label), "") if _is_number(label) else (False, 0.0, label)


def _row(index: Any) -> int:
    """Count rows of data from 1."""
    return int(index) + 1
