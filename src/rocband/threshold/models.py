"""Rows to fit and calibrate on, and the scores and classes of the models fitted to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from rocband._errors import ParameterError
from rocband._types import AnyArray, FloatArray, IndexArray

__all__ = [
    "ResponseMethod",
    "TrainingRows",
    "check_finite",
    "known_classes",
    "model_scores",
    "position_of",
    "scoring_method",
    "take",
    "two_classes",
]

ResponseMethod = Literal["auto", "decision_function", "predict_proba"]

_METHODS = ("decision_function", "predict_proba")


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """What a model is fitted to, to be cut into parts."""

    X: Any
    y: AnyArray
    fit_params: dict[str, Any]

    def check_split(self, train: IndexArray, test: IndexArray, classes: AnyArray, name: str) -> None:
        """Say so when a class is missing in the part to train on, or has no weight there, or the parts overlap."""
        if len(np.intersect1d(train, test)):
            raise ValueError(
                f"{name} holds out rows that it also trains on; a threshold needs rows the model has not seen."
            )
        labels = self.y[train]
        weights = self.fit_params.get("sample_weight")
        if self._by_row(weights):
            # Rows without weight do not train a model.
            labels = labels[np.asarray(take(weights, train)) > 0]
        for label in classes.tolist():
            if not np.any(labels == label):
                raise ValueError(
                    f"{name} leaves no rows of the class {label!r} to train on, or none with a positive "
                    "sample_weight; use fewer folds or a stratified splitter, or hold out fewer rows."
                )

    def fitted(self, model: Any, index: IndexArray | None) -> Any:
        """Fit a model to some of the rows, or to all."""
        if index is None:
            return _check_classifier(model.fit(self.X, self.y, **self.fit_params))
        params = {name: self._part(value, index) for name, value in self.fit_params.items()}
        return _check_classifier(model.fit(take(self.X, index), self.y[index], **params))

    def fold(self, model: Any, train: IndexArray, test: IndexArray, method: str, pos_label: object) -> FloatArray:
        """Fit a model to one part and return its scores of another."""
        fitted = self.fitted(model, train)
        return model_scores(fitted, take(self.X, test), method, pos_label)

    def _part(self, value: Any, index: IndexArray) -> Any:
        return take(value, index) if self._by_row(value) else value

    def _by_row(self, value: Any) -> bool:
        """Tell whether a value has one entry for each row."""
        if isinstance(value, list | tuple):
            return len(value) == len(self.y)
        shape: tuple[int, ...] = getattr(value, "shape", ())
        return len(shape) > 0 and shape[0] == len(self.y)


def take(values: Any, index: IndexArray) -> Any:
    """Choose rows of an array, a sparse matrix, a data frame or a list."""
    if hasattr(values, "iloc"):
        return values.iloc[index]
    if hasattr(values, "shape"):
        return values[index]
    return [values[i] for i in index]


def scoring_method(estimator: Any, wanted: str) -> str:
    """Name the method that gives an estimator's scores."""
    if wanted not in ("auto", *_METHODS):
        problem = f"must be 'auto', 'decision_function' or 'predict_proba', got {wanted!r}."
        raise ParameterError("response_method", problem)
    methods = _METHODS if wanted == "auto" else (wanted,)
    for method in methods:
        if hasattr(estimator, method):
            return method
    raise ValueError(f"A threshold needs scores, but {type(estimator).__name__} has no {' or '.join(methods)}.")


def model_scores(model: Any, X: Any, method: str, pos_label: object) -> FloatArray:
    """Return a model's scores, larger for what looks more positive."""
    positive = position_of(pos_label, model.classes_)
    scores = np.asarray(getattr(model, method)(X), dtype=np.float64)
    if method == "predict_proba":
        return scores[:, positive]
    return scores if positive == 1 else -scores


def position_of(label: object, classes: Any) -> int:
    """Return where a label stands among a model's classes, which need not be in sorted order."""
    order: list[object] = np.asarray(classes).tolist()
    return order.index(label)


def _check_classifier(fitted: Any) -> Any:
    if not hasattr(fitted, "classes_"):
        raise ValueError(f"{type(fitted).__name__} has no classes_ once fitted; pass a classifier.")
    return fitted


def two_classes(y: AnyArray) -> AnyArray:
    """Return the two classes of the labels."""
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y")
    if kind != "binary":
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    classes: AnyArray = np.unique(y)
    if len(classes) == 0:
        raise ParameterError("y", "is empty; pass rows of two classes.")
    if len(classes) == 1:
        raise ParameterError("y", f"holds one class only, {classes.tolist()[0]!r}; pass rows of two classes.")
    return classes


def known_classes(estimator: Any, y: AnyArray) -> AnyArray:
    """Return the two classes that a fitted estimator knows, all labels among them."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        raise NotFittedError(
            "The estimator is not fitted; fit it on other rows first, or let cv choose the rows to calibrate on."
        ) from None
    classes = np.asarray(_check_classifier(estimator).classes_)
    if len(classes) != 2:
        raise ValueError(
            f"Only binary classification is supported. The estimator was fitted to {len(classes)} classes."
        )
    check_classification_targets(y)
    unknown = np.setdiff1d(y, classes).tolist()
    if unknown:
        low, high = classes.tolist()
        raise ParameterError("y", f"holds the label {unknown[0]!r}; the estimator knows {low!r} and {high!r}.")
    return classes


def check_finite(scores: FloatArray) -> FloatArray:
    """Return the scores, all of them finite."""
    bad = int(np.count_nonzero(~np.isfinite(scores)))
    if bad:
        raise ValueError(f"The estimator's scores of {bad} of {len(scores)} negatives are not finite numbers.")
    return scores
