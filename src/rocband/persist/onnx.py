"""Linear models as ONNX graphs, to be served where there is no Python."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

import rocband
from rocband._files import check_target, write_whole
from rocband._types import FloatArray
from rocband.threshold import FPRThresholdClassifier

__all__ = ["to_onnx"]

_OPSET = 17
_IR_VERSION = 8


@dataclass(frozen=True, slots=True)
class Affine:
    """The score ``(filled(x) - center) @ coef + intercept``; ``fill`` replaces what is missing, NaN where nothing does.

    Positives score above 0.
    """

    fill: FloatArray
    center: FloatArray
    coef: FloatArray
    intercept: float


def to_onnx(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write a fitted linear model as an ONNX graph.

    The graph takes ``X``, a float32 tensor of shape (rows, features), and returns ``score`` and ``label``, those of
    ``decision_function`` and ``predict``. It needs the extra ``onnx`` to be written, and any ONNX runtime to be run.

    Parameters
    ----------
    model : estimator
        A fitted `PartialAUCSVC`, `PartialAUCSVCCV` or other linear binary classifier, alone, in a
        `FPRThresholdClassifier`, or at the end of a pipeline whose steps are `SimpleImputer`, `StandardScaler` and
        `MaxAbsScaler`, on all columns or inside a `ColumnTransformer`.
    path : str or path
        The file to write.

    Returns
    -------
    pathlib.Path
        Where the file is.

    Notes
    -----
    The graph computes in single precision: a score within about 1e-6 of the size of its terms may get another label.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rocband import PartialAUCSVC, persist
    >>> from rocband.datasets import make_band_problem
    >>> model = PartialAUCSVC().fit(*make_band_problem(500, random_state=0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     persist.to_onnx(model, Path(folder) / "model.onnx").name
    'model.onnx'
    """
    target = Path(path)
    check_target(target, "the ONNX file")
    check_is_fitted(model)
    graph = _model_proto(affine(model), np.asarray(model.classes_))
    write_whole(target, graph.SerializeToString(), "the ONNX file")
    return target


def affine(model: Any) -> Affine:
    """Reduce a model to an affine function of its features."""
    if isinstance(model, FPRThresholdClassifier):
        if model.pos_label_ != model.classes_[1]:
            raise ValueError("Only a threshold whose positives have the greater label can be exported to ONNX.")
        inner = affine(model.estimator_)
        return replace(inner, intercept=inner.intercept - model.threshold_)
    if isinstance(model, Pipeline):
        result = affine(model[-1])
        for _, step in reversed(model.steps[:-1]):
            result = _before(step, result)
        return result
    coef = np.asarray(getattr(model, "coef_", np.empty(0)), dtype=np.float64)
    if coef.ndim != 2 or coef.shape[0] != 1:
        raise ValueError(f"Only linear models can be exported to ONNX, and {type(model).__name__} has no coef_ of one.")
    nothing = np.full(coef.shape[1], np.nan)
    return Affine(nothing, np.zeros(coef.shape[1]), coef[0], float(np.ravel(model.intercept_)[0]))


def _before(step: Any, after: Affine) -> Affine:
    """Put a fitted transformer in front of an affine function of its output."""
    if isinstance(step, str) and step == "passthrough":
        return after
    if isinstance(step, StandardScaler | MaxAbsScaler):
        scale = np.ones_like(after.coef) if step.scale_ is None else step.scale_
        mean = getattr(step, "mean_", None) if getattr(step, "with_mean", False) else None
        center = after.center * scale + (0.0 if mean is None else mean)
        fill = after.fill * scale + (0.0 if mean is None else mean)
        return Affine(fill, center, after.coef / scale, after.intercept)
    if isinstance(step, SimpleImputer) and not step.add_indicator and np.isnan(step.missing_values):
        fill = np.asarray(step.statistics_, dtype=np.float64)
        if len(fill) == len(after.coef) and np.isfinite(fill).all():
            return replace(after, fill=fill)
    if isinstance(step, Pipeline):
        for _, inner in reversed(step.steps):
            after = _before(inner, after)
        return after
    if isinstance(step, ColumnTransformer):
        return _columns(step, after)
    raise ValueError(
        f"A pipeline with the step {step!r:.80} cannot be exported to ONNX; it takes scalers and imputers."
    )


def _columns(step: ColumnTransformer, after: Affine) -> Affine:
    """Spread the parts of a column transformer over its input columns."""
    count = step.n_features_in_
    names = list(getattr(step, "feature_names_in_", range(count)))
    whole = Affine(np.full(count, np.nan), np.zeros(count), np.zeros(count), after.intercept)
    for name, transformer, columns in step.transformers_:
        place = step.output_indices_[name]
        part = Affine(after.fill[place], after.center[place], after.coef[place], 0.0)
        if len(part.coef) == 0:
            continue
        part = _before(transformer, part)
        index = [names.index(column) if isinstance(column, str) else int(column) for column in columns]
        if whole.coef[index].any():
            raise ValueError(f"The column transformer uses a column twice (in {name!r}), which ONNX export cannot do.")
        whole.fill[index], whole.center[index], whole.coef[index] = part.fill, part.center, part.coef
    # A column that the model does not use must not make a score NaN.
    whole.fill[np.isnan(whole.fill) & (whole.coef == 0)] = 0.0
    return whole


def _model_proto(function: Affine, classes: npt.NDArray[Any]) -> Any:
    try:
        from onnx import TensorProto, checker, helper  # noqa: PLC0415
    except ImportError:
        raise ImportError("to_onnx needs the package onnx; install rocband[onnx].") from None
    text = classes.dtype.kind in "UO"
    kind = TensorProto.STRING if text else TensorProto.INT64
    labels: Any = [str(label).encode() for label in classes] if text else [int(label) for label in classes]
    vectors: dict[str, Any] = {
        "fill": function.fill,
        "center": function.center,
        "coef": function.coef,
        "intercept": function.intercept,
    }
    constants = [
        helper.make_tensor(name, TensorProto.FLOAT, np.shape(values), np.ravel(values).astype(np.float32))
        for name, values in vectors.items()
    ]
    constants += [
        helper.make_tensor("zero", TensorProto.FLOAT, [], [0.0]),
        helper.make_tensor("classes", kind, [2], labels),
    ]
    steps = [
        helper.make_node("IsNaN", ["X"], ["missing"]),
        helper.make_node("Where", ["missing", "fill", "X"], ["filled"]),
        helper.make_node("Sub", ["filled", "center"], ["centred"]),
        helper.make_node("MatMul", ["centred", "coef"], ["product"]),
        helper.make_node("Add", ["product", "intercept"], ["score"]),
        helper.make_node("Greater", ["score", "zero"], ["positive"]),
        helper.make_node("Cast", ["positive"], ["index"], to=TensorProto.INT64),
        helper.make_node("Gather", ["classes", "index"], ["label"]),
    ]
    width = len(function.coef)
    inputs = [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["rows", width])]
    outputs = [
        helper.make_tensor_value_info("score", TensorProto.FLOAT, ["rows"]),
        helper.make_tensor_value_info("label", kind, ["rows"]),
    ]
    graph = helper.make_graph(steps, "rocband", inputs, outputs, constants)
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="rocband",
        producer_version=rocband.__version__,
    )
    checker.check_model(model)
    return model
