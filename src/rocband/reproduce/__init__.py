"""The experiments of Narasimhan & Agarwal from one command: ``python -m rocband.reproduce``."""
