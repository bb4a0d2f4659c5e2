"""Files that commands write: where they may go, and what is safe to open in a spreadsheet."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from rocband._files import check_target
from rocband.cli.failures import Failure

if TYPE_CHECKING:
    from pandas import DataFrame as Frame
    from pandas import Series as Column

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
_FORMULA = r"[=+\-@\t\r]."


def check_output(path: str, what: str, inputs: Iterable[str]) -> None:
    """Refuse a place that cannot be written to, or that is one of the inputs."""
    check_target(Path(path), what)
    for given in inputs:
        if given != "-" and _same_file(path, given):
            raise Failure(f"{what[0].upper()}{what[1:]} {path} would replace the input {given}; choose another name.")


def _same_file(first: str, second: str) -> bool:
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


def guarded(frame: Frame) -> tuple[Frame, int]:
    """Return a table with an apostrophe before names and texts that a spreadsheet would run, and their number."""
    import pandas as pd  # noqa: PLC0415

    names = pd.Series(frame.columns.astype(str))
    count = int(_formulas(names).sum())
    safe = {}
    for name, values in frame.items():
        if values.dtype.kind in "iufb":
            safe[name] = values
            continue
        count += int(_formulas(values).sum())
        safe[name] = _guarded_column(values)
    result = pd.DataFrame(safe, index=frame.index)
    result.columns = _guarded_column(names).tolist()
    return result, count


def _formulas(values: Column) -> Column:
    """Tell which texts a spreadsheet would run; numbers with a sign are none."""
    import pandas as pd  # noqa: PLC0415

    text = values.astype("string")
    return text.str.match(_FORMULA).fillna(False) & pd.to_numeric(text, errors="coerce").isna()


def _guarded_column(values: Column) -> Column:
    return values.where(~_formulas(values).to_numpy(dtype=bool), "'" + values.astype("string"))


def define_guarded(script: Script) -> None:
    """Add a function that does what `guarded` does to a column."""
    script.use("pandas as pd")
    script.define(
        "def guarded(column):\n"
        '    text = column.astype("string")\n'
        f'    formula = text.str.match(r"{_FORMULA}").fillna(False) & pd.to_numeric(text, errors="coerce").isna()\n'
        '    return column.where(~formula.to_numpy(dtype=bool), "\'" + text)'
    )
