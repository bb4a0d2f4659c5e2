"""The partial AUC of scores that are not brought together."""

from __future__ import annotations

from typing import Any

import numpy as np

from rocband import metrics
from rocband._input import positive_mask
from rocband._types import AnyArray, FloatArray
from rocband.dask.cluster import gather, keep, task
from rocband.dask.collections import blocks_of, is_collection, label_blocks
from rocband.dask.rows import Block, DaskRows, Part
from rocband.dask.scores import DistributedNegatives, KeptScores, sample_slices
from rocband.metrics.in_band import area_from_top, ranks_in_band
from rocband.metrics.scores import Normalize
from rocband.ranks import check_range

__all__ = ["partial_auc_score"]


def partial_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    fpr_range: tuple[float, float] = (0.0, 1.0),
    normalize: Normalize = "width",
    pos_label: object = None,
) -> float:
    """Area under the ROC curve inside a band of false-positive rates, of scores in Dask collections.

    Only scores as high as the negatives in the band leave the workers: about 20 bytes for each negative up to the
    band's upper end and 8 for each positive above them.

    Parameters
    ----------
    y_true : Dask array or series, or array-like of shape (n_samples,)
        Labels of two classes.
    y_score : Dask array or series of shape (n_samples,)
        Scores, larger for what looks more positive. What is not a Dask collection is measured here.
    fpr_range : (float, float), default (0, 1)
        The band, with 0 <= low < high <= 1.
    normalize : {"width", "none", "mcclish"}, default "width"
        As in :func:`rocband.metrics.partial_auc_score`.
    pos_label : object, optional
        The label of the positives. The greater of two numbers by default; required for labels that are not numbers.

    Returns
    -------
    float

    Examples
    --------
    >>> import dask.array as da
    >>> from rocband.dask import partial_auc_score
    >>> y_true = da.from_array([0, 0, 0, 0, 1, 1], chunks=4)
    >>> y_score = da.from_array([0.1, 0.2, 0.3, 0.6, 0.5, 0.7], chunks=4)
    >>> partial_auc_score(y_true, y_score, fpr_range=(0.0, 0.5))
    0.75
    """
    if not is_collection(y_score):
        options: Any = {"fpr_range": fpr_range, "normalize": normalize, "pos_label": pos_label}
        return metrics.partial_auc_score(np.asarray(y_true), y_score, **options)
    check_range(fpr_range)
    rows, parts = _split_classes(y_true, y_score, pos_label)
    sampled = zip(parts, sample_slices(rows), strict=True)
    sample = np.concatenate(gather([task(_sample, part, own) for part, own in sampled]))
    negatives = DistributedNegatives.of(KeptScores(rows, parts), sample)
    top = negatives.highest_values(ranks_in_band(fpr_range, rows.n_negatives))
    lowest = float(top[0])
    positives = np.concatenate(gather([task(_reaching, part, lowest) for part in parts]))
    return area_from_top(positives, top, (rows.n_positives, rows.n_negatives), fpr_range, normalize)


def _split_classes(y_true: Any, y_score: Any, pos_label: object) -> tuple[DaskRows, list[Any]]:
    """Part the scores of each block into positives and negatives, on the workers."""
    scores = [task(np.asarray, block) for block in blocks_of(y_score)]
    labels = label_blocks(y_true, y_score, scores, ("y_true", "y_score"))
    found = gather([task(_checked, *pair) for pair in zip(labels, scores, strict=True)])
    distinct = np.unique(np.concatenate([own for own, _ in found if len(own)]))
    positive = distinct[positive_mask(distinct, pos_label)][0]
    parts = keep([task(_split, *pair, positive) for pair in zip(labels, scores, strict=True)])
    counts = gather([task(_sizes, part) for part in parts])
    blocks = [Block(None, None, m, n, size) for (m, n), (_, size) in zip(counts, found, strict=True)]
    return DaskRows(blocks, 0, 0.0), parts


# What runs on the workers


def _checked(labels: AnyArray, scores: AnyArray) -> tuple[AnyArray, int]:
    if labels.shape != scores.shape or scores.ndim != 1:
        raise ValueError(f"A block of y_score has the shape {scores.shape}, but that of y_true has {labels.shape}.")
    if not np.isfinite(scores).all():
        raise ValueError("y_score holds NaN or infinity; remove or replace what is not finite.")
    return np.unique(labels), len(scores)


def _split(labels: AnyArray, scores: AnyArray, positive: Any) -> Part:
    chosen = labels == positive
    values = scores.astype(np.float64)
    return values[chosen], values[~chosen]


def _sizes(part: Part) -> tuple[int, int]:
    return len(part[0]), len(part[1])


def _sample(part: Part, sampled: slice) -> FloatArray:
    return part[1][sampled]


def _reaching(part: Part, low: float) -> FloatArray:
    return part[0][part[0] >= low]
