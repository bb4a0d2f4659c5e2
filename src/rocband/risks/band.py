"""The band of false-positive rates as ranks of the negatives."""

from __future__ import annotations

from dataclasses import dataclass

from rocband._errors import ParameterError
from rocband.ranks import check_range, ranks_reached, ranks_touched

__all__ = ["Band"]


@dataclass(frozen=True, slots=True)
class Band:
    """Ranks ``start < j <= stop`` of the negatives, by falling score, that a range of FPR covers.

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
            raise ValueError("A band of false-positive rates needs at least one negative, got none.")
        start = ranks_reached(alpha, n_negatives)
        # The smallest positive rates round to 0 ranks, but a band that starts at 0 holds the top negative.
        stop = max(ranks_touched(beta, n_negatives), 1)
        if stop <= start:
            first = min(start, n_negatives - 1)
            low = first / n_negatives
            high = (first + 1) / n_negatives
            raise ParameterError(
                "fpr_range",
                f"({alpha}, {beta}) holds none of the {n_negatives} negatives; the smallest range that works there is "
                f"({low:.6g}, {high:.6g}).",
            )
        return cls(start, stop, n_negatives)

    def widened(self, factor: float, n_negatives: int | None = None) -> Band:
        """Return the band that ends ``factor`` times further down, among as many negatives or among others."""
        high = min(factor * self.stop / self.n_negatives, 1.0)
        n = self.n_negatives if n_negatives is None else n_negatives
        return Band.from_range((self.start / self.n_negatives, high), n)
