"""Labels of the target: which rows are positive, and what positives and negatives are called."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from rocband.cli.columns import as_text, row_number
from rocband.cli.failures import Failure
from rocband.cli.python import literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import Series as Column

    from rocband.cli.python import Script
    from rocband.cli.table_file import TableFile

Kind: TypeAlias = Literal["number", "truth", "text"]

__all__ = ["Labels", "Target", "same_label"]

_SHOWN = 12
_LONGEST = 40
_TRUTH_FORMS = {"true", "True", "TRUE", "false", "False", "FALSE"}  # what pandas takes for truth values
_TRUTH = {"true": "True", "1": "True", "false": "False", "0": "False"}
_EXACT = 1e15  # whole numbers below are exact in floating point


@dataclass(frozen=True)
class Labels:
    """What the target's positives and negatives are called, and how a table writes the positives.

    Attributes
    ----------
    positive, negative : str
        The two labels, numbers in their shortest form.
    written : tuple of str
        The texts of the table that mean the positive label, with the spaces around them.
    kind : "number", "truth" or "text"
        What pandas takes the column for.
    """

    positive: str
    negative: str
    written: tuple[str, ...]
    kind: Kind

    def write_python(self, script: Script, column: str) -> None:
        """Add the line that makes y of a column."""
        if self.kind == "text":
            shown = [literal(text) for text in self.written]
            test = f"{column} == {shown[0]}" if len(shown) == 1 else f"{column}.isin([{', '.join(shown)}])"
        else:
            test = f"{column} == {self.positive}"
        script.add(f"y = ({test}).astype(int)")


@dataclass(frozen=True)
class Target:
    """Which column holds the labels, and which label is positive.

    Attributes
    ----------
    name : str
        The column.
    positive : str or None
        The label, None for the greater of two numbers.
    rest : bool
        Whether all other labels are negatives.
    """

    name: str
    positive: str | None
    rest: bool

    def positive_rows(self, values: Column, table: TableFile) -> tuple[NDArray[np.int64], Labels]:
        """Return 1 for each positive row and 0 for the others, and what the two are called."""
        import numpy as np  # noqa: PLC0415
        import pandas as pd  # noqa: PLC0415

        self._check_present(values, table.name)
        if isinstance(values.dtype, pd.CategoricalDtype):
            values = values.astype(values.cat.categories.dtype)
        is_text = bool(pd.api.types.is_string_dtype(values))
        text = values if is_text else as_text(values)
        raw = [str(label) for label in text.unique()]
        forms, kind = _forms(raw)
        labels = sorted(set(forms.values()), key=_order)
        chosen = self._chosen(labels, kind, table.name)
        negative = next(label for label in labels if label != chosen) if len(labels) == 2 else f"not {chosen}"
        y = (text.astype(object).map(forms) == chosen).to_numpy(dtype=np.int64)
        written = tuple(label for label in raw if forms[label] == chosen)
        if not _seen_as_values(kind, raw, is_text=is_text, is_csv=table.format == "csv"):
            kind = "text"
        return y, Labels(chosen, negative, written, kind)

    def _check_present(self, values: Column, source: str) -> None:
        missing = values.isna()
        if missing.any():
            row = row_number(values.index[missing][0])
            raise Failure(f"The target {self.name!r} of {source} is missing in data row {row}; leave such rows out.")

    def _chosen(self, labels: Sequence[str], kind: Kind, source: str) -> str:
        """Return the positive label in the form in which labels are compared."""
        target = f"The target {self.name!r} of {source}"
        shown = ", ".join(repr(label[:_LONGEST]) for label in labels[:_SHOWN])
        shown += ", ..." if len(labels) > _SHOWN else ""
        if len(labels) < 2:
            raise Failure(f"{target} holds only {shown}; positives and negatives are needed.")
        wanted = self._wanted(kind)
        if wanted is not None and wanted not in labels:
            raise Failure(f"{target} never is {wanted!r}; it holds {shown}.")
        if len(labels) > 2 and not self.rest:
            raise Failure(
                f"{target} holds {len(labels)} classes ({shown}); say --positive for one of them and --one-vs-rest to "
                "take all others as negatives."
            )
        if wanted is None and (len(labels) > 2 or kind == "text"):
            raise Failure(f"{target} holds {shown}; say which is positive with --positive.")
        return labels[-1] if wanted is None else wanted

    def _wanted(self, kind: Kind) -> str | None:
        if self.positive is None:
            return None
        plain = _plain_label(self.positive)
        return _TRUTH.get(plain.lower(), plain) if kind == "truth" else plain


def _forms(raw: Sequence[str]) -> tuple[dict[str, str], Kind]:
    """Return the form in which each label is compared, and the kind of all: "1" and "1.0" are the same number."""
    forms = {label: _plain_label(label) for label in raw}
    found = set(forms.values())
    if found <= _TRUTH_FORMS:
        return {label: _TRUTH[form.lower()] for label, form in forms.items()}, "truth"
    return forms, "number" if all(_is_number(label) for label in found) else "text"


def _seen_as_values(kind: Kind, raw: Sequence[str], *, is_text: bool, is_csv: bool) -> bool:
    """Whether pandas sees numbers or truth values in the column, and not their texts."""
    if not is_text:
        return True
    padded = any(label != label.strip() for label in raw)
    return is_csv and (kind == "number" or not padded)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _plain_label(text: str) -> str:
    """Return a label without spaces around it, a number in its shortest form."""
    text = text.strip()
    if not _is_number(text):
        return text
    number = float(text)
    return str(int(number)) if number.is_integer() and abs(number) < _EXACT else repr(number)


def same_label(first: str, second: str) -> bool:
    """Whether two labels mean the same: numbers of one value, or truth values."""
    forms = {_plain_label(first), _plain_label(second)}
    truth = {_TRUTH.get(form.lower(), form) for form in forms}
    return len(forms) == 1 or (len(truth) == 1 and not forms.isdisjoint(_TRUTH_FORMS))


def _order(label: str) -> tuple[bool, float, str]:
    return (True, float(label), "") if _is_number(label) else (False, 0.0, label)
