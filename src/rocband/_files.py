"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["check_target", "open_whole", "write_whole"]


def check_target(path: Path, what: str) -> None:
    """Say early what would keep a file from being written there; ``what`` names the file, as in "the report"."""
    folder = path.parent
    if os.path.isdir(path):
        raise IsADirectoryError(f"The path of {what}, {path}, is a folder; add the name of a file to it.")
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"The folder of {what}, {folder}, does not exist; create it or choose another.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"The folder of {what}, {folder}, cannot be written to; choose another.")


@contextmanager
def open_whole(path: Path, what: str) -> Iterator[BinaryIO]:
    """Open a file beside the target that takes its place at the end, and vanishes when something goes wrong."""
    target = path.resolve()
    beside = target.with_name(f".rocband-{secrets.token_hex(4)}")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except OSError as error:
        if error.strerror is None:
            raise
        message = f"{what[0].upper()}{what[1:]} {path} could not be written: {error.strerror}; nothing was changed."
        raise OSError(message) from error
    finally:
        beside.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes, what: str) -> None:
    """Write beside the target first, so that it never holds half of the content."""
    with open_whole(path, what) as file:
        file.write(content)
