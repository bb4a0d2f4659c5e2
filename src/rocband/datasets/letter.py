"""The embedded data set of capital letters."""

from __future__ import annotations

import string
from importlib.resources import files
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from rocband._errors import ParameterError
from rocband.datasets.archive import read_archive

__all__ = ["load_letter"]

# As UCI's page names the columns, in the order of the file.
_FEATURES = (
    "x-box",
    "y-box",
    "width",
    "high",
    "onpix",
    "x-bar",
    "y-bar",
    "x2bar",
    "y2bar",
    "xybar",
    "x2ybr",
    "xy2br",
    "x-ege",
    "xegvy",
    "y-ege",
    "yegvx",
)
_ALPHABET = np.array(list(string.ascii_uppercase))


def load_letter(positive: str = "Q", *, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the letter recognition data: one capital letter against the other 25.

    20,000 distorted images of letters, each described by 16 whole numbers from 0 to 15. The file is part of the
    package; nothing is downloaded. It is the work of David J. Slate, Letter Recognition, UCI Machine Learning
    Repository (1991), https://doi.org/10.24432/C5ZP40, under the licence CC BY 4.0.

    Parameters
    ----------
    positive : str, default "Q"
        The letter that makes the positives, "A" to "Z".
    return_X_y : bool, default False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default False
        Give ``data`` as a pandas DataFrame and ``target`` as a Series; this needs pandas.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch` or tuple
        The Bunch holds ``data`` (20000, 16), ``target`` (1 for the positive letter, else 0), ``letters`` (the letter
        of each row), ``frame`` (data and target, or None), ``feature_names``, ``target_names`` and ``DESCR``.

    Examples
    --------
    >>> from rocband.datasets import load_letter
    >>> X, y = load_letter("Q", return_X_y=True)
    >>> X.shape, int(y.sum())
    ((20000, 16), 783)
    """
    folder = files("rocband.datasets") / "data"
    with (folder / "letter.npz").open("rb") as stream:
        archive = read_archive(stream)
    data = np.asarray(archive.X, dtype=np.float64)
    codes = archive.columns["y_multi"]
    target = (codes == _code(positive)).astype(np.int64)
    bunch = Bunch(
        data=data,
        target=target,
        letters=_ALPHABET[codes],
        frame=None,
        feature_names=list(_FEATURES),
        target_names=[f"not {positive}", positive],
        DESCR=(folder / "letter.txt").read_text(encoding="utf-8"),
    )
    if as_frame:
        _to_frame(bunch)
    if return_X_y:
        return bunch.data, bunch.target
    return bunch


def _code(letter: object) -> int:
    if not isinstance(letter, str) or len(letter) != 1 or letter not in string.ascii_uppercase:
        raise ParameterError("positive", f"must be one capital letter from 'A' to 'Z', got {letter!r}.")
    return string.ascii_uppercase.index(letter)


def _to_frame(bunch: Bunch) -> None:
    """Put pandas' objects in the place of arrays."""
    # pandas is optional, and slow to import.
    import pandas as pd  # noqa: PLC0415

    bunch.data = pd.DataFrame(bunch.data, columns=bunch.feature_names)
    bunch.target = pd.Series(bunch.target, name="target")
    bunch.frame = bunch.data.assign(target=bunch.target)
