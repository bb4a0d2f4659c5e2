"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

__all__ = ["check_target", "write_whole"]


def check_target(path: Path) -> None:
    """Say early what would keep a file from being written there."""
    folder = path.parent
    if os.path.isdir(path):
        raise IsADirectoryError(f"The path of the report, {path}, is a folder; add the name of a file to it.")
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"The folder of the report, {folder}, does not exist; create it or choose another.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"The folder of the report, {folder}, cannot be written to; choose another.")


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the target first, so that it never holds half of the content."""
    target = path.resolve()
    beside = target.with_name(f".rocband-{secrets.token_hex(4)}")
    try:
        with beside.open("xb") as file:
            file.write(content)
        beside.replace(target)
    except OSError as error:
        raise OSError(f"The report {path} could not be written: {error.strerror}; nothing was changed.") from error
    finally:
        beside.unlink(missing_ok=True)
