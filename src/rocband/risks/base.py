"""What a surrogate of the partial-AUC risk is: one class that turns scores into a value and planes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from rocband.risks.band import Band
from rocband.risks.plane import Plane, SmoothedPlane, Smoothing
from rocband.risks.scores import Scores

__all__ = ["BandRisk", "Difference", "Risk"]


class Risk(ABC):
    """A risk of scores: the smaller, the better the ranking.

    A convex risk's planes lie below it everywhere; those of another only give a slope and the curvature of a convex
    majorant. A risk never sees features, so that one class serves linear models, kernels and clusters alike.
    """

    @property
    @abstractmethod
    def convex(self) -> bool:
        """Whether the risk is convex in the scores."""

    @abstractmethod
    def plane(self, scores: Scores, smoothing: Smoothing) -> SmoothedPlane:
        """Evaluate the risk exactly and give the plane of a choice that varies smoothly with the scores."""

    @abstractmethod
    def sharp(self, scores: Scores) -> Plane:
        """Linearise the risk without smoothing: a plane that touches it."""

    def value(self, scores: Scores) -> float:
        """Evaluate the risk exactly."""
        return self.sharp(scores).value

    @property
    def difference(self) -> Difference | None:
        """The risk as a difference of convex ones, where that is how it is minimised best; None by default."""
        return None

    @property
    def reach(self) -> float:
        """Share of the negatives, from the top, that the risk looks at; all by default."""
        return 1.0

    def widened(self, factor: float, n_negatives: int | None = None) -> Risk:
        """Return an easier risk that reaches ``factor`` times further, among as many negatives or among others.

        A descent that starts with it is less likely to end in a poor local minimum; the risk itself by default.
        """
        return self


class BandRisk(Risk):
    """A risk of the pairs of positives with the negatives in a band.

    Parameters
    ----------
    band : Band
        The ranks of the negatives that count.
    """

    def __init__(self, band: Band) -> None:
        self.band = band

    def on(self, band: Band) -> Self:
        """Return the same surrogate for another band."""
        return type(self)(band)

    @property
    def reach(self) -> float:
        """Share of the negatives, from the top, that the band ends with."""
        return self.band.stop / self.band.n_negatives

    def widened(self, factor: float, n_negatives: int | None = None) -> Self:
        """Return the surrogate for the band that ends ``factor`` times further down."""
        return self.on(self.band.widened(factor, n_negatives))


@dataclass(frozen=True, slots=True)
class Difference:
    """A risk written as ``factor * convex - concave``.

    Attributes
    ----------
    convex : Risk
    factor : float
    concave : callable
        Linearises the convex function that is taken off, at given scores.
    """

    convex: Risk
    factor: float
    concave: Callable[[Scores], Plane]
