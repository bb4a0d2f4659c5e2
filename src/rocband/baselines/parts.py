"""The scores of the two classes, as the baselines keep them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rocband._types import AnyArray, BoolArray, FloatArray

__all__ = ["ClassParts"]


@dataclass(frozen=True, slots=True)
class ClassParts:
    """Scores of the positives and of the negatives."""

    positives: FloatArray
    negatives: FloatArray

    @classmethod
    def of(cls, values: AnyArray, positive: BoolArray) -> ClassParts:
        """Part the scores of all rows by class."""
        positives = values[positive].astype(np.float64, copy=False)
        negatives = values[~positive].astype(np.float64, copy=False)
        return cls(positives, negatives)

    def along(self, direction: ClassParts, step: float) -> ClassParts:
        """Return the scores ``step`` further along a direction."""
        positives = self.positives + step * direction.positives
        negatives = self.negatives + step * direction.negatives
        return ClassParts(positives, negatives)
