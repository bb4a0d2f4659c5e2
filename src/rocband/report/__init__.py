"""One self-contained HTML page about the band: figures with intervals, curves, and an explorer of thresholds.

The page works from a file and without a network. Its plotting library is Chart.js, which comes with the package.
"""

from rocband.report.page import write

__all__ = ["write"]
