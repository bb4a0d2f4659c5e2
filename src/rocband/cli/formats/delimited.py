"""CSV files: parsed by Arrow as text, and each column then read as what all of its fields are."""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from rocband.cli.failures import Failure
from rocband.cli.formats.base import Chunk, check_names, shortened

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.csv import InvalidRow

    from rocband.cli.python import Script
    from rocband.cli.table_file import TableFile

__all__ = ["Delimited"]

# What pandas takes for a missing value, in which Python that we print reads the same file.
_MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A"),
    *("NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
_TRUTH = ("True", "TRUE", "true", "False", "FALSE", "false")
_OTHER_SEPARATORS = ";\t|"
# Characters read at a time. A record may be as long, so that wide tables fit and a file without line ends is refused.
_BLOCK = 1 << 20
# Blocks whose text is kept to find the line of a record that Arrow refuses: it reads up to 32 blocks ahead.
_KEPT = 36
_STARTS = {
    b"\x1f\x8b": "is compressed with gzip; end its name in .csv.gz, or unpack it",
    b"BZh": "is compressed with bzip2; end its name in .csv.bz2, or unpack it",
    b"\xfd7zXZ": "is compressed with xz; end its name in .csv.xz, or unpack it",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; unpack it first",
    b"PK\x03\x04": "is a ZIP archive or a workbook, not CSV; unpack it, or save it as CSV",
    b"PAR1": "holds Parquet; say --format parquet",
}
_UTF16_STARTS = (b"\xff\xfe", b"\xfe\xff")
_LONGEST_START = 6


class Delimited:
    """A CSV file."""

    def __init__(self, table: TableFile) -> None:
        self._table = table
        self._layout = table.layout
        self._missing = (*_MISSING, *table.missing)

    def chunks(self, file: BinaryIO, rows: int | None) -> Iterator[Chunk]:
        """Return the rows in runs of at most ``rows``, or all at once."""
        text = self._text(file)
        try:
            yield from self._chunks(text, rows)
        finally:
            text.detach()  # standard input stays open

    def _text(self, file: BinaryIO) -> io.TextIOWrapper:
        """Return the file as text, if it starts as text does."""
        buffered: Any = file if hasattr(file, "peek") else io.BufferedReader(file)
        start = buffered.peek(_LONGEST_START)
        encoding = self._table.encoding
        if encoding.lower() in ("utf-8", "utf8"):
            encoding = "utf-8-sig"
            if start.startswith(_UTF16_STARTS):
                raise Failure(f"{self._table.name} starts as text in UTF-16 does; say --encoding utf-16.")
        for magic, what in _STARTS.items():
            if start.startswith(magic):
                raise Failure(f"{self._table.name} {what}.")
        return io.TextIOWrapper(buffered, encoding=encoding, newline="")

    def _chunks(self, text: io.TextIOWrapper, rows: int | None) -> Iterator[Chunk]:
        import pyarrow as pa  # noqa: PLC0415

        head = _Head.of(text, self._table)
        names = self._layout.name_columns(head.titles)
        check_names(names, self._table.name)
        names = [name or f"Unnamed: {position}" for position, name in enumerate(names)]
        self._layout.longer = head.longer
        titles = [*names, *(f"Unnamed: {len(names) + extra}" for extra in range(head.n_extra))]
        records = _Records(text, head, self._table)
        batches = records.batches(titles)
        # Types are those of whole columns, where they are wanted whole.
        if rows is None:
            batches = iter([pa.Table.from_batches(list(batches), _schema(titles))])
        start = 0
        for batch in batches:
            for part in _parts(batch, rows):
                yield self._chunk(part, names, start)
                start += part.num_rows

    def _chunk(self, records: pa.RecordBatch | pa.Table, names: Sequence[str], start: int) -> Chunk:
        import pandas as pd  # noqa: PLC0415

        self._check_extra(records, names, start)
        index = pd.RangeIndex(start, start + records.num_rows)
        columns = {}
        for name in names:
            values = self._typed(name, records.column(name))
            columns[name] = pd.Series(values.to_pandas().array, index=index)
        return Chunk(pd.DataFrame(columns, index=index))

    def _check_extra(self, records: pa.RecordBatch | pa.Table, names: Sequence[str], start: int) -> None:
        """Refuse fields beyond the header that hold something."""
        import pyarrow.compute as pc  # noqa: PLC0415

        for title in records.schema.names[len(names) :]:
            values = records.column(title)
            filled = pc.not_equal(pc.utf8_trim_whitespace(values), "")
            place = pc.index(filled, value=True).as_py()
            if place >= 0:
                raise Failure(
                    f"{self._table.name}: data row {start + place + 1} has more fields than the header, with "
                    f"{values[place].as_py()[:40]!r} at its end; mend it, or see --separator."
                )

    def _typed(self, name: str, raw: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        """Return a column as whole numbers, numbers, truth values or text: the first that all of its fields are."""
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.compute as pc  # noqa: PLC0415

        trimmed = pc.utf8_trim_whitespace(raw)
        missing = pc.is_in(trimmed, value_set=pa.array(self._missing, pa.string()))
        padded = pc.not_equal(raw, trimmed)
        self._layout.blanks |= set(pc.unique(raw.filter(pc.and_(missing, padded))).to_pylist())
        text = pc.if_else(missing, pa.scalar(None, pa.string()), trimmed)
        if name not in self._table.text:
            numbers = _as_numbers(text, self._table.decimal)
            if numbers is not None:
                return numbers
            truth = _as_truth(text)
            if truth is not None:
                # pandas sees truth values in fields without spaces only.
                if pc.any(padded).as_py():
                    self._layout.truth.add(name)
                return truth
        return pc.if_else(missing, pa.scalar(None, pa.string()), raw)

    def write_python(self, script: Script, columns: Sequence[str]) -> None:
        """Add the line that reads the table."""
        table, layout = self._table, self._layout
        script.use("pandas as pd")
        as_text = dict.fromkeys((layout.titles.get(name, name) for name in table.text), "str")
        options = {
            "sep": (table.separator, ","),
            "decimal": (table.decimal, "."),
            "encoding": (table.encoding, "utf-8"),
            "na_values": ([*table.missing, *sorted(layout.blanks)], []),
            "dtype": (as_text, {}),
            "index_col": (False if layout.longer else None, None),
        }
        # Compared with the default of pandas for the very same argument.
        given = {name: value for name, (value, default) in options.items() if value != default}
        arguments = [f"{name}={script.expression(value)}" for name, value in given.items()]
        script.add(script.call("table = pd.read_csv", [script.file(table.path), *arguments]))


@dataclass(frozen=True)
class _Head:
    """The start of a CSV file.

    Attributes
    ----------
    titles : list of str
        The names of the columns as the file writes them.
    n_extra : int
        How many fields without a name end every record, as a separator at its end makes.
    longer : bool
        Whether that is more than the header has.
    n_lines : int
        How many lines the header takes, with the empty ones before it.
    ahead : str
        The first record, which was read with it.
    """

    titles: list[str]
    n_extra: int
    longer: bool
    n_lines: int
    ahead: str

    @classmethod
    def of(cls, text: io.TextIOWrapper, table: TableFile) -> _Head:
        """Read header and first record."""
        lines = _Lines(text, table)
        titles = lines.record("header")
        if not titles:
            raise Failure(f"{table.name} is empty; a table starts with a line of column names.")
        _check_separator(titles, table)
        n_lines = len(lines.read)
        first = lines.record("first row of data")
        longer = len(first) > len(titles)
        # A separator at the end of the header names no column, unless there are fields below.
        while first and not titles[-1].strip() and not "".join(first[len(titles) - 1 :]).strip():
            titles.pop()
        extra = first[len(titles) :]
        n_extra = 0 if any(field.strip() for field in extra) else len(extra)
        return cls(titles, n_extra, longer, n_lines, "".join(lines.read[n_lines:]))


class _Lines:
    """The first lines of a file, one record after the other."""

    def __init__(self, text: io.TextIOWrapper, table: TableFile) -> None:
        self._text = text
        self._table = table
        self.read: list[str] = []

    def record(self, what: str) -> list[str]:
        """Return the fields of the next line that holds some; none at the end of the file."""
        table = self._table
        try:
            for fields in csv.reader(self, delimiter=table.separator):
                if any(field.strip() for field in fields) or len(fields) > 1:
                    return fields
        except csv.Error as error:
            raise Failure(f"The {what} of {table.name} cannot be read as CSV: {error}.") from None
        return []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._text.readline(_BLOCK)
        if not line:
            raise StopIteration
        if len(line) == _BLOCK:
            raise Failure(_too_long(self._table.name))
        self.read.append(line)
        return line


class _Records(io.RawIOBase):
    """The records after the header as bytes of UTF-8, and the place of one that Arrow refuses."""

    def __init__(self, text: io.TextIOWrapper, head: _Head, table: TableFile) -> None:
        self._text = text
        self._table = table
        # What was read to see how many fields the first record has.
        self._ahead = head.ahead
        self._line = head.n_lines + 1  # where the next block starts
        self._blocks: deque[tuple[int, bytes]] = deque(maxlen=_KEPT)
        self._refused: InvalidRow | None = None

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """Return ``size`` characters; Arrow takes more bytes than it asked for."""
        ahead = self._ahead
        self._ahead = ""
        block = (ahead or self._text.read(size)).encode()
        self._blocks.append((self._line, block))
        self._line += block.count(b"\n") or block.count(b"\r")
        return block

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Parse the records, every field as text."""
        import pyarrow as pa  # noqa: PLC0415

        try:
            last = None
            for batch in self._open(names):
                last = batch if batch.num_rows else last
                yield batch
        except pa.ArrowInvalid as error:
            raise Failure(self._sentence(error)) from None
        if last is not None:
            self._check_closed(last)

    def _open(self, names: Sequence[str]) -> Iterable[pa.RecordBatch]:
        import pyarrow as pa  # noqa: PLC0415
        from pyarrow import csv as arrow  # noqa: PLC0415

        # Arrow would take over the handling of interrupts while it reads.
        pa.enable_signal_handlers(False)
        # Arrow numbers rows on one thread only.
        read = arrow.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=list(names))
        parse = arrow.ParseOptions(
            delimiter=self._table.separator, newlines_in_values=True, invalid_row_handler=self._refuse
        )
        convert = arrow.ConvertOptions(column_types=_schema(names), strings_can_be_null=False)
        try:
            reader: Iterable[pa.RecordBatch] = arrow.open_csv(
                self, read_options=read, parse_options=parse, convert_options=convert
            )
        except pa.ArrowInvalid as error:
            if str(error) == "Empty CSV file":
                return ()
            raise
        return reader

    def _check_closed(self, last: pa.RecordBatch) -> None:
        """Refuse a quotation mark that is open at the end, where Arrow closes it by itself."""
        # The last record is as many lines as there are line ends in its fields, and one more.
        values = [column[-1].as_py() for column in last.columns]
        n_ends = sum(_plain_ends(value.encode()).rstrip(b"\n").count(b"\n") for value in values)
        tail = _plain_ends(b"".join(block for _, block in self._blocks)).rstrip(b"\n")
        record = b"\n".join(tail.rsplit(b"\n", n_ends + 1)[-n_ends - 1 :]).decode()
        # The parser of Python says what Arrow does not.
        try:
            list(csv.reader(io.StringIO(record), delimiter=self._table.separator, strict=True))
        except csv.Error as error:
            if str(error) == "unexpected end of data":
                raise Failure(_unclosed(self._table.name, self._line_of(record))) from None

    def _refuse(self, row: InvalidRow) -> str:
        if not row.text.strip():
            return "skip"  # a line of spaces
        self._refused = row
        return "error"

    def _sentence(self, error: Exception) -> str:
        name = self._table.name
        row = self._refused
        if "straddling object" in str(error):
            return _too_long(name)
        if row is None:
            return f"{name} cannot be read as CSV: {shortened(error)}"
        line = self._line_of(row.text)
        # With a mark open, the record goes on to the end of the file.
        if row.text.count('"') % 2:
            return _unclosed(name, line)
        found = f"{row.actual_columns} field" if row.actual_columns == 1 else f"{row.actual_columns} fields"
        expected = row.expected_columns
        return f"{name}: line {line} has {found} where {expected} are expected; mend it, or see --separator."

    def _line_of(self, record: str) -> int:
        """Find the line at which a record starts, among the blocks that were read last."""
        blocks = list(self._blocks)
        start, _ = blocks[0]
        text = b"\n" + _plain_ends(b"".join(block for _, block in blocks))
        wanted = _plain_ends(record.encode())
        found = text.find(b"\n" + wanted + b"\n")
        if found < 0:  # the last record, without a line end
            found = text.rfind(b"\n" + wanted)
        return start + text.count(b"\n", 0, found)


def _plain_ends(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _schema(names: Sequence[str]) -> pa.Schema:
    import pyarrow as pa  # noqa: PLC0415

    return pa.schema([(name, pa.string()) for name in names])


def _parts(records: pa.RecordBatch | pa.Table, rows: int | None) -> Iterator[pa.RecordBatch | pa.Table]:
    size = rows or max(records.num_rows, 1)
    for start in range(0, records.num_rows, size):
        yield records.slice(start, size)


def _as_numbers(text: Any, decimal: str) -> Any:
    """Return numbers if all that is not missing are such."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    # Arrow takes 0x10 for a number, which nobody else does; beside decimal commas, points part thousands.
    if pc.any(pc.match_substring_regex(text, "x" if decimal == "." else r"[x.]")).as_py():
        return None
    text = pc.replace_substring(text, decimal, ".")
    for kind in (pa.int64(), pa.float64()):
        try:
            return pc.cast(text, kind)
        except pa.ArrowInvalid:
            continue
    return None


def _as_truth(text: Any) -> Any:
    """Return truth values if all that is not missing are such."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    known = pc.is_in(text, value_set=pa.array([*_TRUTH, None], pa.string()))
    return pc.cast(text, pa.bool_()) if pc.all(known).as_py() else None


def _unclosed(name: str, line: int) -> str:
    return f"{name}: a quotation mark that opens in line {line} is never closed."


def _too_long(name: str) -> str:
    return (
        f"{name}: a line is longer than {_BLOCK:,} characters, or a quotation mark is never closed; this is no table "
        "of rows, or see --separator."
    )


def _check_separator(titles: list[str], table: TableFile) -> None:
    other = next((mark for mark in _OTHER_SEPARATORS if mark in titles[0] and mark != table.separator), None)
    if len(titles) == 1 and other is not None:
        shown = "\\t" if other == "\t" else other
        raise Failure(
            f"The header of {table.name} is one field, {titles[0][:60]!r}; say --separator {shown!r} to part it, and "
            "--decimal , if numbers have decimal commas."
        )
