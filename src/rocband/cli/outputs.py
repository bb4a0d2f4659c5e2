"""Files that commands write: where they may go."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from rocband._files import check_target
from rocband.cli.failures import Failure

__all__ = ["check_output", "check_picture", "check_scores"]

_PICTURES = ("png", "svg", "pdf", "jpg", "jpeg", "webp", "tif", "tiff", "eps", "ps")
# Other kinds of tables, which a file of these names would not be.
_OTHER_TABLES = (
    *(".xlsx", ".xls", ".ods", ".json", ".jsonl", ".npz", ".npy", ".feather", ".arrow", ".orc", ".h5", ".dta", ".sav"),
    *(".tsv", ".svm", ".svmlight", ".libsvm", ".gz", ".bz2", ".xz", ".zst", ".zip", ".html", ".pkl", ".rocband"),
)


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
