"""A slice of the audit that ``python -m benchmarks audit`` makes of 1,000 problems."""

from __future__ import annotations

import numpy as np
import pytest

from audit import OFFSETS, SCALES, case, false_claims

SLICE = range(60)


@pytest.mark.parametrize("seed", SLICE)
def test_models_claim_what_holds(seed):
    assert not list(false_claims(case(seed)))


def test_the_slice_holds_what_is_hard():
    cases = [case(seed) for seed in SLICE]
    assert {each.X.dtype for each in cases} == {np.dtype(np.float32), np.dtype(np.float64)}
    assert {each.offset for each in cases} == set(OFFSETS)
    assert {each.scale for each in cases} == set(SCALES)
    assert {each.options["max_iter"] for each in cases} == {1, 3, 300}
