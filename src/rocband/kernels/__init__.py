"""Kernels: products of rows in a space of features that is never written down. Internal."""
