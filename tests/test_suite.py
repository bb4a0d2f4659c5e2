"""The tests themselves: none can fail because the machine is busy, and none is left out."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

FILES = sorted(Path(__file__).resolve().parent.rglob("*.py"))
# What makes a test depend on how busy the machine is, and what leaves one out.
CLOCKS = {"time", "perf_counter", "perf_counter_ns", "process_time", "monotonic"}
LEFT_OUT = {"skip", "skipif", "xfail", "importorskip"}


def test_properties_are_searched_without_a_clock():
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check


def test_the_same_examples_where_a_failure_is_not_looked_at():
    assert settings.default.derandomize == ("CI" in os.environ)
    assert settings.default.print_blob


def calls(path):
    """Yield the last name of everything that a file calls or decorates with, and the arguments that have names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield getattr(node.func, "attr", getattr(node.func, "id", "")), node.keywords
        elif isinstance(node, ast.Attribute):
            yield node.attr, []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_test_reads_a_clock_or_is_left_out(path):
    for name, keywords in calls(path):
        assert name not in CLOCKS | LEFT_OUT
        for keyword in keywords:
            if name == "settings" and keyword.arg == "deadline":
                assert isinstance(keyword.value, ast.Constant)
                assert keyword.value.value is None
