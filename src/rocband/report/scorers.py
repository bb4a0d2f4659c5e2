"""The scorers of a report by their names, and the checked study they belong to."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rocband._input import positive_mask
from rocband.inference.intervals import check_settings, rectangle
from rocband.inference.resampling import DRAWING_METHODS
from rocband.inference.sample import Sample
from rocband.threshold.ranks import check_open

__all__ = ["Study", "named_scores"]

METHODS = (*DRAWING_METHODS, "analytic")


@dataclass(frozen=True, slots=True)
class Study:
    """The checked data of a report, and how its intervals are made."""

    y_true: npt.NDArray[Any]
    scores: dict[str, npt.NDArray[Any]]
    fpr_range: tuple[float, float]
    confidence: float
    method: str
    n_draws: int
    groups: npt.NDArray[Any] | None
    random_state: Any
    pos_label: object
    prevalence: float | None
    verbose: int

    @classmethod
    def of(cls, y_true: npt.ArrayLike, scores: Any, fpr_range: object, **settings: Any) -> Study:
        """Check the input, naming the scorer where one of them is at fault."""
        named = named_scores(scores)
        band = rectangle(fpr_range, None).fpr
        check_settings(settings["method"], METHODS, settings["confidence"], settings["n_draws"])
        if settings["prevalence"] is not None:
            settings["prevalence"] = check_open(settings["prevalence"], "prevalence")
        labelled = {f"scores[{name!r}]": values for name, values in named.items()}
        Sample.of(y_true, labelled, settings["groups"], settings["pos_label"])
        groups = None if settings["groups"] is None else np.asarray(settings["groups"])
        return cls(np.asarray(y_true), named, band, **(settings | {"groups": groups}))

    @property
    def drawing(self) -> dict[str, Any]:
        """What the functions of inference are asked for."""
        names = ("confidence", "method", "n_draws", "groups", "random_state", "pos_label", "verbose")
        return {name: getattr(self, name) for name in names}

    @property
    def positive(self) -> npt.NDArray[np.bool_]:
        """Which samples are positive."""
        return positive_mask(self.y_true, self.pos_label)

    def tell(self, doing: str) -> None:
        """Tell the progress, if asked to."""
        if self.verbose:
            print(f"[rocband] {doing}", file=sys.stderr, flush=True)

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of positives and negatives."""
        positives = int(np.count_nonzero(self.positive))
        return positives, len(self.y_true) - positives


def named_scores(scores: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the scores of each scorer by its name, from a mapping, a data frame or one array."""
    if not isinstance(scores, Mapping) and not hasattr(scores, "columns"):
        name = getattr(scores, "name", None)
        scores = {"scores" if name is None else name: scores}
    keys = list(scores) if isinstance(scores, Mapping) else list(scores.columns)
    names = [str(key) for key in keys]
    _check_names(names)
    return {name: np.asarray(scores[key]) for name, key in zip(names, keys, strict=True)}


def _check_names(names: list[str]) -> None:
    if not names:
        raise ValueError("scores holds no scorer; pass the scores of at least one model by its name.")
    for position, name in enumerate(names):
        if not name.strip():
            raise ValueError(f"The scorer at position {position} of scores has an empty name; give it one.")
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise ValueError(f"scores holds {count} scorers of the name {name!r}; give each its own name.")
