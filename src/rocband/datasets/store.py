"""Published tables: find a local copy, or download, check, parse and cache it.

A copy is one ``.npz`` file with ``X`` (or ``data``, ``indices``, ``indptr`` and ``shape`` of a CSR matrix), ``y`` (1
for positives) or ``y_multi`` (the classes), and perhaps ``split`` (0 for the rows of the first published file, 1 for
the second). The cache and the folder named by the environment variable ``ROCBAND_DATA`` hold such files.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import os
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.datasets import fetch_file, load_svmlight_file

from rocband._files import open_whole
from rocband._progress import tell
from rocband._types import AnyArray
from rocband.datasets.archive import CSR_PARTS, Archive, Features, read_archive

__all__ = ["Rows", "Source", "Table", "fetch_table"]

# CSR matrices as scikit-learn's fetchers give them, not arrays.
Rows: TypeAlias = "npt.NDArray[np.float32] | sparse.csr_matrix"
Labels: TypeAlias = npt.NDArray[np.uint8]

_Stream = BinaryIO | bz2.BZ2File | gzip.GzipFile

# A server that is busy for a moment answers the second or third time; more only keeps one waiting where it is down.
_RETRIES = 2
# Seconds before it is asked again: a moment.
_DELAY = 1
# What readers raise when a file is cut short or is something else.
_DAMAGE = (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table is published and how to know it.

    Attributes
    ----------
    name : str
        Stem of the local copy's file name.
    urls : tuple of str
        The published files, in the order of the rows; ``.bz2`` and ``.gz`` are unpacked.
    layout : {"svmlight", "csv"}
        Format of the files; in "csv" the last column is the class.
    n_features : int
        Number of columns.
    sha256 : str
        Digest of the parsed table, see :meth:`Table.digest`.
    dense : bool
        Whether the rows are given as an array rather than a CSR matrix.
    """

    name: str
    urls: tuple[str, ...]
    layout: Literal["svmlight", "csv"]
    n_features: int
    sha256: str
    dense: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """Features (float32, dense or CSR), whole-number labels, and which published file each row is from."""

    X: Rows
    labels: Labels
    split: Labels

    def digest(self) -> str:
        """SHA-256 of the values: shape, then X in float32, then labels and split; independent of any file format."""
        state = hashlib.sha256(np.array(self.X.shape, dtype="<i8").tobytes())
        for values, kind in (*self._parts_of_X(), (self.labels, "u1"), (self.split, "u1")):
            state.update(np.ascontiguousarray(values, dtype=kind).data)
        return state.hexdigest()

    def _parts_of_X(self) -> list[tuple[AnyArray, str]]:
        """Return the arrays of X, each with the type of number, and the order of its bytes, that is digested."""
        if isinstance(self.X, np.ndarray):
            return [(self.X, "<f4")]
        return [(self.X.indptr, "<i8"), (self.X.indices, "<i4"), (self.X.data, "<f4")]


def fetch_table(
    source: Source,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    verbose: bool | None = None,
) -> Table:
    """Return the table from a local copy, or else download it into ``data_home``."""
    for folder in _folders(data_home):
        path = folder / f"{source.name}.npz"
        if path.is_file():
            return _read_copy(path, source)
    if not download_if_missing:
        raise OSError(f"There is no local copy of {source.name}; pass download_if_missing=True, {_way_out(source)}.")
    talkative = sys.stderr.isatty() if verbose is None else verbose
    table = _download(source, talkative)
    _write_copy(_home(data_home) / f"{source.name}.npz", table)
    return table


def _home(data_home: str | os.PathLike[str] | None) -> Path:
    """Return the folder of the cache."""
    if data_home is not None:
        return Path(data_home).expanduser()
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(caches).expanduser() / "rocband"


