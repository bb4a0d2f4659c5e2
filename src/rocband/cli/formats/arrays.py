"""NPZ files: an archive with the features in one array, or as a CSR matrix, and columns beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO

from rocband.cli.formats.base import Chunk, check_names
from rocband.cli.python import literal

if TYPE_CHECKING:
    from pandas import DataFrame as Frame

    from rocband._types import AnyArray
    from rocband.cli.python import Script
    from rocband.cli.table_file import TableFile
    from rocband.datasets.archive import Archive

__all__ = ["Arrays"]


class Arrays:
    """An archive of arrays."""

    def __init__(self, table: TableFile) -> None:
        self._table = table
        self._layout = table.layout

    def chunks(self, file: BinaryIO, rows: int | None) -> Iterator[Chunk]:
        """Return the rows in runs of at most ``rows``, or all at once."""
        from rocband.datasets.archive import read_archive  # noqa: PLC0415

        chunk = self._chunk(read_archive(file))
        check_names([str(name) for name in chunk.frame.columns], self._table.name)
        n_rows = len(chunk.frame)
        size = rows or max(n_rows, 1)
        for start in range(0, n_rows, size):
            part = slice(start, start + size)
            yield Chunk(chunk.frame.iloc[part], None if chunk.sparse is None else chunk.sparse[part])

    def _chunk(self, archive: Archive) -> Chunk:
        from scipy import sparse  # noqa: PLC0415

        columns = dict(archive.columns)
        names = [str(name) for name in columns.pop("columns", [])]
        if sparse.issparse(archive.X):
            self._layout.sparse = True
            return Chunk(_beside(columns, archive.X.shape[0]), archive.X)
        if archive.X is None:
            n_rows = max((array.size for array in columns.values()), default=0)
            return Chunk(_beside(columns, n_rows))
        return Chunk(self._dense(archive.X, columns, names))

    def _dense(self, X: AnyArray, columns: Mapping[str, AnyArray], names: list[str]) -> Frame:
        import pandas as pd  # noqa: PLC0415

        if X.ndim != 2 or X.dtype.kind not in "fiub":
            raise ValueError(f"X must hold numbers in rows and columns, got shape {X.shape} and dtype {X.dtype}.")
        n_rows, n_features = X.shape
        self._layout.named = len(names) == n_features
        if not self._layout.named:
            names = [f"x{position}" for position in range(n_features)]
        others = _beside(columns, n_rows)
        return pd.DataFrame(X, columns=names).assign(**{str(name): others[name] for name in others})

    def write_python(self, script: Script, columns: Sequence[str]) -> None:
        """Add the lines that read the table, with these columns beside the features."""
        script.use("numpy as np")
        script.use("pandas as pd")
        script.add(f"arrays = np.load({script.file(self._table.path, seekable=True)})")
        entries = [f"{literal(name)}: arrays[{literal(name)}]" for name in columns]
        beside = script.call("", entries, brackets=("{", "}"))
        if self._layout.sparse:
            script.use("scipy", "sparse")
            script.add('parts = arrays["data"], arrays["indices"], arrays["indptr"]')
            script.add('X = sparse.csr_array(parts, shape=arrays["shape"])')
            script.add(f"table = pd.DataFrame({beside})")
            return
        unnamed = '[f"x{k}" for k in range(arrays["X"].shape[1])]'
        names = 'arrays["columns"]' if self._layout.named else unnamed
        script.add(f'table = pd.DataFrame(arrays["X"], columns={names})')
        if columns:
            script.add(f"table = table.assign(**{beside})")


def _beside(columns: Mapping[str, AnyArray], n_rows: int) -> Frame:
    """Return the arrays that hold one value for each row."""
    import pandas as pd  # noqa: PLC0415

    fitting = {name: array for name, array in columns.items() if array.ndim == 1 and len(array) == n_rows}
    return pd.DataFrame(fitting, index=range(n_rows))
