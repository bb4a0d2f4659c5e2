"""The band of false-positive rates, as ranks among n negatives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

__all__ = ["Band", "check_range"]

# Products such as 0.1 * 30 miss an integer by a few units in the last place; a rank moves only for more than that.
_NOISE = 1e-9


def check_range(bounds: object, name: str = "fpr_range") -> tuple[float, float]:
    """Return ``bounds`` as two floats with 0 <= low < high <= 1, or say what is wrong with them."""
    try:
        low, high = bounds  # type: ignore[misc]
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair (low, high) of rates, got {bounds!r}.") from None
    if not all(isinstance(value, Real) and not isinstance(value, bool) for value in (low, high)):
        raise ValueError(f"{name} must be a pair of numbers, got {bounds!r}.")
    if not 0 <= low < high <= 1:
        raise ValueError(f"{name} must satisfy 0 <= low < high <= 1, got ({low}, {high}).")
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Band:
    """Ranks ``start < j <= stop`` of the negatives, sorted by falling score, that lie in a band of FPR.

    Attributes
    ----------
    start, stop : int
        floor(n * alpha) and ceil(n * beta), free of floating-point noise.
    n_negatives : int
        The number of negatives the ranks refer to.
    """

    start: int
    stop: int
    n_negatives: int

    @property
    def width(self) -> int:
        """Number of ranks in the band."""
        return self.stop - self.start

    @classmethod
    def from_range(cls, fpr_range: object, n_negatives: int) -> Band:
        """Turn a range of false-positive rates into ranks.

        Examples
        --------
        >>> Band.from_range((0.1, 0.3), 30)
        Band(start=3, stop=9, n_negatives=30)
        """
        alpha, beta = check_range(fpr_range)
        if n_negatives < 1:
            raise ValueError("The band needs at least one negative, got none.")
        # Tiny rates on huge samples stay exact: noise is relative to the product, and rank 0 is only for alpha * n < 1.
        low, high = n_negatives * alpha, n_negatives * beta
        start = math.floor(low + _NOISE * max(low, 1.0))
        stop = math.ceil(high - _NOISE * max(high, 1.0)) if high > _NOISE else 1
        if stop <= start:
            raise ValueError(
                f"fpr_range=({alpha}, {beta}) holds none of the {n_negatives} negatives; "
                f"with that many, the smallest range that works there is {smallest_range(start, n_negatives)}."
            )
        return cls(start, stop, n_negatives)


def smallest_range(rank: int, n_negatives: int) -> str:
    """Name the range of exactly one negative around ``rank``."""
    start = min(rank, n_negatives - 1)
    return f"({start / n_negatives:.6g}, {(start + 1) / n_negatives:.6g})"
