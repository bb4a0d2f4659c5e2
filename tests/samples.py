"""Scores of small samples, tied, close and far apart, and bands of their ranks, for hypothesis to draw from."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from rocband.risks import Band

__all__ = ["CLOSE", "EQUAL", "EXTREME", "NOISY", "TIED", "UNTIED", "WIDE", "bands", "samples", "seeds"]

seeds = st.integers(0, 2**32 - 1)

TIED = st.integers(-2, 3).map(lambda half: half / 2)
UNTIED = st.floats(-5, 5, allow_subnormal=False)
EQUAL = st.just(0.7)
WIDE = st.sampled_from([-1e6, -30.0, -1.0, -1e-9, 0.0, 1e-300, 0.5, 1.0, 1e3, 1e6])
EXTREME = st.sampled_from([-1e100, -1e9, -1.0, -5e-324, 0.0, 1e-300, 1.0, 1e9, 1e100])
# Differences that miss 0 or 1 by a few units in the last place.
NOISY = st.sampled_from([0.1 * i for i in range(14)] + [0.1 + i / 10 for i in range(14)] + [np.nextafter(1, 2)])
CLOSE = (TIED, UNTIED, EQUAL)


@st.composite
def bands(draw, n):
    """Any ranks 0 <= start < stop <= n, often from the top and often to the end."""
    start = draw(st.one_of(st.just(0), st.integers(0, n - 1)))
    stop = draw(st.one_of(st.just(n), st.integers(start + 1, n)))
    return Band(start, stop, n)


@st.composite
def samples(draw, max_positives=7, max_negatives=12, kinds=CLOSE, *, moved=False):
    """Scores of positives and negatives, and a band of ranks; ``moved`` adds an offset or takes single precision."""
    kind = draw(st.sampled_from(kinds))
    m = draw(st.integers(1, max_positives))
    n = draw(st.integers(1, max_negatives))
    scores = np.array(draw(st.lists(kind, min_size=m + n, max_size=m + n)))
    if moved and kind is not EXTREME:
        scores += draw(st.sampled_from([0.0, 0.0, 1e6, -1e6 / 3]))
        scores = scores.astype(draw(st.sampled_from([np.float64, np.float32])))
    return scores[:m], scores[m:], draw(bands(n))
