"""The four public data sets of the partial-AUC literature that are fetched at run time."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from rocband._errors import ParameterError
from rocband._types import AnyArray
from rocband.datasets.store import Source, Table, fetch_table

__all__ = ["fetch_a9a", "fetch_codrna", "fetch_covtype", "fetch_ijcnn1"]

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"

A9A = Source(
    name="a9a",
    urls=(f"{_LIBSVM}a9a", f"{_LIBSVM}a9a.t"),
    layout="svmlight",
    n_features=123,
    dense=False,
    sha256="97544589bf92dd3cd720ee840f8548febe4bc31d53074415f73b30e914765ce1",
)
IJCNN1 = Source(
    name="ijcnn1",
    urls=(f"{_LIBSVM}ijcnn1.bz2", f"{_LIBSVM}ijcnn1.t.bz2"),
    layout="svmlight",
    n_features=22,
    sha256="f42ee2ec659d4f7756368566847298017f1d4b94c4fc08552d6e72b71718e38f",
)
CODRNA = Source(
    name="codrna_train_test",
    urls=(f"{_LIBSVM}cod-rna", f"{_LIBSVM}cod-rna.t"),
    layout="svmlight",
    n_features=8,
    sha256="0b08e8eaedf6b7999ab258fd2496b5579681e268f3b319902bfed3ed347ad027",
)
COVTYPE = Source(
    name="covtype",
    urls=(f"{_UCI}covtype/covtype.data.gz",),
    layout="csv",
    n_features=54,
    sha256="44c18b9fcff9c7ee225f3016b91245d9fa1aede6431e484cd06893f7d44a9368",
)


def fetch_a9a(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    verbose: bool | None = None,
) -> Any:
    """Fetch a9a: who earns more than 50,000 dollars (UCI Adult in LIBSVM's binary coding).

    48,842 rows, 123 binary features, 23.9% positives; the published training and test files one after the other.
    A local copy ``a9a.npz`` is looked for in the folder that ROCBAND_DATA names, then in the cache.

    Parameters
    ----------
    data_home : path, optional
        Folder of the cache; looked into first. ``~/.cache/rocband`` by default.
    download_if_missing : bool, default True
        If False, raise an OSError when there is no local copy.
    return_X_y : bool, default False
        Return ``(data, target)`` instead of a Bunch.
    verbose : bool, optional
        Say on stderr what is downloaded; by default when that is a terminal.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch` or tuple
        The Bunch holds ``data`` (CSR matrix, float32), ``target`` (0 or 1), ``split`` (0 for rows of the training file,
        1 for rows of the test file) and ``DESCR``.

    Examples
    --------
    ::

        X, y = fetch_a9a(return_X_y=True)
    """
    table = fetch_table(A9A, data_home=data_home, download_if_missing=download_if_missing, verbose=verbose)
    return as_answer(fetch_a9a, table, table.labels, return_X_y, split=table.split)


def fetch_ijcnn1(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    verbose: bool | None = None,
) -> Any:
    """Fetch ijcnn1: engine misfires, from the IJCNN 2001 challenge in its winner's coding.

    141,691 rows, 22 features, 9.6% positives; the published training and test files one after the other.
    A local copy ``ijcnn1.npz`` is looked for in the folder that ROCBAND_DATA names, then in the cache.

    Parameters
    ----------
    data_home, download_if_missing, return_X_y, verbose
        As in :func:`fetch_a9a`.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch` or tuple
        The Bunch holds ``data`` (array, float32), ``target`` (0 or 1), ``split`` (0 for rows of the training file,
        1 for rows of the test file) and ``DESCR``.

    Examples
    --------
    ::

        X, y = fetch_ijcnn1(return_X_y=True)
    """
    table = fetch_table(IJCNN1, data_home=data_home, download_if_missing=download_if_missing, verbose=verbose)
    return as_answer(fetch_ijcnn1, table, table.labels, return_X_y, split=table.split)


def fetch_codrna(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    verbose: bool | None = None,
) -> Any:
    """Fetch cod-rna: pairs of RNA sequences, non-coding or not.

    331,152 rows, 8 unscaled features, 33.3% positives; the published training and test files one after the other. The
    third file, cod-rna.r with 157,413 rows, is left out, so figures differ from those on all 488,565 rows. Rows repeat.
    A local copy ``codrna_train_test.npz`` is looked for in the folder that ROCBAND_DATA names, then in the cache.

    Parameters
    ----------
    data_home, download_if_missing, return_X_y, verbose
        As in :func:`fetch_a9a`.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch` or tuple
        The Bunch holds ``data`` (array, float32), ``target`` (0 or 1), ``split`` (0 for rows of the training file,
        1 for rows of the test file) and ``DESCR``.

    Examples
    --------
    ::

        X, y = fetch_codrna(return_X_y=True)
    """
    table = fetch_table(CODRNA, data_home=data_home, download_if_missing=download_if_missing, verbose=verbose)
    return as_answer(fetch_codrna, table, table.labels, return_X_y, split=table.split)


def fetch_covtype(
    *,
    positive: int = 5,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    verbose: bool | None = None,
) -> Any:
    """Fetch covtype: one forest cover type against the other six (UCI Covertype).

    581,012 rows, 54 unscaled features; 1.6% positives for class 5. LIBSVM's covtype.binary is another problem (class 2
    against the rest).
    A local copy ``covtype.npz`` is looked for in the folder that ROCBAND_DATA names, then in the cache.

    Parameters
    ----------
    positive : int, default 5
        The class that makes the positives, 1 to 7.
    data_home, download_if_missing, return_X_y, verbose
        As in :func:`fetch_a9a`.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch` or tuple
        The Bunch holds ``data`` (array, float32), ``target`` (0 or 1), ``classes`` (1 to 7) and ``DESCR``.

    Examples
    --------
    ::

        X, y = fetch_covtype(return_X_y=True)
    """
    if positive not in range(1, 8):
        raise ParameterError("positive", f"must be a cover type from 1 to 7, got {positive!r}.")
    table = fetch_table(COVTYPE, data_home=data_home, download_if_missing=download_if_missing, verbose=verbose)
    return as_answer(fetch_covtype, table, table.labels == positive, return_X_y, classes=table.labels)


def as_answer(
    fetcher: Callable[..., Any], table: Table, positive: AnyArray, return_X_y: bool, **extras: AnyArray
) -> Any:
    """Give the table as scikit-learn's fetchers do: a Bunch, or ``(data, target)``."""
    target = positive.astype(np.int64)
    if return_X_y:
        return table.X, target
    return Bunch(data=table.X, target=target, DESCR=inspect.getdoc(fetcher), **extras)
