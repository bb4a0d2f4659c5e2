"""Features that stand in for a kernel, made from its products with a few landmark rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression

from rocband.risks.band import FloatArray, IndexArray
from rocband.rows.base import double
from rocband.rows.kernel import Kernel, kernel_scores, tiles

__all__ = ["NystroemFeatures", "choose_landmarks"]

# The model that finds the hard negatives has a quarter of the landmarks, and is fitted to at most this many rows.
_PILOT_SHARE = 4
_PILOT_ROWS = 20_000


class NystroemFeatures:
    """Features whose products approximate a kernel; exact between rows that are landmarks.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix of shape (n_rows, n_features), or of shape (n_rows, n_rows) for a precomputed kernel
    landmarks : array of row numbers
    """

    def __init__(self, kernel: Kernel, X: Any, landmarks: IndexArray) -> None:
        self.kernel, self.landmarks = kernel, landmarks
        self.vectors = None if kernel.function == "precomputed" else X[landmarks]
        gram = self._products(X if self.vectors is None else self.vectors, landmarks)
        # scikit-learn shuffles the components: that only changes the order of the features.
        self._map = Nystroem(kernel="precomputed", n_components=len(landmarks), random_state=0).fit(gram)

    def _products(self, X: Any, rows: Any) -> FloatArray:
        if self.vectors is None:
            return double(X[rows][:, self.landmarks])
        return self.kernel(X if rows is self.landmarks else X[rows], self.vectors)

    def transform(self, X: Any) -> npt.NDArray[np.float32]:
        """Return the features of rows in single precision; besides these, memory for some tiles."""
        features = np.empty((X.shape[0], len(self.landmarks)), dtype=np.float32)
        for part in tiles(X.shape[0], len(self.landmarks)):
            features[part] = self._map.transform(self._products(X, part))
        return features

    def weights(self, coefficients: FloatArray) -> FloatArray:
        """Return the weights of the landmarks that score as the coefficients of the features do."""
        weights: FloatArray = self._map.normalization_.T @ coefficients
        return weights


def choose_landmarks(
    kernel: Kernel, X: Any, positive: npt.NDArray[np.bool_], count: int, share: float, random: np.random.Generator
) -> IndexArray:
    """Choose rows of both classes, with some of the negatives that are hard to tell from positives.

    Half are positives; of the negatives, one half is drawn from those that a pilot model puts highest, three times as
    many as the share of negatives that the band ends at, and the other half from the rest. Time O(count * n_rows / 4)
    products, memory O(n_rows).
    """
    positives, negatives = np.flatnonzero(positive), np.flatnonzero(~positive)
    n_positives = _class_share(count, len(positives), len(negatives))
    n_negatives = count - n_positives
    if n_negatives == len(negatives):
        hard = negatives
    else:
        pilot = _balanced(positives, negatives, max(count // _PILOT_SHARE, 2), random)
        scores = _pilot_scores(kernel, X, positive, pilot, random)[negatives]
        top = np.argsort(-scores, kind="stable")[: max(int(3 * share * len(negatives)), n_negatives // 2)]
        hard = random.choice(negatives[top], min(n_negatives // 2, len(top)), replace=False)
    rest = random.choice(np.setdiff1d(negatives, hard), n_negatives - len(hard), replace=False)
    return np.sort(np.concatenate([random.choice(positives, n_positives, replace=False), hard, rest]))


def _class_share(count: int, n_positives: int, n_negatives: int) -> int:
    """How many of the landmarks are positives: half, unless a class has not enough rows."""
    return max(min((count + 1) // 2, n_positives), count - n_negatives)


def _balanced(positives: IndexArray, negatives: IndexArray, count: int, random: np.random.Generator) -> IndexArray:
    n_positives = _class_share(count, len(positives), len(negatives))
    chosen = random.choice(positives, n_positives, replace=False)
    return np.sort(np.concatenate([chosen, random.choice(negatives, count - n_positives, replace=False)]))


def _pilot_scores(
    kernel: Kernel, X: Any, positive: npt.NDArray[np.bool_], landmarks: IndexArray, random: np.random.Generator
) -> FloatArray:
    """Score all rows by a logistic regression on features of a few landmarks, fitted to a part of the rows."""
    features = NystroemFeatures(kernel, X, landmarks)
    part = np.flatnonzero(random.random(len(positive)) < _PILOT_ROWS / len(positive))
    part = np.union1d(part, landmarks)
    model = LogisticRegression(tol=1e-2, max_iter=1000).fit(features.transform(X[part]), positive[part])
    return kernel_scores(kernel, X, features.vectors, landmarks, features.weights(model.coef_[0]))
