"""Risks: from scores to a value and row weights, knowing nothing of features."""

from rocband.risks.band import Band, check_range
from rocband.risks.surrogates import SURROGATES, Linearization, hinge, naive, ramp, tight, top_hinge

__all__ = ["SURROGATES", "Band", "Linearization", "check_range", "hinge", "naive", "ramp", "tight", "top_hinge"]
