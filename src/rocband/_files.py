"""Writing a file whole or not at all, and into devices and pipes as they are."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["check_target", "discard_unfinished", "is_standard_output", "open_whole", "write_whole"]

# Files that are being written beside their targets.
_unfinished: set[Path] = set()

# What a new file may be, before the mask of the process takes its share.
_NEW_MODE = 0o666


def check_target(path: Path, what: str) -> None:
    """Say early what would keep a file from being written there; ``what`` names the file, as in "the report"."""
    folder = path.parent
    if os.path.isdir(path):
        raise IsADirectoryError(f"The path of {what}, {path}, is a folder; add the name of a file to it.")
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"The folder of {what}, {folder}, does not exist; create it or choose another.")
    if is_replaced(path):
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(f"The folder of {what}, {folder}, cannot be written to; choose another.")
    elif not os.access(path, os.W_OK):
        raise PermissionError(f"The path of {what}, {path}, cannot be written to; choose another.")


def is_replaced(path: Path) -> bool:
    """Whether a new file takes the place of this one: of none or a regular one, but not of a device or a pipe."""
    status = _status(path)
    return status is None or (stat.S_ISREG(status.st_mode) and not is_standard_output(path))


def is_standard_output(path: str | os.PathLike[str] | None) -> bool:
    """Whether a path leads to the standard output of this process, as /dev/stdout does."""
    status = None if path is None else _status(Path(path))
    if status is None:
        return False
    try:
        return os.path.samestat(status, os.fstat(sys.__stdout__.fileno() if sys.__stdout__ else -1))
    except (OSError, ValueError):  # it is closed, or has no number
        return False


@contextmanager
def open_whole(path: Path, what: str) -> Iterator[BinaryIO]:
    """Open a file beside the target that takes its place at the end, and vanishes when something goes wrong.

    What is not a regular file is written through.
    """
    opened = _opened_beside if is_replaced(path) else _opened_through
    try:
        with opened(path) as file:
            yield file
    except OSError as error:
        if error.strerror is None:
            raise
        message = f"{what[0].upper()}{what[1:]} {path} could not be written: {error.strerror}; nothing was changed."
        raise OSError(message) from error


@contextmanager
def _opened_beside(path: Path) -> Iterator[BinaryIO]:
    target = path.resolve()
    beside = target.with_name(f".rocband-{secrets.token_hex(4)}")
    old = _status(target)
    mode = _NEW_MODE if old is None else stat.S_IMODE(old.st_mode)
    _unfinished.add(beside)
    try:
        number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(number, "wb") as file:
            if old is not None:
                os.chmod(beside, mode)  # the mask of the process may have taken some of it
            yield file
            file.flush()
            os.fsync(number)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
        _unfinished.discard(beside)


@contextmanager
def _opened_through(path: Path) -> Iterator[BinaryIO]:
    if is_standard_output(path):
        # Opened anew, a file behind it would be cut, and what is printed later would overwrite its start.
        sys.stdout.flush()
        number = os.dup(sys.__stdout__.fileno())  # type: ignore[union-attr]
        with os.fdopen(number, "wb") as file:
            yield file
    else:
        with path.open("wb") as file:
            yield file


def discard_unfinished() -> None:
    """Remove what is being written, when the process is about to end."""
    for path in list(_unfinished):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes, what: str) -> None:
    """Write beside the target first, so that it never holds half of the content."""
    with open_whole(path, what) as file:
        file.write(content)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (OSError, ValueError):
        return None
