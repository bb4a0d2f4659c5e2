"""Labels of the target: which rows are positive, and what positives and negatives are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rocband.cli.columns import as_text, row_number
from rocband.cli.failures import Failure

__all__ = ["Labels", "positive_rows", "same_label"]

_SHOWN = 12
_TRUTH_FORMS = {"true", "True", "TRUE", "false", "False", "FALSE"}  # what pandas takes for truth values
_TRUTH = {"true": "True", "1": "True", "false": "False", "0": "False"}


@dataclass(frozen=True)
class Labels:
    """What the target's positives and negatives are called.

    Attributes
    ----------
    positive, negative : str
        The two labels.
    typed : bool
        Whether all labels are numbers, or truth values.
    text : bool
        Whether they were read as text.
    padded, changed : bool
        Whether some were written with spaces around them, or in any other way than they are called.
    """

    positive: str
    negative: str
    typed: bool
    text: bool
    padded: bool
    changed: bool


def positive_rows(values: Any, name: str, source: str, positive: str | None, rest: bool) -> tuple[Any, Labels]:
    """Return 1 for each positive row and 0 for the others, and what the two are called."""
    import numpy as np  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    missing = values.isna()
    if missing.any():
        row = row_number(values.index[missing][0])
        raise Failure(f"The target {name!r} of {source} is missing in data row {row}; leave such rows out.")
    is_text = bool(pd.api.types.is_string_dtype(values))
    text = values if is_text else as_text(values)
    raw = [str(label) for label in text.unique()]
    # Labels that are numbers are compared as such: "1" and "1.0" are the same.
    forms = {label: _plain_label(label) for label in raw}
    truth = set(forms.values()) <= _TRUTH_FORMS
    if truth:
        forms = {label: _TRUTH[form.lower()] for label, form in forms.items()}
    labels = sorted(set(forms.values()), key=_order)
    wanted = None if positive is None else _plain_label(positive)
    if truth and wanted is not None:
        wanted = _TRUTH.get(wanted.lower(), wanted)
    chosen = _choose(labels, wanted, name, source, rest)
    negative = next(label for label in labels if label != chosen) if len(labels) == 2 else f"not {chosen}"
    typed = truth or all(_is_number(label) for label in labels)
    padded = any(label != label.strip() for label in raw)
    changed = any(label != form for label, form in forms.items()) or not (is_text or typed)
    y = (text.astype(object).map(forms) == chosen).to_numpy(dtype=np.int64)
    return y, Labels(chosen, negative, typed, is_text, padded, changed)


def _choose(labels: list[str], positive: str | None, name: str, source: str, rest: bool) -> str:
    shown = ", ".join(repr(label[:40]) for label in labels[:_SHOWN]) + (", ..." if len(labels) > _SHOWN else "")
    if len(labels) < 2:
        raise Failure(f"The target {name!r} of {source} holds only {shown}; positives and negatives are needed.")
    if positive is not None and positive not in labels:
        raise Failure(f"The target {name!r} of {source} never is {positive!r}; it holds {shown}.")
    if len(labels) > 2 and not rest:
        raise Failure(
            f"The target {name!r} of {source} holds {len(labels)} classes ({shown}); say --positive for one of them "
            "and --one-vs-rest to take all others as negatives."
        )
    ordered = labels == ["False", "True"] or all(_is_number(label) for label in labels)
    if positive is None and (len(labels) > 2 or not ordered):
        raise Failure(f"The target {name!r} of {source} holds {shown}; say which is positive with --positive.")
    return labels[-1] if positive is None else positive


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False


def _plain_label(text: str) -> str:
    """Return a label without spaces around it, a number in its shortest form."""
    text = text.strip()
    if not _is_number(text):
        return text
    number = float(text)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def same_label(first: str, second: str) -> bool:
    """Whether two labels mean the same: numbers of one value, or truth values."""
    forms = {_plain_label(first), _plain_label(second)}
    truth = {_TRUTH.get(form.lower(), form) for form in forms}
    return len(forms) == 1 or (len(truth) == 1 and not forms.isdisjoint(_TRUTH_FORMS))


def _order(label: str) -> tuple[bool, float, str]:
    return (True, float(label), "") if _is_number(label) else (False, 0.0, label)
