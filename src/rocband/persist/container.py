r"""The bytes of a model file: a line, a checksum, a JSON manifest and the arrays.

====================  ===============================================================================
``ROCBAND-MODEL\n``   14 bytes that name the format
64 hexadecimal digits SHA-256 of everything after the line's end
``\n``
8 bytes               length of the manifest, little-endian
manifest              JSON; its ``arrays`` give dtype, shape and place of each array in what follows
arrays                C order, little-endian, each at a multiple of 8 bytes
====================  ===============================================================================
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["FORMAT", "ModelFileError", "pack", "unpack"]

FORMAT = 1
MAGIC = b"ROCBAND-MODEL\n"
_DIGEST = 64
_LENGTH = 8
_HEAD = len(MAGIC) + _DIGEST + 1
# Numbers, truth values and text; no objects, no records, no dates.
_DTYPE = re.compile(r"<[fi][48]|<i[12]|<u[1248]|\|[biu]1|<U[1-9]\d{0,5}")


class ModelFileError(ValueError):
    """A model cannot be saved, or a file is not a model that this version can load."""


def pack(manifest: dict[str, Any], arrays: list[npt.NDArray[Any]]) -> bytes:
    """Return the content of a file."""
    entries, blocks, place = [], [], 0
    for array in arrays:
        plain = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).reshape(array.shape)
        block = plain.tobytes()
        entries.append({"dtype": plain.dtype.str, "shape": list(plain.shape), "start": place})
        blocks += [block, bytes(-len(block) % 8)]
        place += len(block) + len(blocks[-1])
    text = json.dumps(manifest | {"arrays": entries}, allow_nan=False).encode()
    body = b"".join([len(text).to_bytes(_LENGTH, "little"), text, *blocks])
    return MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def unpack(content: bytes, name: str) -> tuple[dict[str, Any], list[npt.NDArray[Any]]]:
    """Return manifest and arrays; ``name`` is what errors call the file."""
    if not content.startswith(MAGIC):
        raise ModelFileError(f"{name} is not a rocband model file; load files written by rocband.persist.save.")
    digest, body = content[len(MAGIC) : _HEAD - 1], memoryview(content)[_HEAD:]
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise ModelFileError(f"{name} is damaged: its content does not match its checksum; copy or save it again.")
    try:
        return _parse(body, name)
    except ModelFileError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ModelFileError(f"{name} is not a sound rocband model file: its manifest cannot be read.") from None


def _parse(body: memoryview, name: str) -> tuple[dict[str, Any], list[npt.NDArray[Any]]]:
    stop = _LENGTH + int.from_bytes(body[:_LENGTH], "little")
    manifest = json.loads(bytes(body[_LENGTH:stop]))
    version = manifest["format"]
    if type(version) is not int or version < 1:
        raise ValueError("format")
    if version > FORMAT:
        raise ModelFileError(
            f"{name} has format {version}, written by rocband {manifest.get('rocband')!s:.40}; this version reads "
            f"up to {FORMAT}: install a newer rocband to load it."
        )
    return manifest, _arrays(manifest["arrays"], body[stop:])


def _arrays(entries: list[dict[str, Any]], block: memoryview) -> list[npt.NDArray[Any]]:
    """Copy the parts of the block that are arrays.

    Each begins where the one before ended or later: arrays that share bytes would make a small file take any memory.
    """
    arrays: list[npt.NDArray[Any]] = []
    taken = 0
    for entry in entries:
        if entry["start"] < taken:
            raise ValueError("arrays")
        array = _array(entry, block)
        taken = entry["start"] + array.nbytes
        arrays.append(array)
    return arrays


def _array(entry: dict[str, Any], block: memoryview) -> npt.NDArray[Any]:
    """Copy a part of the block as an array, which may be written to and outlives the file's bytes."""
    code, shape, start = entry["dtype"], entry["shape"], entry["start"]
    if not _DTYPE.fullmatch(code) or any(type(number) is not int or number < 0 for number in (*shape, start)):
        raise ValueError("array")
    dtype = np.dtype(code)
    stop = start + math.prod(shape) * dtype.itemsize  # Python's numbers: no overflow
    if stop > len(block):
        raise ValueError("array")
    array: npt.NDArray[Any] = np.frombuffer(block[start:stop], dtype).reshape(shape).copy()
    return array
