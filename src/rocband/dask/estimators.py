"""The linear estimators for Dask collections."""

from __future__ import annotations

from typing import Any, cast

import dask.array as da
import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted, validate_data

from rocband import linear, linear_cv
from rocband.dask.cluster import task
from rocband.dask.collections import Table, block_features, blocks_of, feature_dtype, is_collection, template
from rocband.dask.metrics import area_in_band, ranks_in_band
from rocband.dask.problem import DaskProblem
from rocband.dask.rows import DaskRows
from rocband.dask.scores import DistributedScores
from rocband.risks.band import FloatArray, IndexArray
from rocband.rows import Rows
from rocband.solvers.problem import Problem

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
        arguments = (dtype, self.coef_[0], self.intercept_[0])
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

    def _dask_rows(self, X: Any, y: Any) -> DaskRows:
        validate_data(self, template(X), skip_check_array=True)
        table = Table(X, y)
        self._dtype = table.dtype
        self._encode(table.labels)
        return table.rows(self.classes_[1])

    def _problem(self, rows: Rows, positive: npt.NDArray[np.bool_], members: IndexArray | None = None) -> Problem:
        if isinstance(rows, DaskRows):
            return DaskProblem(rows, self.fpr_range, members)
        return super()._problem(rows, positive, members)


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

    def _validated(self, X: Any, y: Any) -> tuple[Rows, npt.NDArray[np.bool_]]:
        if not is_collection(X):
            return super()._validated(X, y)
        return self._dask_rows(X, y), np.zeros(0, dtype=bool)


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

    def _validated(self, X: Any, y: Any) -> tuple[Rows, npt.NDArray[np.bool_]]:
        if not is_collection(X):
            return super()._validated(X, y)
        if self.n_jobs not in (None, 1):
            raise ValueError(f"n_jobs must be None for Dask collections, got {self.n_jobs!r}; workers run in parallel.")
        rows = self._dask_rows(X, y)
        return rows, rows.positive()

    def _held_out(
        self, problem: Problem, models: list[FloatArray], test: IndexArray, positive: npt.NDArray[np.bool_]
    ) -> FloatArray:
        if not isinstance(problem, DaskProblem):
            return super()._held_out(problem, models, test, positive)
        held_out = DaskProblem(problem.whole, self.fpr_range, np.arange(len(positive))[test])
        return np.array([self._area(held_out, w) for w in models])

    def _area(self, problem: DaskProblem, w: FloatArray) -> float:
        scores, n = problem.scores(w), len(problem.negatives)
        top, _ = cast(DistributedScores, scores.negatives).highest(ranks_in_band(self.fpr_range, n))
        return area_in_band(scores.positives, top, (len(scores.positives), n), self.fpr_range)


# What runs on the workers


def _decision(block: Any, precision: np.dtype[Any], coefficients: FloatArray, intercept: float) -> FloatArray:
    scores: FloatArray = block_features(block, precision) @ coefficients + intercept
    return scores


def _classes(scores: FloatArray, classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return classes[(scores > 0).astype(np.intp)]