def _folders(data_home: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Yield where a copy may be: the named cache, the folder of copies, the default cache."""
    if data_home is not None:
        yield _home(data_home)
    copies = os.environ.get("ROCBAND_DATA")
    if copies:
        yield Path(copies).expanduser()
    if data_home is None:
        yield _home(None)


def _way_out(source: Source) -> str:
    return f"or set ROCBAND_DATA to a folder that holds {source.name}.npz"


def _read_copy(path: Path, source: Source) -> Table:
    try:
        with path.open("rb") as stream:
            table = _as_table(read_archive(stream), source)
    except _DAMAGE as error:
        raise OSError(f"{path} is damaged or not such a copy ({error}); delete it and fetch again.") from error
    if table.digest() != source.sha256:
        raise OSError(
            f"{path} does not hold the published {source.name} (checksum differs); delete it and fetch again."
        )
    return table


def _as_table(archive: Archive, source: Source) -> Table:
    if archive.X is None:
        raise ValueError("it holds no X")
    columns = archive.columns
    labels = columns["y_multi"] if "y_multi" in columns else columns["y"]
    split = columns.get("split", np.zeros(len(labels), np.uint8))
    return Table(_canonical(archive.X, source.dense), labels, split)


def _canonical(X: Features | sparse.csr_matrix, dense: bool) -> Rows:
    """Float32 rows; sparse ones sorted, without stored zeros, as scikit-learn's estimators like them."""
    if dense:
        array = X.toarray() if sparse.issparse(X) else X
        return np.asarray(array, dtype=np.float32)
    matrix = sparse.csr_matrix(X, dtype=np.float32)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def _write_copy(path: Path, table: Table) -> None:
    """Write whole or not at all, so that no reader ever sees half a copy."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_whole(path, "the copy") as file:
        np.savez_compressed(file, **_arrays_of(table))


def _arrays_of(table: Table) -> dict[str, Any]:
    labels = "y" if table.labels.max() <= 1 else "y_multi"
    arrays: dict[str, Any] = {labels: table.labels, "split": table.split}
    if isinstance(table.X, np.ndarray):
        return arrays | {"X": table.X}
    return arrays | {part: getattr(table.X, part) for part in CSR_PARTS}


def _download(source: Source, verbose: bool) -> Table:
    with tempfile.TemporaryDirectory(prefix="rocband-") as folder:
        files = [_fetch(url, folder, source, verbose) for url in source.urls]
        parts = [_parse(path, url, source) for path, url in zip(files, source.urls, strict=True)]
    table = _stacked(parts, source.dense)
    if table.digest() != source.sha256:
        raise OSError(
            f"What {source.urls[0]} gave is not the published {source.name} (checksum differs); "
            f"try again later, {_way_out(source)}."
        )
    return table


def _stacked(parts: list[tuple[Rows, Labels]], dense: bool) -> Table:
    """Put the rows of the published files one after the other, and note which file each is from."""
    blocks: list[Any] = [X for X, _ in parts]
    labels = [labels for _, labels in parts]
    X = np.concatenate(blocks) if dense else sparse.vstack(blocks)
    split = np.repeat(np.arange(len(parts), dtype=np.uint8), [len(each) for each in labels])
    return Table(_canonical(X, dense), np.concatenate(labels), split)


def _fetch(url: str, folder: str, source: Source, verbose: bool) -> Path:
    """Download one file; scikit-learn tries again where the connection breaks off."""
    if verbose:
        tell(f"downloading {url}")
    try:
        path: Path = fetch_file(url, folder=folder, n_retries=_RETRIES, delay=_DELAY)
    except (OSError, HTTPException) as error:
        raise OSError(
            f"{source.name} could not be downloaded from {url} ({error}); connect to the internet, {_way_out(source)}."
        ) from error
    if verbose:
        tell(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")
    return path


def _parse(path: Path, url: str, source: Source) -> tuple[Rows, Labels]:
    parse = _parse_svmlight if source.layout == "svmlight" else _parse_csv
    try:
        with _unpacked(path) as stream:
            return parse(stream, source)
    except _DAMAGE as error:
        raise OSError(f"The file from {url} is damaged ({error}); try again.") from error


def _unpacked(path: Path) -> _Stream:
    if path.suffix == ".bz2":
        return bz2.BZ2File(path)
    if path.suffix == ".gz":
        return gzip.GzipFile(path)
    return path.open("rb")


def _parse_svmlight(stream: _Stream, source: Source) -> tuple[Rows, Labels]:
    X, y = load_svmlight_file(stream, n_features=source.n_features, dtype=np.float32, zero_based=False)
    return _canonical(X, source.dense), (y > 0).astype(np.uint8)


def _parse_csv(stream: _Stream, source: Source) -> tuple[Rows, Labels]:
    values = np.loadtxt(stream, delimiter=",", dtype=np.float32, ndmin=2)
    if values.shape[1] != source.n_features + 1:
        raise ValueError(f"{values.shape[1]} columns instead of {source.n_features + 1}")
    features = values[:, :-1]
    classes = values[:, -1]
    return _canonical(features, source.dense), classes.astype(np.uint8)
