"""All figures of a set of scorers on the same samples, computed once.

``rocband evaluate``, ``rocband compare`` and :func:`rocband.report.write` show a :class:`Study`, so that one scorer has
one interval and one pair of scorers one p-value, whichever of them is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral, Real
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from rocband._errors import ParameterError
from rocband._input import check_open, positive_mask
from rocband._progress import tell
from rocband._types import AnyArray, BoolArray
from rocband.inference import Comparison, Interval, compare_many, partial_auc_interval, tpr_at_fpr_interval
from rocband.inference.comparison import smallest_pvalue
from rocband.inference.intervals import FULL, METHODS, Method, MethodUsed, check_settings, method_used, rectangle
from rocband.inference.resampling import RandomState
from rocband.inference.sample import Sample
from rocband.threshold import operating_points

__all__ = ["Calls", "Figures", "Study", "named_scores"]

# Rates that readers of many studies know by heart; beside the ends of the band they make tables of different bands
# comparable.
USUAL_RATES = (0.01, 0.05)

# Seeds are drawn below this: what RandomState takes, and short enough to be written down.
_SEEDS = 1 << 32


@dataclass(frozen=True, slots=True)
class Figures:
    """What one scorer achieves.

    Attributes
    ----------
    pauc : Interval
        The partial AUC in the band.
    tpr : Interval
        The TPR at the band's upper end.
    auc : Interval
        The whole AUC.
    """

    pauc: Interval
    tpr: Interval
    auc: Interval


@dataclass(frozen=True, slots=True)
class Calls:
    """How many samples of each class a model calls positive.

    Attributes
    ----------
    false_positives, negatives : int
        The negatives that are called positive, and all negatives.
    true_positives, positives : int
        The positives that are called positive, and all positives.
    """

    false_positives: int
    negatives: int
    true_positives: int
    positives: int


class _Settings(TypedDict):
    """What the functions of inference are asked for."""

    confidence: float
    method: Method
    n_draws: int
    groups: AnyArray | None
    random_state: int
    pos_label: object
    verbose: int


@dataclass(frozen=True, eq=False)
class Study:
    """Labels, the scores of named scorers, and how their figures are made. Make it with :meth:`of`.

    Figures are computed when they are first asked for, and kept.

    Attributes
    ----------
    y_true : array of shape (n_samples,)
        The labels.
    scores : dict of str to array of shape (n_samples,)
        The scores of each scorer by its name.
    fpr_range : (float, float)
        The band.
    confidence, method, n_draws, groups, pos_label, verbose
        As they were given.
    random_state : int
        The seed of every figure: the given one, or one drawn from what was given.
    prevalence : float or None
        The share of positives where the models will be used; None for that of the sample.
    rates : tuple of float
        The false-positive rates of the operating points.
    """

    y_true: AnyArray
    scores: dict[str, AnyArray]
    fpr_range: tuple[float, float]
    confidence: float
    method: Method
    n_draws: int
    groups: AnyArray | None
    random_state: int
    pos_label: object
    prevalence: float | None
    rates: tuple[float, ...]
    verbose: int
    _intervals: dict[tuple[str, str, object], Interval] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        y_true: npt.ArrayLike,
        scores: Any,
        *,
        fpr_range: tuple[float, float],
        confidence: float = 0.95,
        method: Method = "auto",
        n_draws: int = 2000,
        groups: npt.ArrayLike | None = None,
        random_state: RandomState = None,
        pos_label: object = None,
        prevalence: float | None = None,
        rates: Iterable[float] | None = None,
        verbose: int = 0,
    ) -> Study:
        """Check the input, naming the scorer where one of them is at fault.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes, at least 2 of each.
        scores : mapping of str to array-like, data frame, or array-like of shape (n_samples,)
            The scores of each model by its name, larger for what looks more positive. Of a data frame, each column is
            a model.
        fpr_range : (float, float)
            The band, with 0 <= low < high <= 1.
        confidence, method, n_draws, groups, pos_label, verbose
            As in :func:`rocband.inference.partial_auc_interval`.
        random_state : int, RandomState, Generator or None
            Seed of the draws. Whatever it is, one seed is taken from it, and all figures use that one.
        prevalence : float, optional
            The share of positives where the models will be used. By default that of the sample.
        rates : iterable of float, optional
            The false-positive rates of the operating points. By default the ends of the band that lie between 0 and 1,
            0.01 and 0.05.

        Returns
        -------
        Study

        Examples
        --------
        >>> from rocband.datasets import make_band_problem
        >>> from rocband.study import Study
        >>> X, y = make_band_problem(1000, random_state=0)
        >>> scores = {"second": X[:, 1], "both": X[:, 0] + X[:, 1]}
        >>> study = Study.of(y, scores, fpr_range=(0.0, 0.05), random_state=0)
        >>> print(study.pauc("second"))  # doctest: +ELLIPSIS
        0.3866 (95% interval 0.3... to 0.4..., spacings)
        >>> [(one.names, one.method) for one in study.comparisons]
        [(('second', 'both'), 'permutation')]
        """
        band = rectangle(fpr_range, None).fpr
        named = named_scores(scores)
        check_settings(method, METHODS, confidence, n_draws)
        share = None if prevalence is None else check_open(prevalence, "prevalence")
        chosen = _usual_rates(band) if rates is None else _checked_rates(rates)
        # Every later figure would find what is wrong with labels, scores or groups; here it is found before any work.
        Sample.of(y_true, {f"scores[{name!r}]": values for name, values in named.items()}, groups, pos_label)
        return cls(
            y_true=np.asarray(y_true),
            scores=named,
            fpr_range=band,
            confidence=float(confidence),
            method=method,
            n_draws=int(n_draws),
            groups=None if groups is None else np.asarray(groups),
            random_state=_one_seed(random_state),
            pos_label=pos_label,
            prevalence=share,
            rates=chosen,
            verbose=verbose,
        )

    @cached_property
    def positive(self) -> BoolArray:
        """Which samples are positive."""
        return positive_mask(self.y_true, self.pos_label)

    @property
    def n_positives(self) -> int:
        """Number of positives."""
        return int(np.count_nonzero(self.positive))

    @property
    def n_negatives(self) -> int:
        """Number of negatives."""
        return len(self.y_true) - self.n_positives

    @property
    def n_groups(self) -> int | None:
        """Number of groups, or None without groups."""
        return None if self.groups is None else len(np.unique(self.groups))

    @property
    def sample_prevalence(self) -> float:
        """Share of positives in the sample."""
        return self.n_positives / len(self.y_true)

    def pauc(self, name: str) -> Interval:
        """Return a scorer's partial AUC in the band."""
        return self._area(name, self.fpr_range)

    def auc(self, name: str) -> Interval:
        """Return a scorer's whole AUC.

        Its interval is made by the same method as that of the partial AUC: whoever chose a method for one figure did
        not ask for another beside it, and DeLong's interval is too narrow just where spacings were chosen, for few
        samples and strong scorers.
        """
        return self._area(name, FULL)

    def tpr(self, name: str) -> Interval:
        """Return a scorer's true-positive rate at the upper end of the band."""
        top = self.fpr_range[1]
        key = (name, "tpr", top)
        if key not in self._intervals:
            scores = self._scores_of(name)
            self.tell(f"TPR of {name!r} at an FPR of {top:g}")
            self._intervals[key] = tpr_at_fpr_interval(self.y_true, scores, fpr=top, **self._settings)
        return self._intervals[key]

    def figures(self, name: str) -> Figures:
        """Return all figures of a scorer with their intervals."""
        return Figures(pauc=self.pauc(name), tpr=self.tpr(name), auc=self.auc(name))

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The partial AUC of every pair of scorers compared, with the number of pairs accounted for.

        These are those of :func:`rocband.inference.compare_many`, which for a single pair are those of
        :func:`rocband.inference.compare_partial_auc`. Of one scorer there are none.
        """
        if len(self.scores) < 2:
            return ()
        self.tell(f"comparison of {len(self.scores)} scorers")
        return compare_many(self.y_true, self.scores, fpr_range=self.fpr_range, **self._settings)

    @property
    def method_of_intervals(self) -> MethodUsed:
        """How the intervals are made, once "auto" has been resolved."""
        return method_used(self.method)

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value that the draws of :attr:`comparisons` can show; 0 without draws or comparisons."""
        if not self.comparisons:
            return 0.0
        method = self.comparisons[0].method
        return smallest_pvalue(method, self.n_draws, len(self.comparisons), self.confidence)

    def operating_points(
        self,
        name: str,
        rates: Iterable[float] | None = None,
        prevalence: float | None = None,
        at_true_fpr: bool = False,
    ) -> Any:
        """Tabulate what a scorer achieves at false-positive rates, see :func:`rocband.threshold.operating_points`.

        Parameters
        ----------
        name : str
            The scorer.
        rates : iterable of float, optional
            By default the ``rates`` of the study.
        prevalence : float, optional
            By default the ``prevalence`` of the study.
        at_true_fpr : bool, default False
            Whether to add what the scorer finds at a true FPR of these rates; at the band's upper end that is
            :meth:`tpr`.

        Returns
        -------
        pandas.DataFrame
        """
        return operating_points(
            self.y_true,
            self._scores_of(name),
            self.rates if rates is None else rates,
            confidence=self.confidence,
            prevalence=self.prevalence if prevalence is None else prevalence,
            pos_label=self.pos_label,
            at_true_fpr=at_true_fpr,
            method=self.method,
            n_draws=self.n_draws,
            groups=self.groups,
            random_state=self.random_state,
        )

    def calls(self, name: str) -> Calls:
        """Count the samples that a model calls positive, those whose score is above 0, as its ``predict`` does."""
        called = self._scores_of(name) > 0
        return Calls(
            false_positives=int(np.count_nonzero(called & ~self.positive)),
            negatives=self.n_negatives,
            true_positives=int(np.count_nonzero(called & self.positive)),
            positives=self.n_positives,
        )

    def tell(self, doing: str) -> None:
        """Tell the progress, if asked to."""
        if self.verbose:
            tell(doing)

    @property
    def _settings(self) -> _Settings:
        return {
            "confidence": self.confidence,
            "method": self.method,
            "n_draws": self.n_draws,
            "groups": self.groups,
            "random_state": self.random_state,
            "pos_label": self.pos_label,
            "verbose": self.verbose,
        }

    def _area(self, name: str, band: tuple[float, float]) -> Interval:
        key = (name, "area", band)
        if key not in self._intervals:
            scores = self._scores_of(name)
            self.tell(f"{'AUC' if band == FULL else 'partial AUC'} of {name!r}")
            # Each scorer is drawn alone, from the one seed: its interval does not depend on who else is in the study.
            self._intervals[key] = partial_auc_interval(self.y_true, scores, fpr_range=band, **self._settings)
        return self._intervals[key]

    def _scores_of(self, name: str) -> AnyArray:
        if name not in self.scores:
            names = ", ".join(map(repr, self.scores))
            raise ParameterError("name", f"must be one of the scorers {names}, got {name!r}.")
        return self.scores[name]


