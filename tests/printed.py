"""Compare what a program prints with what a page shows."""

from __future__ import annotations

import re

import pytest

DECIMAL = re.compile(r"[+-]?\d+\.\d+(?:e[+-]\d+)?")


def assert_same(said, shown):
    """Compare text word by word, and decimals up to what differs from machine to machine; seconds may be any."""
    said, shown = (re.sub(r"\d+\.\d s\.", "some s.", text.rstrip()) for text in (said, shown))
    assert DECIMAL.sub("#", said).split() == DECIMAL.sub("#", shown).split()
    numbers = [[float(number) for number in DECIMAL.findall(text)] for text in (said, shown)]
    assert numbers[0] == pytest.approx(numbers[1], rel=0.05, abs=0.02)
