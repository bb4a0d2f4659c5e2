"""The checked input of an inference: two classes, one or more scorers, and the groups that vary together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rocband._input import check_lengths, check_scores, positive_mask, vector
from rocband.inference.curve import FloatArray, IndexArray, Influence

__all__ = ["Clusters", "Sample"]

_Array = npt.NDArray[Any]
_CLASSES = ("positives", "negatives")


@dataclass(frozen=True, slots=True)
class Clusters:
    """The group of each positive and of each negative.

    Attributes
    ----------
    members : pair of arrays
        The group's number of each positive and each negative.
    sizes : pair of int
        When no group holds both classes, the number of groups of each class, numbered apart; else the number of all
        groups, twice.
    mixed : bool
        Whether some group holds both classes.
    """

    members: tuple[IndexArray, IndexArray]
    sizes: tuple[int, int]
    mixed: bool


@dataclass(frozen=True, slots=True)
class Sample:
    """Scores of the positives and the negatives by each scorer, members sorted by the first scorer's falling score."""

    positives: tuple[_Array, ...]
    negatives: tuple[_Array, ...]
    clusters: Clusters | None

    @classmethod
    def of(
        cls,
        y_true: npt.ArrayLike,
        scorers: Mapping[str, npt.ArrayLike],
        groups: npt.ArrayLike | None = None,
        pos_label: object = None,
    ) -> Sample:
        """Check the input; ``scorers`` holds the scores under the name that errors call them by."""
        labels = vector(y_true, "y_true")
        scores = [_checked(labels, values, name) for name, values in scorers.items()]
        mask = positive_mask(labels, pos_label)
        # Sorted members make the result independent of the order in which the samples come.
        order = np.lexsort([*(-column for column in map(_as_float, reversed(scores)))])
        sides = tuple(order[mask[order] == side] for side in (True, False))
        for name, side in zip(_CLASSES, sides, strict=True):
            if len(side) < 2:
                raise ValueError(f"y_true holds one of the {name} only; an interval needs at least 2 of each class.")
        clusters = None if groups is None else _clusters(labels, groups, sides)
        positives, negatives = (tuple(column[side] for column in scores) for side in sides)
        return cls(positives, negatives, clusters)

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of positives and negatives."""
        return len(self.positives[0]), len(self.negatives[0])

    def variance(self, influence: Influence) -> tuple[float, float]:
        """Return a figure's variance and its degrees of freedom (Welch and Satterthwaite's, for two classes)."""
        parts = self._independent_parts(influence)
        terms = [(float(part @ part) * len(part) / (len(part) - 1), len(part) - 1) for part in parts]
        total = sum(term for term, _ in terms)
        if total == 0:
            return 0.0, 1.0
        return total, total**2 / sum(term**2 / degrees for term, degrees in terms)

    def _independent_parts(self, influence: Influence) -> list[FloatArray]:
        sides = [influence.positive, influence.negative]
        if self.clusters is None:
            return sides
        sums: list[FloatArray] = [
            np.bincount(members, values, minlength=size).astype(np.float64)
            for members, values, size in zip(self.clusters.members, sides, self.clusters.sizes, strict=True)
        ]
        return [sums[0] + sums[1]] if self.clusters.mixed else sums


def _as_float(values: _Array) -> FloatArray:
    return values.astype(np.float64)


def _checked(labels: _Array, values: npt.ArrayLike, name: str) -> _Array:
    scores = vector(values, name)
    check_lengths(labels, scores, name)
    try:
        check_scores(scores)
    except ValueError as error:
        raise ValueError(str(error).replace("y_score", name, 1)) from None
    return scores


def _clusters(labels: _Array, groups: npt.ArrayLike, sides: tuple[IndexArray, ...]) -> Clusters:
    names = vector(groups, "groups")
    check_lengths(labels, names, "groups")
    try:
        distinct, codes = np.unique(names, return_inverse=True)
    except TypeError:
        raise ValueError("groups mixes values that cannot be compared; pass group names of one type.") from None
    present = [np.unique(codes[side]) for side in sides]
    for name, own in zip(_CLASSES, present, strict=True):
        if len(own) < 2:
            raise ValueError(
                f"All {name} belong to the group {distinct[own[0]].item()!r}, so resampling groups cannot tell how "
                f"the {name} vary; they must come from at least 2 groups."
            )
    if len(np.intersect1d(present[0], present[1])):
        return Clusters((codes[sides[0]], codes[sides[1]]), (len(distinct), len(distinct)), True)
    members = [np.searchsorted(own, codes[side]) for own, side in zip(present, sides, strict=True)]
    return Clusters((members[0], members[1]), (len(present[0]), len(present[1])), False)
