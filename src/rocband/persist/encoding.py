"""Models as JSON values and arrays, and back, for the few classes that a model file may hold."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from rocband.persist.container import ModelFileError

__all__ = ["CLASSES", "Decoder", "Encoder"]

# The name in a file and the module of each class that may be in one. Nothing else is ever made on loading.
CLASSES = {
    "PartialAUCSVC": "rocband.linear",
    "PartialAUCSVCCV": "rocband.linear_cv",
    "KernelPartialAUCSVC": "rocband.kernel",
    "Kernel": "rocband.kernels.function",
    "AsymmetricSVC": "rocband.baselines",
    "GreedyPartialAUC": "rocband.baselines",
    "FPRThresholdClassifier": "rocband.threshold",
    "Pipeline": "sklearn.pipeline",
    "ColumnTransformer": "sklearn.compose",
    "SimpleImputer": "sklearn.impute",
    "OneHotEncoder": "sklearn.preprocessing",
    "StandardScaler": "sklearn.preprocessing",
    "MaxAbsScaler": "sklearn.preprocessing",
    "FrozenEstimator": "sklearn.frozen",
    "LogisticRegression": "sklearn.linear_model",
    "KFold": "sklearn.model_selection",
    "StratifiedKFold": "sklearn.model_selection",
    "GroupKFold": "sklearn.model_selection",
    "StratifiedGroupKFold": "sklearn.model_selection",
    "GroupShuffleSplit": "sklearn.model_selection",
}
# A pipeline's memory would name a folder of pickles, and a response method is called by its name.
_LIMITED = {"memory": (None,), "response_method_": ("decision_function", "predict_proba")}
# What scores are made from; one nan would make nan of every score.
_FINITE = {"coef_", "dual_coef_", "intercept_", "threshold_"}
_TYPES = {"float32": np.float32, "float64": np.float64, "int64": np.int64}
_NAME = re.compile(r"(?!__)[A-Za-z_]\w*", re.ASCII)
_DEEPEST = 60  # a threshold around a pipeline of transformers of pipelines takes about 20


class Encoder:
    """Turns values into JSON and collects their arrays."""

    def __init__(self) -> None:
        self.arrays: list[npt.NDArray[Any]] = []

    def encode(self, value: Any, where: str) -> Any:
        """Return JSON for a value; ``where`` says in an error where it is."""
        if value is None or type(value) in (bool, int, str):
            return value
        if isinstance(value, float) and not isinstance(value, np.generic):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, list):
            return [self.encode(item, f"{where}[{k}]") for k, item in enumerate(value)]
        if isinstance(value, tuple):
            return {"tuple": self.encode(list(value), where)}
        if isinstance(value, dict):
            pairs = [[self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()]
            return {"dict": pairs}
        return self._special(value, where)

    def _special(self, value: Any, where: str) -> dict[str, Any]:
        if isinstance(value, slice):
            return {"slice": [self.encode(part, where) for part in (value.start, value.stop, value.step)]}
        if isinstance(value, np.dtype) and value.name in (*_TYPES, "object"):
            return {"dtype": value.name}
        if isinstance(value, type) and value.__name__ in _TYPES and value is _TYPES[value.__name__]:
            return {"type": value.__name__}
        if sparse.issparse(value):
            return self._sparse(value, where)
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value, where)
        name = type(value).__name__
        if name in CLASSES and type(value) is _class(name):
            return {"object": name, "state": {k: self.encode(v, f"{where}.{k}") for k, v in _state(value).items()}}
        raise ModelFileError(
            f"{where} is of the type {type(value).__module__}.{name}, which a model file cannot hold; "
            f"it holds {', '.join(CLASSES)}, arrays, numbers and text."
        )

    def _array(self, value: Any, where: str) -> dict[str, Any]:
        array = np.asarray(value)
        if array.dtype.kind == "O":
            return {"objects": self.encode(array.ravel().tolist(), where), "shape": list(array.shape)}
        if array.dtype.kind not in "fiubU" or array.dtype.itemsize == 0 or array.dtype.str[1:] in ("f2", "f16"):
            raise ModelFileError(f"{where} is an array of dtype {array.dtype}, which a model file cannot hold.")
        self.arrays.append(array)
        return {"scalar" if isinstance(value, np.generic) else "array": len(self.arrays) - 1}

    def _sparse(self, value: Any, where: str) -> dict[str, Any]:
        rows = value.tocsr()
        parts = [self._array(part, where) for part in (rows.data, rows.indices, rows.indptr)]
        return {"csr": parts, "shape": list(rows.shape), "matrix": isinstance(value, sparse.spmatrix)}


class Decoder:
    """Turns JSON back into values; whatever is not expected is an error, and nothing from the file is called."""

    def __init__(self, arrays: list[npt.NDArray[Any]]) -> None:
        self.arrays = arrays
        self._makers: dict[str, Callable[[dict[str, Any], int], Any]] = {
            "float": lambda node, _: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[node["float"]],
            "tuple": lambda node, depth: tuple(self.decode(node["tuple"], depth)),
            "dict": lambda node, depth: {self.decode(k, depth): self.decode(v, depth) for k, v in node["dict"]},
            "slice": lambda node, depth: slice(*self.decode(node["slice"], depth)),
            "dtype": lambda node, _: np.dtype(object if node["dtype"] == "object" else _TYPES[node["dtype"]]),
            "type": lambda node, _: _TYPES[node["type"]],
            "array": lambda node, _: self._array(node["array"]),
            "scalar": lambda node, _: self._array(node["scalar"]).reshape(())[()],
            "objects": self._objects,
            "csr": self._sparse,
            "object": self._object,
        }

    def decode(self, node: Any, depth: int = 0) -> Any:
        """Return the value of JSON that `Encoder` made."""
        if depth > _DEEPEST:
            raise ModelFileError("it is nested too deeply")
        if isinstance(node, list):
            return [self.decode(item, depth + 1) for item in node]
        if not isinstance(node, dict):
            return node
        kinds = [kind for kind in node if kind in self._makers]
        if len(kinds) != 1:
            raise ModelFileError("it holds a value of no known kind")
        return self._makers[kinds[0]](node, depth + 1)

    def _array(self, number: Any) -> npt.NDArray[Any]:
        if type(number) is not int or not 0 <= number < len(self.arrays):
            raise ModelFileError("it refers to an array that is not there")
        return self.arrays[number]

    def _objects(self, node: dict[str, Any], depth: int) -> npt.NDArray[Any]:
        items = self.decode(node["objects"], depth)
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array.reshape(node["shape"])

    def _sparse(self, node: dict[str, Any], depth: int) -> Any:
        parts = tuple(self.decode(part, depth) for part in node["csr"])
        kind = sparse.csr_matrix if node["matrix"] else sparse.csr_array
        rows = kind(parts, shape=tuple(node["shape"]))
        rows.check_format(full_check=True)  # indices out of bounds would read outside of the arrays
        return rows

    def _object(self, node: dict[str, Any], depth: int) -> Any:
        cls = _class(node["object"])
        state = {name: self.decode(value, depth) for name, value in node["state"].items()}
        for name, item in state.items():
            # An attribute of the class must not be hidden by data from a file.
            known = _NAME.fullmatch(name) and (not hasattr(cls, name) or name in _fields(cls))
            if not known or (name in _LIMITED and item not in _LIMITED[name]):
                raise ModelFileError(f"it gives {node['object']} an attribute {name!s:.60} that it cannot have")
            if name in _FINITE and not np.isfinite(np.asarray(item, dtype=np.float64)).all():
                raise ModelFileError(f"the {name} of its {node['object']} is not finite")
        value = cls.__new__(cls)
        for name, item in (_later_parameters(cls, state) | state).items():
            object.__setattr__(value, name, item)
        return value


def _class(name: Any) -> Any:
    """Return a class that may be in a file."""
    if not isinstance(name, str) or name not in CLASSES:
        raise ModelFileError(f"it holds a {name!s:.60}, which is not among the classes that a model file may hold")
    try:
        return getattr(import_module(CLASSES[name]), name)
    except ImportError:
        raise ModelFileError(f"it holds a {name}, which this version of rocband does not have") from None


def _fields(cls: Any) -> tuple[str, ...]:
    """Names of the fields of a class with slots, which are attributes of the class too."""
    return tuple(getattr(cls, "__slots__", ()))


def _later_parameters(cls: Any, state: dict[str, Any]) -> dict[str, Any]:
    """Return the defaults of our own parameters that the version which wrote the file did not have yet."""
    if not cls.__module__.startswith("rocband."):
        return {}
    parameters = inspect.signature(cls).parameters.values()
    return {one.name: one.default for one in parameters if one.name not in state and one.default is not one.empty}


def _state(value: Any) -> dict[str, Any]:
    slots = _fields(type(value))
    return {name: getattr(value, name) for name in slots} if slots else dict(vars(value))
