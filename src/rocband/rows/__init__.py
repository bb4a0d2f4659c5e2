"""Rows: the only code that touches X."""
