"""Tables from files and standard input, whole or chunk by chunk."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from rocband.cli.delimited import Delimited, check_names, parser_sentence
from rocband.cli.failures import Failure

__all__ = ["Chunk", "Found", "Source"]

SUFFIXES = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".svm", ".svmlight", ".libsvm"), "svmlight"),
    ".npz": "npz",
}
FORMATS = ("csv", "parquet", "svmlight", "npz")
TARGETS = {"svmlight": "target", "npz": "y"}
_UNPACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_PACKED = (".zip", ".zst", ".7z", ".lz4")
_STARTS = {
    b"\x1f\x8b": "is compressed with gzip; end its name in .csv.gz, or unpack it",
    b"BZh": "is compressed with bzip2; end its name in .csv.bz2, or unpack it",
    b"\xfd7zXZ": "is compressed with xz; end its name in .csv.xz, or unpack it",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; unpack it first",
    b"PK\x03\x04": "is a ZIP archive or a workbook, not CSV; unpack it, or save it as CSV",
    b"PAR1": "holds Parquet; say --format parquet",
    b"\xff\xfe": "starts as text in UTF-16 does; say --encoding utf-16",
    b"\xfe\xff": "starts as text in UTF-16 does; say --encoding utf-16",
}


@dataclass(frozen=True)
class Chunk:
    """Some rows: a data frame whose index counts all rows, and the features apart where they are sparse."""

    frame: Any
    sparse: Any = None


@dataclass
class Found:
    """What reading showed that the same in Python has to say too.

    Attributes
    ----------
    raw : dict
        Names of columns that have spaces around them in the file, by their names without.
    longer : bool
        Whether lines of a CSV file have more fields than its header.
    own_types : bool
        Whether a Parquet file asks pandas for an index or types that the command does not take.
    sparse, named : bool
        Whether an NPZ file holds sparse rows, and names of its features.
    text, floats : set
        Columns that are turned into text or numbers from something else.
    """

    raw: dict[str, str] = field(default_factory=dict)
    longer: bool = False
    own_types: bool = False
    sparse: bool = False
    named: bool = False
    text: set[str] = field(default_factory=set)
    floats: set[str] = field(default_factory=set)


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
    found: Found = field(default_factory=Found, compare=False)

    @classmethod
    def of(cls, path: str, format: str | None, **options: Any) -> Source:
        """Find the format by the file's name, if it is not given."""
        suffix = Path(path).suffix.lower()
        inner = Path(path).with_suffix("").suffix.lower() if suffix in _UNPACKED else suffix
        if suffix in _PACKED:
            raise Failure(f"{path} is compressed in a way that is not read here; unpack it, or use .gz, .bz2 or .xz.")
        found = format or SUFFIXES.get(inner, "csv" if path == "-" else None)
        if suffix in _UNPACKED and found not in (None, "csv"):
            raise Failure(f"{path} is compressed, which is read for CSV files only; unpack it first.")
        if found is None:
            raise Failure(f"The format of {path} is not known by its name; say --format {'|'.join(FORMATS)}.")
        if options["separator"] is None:
            options["separator"] = "\t" if inner == ".tsv" else ","
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
            opened = _UNPACKED.get(Path(self.path).suffix.lower(), open)
            with opened(self.path, "rb") as file:
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
        except (ValueError, zipfile.BadZipFile, EOFError, NotImplementedError, zlib.error, lzma.LZMAError) as error:
            raise Failure(f"{self.name} cannot be read as {self.format}: {_shortened(error)}") from None

    @contextmanager
    def _delimited(self, file: BinaryIO) -> Iterator[Delimited]:
        """Give the text of a CSV file, with its header read."""
        buffered: Any = file if hasattr(file, "peek") else io.BufferedReader(file)
        start = buffered.peek(6)
        plain = self.encoding.lower() in ("utf-8", "utf8")
        for magic, what in _STARTS.items():
            if start.startswith(magic) and (plain or "UTF-16" not in what):
                raise Failure(f"{self.name} {what}.")
        text = io.TextIOWrapper(buffered, encoding="utf-8-sig" if plain else self.encoding, newline="")
        try:
            yield Delimited(text, self.separator, self.name)
        finally:
            text.detach()  # standard input stays open

    def _csv(self, file: BinaryIO, rows: int | None) -> Iterator[Chunk]:
        import pandas as pd  # noqa: PLC0415

        try:
            with self._delimited(file) as text, warnings.catch_warnings():
                warnings.simplefilter("error", pd.errors.ParserWarning)
                names = [name.strip() for name in text.header]
                check_names(names, self.name)
                self.found.raw |= {name: raw for name, raw in zip(names, text.header, strict=True) if name != raw}
                reader = pd.read_csv(
                    text,
                    sep=self.separator,
                    decimal=self.decimal,
                    na_values=list(self.missing),
                    dtype={self.found.raw.get(name, name): str for name in self.text},
                    index_col=False,
                    skipinitialspace=True,
                    low_memory=False,
                    chunksize=rows or sys.maxsize,
                )
                for frame in reader:
                    self.found.longer = text.longer
                    yield Chunk(_named(frame, names))
        except pd.errors.EmptyDataError:
            raise Failure(f"{self.name} is empty; a table starts with a line of column names.") from None
        except pd.errors.ParserWarning:
            raise Failure(f"{self.name}: the first row of data (line 2) has more fields than the header.") from None
        except pd.errors.ParserError as error:
            raise Failure(parser_sentence(self.name, str(error))) from None

    def _parquet(self, file: BinaryIO, rows: int | None) -> Iterator[Chunk]:
        try:
            import pyarrow as pa  # noqa: PLC0415
            import pyarrow.parquet as pq  # noqa: PLC0415
        except ImportError:
            raise Failure("Parquet files need the package pyarrow; install rocband[cli].", exit_code=1) from None
        try:
            reader = pq.ParquetFile(file)
            names = [str(name).strip() for name in reader.schema_arrow.names]
            check_names(names, self.name)
            raw = zip(names, reader.schema_arrow.names, strict=True)
            self.found.raw |= {name: title for name, title in raw if name != title}
            self.found.own_types = _asks_for_types(reader.schema_arrow.pandas_metadata)
            start = 0
            batches = [reader.read()] if rows is None else reader.iter_batches(rows)
            for batch in batches:
                frame = batch.to_pandas(ignore_metadata=True)
                frame.columns = names
                frame.index = range(start, start + len(frame))
                start += len(frame)
                # An index without a name is no column of the table.
                yield Chunk(frame.drop(columns=[name for name in names if _INDEX.fullmatch(name)]))
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
        chunk = _from_arrays(file, self.found)
        check_names([str(name) for name in chunk.frame.columns], self.name)
        size = len(chunk.frame)
        for start in range(0, size, rows or size or 1):
            part = slice(start, start + (rows or size))
            yield Chunk(chunk.frame.iloc[part], None if chunk.sparse is None else chunk.sparse[part])


