"""A warning where a band holds so few negatives that a figure says little."""

from __future__ import annotations

import warnings

from rocband.ranks import position

__all__ = ["NarrowBandWarning", "warn_if_narrow"]


class NarrowBandWarning(UserWarning):
    """A band holds so few negatives that a figure, or its interval, would mislead."""


def warn_if_narrow(
    fpr_range: tuple[float, float], n_negatives: int, fewest: int, consequence: str, stacklevel: int
) -> None:
    """Warn where a band of false-positive rates holds fewer negatives than ``fewest``, with their count.

    ``stacklevel`` leads from here to whoever called the public function; 1 is this function.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_if_narrow((0.0, 0.05), 30, 5, "say why", 2)
    >>> print(caught[0].message)
    fpr_range=(0, 0.05) holds 1.5 of the 30 negatives: say why.
    """
    low, high = fpr_range
    held = position(high - low, n_negatives)
    if held < fewest:
        message = f"fpr_range=({low:g}, {high:g}) holds {held:.3g} of the {n_negatives} negatives: {consequence}."
        warnings.warn(message, NarrowBandWarning, stacklevel=stacklevel)