def named_scores(scores: Any) -> dict[str, AnyArray]:
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
        raise ParameterError("scores", "holds no scorer; pass the scores of at least one model by its name.")
    for position, name in enumerate(names):
        if not name.strip():
            raise ValueError(f"The scorer at position {position} of scores has an empty name; give it one.")
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise ParameterError("scores", f"holds {count} scorers of the name {name!r}; give each its own name.")


def _usual_rates(band: tuple[float, float]) -> tuple[float, ...]:
    """Return the ends of the band and the usual rates; a threshold for 0 or 1 would call nothing or everything."""
    return tuple(sorted({rate for rate in (*band, *USUAL_RATES) if 0 < rate < 1}))


def _checked_rates(rates: Iterable[float]) -> tuple[float, ...]:
    given = tuple(rates)
    for rate in given:
        if not isinstance(rate, Real) or isinstance(rate, bool) or not 0 <= float(rate) < 1:
            raise ParameterError("rates", f"must be numbers from 0 to less than 1, got {rate!r}.")
    return tuple(float(rate) for rate in given)


def _one_seed(random_state: RandomState) -> int:
    """Return one seed for all figures, since a generator that moves on would make them depend on their order."""
    if isinstance(random_state, Integral):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(_SEEDS))
    return int(check_random_state(random_state).randint(_SEEDS, dtype=np.int64))
