"""Saving and loading models."""

from __future__ import annotations

import math
import os
import platform
import warnings
from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.utils.validation import check_is_fitted

import rocband
from rocband._files import check_target, write_whole
from rocband.persist.container import FORMAT, ModelFileError, pack, unpack
from rocband.persist.encoding import CLASSES, Decoder, Encoder

__all__ = ["describe", "load", "save"]

_INNER = ("estimator_", "estimator", "steps", "_final_estimator")


def save(model: Any, path: str | os.PathLike[str], *, notes: Mapping[str, str] | None = None) -> Path:
    """Write a fitted model to a file that is safe to load.

    Parameters
    ----------
    model : estimator
        A fitted model of rocband, a `FPRThresholdClassifier` around one, or a scikit-learn pipeline that ends in one
        and prepares its features by imputing, scaling and one-hot encoding. The classes are those of
        `rocband.persist.encoding.CLASSES`.
    path : str or path
        The file. An existing one is replaced at once, or left as it was when something goes wrong.
    notes : mapping of str to str, optional
        Anything to keep with the model, such as where its data came from; `describe` returns it.

    Returns
    -------
    pathlib.Path
        Where the file is.

    Raises
    ------
    ModelFileError
        If the model holds something that is not data, such as a function; the sentence names it.

    See Also
    --------
    load : The way back.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rocband import PartialAUCSVC, persist
    >>> from rocband.datasets import make_band_problem
    >>> X, y = make_band_problem(500, random_state=0)
    >>> model = PartialAUCSVC().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = persist.save(model, Path(folder) / "model.rocband")
    ...     again = persist.load(path)
    >>> bool((again.decision_function(X) == model.decision_function(X)).all())
    True
    """
    target = Path(path)
    check_target(target, "the model file")
    check_is_fitted(model)
    encoder = Encoder()
    root = encoder.encode(model, type(model).__name__)
    if not isinstance(root, dict) or "object" not in root:
        raise ModelFileError(f"A model file holds an estimator, got {type(model).__name__}.")
    manifest = {
        "format": FORMAT,
        "rocband": rocband.__version__,
        "sklearn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "fpr_range": _band(model),
        "feature_names": _feature_names(model),
        "notes": {str(key): str(value) for key, value in (notes or {}).items()},
        "model": root,
    }
    write_whole(target, pack(manifest, encoder.arrays), "the model file")
    return target


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model from a file; whatever the file holds, nothing in it is run.

    Parameters
    ----------
    path : str or path
        A file that `save` wrote.

    Returns
    -------
    estimator
        The model as it was saved.

    Raises
    ------
    ModelFileError
        If the file is no model file, is damaged, comes from a newer format, or holds anything but the data of a model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rocband import persist
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.rocband"
    ...     _ = path.write_bytes(b"something else")
    ...     try:
    ...         persist.load(path)
    ...     except persist.ModelFileError as error:
    ...         print(str(error).partition("model.rocband ")[2])
    is not a rocband model file; load files written by rocband.persist.save.
    """
    manifest, arrays = unpack(_read(path), str(path))
    try:
        model = Decoder(arrays).decode(manifest["model"])
        if type(model).__name__ not in CLASSES:
            raise ModelFileError("it holds no model")
        check_is_fitted(model)
    except ModelFileError as error:
        raise ModelFileError(f"{path} cannot be loaded: {error}.") from None
    except Exception:  # A made-up file may upset any check of numpy, scipy or scikit-learn.
        raise ModelFileError(f"{path} cannot be loaded: its values do not make a model.") from None
    _compare_versions(manifest.get("sklearn"), path)
    return model


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what a model file says about itself, without making the model.

    Parameters
    ----------
    path : str or path
        A file that `save` wrote.

    Returns
    -------
    dict
        ``format``, the versions of ``rocband``, ``sklearn``, ``numpy`` and ``python`` that wrote it, ``fpr_range`` (the
        training band, or None), ``feature_names`` (or None) and ``notes``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rocband import PartialAUCSVC, persist
    >>> from rocband.datasets import make_band_problem
    >>> model = PartialAUCSVC((0.0, 0.1)).fit(*make_band_problem(500, random_state=0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     about = persist.describe(persist.save(model, Path(folder) / "model.rocband", notes={"site": "north"}))
    >>> about["fpr_range"], about["notes"]
    ([0.0, 0.1], {'site': 'north'})
    """
    manifest, _ = unpack(_read(path), str(path))
    about = {name: value for name, value in manifest.items() if name not in ("model", "arrays")}
    if not _is_sound(about):
        raise ModelFileError(f"{path} is not a sound rocband model file: what it says about itself is not as expected.")
    return about


def _read(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise type(error)(f"The model file {path} cannot be read: {error.strerror or error}.") from None


def _is_sound(about: dict[str, Any]) -> bool:
    band, names, notes = (about.get(name) for name in ("fpr_range", "feature_names", "notes"))
    return (
        (band is None or (isinstance(band, list) and len(band) == 2 and all(isinstance(end, float) for end in band)))
        and (names is None or (isinstance(names, list) and all(isinstance(name, str) for name in names)))
        and isinstance(notes, dict)
        and all(isinstance(value, str) for value in notes.values())
    )


def _band(model: Any) -> list[float] | None:
    """Return the training band of a model, or of the model inside it."""
    band = getattr(model, "fpr_range", None)
    if band is not None:
        ends = [float(end) for end in band if isinstance(end, Real) and math.isfinite(end)]
        return ends if len(ends) == 2 else None
    for name in _INNER:
        inner = getattr(model, name, None)
        if inner is not None:
            return _band(inner[-1][1] if isinstance(inner, list) else inner)
    return None


def _feature_names(model: Any) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _compare_versions(written: Any, path: object) -> None:
    """Warn when scikit-learn has moved on, since the attributes of its transformers may have."""
    if str(written).split(".")[:2] != sklearn.__version__.split(".")[:2]:
        warnings.warn(
            f"{path} was written with scikit-learn {written!s:.20} and is loaded with {sklearn.__version__}; compare "
            "some predictions before you rely on it.",
            UserWarning,
            stacklevel=3,
        )
