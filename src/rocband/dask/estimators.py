"""The linear estimators for Dask collections."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from rocband import linear, linear_cv
from rocband._errors import ParameterError
from rocband._types import AnyArray, FloatArray
from rocband.dask.cluster import task
from rocband.dask.collections import Table, block_features, blocks_of, feature_dtype, is_collection, template
from rocband.dask.problem import LabelledBlocks
from rocband.problems.base import Labelled

__all__ = ["PartialAUCSVC", "PartialAUCSVCCV"]


class _OnDask(linear.LinearBandClassifier):
    """What the estimators share: Dask collections are scored and solved on the workers, all else as ever."""

    def decision_function(self, X: Any) -> Any:
        """Score each row; above 0 means positive at the threshold for ``target_fpr``.

        Parameters
        ----------
        X : Dask array or data frame, array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        Dask array of shape (n_samples,), not computed yet; an array when X is no Dask collection
        """
        if not is_collection(X):
            return super().decision_function(X)
        check_is_fitted(self)
        validate_data(self, template(X), reset=False, skip_check_array=True)
        dtype = feature_dtype(X)
        meta = np.empty(0, dtype=np.result_type(dtype, self.coef_.dtype))
        arguments = (dtype, self.coef_[0], self.threshold_)
        if isinstance(X, da.Array):
            return X.rechunk({1: -1}).map_blocks(_decision, *arguments, drop_axis=1, meta=meta)
        blocks = [task(_decision, block, *arguments) for block in blocks_of(X)]
        parts = [da.from_delayed(block, (np.nan,), meta=meta) for block in blocks]
        return da.concatenate(parts, allow_unknown_chunksizes=True)

    def predict(self, X: Any) -> Any:
        """Predict the class of each row at the threshold for ``target_fpr``.

        Parameters
        ----------
        X : Dask array or data frame, array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        Dask array of shape (n_samples,), not computed yet; an array when X is no Dask collection
        """
        if not is_collection(X):
            return super().predict(X)
        scores = self.decision_function(X)
        return scores.map_blocks(_classes, self.classes_, meta=self.classes_[:0])

    def _data(self, X: Any, y: Any) -> Labelled:
        if not is_collection(X):
            return super()._data(X, y)
        validate_data(self, template(X), skip_check_array=True)
        table = Table(X, y)
        self._dtype = table.dtype
        self._encode(table.labels)
        return LabelledBlocks(table.rows(self.classes_[1]))


class PartialAUCSVC(_OnDask, linear.PartialAUCSVC):
    """`rocband.PartialAUCSVC` that also takes Dask arrays and data frames, of dense or sparse blocks.

    Parameters, attributes and the certificate are those of :class:`rocband.PartialAUCSVC`, and so is the model, up to
    rounding, whatever the blocks are. `fit` works with any scheduler of Dask; with a cluster, features and most scores
    stay on the workers, and a worker that is lost costs only time. The fitted model is an ordinary one: it holds no
    data, and scores NumPy arrays too.

    Notes
    -----
    Features are kept on the workers while they fill at most 40% of their memory, and are read again in each pass
    otherwise. A pass over m positives and n negatives brings back the positives' scores and a sample, 8 (m + 16,384)
    bytes or so; each evaluation of the risk brings back 20 bytes for each negative with a share in the band, and a
    gradient sends out 12 bytes for each row with weight. Where a fit starts at 0, with ``anchor=None``, all negatives
    tie there and have a share, once; for ``surrogate="naive"`` they always have.

    When a cluster has had no worker for 30 seconds, or for as many as the key ``rocband.patience`` of Dask's
    configuration says, `fit` ends with a RuntimeError.

    Examples
    --------
    >>> import dask.array as da
    >>> from rocband.dask import PartialAUCSVC
    >>> from rocband.datasets import make_band_problem
    >>> X, y = make_band_problem(2000, random_state=0)
    >>> model = PartialAUCSVC((0.0, 0.05)).fit(da.from_array(X, chunks=(500, -1)), da.from_array(y, chunks=500))
    >>> model.predict(X).shape
    (2000,)
    """


class PartialAUCSVCCV(_OnDask, linear_cv.PartialAUCSVCCV):
    """`rocband.PartialAUCSVCCV` that also takes Dask arrays and data frames.

    Parameters and attributes are those of :class:`rocband.PartialAUCSVCCV`, and so are the folds. ``n_jobs`` must be
    None for Dask collections: it is the workers that run in parallel.

    Notes
    -----
    What travels is what `PartialAUCSVC` says, and besides one byte for each row once and four for each row of a fold,
    since folds are drawn here. Splitting takes some 8 bytes here for each row and fold.

    Examples
    --------
    >>> import dask.array as da
    >>> from rocband.dask import PartialAUCSVCCV
    >>> from rocband.datasets import make_band_problem
    >>> X, y = make_band_problem(2000, random_state=0)
    >>> model = PartialAUCSVCCV((0.0, 0.05), Cs=[1.0, 100.0], cv=2).fit(da.from_array(X, chunks=(500, -1)), y)
    >>> model.scores_.shape
    (2, 2)
    """

    def _data(self, X: Any, y: Any) -> Labelled:
        if is_collection(X) and self.n_jobs not in (None, 1):
            problem = f"must be None for Dask collections, got {self.n_jobs!r}; workers run in parallel."
            raise ParameterError("n_jobs", problem)
        return super()._data(X, y)


# What runs on the workers


def _decision(block: Any, precision: np.dtype[Any], coefficients: FloatArray, threshold: float) -> FloatArray:
    return linear.decisions(block_features(block, precision), coefficients, threshold)


def _classes(scores: FloatArray, classes: AnyArray) -> AnyArray:
    return classes[(scores > 0).astype(np.intp)]
