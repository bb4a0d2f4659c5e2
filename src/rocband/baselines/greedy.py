"""The greedy heuristic: features folded in one by one, each with the weight that serves the partial AUC best."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from rocband._base import check_number
from rocband._hints import hint_at_few_negatives
from rocband._progress import tell
from rocband._types import BoolArray, FloatArray
from rocband.baselines.features import column
from rocband.baselines.parts import ClassParts
from rocband.linear import LinearBandClassifier
from rocband.metrics.curve import ClassScores, share_under_curve
from rocband.ranks import check_range
from rocband.risks.band import Band
from rocband.rows import as_rows
from rocband.threshold.cutoff import halfway_threshold

__all__ = ["GreedyPartialAUC"]


class GreedyPartialAUC(LinearBandClassifier):
    """Greedy linear combination of features for the partial AUC.

    Each feature is scaled to [0, 1] [1]_. The score starts with the feature of the highest partial AUC, taken with the
    sign that serves it. The others follow in falling order of theirs, ``score <- score + t * feature``, with the t of a
    fixed grid that gives the highest partial AUC of the training rows; of equal ones the t nearest to 0.

    Parameters
    ----------
    fpr_range : (float, float), default (0.0, 0.05)
        The band of false-positive rates, with 0 <= low < high <= 1.
    n_weights : int, default 100
        Number of equally spaced weights from -1 to 1. Their reciprocals are tried too, and 0.
    pos_label : object, optional
        The label of the positives. By default the greater of 0 and 1, -1 and 1, or False and True; of other labels the
        greater too, with a `PositiveClassWarning`.
    target_fpr : float, optional
        The false-positive rate of `predict` on the training negatives; the band's upper end by default.
    verbose : int, default 0
        1 prints a line for each feature.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
    intercept_ : array of shape (1,)
        Minus ``threshold_``.
    threshold_ : float
        The score ``X @ coef_[0]`` above which a row is predicted positive.
    order_ : array of shape (n_features,)
        The features in the order in which they were folded in.
    weights_ : array of shape (n_features,)
        The weight t of each, in that order, for features scaled to [0, 1].
    areas_ : array of shape (n_features,)
        The partial AUC of the training rows after each; it never falls.
    classes_ : array of shape (2,)
        The second is the positive class, also where ``pos_label`` is the lesser of the two.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)

    Notes
    -----
    What is compared is :func:`rocband.metrics.partial_auc_score`. Each of the d * (2 * n_weights + 1) evaluations takes
    O(n_samples) time, besides the sorting of what lies in the band; memory beyond X is a few arrays of n_samples.
    Sparse matrices are read column by column.

    References
    ----------
    .. [1] M. T. Ricamato and F. Tortorella (2011). Partial AUC maximization in a linear combination of dichotomizers.
       Pattern Recognition 44(10-11), 2669-2677.

    Examples
    --------
    >>> from rocband.baselines import GreedyPartialAUC
    >>> from rocband.datasets import make_band_problem
    >>> X, y = make_band_problem(2000, random_state=0)
    >>> GreedyPartialAUC((0.0, 0.05)).fit(X, y).order_
    array([1, 0])
    """

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        *,
        n_weights: int = 100,
        pos_label: object = None,
        target_fpr: float | None = None,
        verbose: int = 0,
    ) -> None:
        self.fpr_range = fpr_range
        self.n_weights = n_weights
        self.pos_label = pos_label
        self.target_fpr = target_fpr
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> GreedyPartialAUC:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels of two classes; ``pos_label`` says which is positive.

        Returns
        -------
        GreedyPartialAUC
        """
        check_range(self.fpr_range)
        check_number("n_weights", self.n_weights, 1, integer=True)
        if self.target_fpr is not None:
            check_number("target_fpr", self.target_fpr, 0.0, 1.0)
        X, y = validate_data(self, X, y, accept_sparse="csc", dtype=[np.float64, np.float32])
        positive = self._encode(y)
        columns = _Columns(X, positive, self.fpr_range)
        hint_at_few_negatives(self.fpr_range, int(np.count_nonzero(~positive)))
        self._fold_in(columns)
        self._store_weights(X, columns)
        return self

    def _fold_in(self, columns: _Columns) -> None:
        signs = np.array([1.0, -1.0])
        alone = [columns.best(None, feature, signs) for feature in range(self.n_features_in_)]
        own_areas = np.array([area for area, _ in alone])
        self.order_ = np.argsort(-own_areas, kind="stable")
        first = self.order_[0]
        first_area, first_sign = alone[first]
        grid = weight_grid(self.n_weights)
        self.areas_ = np.full(len(alone), first_area)
        self.weights_ = np.full(len(alone), first_sign)
        score = columns.scaled(first, self.weights_[0])
        for step, feature in enumerate(self.order_[1:], start=1):
            self.areas_[step], self.weights_[step] = columns.best(score, feature, grid)
            if self.weights_[step]:
                score = score.along(columns.scaled(feature, 1.0), self.weights_[step])
            if self.verbose:
                weight = self.weights_[step]
                area = self.areas_[step]
                tell(f"feature {feature:4d}  weight {weight:8.4g}  partial AUC {area:.6f}")

    def _store_weights(self, X: Any, columns: _Columns) -> None:
        coefficients = np.zeros(self.n_features_in_)
        coefficients[self.order_] = self.weights_ / columns.spans[self.order_]
        self.coef_ = coefficients.astype(X.dtype)[None, :]
        scores = as_rows(X).exact_scores(self.coef_[0].astype(np.float64))
        parts = ClassParts.of(scores, columns.positive)
        self.threshold_ = halfway_threshold(parts.positives, parts.negatives, self._target)
        self.intercept_ = np.array([-self.threshold_], dtype=X.dtype)


