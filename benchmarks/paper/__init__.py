"""The experiments of Narasimhan & Agarwal from one command: ``make paper``, or ``python -m benchmarks.paper``."""
