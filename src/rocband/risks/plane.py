"""Planes: a risk at some scores, as a linear function of all scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rocband._types import FloatArray, IndexArray
from rocband.risks.graphs import Graph

__all__ = ["Plane", "SmoothedPlane", "Smoothing"]


@dataclass(frozen=True, slots=True)
class Smoothing:
    """Widths, on the scale of scores, over which a pair's weight and a negative's share rise from 0 to 1."""

    margin: float
    rank: float

    def sharpened(self, factor: float) -> Smoothing:
        """Return both widths times ``factor``."""
        return Smoothing(factor * self.margin, factor * self.rank)


@dataclass(frozen=True, slots=True)
class Plane:
    """A risk at some scores and a linear function that stands for it.

    The function is ``offset + positives @ s + negatives @ z[index]``; for a convex risk it is a lower bound everywhere.

    Attributes
    ----------
    value : float
        The risk at the scores, exactly.
    offset : float
        The function's constant.
    positives : array of shape (m,)
        Weights of the positives (none is above 0 where the risk falls as positives rise).
    negatives, index : arrays of shape (k,)
        Weights of the negatives that have any, and which negatives these are.
    """

    value: float
    offset: float
    positives: FloatArray
    negatives: FloatArray
    index: IndexArray

    def scaled(self, factor: float) -> Plane:
        """Return the plane of ``factor`` times the risk."""
        return replace(
            self,
            value=factor * self.value,
            offset=factor * self.offset,
            positives=factor * self.positives,
            negatives=factor * self.negatives,
        )

    def minus(self, other: Plane) -> Plane:
        """Return the plane of this risk less ``other``, made from the same scores."""
        return Plane(
            self.value - other.value,
            self.offset - other.offset,
            self.positives - other.positives,
            np.concatenate([self.negatives, -other.negatives]),
            np.concatenate([self.index, other.index]),
        )


@dataclass(frozen=True, slots=True)
class SmoothedPlane(Plane):
    """The exact ``value`` of a risk with the plane of a smoothed choice.

    Attributes
    ----------
    margin_error, rank_error : float
        How far the plane lies below ``value`` at the scores, for want of sharp pairs and of sharp ranks.
    curvature : callable
        Returns the second derivatives of the smoothed risk as graphs over the rows; made when asked for.
    again : callable
        Returns the plane at the same scores with another smoothing; nothing is sorted again.
    """

    margin_error: float
    rank_error: float
    curvature: Callable[[], list[Graph]]
    again: Callable[[Smoothing], SmoothedPlane]