_INDEX = re.compile(r"__index_level_\d+__")


def _asks_for_types(metadata: dict[str, Any] | None) -> bool:
    """Whether pandas would read a Parquet file with a stored index, or with types of its own that hold NA."""
    if not metadata:
        return False
    try:
        stored = any(not isinstance(index, dict) for index in metadata["index_columns"])
        types = {str(entry["numpy_type"]) for entry in metadata["columns"]}
    except (KeyError, TypeError):  # not as pandas writes it
        return True
    return stored or any(name[:1].isupper() or name in ("string", "boolean") for name in types)


def _named(frame: Any, names: list[str]) -> Any:
    """Name the columns as the header does, without spaces; nameless ones at the end that are empty are none."""
    titles = [name or str(found) for name, found in zip(names, frame.columns, strict=False)]
    frame.columns = [*titles, *map(str, frame.columns[len(titles) :])]
    while names and not names[-1] and frame[frame.columns[-1]].isna().all():
        frame, names = frame[frame.columns[:-1]], names[:-1]
    return frame


def _from_arrays(file: BinaryIO, found: Found) -> Chunk:
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
    found.sparse, found.named = rows is not None, X is not None and len(names) == X.shape[1]
    if X is not None and not found.named:
        names = [f"x{position}" for position in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names) if X is not None else pd.DataFrame(index=range(size))
    columns = {key: value for key, value in parts.items() if value.ndim == 1 and len(value) == size}
    return Chunk(frame.assign(**columns), rows)


def _shortened(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 200 else f"{text[:197]}..."
