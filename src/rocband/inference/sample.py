"""The checked input of an inference: two classes, one or more scorers, and the groups that vary together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rocband._input import check_lengths, check_scores, positive_mask, vector
from rocband._types import AnyArray, FloatArray, IndexArray
from rocband.inference.figures import Influence

__all__ = ["Clusters", "Sample"]

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

    positives: tuple[AnyArray, ...]
    negatives: tuple[AnyArray, ...]
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
        order = _by_falling_score(scores)
        is_positive = mask[order]
        sides = (order[is_positive], order[~is_positive])
        for name, side in zip(_CLASSES, sides, strict=True):
            if len(side) < 2:
                raise ValueError(f"y_true holds one of the {name} only; an interval needs at least 2 of each class.")
        clusters = None if groups is None else _clusters(labels, groups, sides)
        positives = tuple(column[sides[0]] for column in scores)
        negatives = tuple(column[sides[1]] for column in scores)
        return cls(positives, negatives, clusters)

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of positives and negatives."""
        return len(self.positives[0]), len(self.negatives[0])

    def variance(self, influence: Influence) -> tuple[float, float]:
        """Return a figure's variance and its degrees of freedom (Welch and Satterthwaite's, for two classes)."""
        total = 0.0
        weighted = 0.0
        # 1 / degrees is the sum of 1 / (size - 1) over the parts, each times the square of its share of the variance.
        for part in self._independent_parts(influence):
            size = len(part)
            own = float(part @ part) * size / (size - 1)
            total += own
            weighted += own**2 / (size - 1)
        if total == 0:
            return 0.0, 1.0
        return total, total**2 / weighted

    def _independent_parts(self, influence: Influence) -> list[FloatArray]:
        """Return the influences, one array for each set of samples or groups that vary independently."""
        if self.clusters is None:
            return [influence.positive, influence.negative]
        positive_members, negative_members = self.clusters.members
        n_first, n_second = self.clusters.sizes
        positives = _summed(influence.positive, positive_members, n_first)
        negatives = _summed(influence.negative, negative_members, n_second)
        if self.clusters.mixed:
            return [positives + negatives]
        return [positives, negatives]


def _summed(values: FloatArray, members: IndexArray, n_groups: int) -> FloatArray:
    """Return the sum of each group's values."""
    return np.bincount(members, values, minlength=n_groups).astype(np.float64)


def _by_falling_score(scores: list[AnyArray]) -> IndexArray:
    """Return the order of falling scores, by the first scorer first; results do not depend on the order of the rows."""
    # lexsort takes its most important key last.
    keys = [-column.astype(np.float64) for column in reversed(scores)]
    return np.lexsort(keys)


def _checked(labels: AnyArray, values: npt.ArrayLike, name: str) -> AnyArray:
    scores = vector(values, name)
    check_lengths(labels, scores, name)
    try:
        check_scores(scores)
    except ValueError as error:
        raise ValueError(str(error).replace("y_score", name, 1)) from None
    return scores


def _clusters(labels: AnyArray, groups: npt.ArrayLike, sides: tuple[IndexArray, ...]) -> Clusters:
    names = vector(groups, "groups")
    check_lengths(labels, names, "groups")
    try:
        distinct, codes = np.unique(names, return_inverse=True)
    except TypeError:
        raise ValueError("groups mixes values that cannot be compared; pass group names of one type.") from None
    positive_codes = codes[sides[0]]
    negative_codes = codes[sides[1]]
    with_positives = np.unique(positive_codes)
    with_negatives = np.unique(negative_codes)
    for name, own in zip(_CLASSES, (with_positives, with_negatives), strict=True):
        if len(own) < 2:
            raise ValueError(
                f"All {name} belong to the group {distinct[own[0]].item()!r}, so resampling groups cannot tell how "
                f"the {name} vary; they must come from at least 2 groups."
            )
    mixed = len(np.intersect1d(with_positives, with_negatives)) > 0
    if mixed:
        return Clusters((positive_codes, negative_codes), (len(distinct), len(distinct)), mixed)
    positive_members = np.searchsorted(with_positives, positive_codes)
    negative_members = np.searchsorted(with_negatives, negative_codes)
    return Clusters((positive_members, negative_members), (len(with_positives), len(with_negatives)), mixed)
