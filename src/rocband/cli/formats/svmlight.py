"""SVMlight files: sparse features, a label for each row, and perhaps a query."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

from rocband.cli.formats.base import Chunk

if TYPE_CHECKING:
    from rocband.cli.python import Script
    from rocband.cli.table_file import TableFile

__all__ = ["Svmlight"]


class Svmlight:
    """An SVMlight file."""

    def __init__(self, table: TableFile) -> None:
        self._table = table

    def chunks(self, file: BinaryIO, rows: int | None) -> Iterator[Chunk]:
        """Return the rows in runs of at most ``rows``, or all at once."""
        start = 0
        while lines := list(islice(file, rows)):
            yield self._chunk(lines, start)
            start += len(lines)

    def _chunk(self, lines: list[bytes], start: int) -> Chunk:
        import pandas as pd  # noqa: PLC0415
        from sklearn.datasets import load_svmlight_file  # noqa: PLC0415

        X, target, query = load_svmlight_file(
            io.BytesIO(b"".join(lines)),
            n_features=self._table.n_features,
            zero_based=self._table.zero_based,
            query_id=True,
        )
        columns = {"target": target}
        if len(query) == len(target):
            columns["qid"] = query
        return Chunk(pd.DataFrame(columns, index=range(start, start + len(target))), X)

    def write_python(self, script: Script, columns: Sequence[str]) -> None:
        """Add the line that reads the table."""
        table = self._table
        script.use("sklearn.datasets", "load_svmlight_file")
        arguments = [script.file(table.path), "query_id=True", f"zero_based={table.zero_based}"]
        if table.n_features is not None:
            arguments.append(f"n_features={table.n_features}")
        script.add(script.call("X, target, qid = load_svmlight_file", arguments))