def weight_grid(n_weights: int) -> FloatArray:
    """Equally spaced weights from -1 to 1, their reciprocals and 0, the smallest first.

    Examples
    --------
    >>> weight_grid(4)
    array([ 0.        , -0.33333333,  0.33333333, -1.        ,  1.        , -3.        ,  3.        ])
    """
    spaced = np.linspace(-1.0, 1.0, n_weights)
    spaced = (spaced - spaced[::-1]) / 2  # the same weights with either sign, to the last digit
    nonzero = spaced[spaced != 0]
    grid = np.unique(np.concatenate([[0.0], nonzero, 1.0 / nonzero]))
    return grid[np.argsort(np.abs(grid), kind="stable")]


class _Columns:
    """Features one at a time, scaled to [0, 1] up to a shift, and the partial AUC of what is added to a score."""

    def __init__(self, X: Any, positive: BoolArray, fpr_range: tuple[float, float]) -> None:
        self.X = X
        self.positive = positive
        self.fpr_range = check_range(fpr_range)
        n_negatives = int(np.count_nonzero(~positive))
        # It refuses a band that holds no negative.
        Band.from_range(fpr_range, n_negatives)
        high = X.max(axis=0)
        low = X.min(axis=0)
        if not isinstance(X, np.ndarray):
            high = high.toarray().ravel()
            low = low.toarray().ravel()
        spans = high.astype(np.float64) - low.astype(np.float64)
        self.spans: FloatArray = np.where(spans > 0, spans, 1.0)

    def scaled(self, feature: int, sign: float) -> ClassParts:
        """Return a feature, scaled and with a sign, as scores."""
        values = column(self.X, feature) * (sign / self.spans[feature])
        return ClassParts.of(values, self.positive)

    def best(self, score: ClassParts | None, feature: int, weights: FloatArray) -> tuple[float, float]:
        """Return the highest partial AUC that score + weight * feature reaches, and the first weight that does."""
        added = self.scaled(feature, 1.0)
        if score is None:
            score = ClassParts.of(np.zeros(len(self.positive)), self.positive)
        areas = [self._area(score.along(added, weight)) for weight in weights.tolist()]
        first = int(np.argmax(areas))
        return areas[first], float(weights[first])

    def _area(self, scores: ClassParts) -> float:
        positives = ClassScores.of(scores.positives, None)
        negatives = ClassScores.of(scores.negatives, None)
        return share_under_curve(positives, negatives, self.fpr_range, (0.0, 1.0))
