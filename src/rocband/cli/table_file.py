"""Tables from files and standard input, whole or chunk by chunk."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias, get_args

from rocband.cli.failures import Failure
from rocband.cli.formats.arrays import Arrays
from rocband.cli.formats.base import Chunk, Layout, TableFormat, shortened
from rocband.cli.formats.delimited import Delimited
from rocband.cli.formats.parquet import Parquet
from rocband.cli.formats.svmlight import Svmlight
from rocband.cli.python import literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocband.cli.python import Script

__all__ = ["FORMATS", "TableFile", "TableOptions"]

FormatName: TypeAlias = Literal["csv", "parquet", "svmlight", "npz"]
FORMATS: tuple[FormatName, ...] = get_args(FormatName)
_FORMATS: dict[FormatName, Callable[[TableFile], TableFormat]] = {
    "csv": Delimited,
    "parquet": Parquet,
    "svmlight": Svmlight,
    "npz": Arrays,
}
_SUFFIXES: dict[str, FormatName] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".npz": "npz",
}
_TARGETS: dict[FormatName, str] = {"svmlight": "target", "npz": "y"}
_UNPACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_PACKED = (".zip", ".zst", ".7z", ".lz4")
# What reading a file that is not what it says may raise, beside OSError.
_UNREADABLE = (ValueError, zipfile.BadZipFile, EOFError, NotImplementedError, zlib.error, lzma.LZMAError)


@dataclass(frozen=True)
class TableOptions:
    """The options of reading, as they were given."""

    format: FormatName | None
    separator: str | None
    decimal: str
    encoding: str
    missing: tuple[str, ...]
    zero_based: bool


@dataclass(frozen=True)
class TableFile:
    """A table and how to read it.

    Attributes
    ----------
    path : str
        The file, or "-" for standard input.
    format : "csv", "parquet", "svmlight" or "npz"
        Its kind.
    separator, decimal, encoding, missing
        How a CSV file is written.
    zero_based, n_features
        Whether an SVMlight file counts features from 0, and how many there are.
    text : tuple of str
        Columns of a CSV file that are read as text however they look.
    layout : Layout
        What reading showed.
    """

    path: str
    format: FormatName
    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()
    zero_based: bool = False
    n_features: int | None = None
    text: tuple[str, ...] = ()
    layout: Layout = field(default_factory=Layout, compare=False)

    @classmethod
    def of(cls, path: str, options: TableOptions) -> TableFile:
        """Find the format by the file's name, if it is not given."""
        suffix = Path(path).suffix.lower()
        inner = Path(path).with_suffix("").suffix.lower() if suffix in _UNPACKED else suffix
        if suffix in _PACKED:
            raise Failure(f"{path} is compressed in a way that is not read here; unpack it, or use .gz, .bz2 or .xz.")
        found = options.format or _SUFFIXES.get(inner, "csv" if path == "-" else None)
        if suffix in _UNPACKED and found not in (None, "csv"):
            raise Failure(f"{path} is compressed, which is read for CSV files only; unpack it first.")
        if found is None:
            raise Failure(f"The format of {path} is not known by its name; say --format {'|'.join(FORMATS)}.")
        usual = "\t" if inner == ".tsv" else ","
        return cls(
            path,
            found,
            separator=_character("--separator", usual if options.separator is None else options.separator),
            decimal=_character("--decimal", options.decimal),
            encoding=options.encoding,
            missing=options.missing,
            zero_based=options.zero_based,
        )

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path == "-" else self.path

    @property
    def default_target(self) -> str | None:
        """The name of the target where the format has one."""
        return _TARGETS.get(self.format)

    @property
    def is_sparse(self) -> bool:
        """Whether the features come apart from the columns; of an archive, known once it was read."""
        return self.format == "svmlight" or self.layout.sparse

    def with_text(self, columns: Iterable[str | None]) -> TableFile:
        """Read these columns as text too."""
        return replace(self, text=tuple(dict.fromkeys([*self.text, *filter(None, columns)])))

    def whole(self) -> Chunk:
        """Return all rows."""
        return next(self._read(None))

    def chunks(self, rows: int) -> Iterator[Chunk]:
        """Return the rows in runs of at most ``rows``, without holding many more."""
        return self._read(rows)

    def _read(self, rows: int | None) -> Iterator[Chunk]:
        kind = _FORMATS[self.format](self)
        empty = True
        with self._sentences(), self._opened() as file:
            for chunk in kind.chunks(file, rows):
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
        except _UNREADABLE as error:
            raise Failure(f"{self.name} cannot be read as {self.format}: {shortened(error)}") from None

    def write_python(self, script: Script, columns: Iterable[str | None] = ()) -> None:
        """Add the lines that read the table; of an archive of arrays, these columns beside the features."""
        _FORMATS[self.format](self).write_python(script, sorted({name for name in columns if name}))
        if self.layout.titles and self.format != "npz":
            script.add("table.columns = table.columns.str.strip()")
        self._write_conversions(script)

    def _write_conversions(self, script: Script) -> None:
        """Add the lines that turn columns into what they are used as, where they are read as something else."""
        layout = self.layout
        if layout.floats - layout.truth:
            chosen = f"table[{script.expression(sorted(layout.floats - layout.truth))}]"
            script.add(f"{chosen} = {chosen}.astype(float)")
        if layout.text:
            _define_as_text(script)
            chosen = f"table[{script.expression(sorted(layout.text))}]"
            script.add(f"{chosen} = {chosen}.apply(as_text)")
        for name in sorted(layout.floats & layout.truth):
            column = f"table[{literal(name)}]"
            script.add(f'{column} = {column}.str.strip().str.lower().map({{"true": 1.0, "false": 0.0}})')

    def column_code(self, name: str) -> str:
        """Return Python for a column of the table that was read."""
        return name if self.format == "svmlight" else f"table[{literal(name)}]"


def _define_as_text(script: Script) -> None:
    """Add a function that does what `rocband.cli.columns.as_text` does."""
    script.use("numpy as np")
    script.use("pandas as pd")
    script.define(
        "def as_text(column):\n"
        '    text = column.astype("string").str.strip()\n'
        "    if pd.api.types.is_float_dtype(column):\n"
        '        text = text.str.removesuffix(".0")\n'
        "    return text.astype(object).where(column.notna(), np.nan)"
    )


def _character(option: str, given: str) -> str:
    character = given.replace("\\t", "\t")
    if len(character.encode()) != 1:
        raise Failure(f"{option} must be one plain character, got {character!r}.")
    return character
