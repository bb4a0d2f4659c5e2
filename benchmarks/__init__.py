"""Benchmarks: one module for each claim, with a ``run()`` that returns its figures."""
