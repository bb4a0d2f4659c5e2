"""The text of a CSV file on its way to pandas: its header, and the number of fields in every line."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from rocband.cli.failures import Failure

__all__ = ["Delimited", "check_names", "parser_sentence"]

_OTHER_SEPARATORS = ";\t|"
_CLOSING = re.compile(r'(?:[^"]|"")*+"')


class Delimited(io.TextIOBase):
    """A stream that counts the fields of each line, since pandas fills up lines that lack some.

    Attributes
    ----------
    header : list of str
        The names of the columns as the file writes them.
    longer : bool
        Whether some line read so far has more fields than the header, as commas at the ends of lines make.
    """

    def __init__(self, text: io.TextIOBase, separator: str, name: str) -> None:
        self._text, self._separator, self._name = text, separator, name
        self._ahead: list[str] = []
        self.longer = False
        self.header = self._read_header()
        named = [position for position, title in enumerate(self.header) if title.strip()]
        # A comma at the end of the header names no column.
        self._fewest = named[-1] + 1 if named else 0
        self._line = len(self._ahead)
        self._rest = ""
        self._open: tuple[int, int] | None = None  # line and separators of a record whose quotation mark is open
        mark = re.escape(separator)
        self._whole = re.compile(rf'(^|{mark}) *"(?:[^"]|"")*+"')
        self._opening = re.compile(rf'(?:^|{mark}) *"')

    def _read_header(self) -> list[str]:
        try:
            for fields in csv.reader(self._first_lines(), delimiter=self._separator, skipinitialspace=True):
                if any(field.strip() for field in fields):
                    _check_separator(fields, self._separator, self._name)
                    return fields
        except csv.Error as error:
            raise Failure(f"The header of {self._name} cannot be read as CSV: {error}.") from None
        return []

    def _first_lines(self) -> Iterator[str]:
        while line := self._text.readline():
            self._ahead.append(line)
            yield line

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def read(self, size: int | None = -1, /) -> str:
        """Return the header at first, then some text whose lines have been counted."""
        if self._ahead:
            ahead, self._ahead = "".join(self._ahead), []
            return ahead
        text = self._text.read(-1 if size is None else size)
        self._count(text)
        return text

    def _count(self, text: str) -> None:
        *lines, self._rest = (self._rest + text).split("\n")
        if not text:
            lines, self._rest = [*lines, self._rest], ""
        separator, usual = self._separator, len(self.header) - 1
        for number, line in enumerate(lines, self._line + 1):
            if self._open is not None or '"' in line:
                self._count_quoted(line, number)
            elif line.count(separator) != usual:
                self._check(line.count(separator) + 1, line, number)
        self._line += len(lines)

    def _count_quoted(self, line: str, number: int) -> None:
        """Count the separators outside quotation marks; a record may go on in the next lines."""
        if self._open is None and line.count(self._separator) == len(self.header) - 1:
            # The usual case at little cost: marks in pairs, and no separator between those of a pair.
            parts = line.split('"')
            if len(parts) % 2 == 1 and self._separator not in "".join(parts[1::2]):
                return
        start, separators = self._open or (number, 0)
        rest = line
        if self._open is not None:
            closing = _CLOSING.match(line)
            if closing is None:
                return
            rest = f"x{line[closing.end() :]}"
        rest = self._whole.sub(r"\1", rest)
        opening = self._opening.search(rest)
        separators += rest.count(self._separator, 0, opening.end() if opening else len(rest))
        self._open = (start, separators) if opening else None
        if opening is None:
            self._check(separators + 1, line, start)

    def _check(self, found: int, line: str, number: int) -> None:
        if found > len(self.header):
            self.longer = True
        elif found < self._fewest and line.strip():
            raise Failure(_fields_sentence(self._name, number, found, self._fewest))


def _check_separator(fields: list[str], separator: str, name: str) -> None:
    other = next((mark for mark in _OTHER_SEPARATORS if mark in fields[0] and mark != separator), None)
    if len(fields) == 1 and other is not None:
        shown = "\\t" if other == "\t" else other
        raise Failure(
            f"The header of {name} is one field, {fields[0][:60]!r}; say --separator {shown!r} to part it, and "
            "--decimal , if numbers have decimal commas."
        )


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse a table in which two columns share a name."""
    twice = [repr(name) for name, count in Counter(names).items() if count > 1 and name]
    if twice:
        raise Failure(f"{source} has more than one column named {', '.join(twice[:8])}; give each column its own name.")


def _fields_sentence(name: str, line: int, found: int, expected: int) -> str:
    fields = "field" if found == 1 else "fields"
    return f"{name}: line {line} has {found} {fields} where {expected} are expected; mend it, or see --separator."


def parser_sentence(name: str, message: str) -> str:
    """Return a message of the parser as a sentence."""
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", message)
    if found:
        expected, line, seen = map(int, found.groups())
        return _fields_sentence(name, line, seen, expected)
    found = re.search(r"EOF inside string starting at row (\d+)", message)
    if found:
        return f"{name}: a quotation mark that opens in line {int(found[1]) + 1} is never closed."
    return f"{name} cannot be read as CSV: {message.strip()}"
