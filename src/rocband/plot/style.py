"""What the pictures share: colours, line styles and panels."""

from __future__ import annotations

from typing import Any

__all__ = ["COLORS", "QUIET", "SHADE", "STYLES", "one_panel", "two_panels"]

# The palette of Okabe and Ito, which people with any kind of colour vision can tell apart.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# Four styles and seven colours have no common factor, so that 28 curves look different.
STYLES = ("-", "--", "-.", ":")
# Light enough to read curves on.
SHADE = "#ECECEC"
# The lightest grey that has the contrast of 4.5 to 1 on white which WCAG asks of text.
QUIET = "#767676"


def one_panel(size: tuple[float, float] = (6.0, 4.0)) -> Any:
    """Return the axes of a new figure."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    return plt.subplots(figsize=size, layout="constrained")[1]


def two_panels() -> Any:
    """Return two axes of a new figure, one above the other."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    return plt.subplots(2, 1, figsize=(6.0, 5.2), sharex=True, layout="constrained")[1]
