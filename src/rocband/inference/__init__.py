"""How sure the figures of a ROC band are: intervals, tests, comparisons, and a bound for training."""

from rocband.inference.bound import GeneralizationBound, generalization_bound
from rocband.inference.comparison import Comparison, compare_many, compare_partial_auc
from rocband.inference.intervals import (
    Interval,
    ValueTest,
    partial_auc_interval,
    partial_auc_test,
    tpr_at_fpr_interval,
)

__all__ = [
    "Comparison",
    "GeneralizationBound",
    "Interval",
    "ValueTest",
    "compare_many",
    "compare_partial_auc",
    "generalization_bound",
    "partial_auc_interval",
    "partial_auc_test",
    "tpr_at_fpr_interval",
]
