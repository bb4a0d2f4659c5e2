"""Kernels and models of kernels from single pairs of rows and from all pairs of scores: slow, and plainly right."""

from __future__ import annotations

import math

import numpy as np

import reference
from rocband.risks.band import Band


def value(name, x, z, gamma, degree, coef0):
    """The kernel of two rows, as its definition reads."""
    product = sum(float(a) * float(b) for a, b in zip(x, z, strict=True))
    if name == "linear":
        return product
    if name == "poly":
        return (gamma * product + coef0) ** degree
    if name == "sigmoid":
        return math.tanh(gamma * product + coef0)
    return math.exp(-gamma * sum((float(a) - float(b)) ** 2 for a, b in zip(x, z, strict=True)))


def matrix(name, A, B, gamma=1.0, degree=3, coef0=0.0):
    """Products of all rows of A with all rows of B."""
    return np.array([[value(name, x, z, gamma, degree, coef0) for z in B] for x in A])


def objective(gram, coefficients, y, surrogate, C, fpr_range):
    """1/2 a'Ka + C * risk(Ka)."""
    scores = gram @ coefficients
    band = Band.from_range(fpr_range, np.count_nonzero(y == 0))
    risk = getattr(reference, surrogate)(scores[y == 1], scores[y == 0], band)
    return coefficients @ scores / 2 + C * risk


def features(gram):
    """Features whose products are a positive semi-definite Gram matrix."""
    values, vectors = np.linalg.eigh(gram)
    return vectors * np.sqrt(np.maximum(values, 0.0))
