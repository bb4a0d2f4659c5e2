"""Solvers: from a problem to a model with a certificate."""
