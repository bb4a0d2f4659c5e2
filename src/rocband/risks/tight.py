"""The tight convex surrogate of SVM_pAUC."""

from __future__ import annotations

from rocband.risks.structural import StructuralRisk

__all__ = ["TightRisk"]


class TightRisk(StructuralRisk):
    """(1/N) sum_i max(A_i, B_i) without a tail; equals the mean hinge when the band starts at rank 0."""
