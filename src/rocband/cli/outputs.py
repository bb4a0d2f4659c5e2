"""Files that commands write: where they may go, and what is safe to open in a spreadsheet."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from rocband._files import check_target
from rocband.cli.failures import Failure

if TYPE_CHECKING:
    from pandas import DataFrame as Frame

    from rocband.cli.python import Script

__all__ = ["check_output", "check_picture", "check_scores", "define_guarded", "guarded", "is_parquet"]

_PICTURES = ("png", "svg", "pdf", "jpg", "jpeg", "webp", "tif", "tiff", "eps", "ps")
_PARQUET = (".parquet", ".pq")
# Other kinds of tables, which a file of these names would not be.
_OTHER_TABLES = (
    *(".xlsx", ".xls", ".ods", ".json", ".jsonl", ".npz", ".npy", ".feather", ".arrow", ".orc", ".h5", ".dta", ".sav"),
    *(".tsv", ".svm", ".svmlight", ".libsvm", ".gz", ".bz2", ".xz", ".zst", ".zip", ".html", ".pkl", ".rocband"),
)
# Spreadsheets take a cell that starts so, and goes on, for a formula; a lone sign, as a label may be, is none.
_FORMULA = re.compile(r"[=+\-@\t\r].")


def check_output(path: str, what: str, inputs: Iterable[str]) -> None:
    """Refuse a place that cannot be written to, or that is one of the inputs."""
    check_target(Path(path), what)
    for given in inputs:
        if given != "-" and _same_file(path, given):
            raise Failure(f"{what[0].upper()}{what[1:]} {path} would replace the input {given}; choose another name.")


def _same_file(first: str, second: str) -> bool:
    # Links and other spellings lead to the same file; one that is not there yet has its path only.
    try:
        return os.path.samefile(first, second)
    except (OSError, ValueError):
        return os.path.realpath(first) == os.path.realpath(second)


def check_picture(path: str) -> None:
    """Refuse an ending that is no picture's."""
    if Path(path).suffix.lstrip(".").lower() not in ("", *_PICTURES):
        raise Failure(f"A picture in the format of {path} is not supported; end its name in .png, .svg or .pdf.")


def check_scores(path: str) -> None:
    """Refuse an ending of a kind of table that scores are not written in."""
    suffix = Path(path).suffix.lower()
    if suffix in _OTHER_TABLES:
        raise Failure(
            f"Scores are written as CSV or Parquet, not as {suffix}; end the name {path} in .csv or .parquet."
        )


def is_parquet(path: str) -> bool:
    """Whether scores are written as Parquet."""
    return path.lower().endswith(_PARQUET)


def guarded(frame: Frame) -> tuple[Frame, bool]:
    """Return a table with an apostrophe before names and texts that a spreadsheet would run, and if there are some."""
    safe_names = _safe(frame.columns)
    any_changed = bool(safe_names)
    columns = {}
    for name, values in frame.items():
        texts = _safe(values.dropna().unique())
        any_changed = any_changed or bool(texts)
        columns[name] = values.where(~values.isin(texts), values.map(texts)) if texts else values
    return type(frame)(columns, index=frame.index).rename(columns=safe_names), any_changed


def _safe(texts: Iterable[object]) -> dict[object, str]:
    """Return what to write for those that a spreadsheet would run."""
    return {text: f"'{text}" for text in texts if _is_formula(text)}


def _is_formula(value: object) -> bool:
    """Tell what a spreadsheet would run; a number with a sign is none."""
    if not isinstance(value, str) or not _FORMULA.match(value):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def define_guarded(script: Script) -> None:
    """Add a function that does what `guarded` does to a column."""
    script.use("pandas as pd")
    script.define(
        "def guarded(column):\n"
        '    text = column.astype("string")\n'
        '    is_number = pd.to_numeric(text, errors="coerce").notna()\n'
        f'    formula = text.str.match(r"{_FORMULA.pattern}").fillna(False) & ~is_number\n'
        '    return column.where(~formula.to_numpy(dtype=bool), "\'" + text)'
    )
