"""Risks: from scores to a value and row weights, knowing nothing of features."""

from rocband.risks.band import Band, check_range

__all__ = ["Band", "check_range"]
