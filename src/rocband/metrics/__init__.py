"""Measures of a ranking in a band of the ROC curve."""

from rocband.metrics.narrow import NarrowBandWarning
from rocband.metrics.scores import (
    empirical_partial_auc,
    froc_band,
    partial_auc_score,
    partial_auc_scorer,
    tpr_at_fpr_score,
)

__all__ = [
    "NarrowBandWarning",
    "empirical_partial_auc",
    "froc_band",
    "partial_auc_score",
    "partial_auc_scorer",
    "tpr_at_fpr_score",
]
