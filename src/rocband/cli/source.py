"""Tables from files and standard input, whole or chunk by chunk."""

from __future__ import annotations

import io
import re
import sys
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from rocband.cli.failures import Failure

__all__ = ["Chunk", "Source"]

SUFFIXES = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".svm", ".svmlight", ".libsvm"), "svmlight"),
    ".npz": "npz",
}
FORMATS = ("csv", "parquet", "svmlight", "npz")
TARGETS = {"svmlight": "target", "npz": "y"}


@dataclass(frozen=True)
class Chunk:
    """Some rows: a data frame whose index counts all rows, and the features apart where they are sparse."""

    frame: Any
    sparse: Any = None


@dataclass(frozen=True)
class Source:
    """A table and how to read it; ``text`` names columns that are read as text however they look."""

    path: str
    format: str
    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()
    zero_based: bool = False
    n_features: int | None = None
    text: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: str, format: str | None, **options: Any) -> Source:
        """Find the format by the file's name, if it is not given."""
        found = format or SUFFIXES.get(Path(path).suffix.lower(), "csv" if path == "-" else None)
        if found is None:
            raise Failure(f"The format of {path} is not known by its name; say --format {'|'.join(FORMATS)}.")
        if options["separator"] is None:
            options["separator"] = "\t" if path.lower().endswith(".tsv") else ","
        for name in ("separator", "decimal"):
            options[name] = options[name].replace("\\t", "\t")
            if len(options[name].encode()) != 1:
                raise Failure(f"--{name} must be one plain character, got {options[name]!r}.")
        return cls(path, found, **options)

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path == "-" else self.path

    @property
    def default_target(self) -> str | None:
        """The name of the target where the format has one."""
        return TARGETS.get(self.format)

    def with_text(self, *columns: str) -> Source:
        """Read these columns as text too."""
        return replace(self, text=(*self.text, *columns))

    def whole(self) -> Chunk:
        """Return all rows."""
        return next(self._read(None))

    def chunks(self, rows: int) -> Iterator[Chunk]:
        """Return the rows in runs of ``rows``, without holding more than one."""
        return self._read(rows)

    def _read(self, rows: int | None) -> Iterator[Chunk]:
        reader = {"csv": self._csv, "parquet": self._parquet, "svmlight": self._svmlight, "npz": self._npz}
        empty = True
        with self._sentences(), self._opened() as file:
            for chunk in reader[self.format](file, rows):
                if len(chunk.frame):
                    empty = False
                    yield chunk
        if empty:
            raise Failure(f"{self.name} holds no rows.")

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        if self.path != "-":
            with Path(self.path).open("rb") as file:
                yield file
        elif self.format in ("csv", "svmlight"):
            yield sys.stdin.buffer
        else:
            yield io.BytesIO(sys.stdin.buffer.read())

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Say what is wrong with the file; errors of whoever takes the chunks pass through."""
        try:
            yield
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            raise Failure(
                f"{self.name} is not text in {self.encoding} (byte 0x{byte:02x} cannot be read); say which it is "
                "with --encoding, for example latin-1."
            ) from None
        except LookupError as error:
            if "encoding" not in str(error):
                raise
            raise Failure(f"There is no encoding {self.encoding!r}; try utf-8, latin-1 or utf-16.") from None
        except OSError as error:
            raise Failure(f"{self.name} cannot be read: {error.strerror or error}.") from None
        except (ValueError, zipfile.BadZipFile, EOFError, NotImplementedError) as error:
            raise Failure(f"{self.name} cannot be read as {self.format}: {_shortened(error)}") from None

    def _csv(self, file: BinaryIO, rows: int | None) -> Iterator[Chunk]:
        import pandas as pd  # noqa: PLC0415

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", pd.errors.ParserWarning)
                reader = pd.read_csv(
                    file,
                    sep=self.separator,
                    decimal=self.decimal,
                    encoding="utf-8-sig" if self.encoding.lower() in ("utf-8", "utf8") else self.encoding,
                    na_values=list(self.missing),
                    dtype=dict.fromkeys(self.text, str),
                    index_col=False,
                    skipinitialspace=True,
                    low_memory=False,
                    chunksize=rows or sys.maxsize,
                )
                for frame in reader:
                    frame.columns = [str(name) for name in frame.columns]
                    yield Chunk(frame)
        except pd.errors.EmptyDataError:
            raise Failure(f"{self.name} is empty; a table starts with a line of column names.") from None
        except pd.errors.ParserWarning:
            raise Failure(f"{self.name}: the first row of data (line 2) has more fields than the header.") from None
        except pd.errors.ParserError as error:
            raise Failure(_parser_sentence(self.name, str(error))) from None

    def _parquet(self, file: BinaryIO, rows: int | None) -> Iterator[Chunk]:
        try:
            import pyarrow as pa  # noqa: PLC0415
            import pyarrow.parquet as pq  # noqa: PLC0415
        except ImportError:
            raise Failure("Parquet files need the package pyarrow; install rocband[cli].", exit_code=1) from None
        try:
            reader = pq.ParquetFile(file)
            start = 0
            batches = [reader.read()] if rows is None else reader.iter_batches(rows)
            for batch in batches:
                frame = batch.to_pandas(ignore_metadata=True)
                frame.columns = [str(name) for name in frame.columns]
                frame.index = range(start, start + len(frame))
                start += len(frame)
                yield Chunk(frame)
        except (pa.ArrowException, OSError) as error:
            raise Failure(f"{self.name} cannot be read as Parquet: {_shortened(error)}") from None

    def _svmlight(self, file: BinaryIO, rows: int | None) -> Iterator[Chunk]:
        import pandas as pd  # noqa: PLC0415
        from sklearn.datasets import load_svmlight_file  # noqa: PLC0415

        start = 0
        while True:
            lines = list(islice(file, rows))
            if not lines:
                return
            block = io.BytesIO(b"".join(lines))
            options = {"zero_based": self.zero_based, "n_features": self.n_features, "query_id": True}
            X, y, qid = load_svmlight_file(block, **options)
            index = range(start, start + len(y))
            columns = {"target": y, "qid": qid} if len(qid) == len(y) else {"target": y}
            yield Chunk(pd.DataFrame(columns, index=index), X)
            start += len(lines)

    def _npz(self, file: BinaryIO, rows: int | None) -> Iterator[Chunk]:
        chunk = _from_arrays(file, self.name)
        size = len(chunk.frame)
        for start in range(0, size, rows or size or 1):
            part = slice(start, start + (rows or size))
            yield Chunk(chunk.frame.iloc[part], None if chunk.sparse is None else chunk.sparse[part])


def _from_arrays(file: BinaryIO, name: str) -> Chunk:
    """Read ``X`` (or the parts of a CSR matrix) and columns of the same length from an archive of arrays."""
    import numpy as np  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415
    from scipy import sparse  # noqa: PLC0415

    loaded = np.load(file, allow_pickle=False)
    if not isinstance(loaded, np.lib.npyio.NpzFile):
        raise ValueError("it is a single array; an archive with the arrays X and y is expected.")
    parts = {key: loaded[key] for key in loaded.files}
    X: Any = None
    rows: Any = None
    if {"data", "indices", "indptr", "shape"} <= set(parts):
        rows = sparse.csr_matrix(tuple(parts.pop(key) for key in ("data", "indices", "indptr")), tuple(parts["shape"]))
        rows.check_format(full_check=True)
    elif "X" in parts:
        X = parts.pop("X")
        if X.ndim != 2 or X.dtype.kind not in "fiub":
            raise ValueError(f"X must hold numbers in rows and columns, got shape {X.shape} and dtype {X.dtype}.")
    size = (
        len(X) if X is not None else rows.shape[0] if rows is not None else max(map(np.size, parts.values()), default=0)
    )
    names = [str(column) for column in parts.pop("columns", [])]
    if X is not None and len(names) != X.shape[1]:
        names = [f"x{position}" for position in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names) if X is not None else pd.DataFrame(index=range(size))
    columns = {key: value for key, value in parts.items() if value.ndim == 1 and len(value) == size}
    return Chunk(frame.assign(**columns), rows)


def _shortened(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 200 else f"{text[:197]}..."


def _parser_sentence(name: str, message: str) -> str:
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", message)
    if found:
        expected, line, seen = found.groups()
        return f"{name}: line {line} has {seen} fields where {expected} are expected; mend it, or see --separator."
    found = re.search(r"EOF inside string starting at row (\d+)", message)
    if found:
        return f"{name}: a quotation mark that opens in line {int(found[1]) + 1} is never closed."
    return f"{name} cannot be read as CSV: {message.strip()}"
