"""A classifier whose threshold is set for a false-positive rate, with a guarantee if wanted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedShuffleSplit, check_cv
from sklearn.utils import assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from rocband._errors import ParameterError
from rocband._input import check_open, positive_label
from rocband._types import AnyArray, BoolArray, FloatArray, IndexArray
from rocband.threshold.cutoff import check_enough, cut
from rocband.threshold.models import (
    ResponseMethod,
    TrainingRows,
    check_finite,
    known_classes,
    model_scores,
    position_of,
    scoring_method,
    take,
    two_classes,
)

__all__ = ["FPRThresholdClassifier"]

_Params = dict[str, Any]
_Split = tuple[IndexArray, IndexArray]  # rows to train on, rows to calibrate on

# As many as scikit-learn's own cross-validation makes by default.
_FOLDS = 5
# 59 negatives, enough for a confidence of 0.95 at a target of 0.05, are then held out of 200, and most rows train.
_HOLD_OUT = 0.3


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
        The label of the positives. By default that of the estimator, where it has a ``pos_label``; else the greater of
        the two, with a `PositiveClassWarning` unless they are 0 and 1, -1 and 1, or False and True. An estimator that
        has a ``pos_label`` and says nothing is trained for the same class.
    n_jobs : int, optional
        How many folds to fit at a time.
    random_state : int, RandomState instance or None, default None
        For the hold-out when ``cv`` is a float.

    Attributes
    ----------
    estimator_ : classifier
        The fitted model whose scores are compared with the threshold.
    classes_ : ndarray of shape (2,)
        The labels, in the order of the model's ``classes_``.
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

    classes_: AnyArray
    estimator_: Any
    pos_label_: Any
    threshold_: float

    def __init__(
        self,
        estimator: Any,
        *,
        target_fpr: float = 0.05,
        confidence: float | None = None,
        cv: float | Literal["prefit"] | Iterable[Any] | Any = None,
        response_method: ResponseMethod = "auto",
        pos_label: Any = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
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
        target = check_open(self.target_fpr, "target_fpr")
        confidence = None if self.confidence is None else check_open(self.confidence, "confidence")
        method = scoring_method(self.estimator, self.response_method)
        X, y = indexable(X, y)
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        prefit = self._is_prefit()
        self._set_classes(known_classes(self.estimator, labels) if prefit else two_classes(labels))
        fit_params, split_params = self._routed(params)
        data = TrainingRows(X, labels, fit_params)
        splits = [] if prefit else self._splits(data, split_params)
        negative = self._calibration_negatives(labels, splits)
        n_negatives = int(np.count_nonzero(negative))
        # Before any training, which may take long.
        check_enough(n_negatives, target, confidence)
        self.estimator_, scores = self._model_and_scores(data, splits, method)
        self.classes_ = np.asarray(self.estimator_.classes_)
        self.threshold_, self.expected_fpr_ = cut(check_finite(scores[negative]), target, confidence)
        self.n_calibration_negatives_ = n_negatives
        self.response_method_ = method
        self._copy_feature_attributes()
        return self

    def predict(self, X: Any) -> AnyArray:
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
        codes = np.where(passes, self._positive, 1 - self._positive)
        labels: AnyArray = self.classes_[codes]
        return labels

    def decision_function(self, X: Any) -> FloatArray:
        """Return how far each score lies above the threshold: greater than 0 where ``classes_[1]`` is predicted.

        Where the model has the positives' label first in its ``classes_``, the sign is turned, as everywhere in
        scikit-learn, so that scorers read it rightly: the positives are then those at or below 0.

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
        to_model = MethodMapping().add(caller="fit", callee="fit")
        to_splitter = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self)
        router.add(estimator=self.estimator, method_mapping=to_model)
        return router.add(splitter=self.cv, method_mapping=to_splitter)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _is_prefit(self) -> bool:
        if isinstance(self.estimator, FrozenEstimator):
            return True
        # Comparing an array of splits with a string would compare each of them.
        return isinstance(self.cv, str) and self.cv == "prefit"

    @property
    def _positive(self) -> int:
        """Position of the positives' label among the classes."""
        return position_of(self.pos_label_, self.classes_)

    def _set_classes(self, classes: AnyArray) -> None:
        stated = self.pos_label if self.pos_label is not None else self._estimators_label
        low, high = np.sort(classes).tolist()
        self.pos_label_ = positive_label(low, high, stated, "y")
        self.classes_ = classes

    @property
    def _estimators_label(self) -> object:
        return getattr(self.estimator, "pos_label", None)

    def _unfitted(self) -> Any:
        """Return a copy of the estimator; one that can be told the positive class, and was not, is told it."""
        model = clone(self.estimator)
        if "pos_label" in model.get_params(deep=False) and self._estimators_label is None:
            model.set_params(pos_label=self.pos_label_)
        return model

    def _calibration_negatives(self, labels: AnyArray, splits: Sequence[_Split]) -> BoolArray:
        """Return which of the rows to calibrate on, in the order of their scores, are negatives."""
        if splits:
            labels = np.concatenate([labels[test] for _, test in splits])
        return np.asarray(labels != self.pos_label_)

    def _model_and_scores(self, data: TrainingRows, splits: Sequence[_Split], method: str) -> tuple[Any, FloatArray]:
        """Return the model to predict with, and scores of the rows to calibrate on."""
        label = self.pos_label_
        if not splits:
            return self.estimator, model_scores(self.estimator, data.X, method, label)
        if len(splits) == 1:
            train, test = splits[0]
            model = data.fitted(self._unfitted(), train)
            return model, model_scores(model, take(data.X, test), method, label)
        model = data.fitted(self._unfitted(), None)
        folds = (delayed(data.fold)(self._unfitted(), train, test, method, label) for train, test in splits)
        return model, np.concatenate(Parallel(n_jobs=self.n_jobs)(folds))

    def _routed(self, params: _Params) -> tuple[_Params, _Params]:
        """Part the metadata into what the model's fit takes and what the splitter takes."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **params)
            return routed.estimator.fit, routed.splitter.split
        for_model = dict(params)
        for_splitter = {}
        if "groups" in for_model:
            for_splitter["groups"] = for_model.pop("groups")
        return for_model, for_splitter

    def _splits(self, data: TrainingRows, params: _Params) -> list[_Split]:
        """Return the rows to train on and those to calibrate on, split by split."""
        if get_tags(self.estimator).input_tags.pairwise:
            raise ValueError(
                "An estimator on precomputed kernels or distances cannot be fitted to parts of the rows here; "
                "fit it first and pass cv='prefit'."
            )
        # Indexing turns masks into positions.
        rows = np.arange(len(data.y))
        parts = self._splitter(data.y).split(data.X, data.y, **params)
        splits = [(rows[train], rows[test]) for train, test in parts]
        for number, (train, test) in enumerate(splits, start=1):
            data.check_split(train, test, self.classes_, f"Split {number} of {len(splits)}")
        held_out = np.concatenate([test for _, test in splits])
        if np.bincount(held_out).max() > 1:
            problem = (
                "holds out some rows more than once; each negative counts once, so pass folds that do not overlap."
            )
            raise ParameterError("cv", problem)
        return splits

    def _splitter(self, y: AnyArray) -> Any:
        default = _FOLDS if self.confidence is None else _HOLD_OUT
        cv = default if self.cv is None else self.cv
        if not isinstance(cv, Real) or isinstance(cv, Integral):
            return check_cv(cv, y, classifier=True)
        share = check_open(cv, "cv, when a share of the rows to hold out,")
        return StratifiedShuffleSplit(1, test_size=share, random_state=self.random_state)

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return model_scores(self.estimator_, X, self.response_method_, self.pos_label_)

    def _copy_feature_attributes(self) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
            elif hasattr(self, name):
                delattr(self, name)
