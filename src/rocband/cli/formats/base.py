"""What every kind of table gives: rows in chunks, and the Python that reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from rocband.cli.failures import Failure

if TYPE_CHECKING:
    from pandas import DataFrame as Frame
    from scipy.sparse import csr_array

    from rocband.cli.python import Script

__all__ = ["Chunk", "Layout", "TableFormat", "check_names", "shortened"]

_LONGEST = 200  # characters of another package's message that still read as part of a sentence


@dataclass(frozen=True)
class Chunk:
    """Some rows: a data frame whose index counts all rows, and the features apart where they are sparse."""

    frame: Frame
    sparse: csr_array[Any, Any] | None = None


@dataclass
class Layout:
    """What reading showed of a file that the same in Python has to say too.

    Attributes
    ----------
    titles : dict of str to str
        Names as the file writes them, with spaces around, by the names without.
    longer : bool
        Whether lines of a CSV file have more fields than its header.
    blanks : set of str
        Texts of a CSV file that mean missing and have spaces around them.
    own_types : bool
        Whether a Parquet file asks pandas for an index or types that the command does not take.
    sparse, named : bool
        Whether an NPZ file holds sparse rows, and names of its features.
    text, floats, truth : set of str
        Columns that are turned from something else into text, into numbers, or from "true" and "false" into numbers.
    """

    titles: dict[str, str] = field(default_factory=dict)
    longer: bool = False
    blanks: set[str] = field(default_factory=set)
    own_types: bool = False
    sparse: bool = False
    named: bool = False
    text: set[str] = field(default_factory=set)
    floats: set[str] = field(default_factory=set)
    truth: set[str] = field(default_factory=set)

    def name_columns(self, titles: Sequence[str]) -> list[str]:
        """Return names without the spaces around them, and note which have some."""
        names = [title.strip() for title in titles]
        self.titles |= {name: title for name, title in zip(names, titles, strict=True) if name != title}
        return names


class TableFormat(Protocol):
    """A kind of table."""

    def chunks(self, file: BinaryIO, rows: int | None) -> Iterator[Chunk]:
        """Return the rows in runs of at most ``rows``, or all at once."""

    def write_python(self, script: Script, columns: Sequence[str]) -> None:
        """Add the lines that read the table; of an archive of arrays, these columns beside the features."""


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse a table in which two columns share a name."""
    twice = [repr(name) for name, count in Counter(names).items() if count > 1 and name]
    if twice:
        raise Failure(f"{source} has more than one column named {', '.join(twice[:8])}; give each column its own name.")


def shortened(error: BaseException) -> str:
    """Return another package's message on one line, not too long."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
