"""Features that stand in for a kernel, made from its products with a few landmark rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.kernel_approximation import Nystroem

from rocband._types import BoolArray, FloatArray, IndexArray
from rocband.kernels.function import Kernel, tiles
from rocband.rows.base import double

__all__ = ["NystroemFeatures", "choose_landmarks"]


class NystroemFeatures:
    """Features whose products approximate a kernel; exact between rows that are landmarks.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix of shape (n_rows, n_features), or of shape (n_rows, n_rows) for a precomputed kernel
    landmarks : array of row numbers
    """

    def __init__(self, kernel: Kernel, X: Any, landmarks: IndexArray) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self.vectors = None if kernel.given else X[landmarks]
        gram = self._products(X[landmarks] if self.vectors is None else self.vectors)
        # scikit-learn shuffles the components: that only changes the order of the features.
        self._map = Nystroem(kernel="precomputed", n_components=len(landmarks), random_state=0).fit(gram)

    def _products(self, rows: Any) -> FloatArray:
        """Return the products of some rows with the landmarks."""
        if self.vectors is None:
            return double(rows[:, self.landmarks])
        return self.kernel(rows, self.vectors)

    def transform(self, X: Any) -> npt.NDArray[np.float32]:
        """Return the features of rows in single precision; besides these, memory for some tiles."""
        features = np.empty((X.shape[0], len(self.landmarks)), dtype=np.float32)
        for part in tiles(X.shape[0], len(self.landmarks)):
            features[part] = self._map.transform(self._products(X[part]))
        return features

    def weights(self, coefficients: FloatArray) -> FloatArray:
        """Return the weights of the landmarks that score as the coefficients of the features do."""
        weights: FloatArray = self._map.normalization_.T @ coefficients
        return weights


def choose_landmarks(positive: BoolArray, count: int, random: np.random.Generator) -> IndexArray:
    """Draw rows of both classes, half of them positives unless a class has not enough rows."""
    positives = np.flatnonzero(positive)
    negatives = np.flatnonzero(~positive)
    n_positives = max(min((count + 1) // 2, len(positives)), count - len(negatives))
    some_positives = random.choice(positives, n_positives, replace=False)
    some_negatives = random.choice(negatives, count - n_positives, replace=False)
    return np.sort(np.concatenate([some_positives, some_negatives]))
