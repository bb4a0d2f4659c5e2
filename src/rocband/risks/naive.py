"""The plain structural surrogate, kept for comparison."""

from __future__ import annotations

from typing import ClassVar

from rocband.risks.structural import StructuralRisk

__all__ = ["NaiveRisk"]


class NaiveRisk(StructuralRisk):
    """As `TightRisk`, but a positive may also lose to negatives beyond the band: looser, and dearer by far."""

    has_tail: ClassVar[bool] = True
