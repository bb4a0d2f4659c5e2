"""The threshold for a false-positive rate, with or without a guarantee, and what a model does there.

A sample is called positive when its score lies strictly above the threshold, and a threshold is always the score of a
negative: with the k-th largest of n, at most k - 1 of them pass, however many scores tie.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import special, stats
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedShuffleSplit, check_cv
from sklearn.utils import assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from rocband.metrics import _split

__all__ = ["FPRThresholdClassifier", "operating_points"]

_Array = npt.NDArray[Any]
_Floats = npt.NDArray[np.float64]
_Params = dict[str, Any]

_FOLDS = 5
_HOLD_OUT = 0.3
_METHODS = ("decision_function", "predict_proba")
# 0.29 * 100 falls short of 29, and 1 - 0.9 of 0.1, by rounding alone: so near, a rank or a probability is reached.
_NOISE = 1e-12


def _has(method: str) -> Callable[[FPRThresholdClassifier], bool]:
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), method)


class FPRThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier that calls positive what scores above the threshold for a false-positive rate.

    The threshold is a score of negatives that the model was not trained on. By default it lets at most the share
    ``target_fpr`` of them pass; the true false-positive rate then lies above the target about as often as below. With
    ``confidence``, it is set so that the true rate exceeds the target with probability at most ``1 - confidence``.

    Parameters
    ----------
    estimator : classifier
        Any binary classifier with ``decision_function`` or ``predict_proba``. A
        :class:`~sklearn.frozen.FrozenEstimator` is never trained again: all rows given to ``fit`` set its threshold.
    target_fpr : float, default 0.05
        The false-positive rate to stay at, in (0, 1).
    confidence : float, optional
        The probability, in (0, 1), with which the true false-positive rate is to be at most ``target_fpr``; it is over
        the draw of the calibration negatives. At least log(1 - confidence) / log(1 - target_fpr) of them are needed:
        59 for a confidence of 0.95 at a target of 0.05, 299 at 0.01.
    cv : float, int, splitter, iterable of splits or "prefit", optional
        Where the calibration negatives come from.

        - A float in (0, 1), or anything that makes a single split: a hold-out. The model is trained on the rest and
          kept; the guarantee is exact. A float is the stratified share of the rows to hold out.
        - An int or anything that makes several splits: cross-fitting. Each negative is scored by a model that has not
          seen it, and the final model is trained on all rows; the guarantee is approximate, see the notes.
        - "prefit": ``estimator`` is fitted, and all rows given to ``fit`` set its threshold. They must not be those it
          was trained on; the guarantee is exact. Use a ``FrozenEstimator`` where the classifier is cloned, as in a
          grid search.
        - None: 5 folds without ``confidence``; a hold-out of 0.3 with it, so that the guarantee is exact.
    response_method : {"auto", "decision_function", "predict_proba"}, default "auto"
        What gives the scores. "auto" prefers ``decision_function``: probabilities near 1 tie where it does not.
    pos_label : object, optional
        The label of the positives; the greater of the two by default.
    n_jobs : int, optional
        How many folds to fit at a time.
    random_state : int, RandomState instance or None, default None
        For the hold-out when ``cv`` is a float.

    Attributes
    ----------
    estimator_ : classifier
        The fitted model whose scores are compared with the threshold.
    classes_ : ndarray of shape (2,)
        The labels.
    threshold_ : float
        A sample is positive when the score of the positive class is greater.
    expected_fpr_ : float
        With ``confidence``, the mean of the true false-positive rate, k / (n + 1) for the k-th largest of n scores
        (an upper bound when scores tie). Without, the share of calibration negatives that pass; the true rate
        exceeds it by up to 1 / (n + 1) on average.
    pos_label_ : object
        The label of the positives.
    n_calibration_negatives_ : int
        How many negatives set the threshold.
    response_method_ : str
        The method that gives the scores.
    n_features_in_ : int
        Number of features, when the model knows it.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when the model knows them.

    See Also
    --------
    operating_points : A table of what scores achieve at several false-positive rates.
    sklearn.model_selection.TunedThresholdClassifierCV : The threshold that is best for a metric.

    Notes
    -----
    Let n negatives be drawn independently of the model. When scores do not tie, the true false-positive rate of the
    k-th largest has a Beta(k, n - k + 1) distribution, whatever the model and the data; it exceeds the target with the
    probability that a Binomial(n, target) is at most k - 1. The largest k for which that is at most 1 - confidence is
    taken [1]_. Ties only lower the rate. The promise is about future negatives like those held out: it says nothing
    once the population has changed, and rows that belong together (patients, queries) must be held out together, with
    a group splitter that makes one split.

    This argument does not cover cross-fitting: the folds' models differ from each other and from the final model,
    whose scores nobody has seen on fresh data. If training on all rows instead of most hardly moves the scores, the
    promise nearly holds. It breaks when the spread of the scores depends on the number of rows: a heavily regularised
    model spreads them with more rows, and its true rate can then exceed the target half of the time instead of one
    time in twenty; a model with nearly as many features as rows does the opposite and wastes most of the target.

    A hold-out costs training rows. Only negatives are needed for the threshold, so where positives are rare, pass one
    split that holds out negatives alone: ``cv=[(train, test)]``.

    Sample weights and other metadata go to the model's ``fit``; each calibration negative counts once.

    References
    ----------
    .. [1] X. Tong, Y. Feng, J. J. Li (2018). Neyman-Pearson classification algorithms and NP receiver operating
       characteristics. Science Advances 4(2), eaao1659.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from rocband.datasets import make_band_problem
    >>> from rocband.threshold import FPRThresholdClassifier
    >>> X, y = make_band_problem(20_000, random_state=0)
    >>> model = FPRThresholdClassifier(LogisticRegression(), target_fpr=0.05, confidence=0.95, random_state=0)
    >>> model = model.fit(X[:10_000], y[:10_000])
    >>> negatives = X[10_000:][y[10_000:] == 0]
    >>> bool(model.predict(negatives).mean() <= 0.05)
    True
    """

    classes_: _Array
    estimator_: Any
    pos_label_: Any
    threshold_: float

    def __init__(
        self,
        estimator: Any,
        *,
        target_fpr: float = 0.05,
        confidence: float | None = None,
        cv: Any = None,
        response_method: str = "auto",
        pos_label: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.target_fpr = target_fpr
        self.confidence = confidence
        self.cv = cv
        self.response_method = response_method
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Train the model, unless it is fitted already, and set the threshold.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            What the model takes.
        y : array-like of shape (n_samples,)
            Labels of two classes. A fitted model's threshold can be set from negatives alone.
        **params : dict
            Passed on to the model's ``fit``, cut to the training rows where there is one entry for each row; ``groups``
            goes to the splitter. With scikit-learn's metadata routing enabled, the requests decide.

        Returns
        -------
        self : FPRThresholdClassifier
        """
        target, confidence = self._check_rates()
        method = _scoring_method(self.estimator, self.response_method)
        X, y = indexable(X, y)
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        prefit = isinstance(self.estimator, FrozenEstimator) or (isinstance(self.cv, str) and self.cv == "prefit")
        self._set_classes(_known_classes(self.estimator, labels) if prefit else _two_classes(labels))
        fit_params, split_params = self._routed(params)
        data = _Rows(X, labels, fit_params)
        splits = [] if prefit else self._splits(data, split_params)
        chosen = np.concatenate([test for _, test in splits]) if splits else np.arange(len(labels))
        negative = labels[chosen] != self.pos_label_
        _check_enough(int(np.count_nonzero(negative)), target, confidence)
        self.estimator_, scores = self._model_and_scores(data, splits, method)
        self.threshold_, self.expected_fpr_ = _cut(_check_finite(scores[negative]), target, confidence)
        self.n_calibration_negatives_ = int(np.count_nonzero(negative))
        self.response_method_ = method
        self._copy_feature_attributes()
        return self

    def predict(self, X: Any) -> _Array:
        """Return the label of each row: positive where the score is greater than the threshold.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            What the model takes.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        passes = self._scores(X) > self.threshold_
        labels: _Array = self.classes_[np.where(passes, self._positive, 1 - self._positive)]
        return labels

    def decision_function(self, X: Any) -> _Floats:
        """Return how far each score lies above the threshold: greater than 0 where ``classes_[1]`` is predicted.

        When ``pos_label`` is the lesser label, the sign is turned, as everywhere in scikit-learn, so that scorers read
        it rightly: the positives are then those at or below 0.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            What the model takes.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self._scores(X)
        if self._positive == 1:
            return scores - self.threshold_
        # A score at the threshold is no positive, so it must come out above 0 here.
        return math.nextafter(self.threshold_, math.inf) - scores

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the model's own probabilities; the threshold does not change them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            What the model takes.

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the model's own probabilities.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            What the model takes.

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(X)

    def get_metadata_routing(self) -> Any:
        """Return who takes metadata: the model's ``fit`` and the splitter's ``split``.

        Returns
        -------
        MetadataRouter
        """
        fit, split = (MethodMapping().add(caller="fit", callee=callee) for callee in ("fit", "split"))
        router = MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=fit)
        return router.add(splitter=self.cv, method_mapping=split)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.classifier_tags.multi_class = False
        tags.input_tags = inner.input_tags
        return tags

    def _check_rates(self) -> tuple[float, float | None]:
        confidence = None if self.confidence is None else _check_open(self.confidence, "confidence")
        return _check_open(self.target_fpr, "target_fpr"), confidence

    @property
    def _positive(self) -> int:
        """Position of the positives' label among the classes."""
        return int(self.classes_[1] == self.pos_label_)

    def _set_classes(self, classes: _Array) -> None:
        low, high = classes.tolist()
        if self.pos_label is not None and self.pos_label not in (low, high):
            raise ValueError(f"pos_label={self.pos_label!r} is not among the labels, {low!r} and {high!r}.")
        self.classes_ = classes
        self.pos_label_ = high if self.pos_label is None else self.pos_label

    def _model_and_scores(self, data: _Rows, splits: Sequence[Any], method: str) -> tuple[Any, _Floats]:
        """Return the model to predict with, and scores of the rows to calibrate on."""
        positive = self._positive
        if not splits:
            return self.estimator, _scores(self.estimator, data.X, method, positive)
        if len(splits) == 1:
            model = data.fitted(clone(self.estimator), splits[0][0])
            return model, _scores(model, _take(data.X, splits[0][1]), method, positive)
        model = data.fitted(clone(self.estimator), None)
        folds = (delayed(data.fold)(clone(self.estimator), *split, method, positive) for split in splits)
        return model, np.concatenate(Parallel(n_jobs=self.n_jobs)(folds))

    def _routed(self, params: _Params) -> tuple[_Params, _Params]:
        """Part the metadata into what the model's fit takes and what the splitter takes."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **params)
            return routed.estimator.fit, routed.splitter.split
        split = {"groups": params["groups"]} if "groups" in params else {}
        return {name: value for name, value in params.items() if name != "groups"}, split

    def _splits(self, data: _Rows, params: _Params) -> list[tuple[_Array, _Array]]:
        """Return the rows to train on and those to calibrate on, split by split."""
        if get_tags(self.estimator).input_tags.pairwise:
            raise ValueError(
                "An estimator on precomputed kernels or distances cannot be fitted to parts of the rows here; "
                "fit it first and pass cv='prefit'."
            )
        # Indexing turns masks into positions.
        rows = np.arange(len(data.y))
        splits = [(rows[a], rows[b]) for a, b in self._splitter(data.y).split(data.X, data.y, **params)]
        for number, (train, test) in enumerate(splits, start=1):
            data.check_split(train, test, self.classes_, f"Split {number} of {len(splits)}")
        if np.bincount(np.concatenate([test for _, test in splits])).max() > 1:
            raise ValueError(
                "cv holds out some rows more than once; each negative counts once, so pass folds that do not overlap."
            )
        return splits

    def _splitter(self, y: _Array) -> Any:
        default = _FOLDS if self.confidence is None else _HOLD_OUT
        cv = default if self.cv is None else self.cv
        if not isinstance(cv, Real) or isinstance(cv, Integral):
            return check_cv(cv, y, classifier=True)
        share = _check_open(cv, "cv, when a share of the rows to hold out,")
        return StratifiedShuffleSplit(1, test_size=share, random_state=self.random_state)

    def _scores(self, X: Any) -> _Floats:
        check_is_fitted(self)
        return _scores(self.estimator_, X, self.response_method_, self._positive)

    def _copy_feature_attributes(self) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
            elif hasattr(self, name):
                delattr(self, name)


@dataclass(frozen=True, slots=True)
class _Rows:
    """What a model is fitted to, to be cut into parts."""

    X: Any
    y: _Array
    fit_params: _Params

    def check_split(self, train: _Array, test: _Array, classes: _Array, name: str) -> None:
        """Say so when a class is missing in the part to train on, or has no weight there, or the parts overlap."""
        if len(np.intersect1d(train, test)):
            raise ValueError(
                f"{name} holds out rows that it also trains on; a threshold needs rows the model has not seen."
            )
        weights = self.fit_params.get("sample_weight")
        weighty = np.asarray(_take(weights, train)) > 0 if self._by_row(weights) else np.True_
        for label in classes.tolist():
            if not np.any((self.y[train] == label) & weighty):
                raise ValueError(
                    f"{name} leaves no rows of the class {label!r} to train on, or none with a positive "
                    "sample_weight; use fewer folds or a stratified splitter, or hold out fewer rows."
                )

    def fitted(self, model: Any, index: _Array | None) -> Any:
        """Fit a model to some of the rows, or to all."""
        if index is None:
            return _check_classifier(model.fit(self.X, self.y, **self.fit_params))
        params = {name: _take(v, index) if self._by_row(v) else v for name, v in self.fit_params.items()}
        return _check_classifier(model.fit(_take(self.X, index), self.y[index], **params))

    def fold(self, model: Any, train: _Array, test: _Array, method: str, positive: int) -> _Floats:
        """Fit a model to one part and return its scores of another."""
        return _scores(self.fitted(model, train), _take(self.X, test), method, positive)

    def _by_row(self, value: Any) -> bool:
        """Tell whether a value has one entry for each row."""
        length = len(value) if isinstance(value, list | tuple) else next(iter(getattr(value, "shape", ())), None)
        return bool(length == len(self.y))


def _take(values: Any, index: _Array) -> Any:
    """Choose rows of an array, a sparse matrix, a data frame or a list."""
    if hasattr(values, "iloc"):
        return values.iloc[index]
    if hasattr(values, "shape"):
        return values[index]
    return [values[i] for i in index]


def _scoring_method(estimator: Any, wanted: str) -> str:
    if wanted not in ("auto", *_METHODS):
        raise ValueError(f"response_method must be 'auto', 'decision_function' or 'predict_proba', got {wanted!r}.")
    methods = _METHODS if wanted == "auto" else (wanted,)
    for method in methods:
        if hasattr(estimator, method):
            return method
    raise ValueError(f"A threshold needs scores, but {type(estimator).__name__} has no {' or '.join(methods)}.")


def _scores(model: Any, X: Any, method: str, positive: int) -> _Floats:
    """Return a model's scores, larger for what looks more positive."""
    scores = np.asarray(getattr(model, method)(X), dtype=np.float64)
    if method == "predict_proba":
        return scores[:, positive]
    return scores if positive == 1 else -scores


def _check_classifier(fitted: Any) -> Any:
    if not hasattr(fitted, "classes_"):
        raise ValueError(f"{type(fitted).__name__} has no classes_ once fitted; pass a classifier.")
    return fitted


def _check_open(value: object, name: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < 1:
        raise ValueError(f"{name} must be a number between 0 and 1, both excluded, got {value!r}.")
    return float(value)


def _two_classes(y: _Array) -> _Array:
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y")
    if kind != "binary":
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    classes: _Array = np.unique(y)
    if len(classes) == 0:
        raise ValueError("y is empty; pass rows of two classes.")
    if len(classes) == 1:
        raise ValueError(f"y holds one class only, {classes.tolist()[0]!r}; pass rows of two classes.")
    return classes


def _known_classes(estimator: Any, y: _Array) -> _Array:
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
        raise ValueError(f"y holds the label {unknown[0]!r}; the estimator knows {low!r} and {high!r}.")
    return classes


def _check_enough(n: int, target: float, confidence: float | None) -> None:
    if n == 0:
        raise ValueError("There are no negatives to set the threshold with; the rows to calibrate on must hold some.")
    if confidence is not None and _safe_rank(n, target, confidence) == 0:
        raise ValueError(
            f"A confidence of {confidence:g} at target_fpr={target:g} needs at least "
            f"{_negatives_needed(target, confidence):,} negatives to calibrate on, got {n:,}."
        )


def _check_finite(scores: _Floats) -> _Floats:
    bad = int(np.count_nonzero(~np.isfinite(scores)))
    if bad:
        raise ValueError(f"The estimator's scores of {bad} of {len(scores)} negatives are not finite numbers.")
    return scores


def _cut(negatives: _Floats, target: float, confidence: float | None) -> tuple[float, float]:
    """Return the threshold and the false-positive rate to expect from it."""
    n = len(negatives)
    if confidence is None:
        threshold = _kth_largest(negatives, _plain_rank(n, target))
        return threshold, float(np.mean(negatives > threshold))
    rank = _safe_rank(n, target, confidence)
    return _kth_largest(negatives, rank), rank / (n + 1)


def _kth_largest(scores: _Floats, k: int) -> float:
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


def _plain_rank(n: int, target: float) -> int:
    """Return the largest k of which at most the share ``target``, k - 1 of n, lies above the k-th largest."""
    return min(math.floor(n * target * (1 + _NOISE)), n - 1) + 1


def _safe_rank(n: int, target: float, confidence: float) -> int:
    """Return the largest k with P[Binomial(n, target) <= k - 1] <= 1 - confidence, or 0."""
    # The smallest k with P[... <= k] > risk; scipy says >=, but the noise leaves no equality.
    return int(stats.binom.ppf(min((1 - confidence) * (1 + _NOISE), 1.0), n, target))


def _negatives_needed(target: float, confidence: float) -> int:
    """Return the smallest n whose largest score is a safe threshold."""
    return max(math.ceil((math.log1p(-confidence) + _NOISE) / math.log1p(-target)), 1)


def operating_points(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    fprs: float | Iterable[float] = (0.01, 0.02, 0.05, 0.1),
    *,
    confidence: float = 0.95,
    prevalence: float | None = None,
    pos_label: object = None,
) -> Any:
    """Tabulate what scores achieve at some false-positive rates, with confidence intervals.

    For each rate, the threshold is the lowest score of a negative above which at most that share of the negatives
    lies. A sample raises an alert when its score is greater.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes. Use rows that the model was not trained on.
    y_score : array-like of shape (n_samples,)
        Scores, larger for what looks more positive.
    fprs : float or iterable of float, default (0.01, 0.02, 0.05, 0.1)
        The false-positive rates, at least 0 and less than 1.
    confidence : float, default 0.95
        The probability, in (0, 1), with which each interval is to cover the true value.
    prevalence : float, optional
        The share of positives, in (0, 1), where the model will be used. By default that of the sample, which must then
        be drawn as cases will come: pass it when positives were collected on purpose.
    pos_label : object, optional
        The label of the positives. The greater of two numbers by default; required for labels that are not numbers.

    Returns
    -------
    pandas.DataFrame
        One row for each rate, the index. Columns "threshold", "FPR", "TPR", "PPV" (the share of alerts that are
        positives) and "alerts per 1,000" samples, each but the first followed by the ends of its interval, such as
        "FPR low" and "FPR high". Where nothing raises an alert, the PPV is NaN.

    See Also
    --------
    FPRThresholdClassifier : A classifier that acts at such a threshold.

    Notes
    -----
    The intervals are those of Clopper and Pearson [1]_. Each is about the threshold in its row, which was itself chosen
    by counting negatives: without ties, the true FPR above the k-th largest of n scores is Beta(k, n - k + 1), and the
    Clopper-Pearson interval of k - 1 among n contains that distribution's. So they cover at least as often as
    promised, where an approximate interval such as Wilson's need not. The threshold does not look at the positives,
    so the TPR's interval is the ordinary one.

    With the sample's prevalence, alerts are counted among all samples and positives among the alerts; stopping at the
    k-th negative makes the count of positives nearly negative binomial, whose interval again lies inside. With a given
    ``prevalence``, PPV and alerts are functions of TPR and FPR, which are estimated from different samples: the
    ends are quantiles of the function over the two independent Beta distributions whose quantiles are the
    Clopper-Pearson ends. Rows are not adjusted for each other.

    References
    ----------
    .. [1] C. J. Clopper, E. S. Pearson (1934). The use of confidence or fiducial limits illustrated in the case of the
       binomial. Biometrika 26(4), 404-413.

    Examples
    --------
    >>> from rocband.datasets import make_band_problem
    >>> from rocband.threshold import operating_points
    >>> X, y = make_band_problem(20_000, random_state=0)
    >>> table = operating_points(y, X[:, 1], fprs=(0.01, 0.05), prevalence=0.02)
    >>> table[["FPR", "TPR low", "TPR", "TPR high", "PPV", "alerts per 1,000"]].round(2)
                 FPR  TPR low   TPR  TPR high   PPV  alerts per 1,000
    target FPR
    0.01        0.01     0.34  0.36      0.37  0.42             16.94
    0.05        0.05     0.40  0.42      0.43  0.15             57.36
    """
    pandas = _import_pandas()
    rates = _check_fprs(fprs)
    level = _check_open(confidence, "confidence")
    share = None if prevalence is None else _check_open(prevalence, "prevalence")
    positives, negatives = (side.scores.astype(np.float64) for side in _split(y_true, y_score, None, pos_label))
    rows = [_operating_point(positives, negatives, rate, level, share) for rate in rates]
    return pandas.DataFrame(rows, index=pandas.Index(rates, name="target FPR", dtype=float))


def _operating_point(
    positives: _Floats, negatives: _Floats, rate: float, confidence: float, prevalence: float | None
) -> dict[str, float]:
    threshold = _kth_largest(negatives, _plain_rank(len(negatives), rate))
    fpr, tpr = (_Count(int(np.count_nonzero(side > threshold)), len(side)) for side in (negatives, positives))
    figures = {"FPR": fpr.interval(confidence), "TPR": tpr.interval(confidence)}
    if prevalence is None:
        ppv, alerts = _in_sample(fpr, tpr, confidence)
    else:
        ppv, alerts = _at_prevalence(fpr, tpr, confidence, prevalence)
    figures |= {"PPV": ppv, "alerts per 1,000": tuple(1000 * value for value in alerts)}
    row = {"threshold": threshold}
    for name, (value, low, high) in figures.items():
        row |= {name: value, f"{name} low": low, f"{name} high": high}
    return row


_Interval = tuple[float, ...]  # a value, then the low and the high end


@dataclass(frozen=True, slots=True)
class _Count:
    """How many of a total, and the two Beta distributions whose quantiles are the Clopper-Pearson ends."""

    count: int
    total: int

    def share(self) -> float:
        return self.count / self.total if self.total else math.nan

    def lower(self, level: float | _Floats) -> Any:
        if self.count == 0:
            return np.zeros_like(level, dtype=float)
        return special.betaincinv(self.count, self.total - self.count + 1, level)

    def upper(self, level: float | _Floats) -> Any:
        if self.count == self.total:
            return np.ones_like(level, dtype=float)
        return special.betaincinv(self.count + 1, self.total - self.count, level)

    def interval(self, confidence: float) -> _Interval:
        tail = (1 - confidence) / 2
        return self.share(), float(self.lower(tail)), float(self.upper(1 - tail))


def _in_sample(fpr: _Count, tpr: _Count, confidence: float) -> tuple[_Interval, _Interval]:
    """Return PPV and the share of alerts when the sample is drawn as cases will come."""
    alerts = _Count(fpr.count + tpr.count, fpr.total + tpr.total)
    return _Count(tpr.count, alerts.count).interval(confidence), alerts.interval(confidence)


def _at_prevalence(fpr: _Count, tpr: _Count, confidence: float, prevalence: float) -> tuple[_Interval, _Interval]:
    """Return PPV and the share of alerts for a given share of positives."""
    tail = (1 - confidence) / 2
    levels = (np.arange(400) + 0.5) / 400
    hits_low, hits_high = (prevalence * rate(levels)[:, None] for rate in (tpr.lower, tpr.upper))
    false_low, false_high = ((1 - prevalence) * rate(levels) for rate in (fpr.lower, fpr.upper))
    hits, false = prevalence * tpr.share(), (1 - prevalence) * fpr.share()
    ppv = (
        hits / (hits + false) if hits + false else math.nan,
        float(np.quantile(hits_low / (hits_low + false_high), tail)),
        float(np.quantile(hits_high / (hits_high + false_low), 1 - tail)),
    )
    alerts = (
        hits + false,
        float(np.quantile(hits_low + false_low, tail)),
        float(np.quantile(hits_high + false_high, 1 - tail)),
    )
    return ppv, alerts


def _check_fprs(fprs: float | Iterable[float]) -> list[float]:
    rates = [fprs] if isinstance(fprs, Real) else list(fprs) if isinstance(fprs, Iterable) else [fprs]
    for rate in rates:
        if not isinstance(rate, Real) or isinstance(rate, bool) or not 0 <= float(rate) < 1:
            raise ValueError(f"fprs must be numbers from 0 to less than 1, got {rate!r}.")
    return [float(rate) for rate in rates]


def _import_pandas() -> Any:
    try:
        import pandas  # noqa: PLC0415
    except ImportError:
        raise ImportError("operating_points returns a data frame and needs pandas; install pandas first.") from None
    return pandas
