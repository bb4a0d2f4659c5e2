"""Parquet files, with the types that they hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from rocband.cli.failures import Failure
from rocband.cli.formats.base import Chunk, check_names, shortened

if TYPE_CHECKING:
    import pyarrow.parquet as pq

    from rocband.cli.python import Script
    from rocband.cli.table_file import TableFile

__all__ = ["Parquet"]

# What pandas calls the index of a table when it has no name.
_INDEX = re.compile(r"__index_level_\d+__")


class Parquet:
    """A Parquet file."""

    def __init__(self, table: TableFile) -> None:
        self._table = table
        self._layout = table.layout

    def chunks(self, file: BinaryIO, rows: int | None) -> Iterator[Chunk]:
        """Return the rows in runs of at most ``rows``, or all at once."""
        try:
            import pyarrow as pa  # noqa: PLC0415
            import pyarrow.parquet as pq  # noqa: PLC0415
        except ImportError:
            raise Failure("Parquet files need the package pyarrow; install rocband[cli].", exit_code=1) from None
        try:
            yield from self._chunks(pq.ParquetFile(file), rows)
        except (pa.ArrowException, OSError) as error:
            raise Failure(f"{self._table.name} cannot be read as Parquet: {shortened(error)}") from None

    def _chunks(self, reader: pq.ParquetFile, rows: int | None) -> Iterator[Chunk]:
        import pandas as pd  # noqa: PLC0415
        import pyarrow as pa  # noqa: PLC0415

        schema = reader.schema_arrow
        names = self._layout.name_columns([str(name) for name in schema.names])
        check_names(names, self._table.name)
        self._layout.own_types = _asks_for_types(schema.pandas_metadata)
        indices = [name for name in names if _INDEX.fullmatch(name)]
        # Truth values stay such in chunks where some are missing, or all.
        types = {pa.bool_(): pd.BooleanDtype()}
        start = 0
        for batch in [reader.read()] if rows is None else reader.iter_batches(rows):
            frame = batch.to_pandas(ignore_metadata=True, date_as_object=False, types_mapper=types.get)
            frame.columns = names
            frame.index = range(start, start + len(frame))
            start += len(frame)
            yield Chunk(frame.drop(columns=indices))

    def write_python(self, script: Script, columns: Sequence[str]) -> None:
        """Add the line that reads the table."""
        file = script.file(self._table.path, seekable=True)
        if self._layout.own_types:
            script.use("pyarrow.parquet as pq")
            script.add(f"table = pq.read_table({file}).to_pandas(ignore_metadata=True)")
        else:
            script.use("pandas as pd")
            script.add(f"table = pd.read_parquet({file})")


def _asks_for_types(metadata: Mapping[str, Any] | None) -> bool:
    """Whether pandas would read a Parquet file with a stored index, or with types of its own that hold NA."""
    if not metadata:
        return False
    try:
        stored = any(not isinstance(index, dict) for index in metadata["index_columns"])
        types = {str(entry["numpy_type"]) for entry in metadata["columns"]}
    except (KeyError, TypeError):  # not as pandas writes it
        return True
    return stored or any(name[:1].isupper() or name in ("string", "boolean") for name in types)
