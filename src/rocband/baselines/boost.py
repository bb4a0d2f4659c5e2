"""Boosting of functions of one feature for the partial AUC, after pAUCBoost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from rocband._base import BandClassifier, check_number
from rocband._hints import hint_at_few_negatives
from rocband._progress import tell
from rocband._types import BoolArray, FloatArray
from rocband.baselines.features import FeatureFunctions, column, functions_of
from rocband.baselines.parts import ClassParts
from rocband.baselines.smooth_area import SmoothArea
from rocband.ranks import check_range
from rocband.risks.band import Band
from rocband.threshold.cutoff import halfway_threshold

__all__ = ["PartialAUCBoost"]

# A step is tried at the length of the fitted function, then doubled while the objective rises, up to this: further out
# the slope that it was fitted to no longer holds.
_LONGEST = 4.0
# Where the first length does not raise the objective it is quartered down to this; a gain below is not worth a round.
_SHORTEST = 1e-3


class PartialAUCBoost(BandClassifier):
    r"""Additive model grown stage by stage for the partial AUC, after pAUCBoost.

    The score [1]_ is :math:`F(x) = \sum_k f_k(x_k)`, each f a natural cubic spline of one feature, or a step function
    where the feature has fewer levels than knots. It ascends

    .. math:: \frac{1}{m (b - a)} \sum_i \sum_{a < j \le b} \Phi\big((F(x_i) - F(x_{(j)})) / \sigma - 2\big)
              - \lambda \sum_k \int f_k''(u)^2 du

    over the m positives and the negatives of the band's ranks by the present score, with the normal CDF
    :math:`\Phi`. The integral is over the feature scaled to [0, 1]. The shift by 2 makes a tie almost an error, as in
    the empirical partial AUC; without it a constant score would have the value 1/2, more than most models reach in a
    narrow band, and the ascent would end there.

    Parameters
    ----------
    fpr_range : (float, float), default (0.0, 0.05)
        The band of false-positive rates, with 0 <= low < high <= 1.
    n_rounds : int, default 100
        Most rounds; each changes the function of one feature.
    sigma : float, default 0.02
        Width of the normal CDF, on the scale of scores. A round's function lies between about -1 and 1.
    roughness : float, default 1e-6
        The weight :math:`\lambda` of the penalty.
    n_knots : int, default 10
        Knots of a spline; a feature with fewer distinct values is discrete.
    pos_label : object, optional
        The label of the positives. By default the greater of 0 and 1, -1 and 1, or False and True; of other labels the
        greater too, with a `PositiveClassWarning`.
    target_fpr : float, optional
        The false-positive rate of `predict` on the training negatives; the band's upper end by default.
    verbose : int, default 0
        1 prints a line for each round.

    Attributes
    ----------
    functions_ : list
        For each feature its space of functions with methods ``evaluate(column, coefficients)``, or None where it is
        constant.
    coefficients_ : list of arrays
        The coefficients of each feature's function: values at the knots, or jumps between the levels.
    chosen_ : array of shape (n_iter_,)
        The feature of each round.
    history_ : array of shape (n_iter_,)
        The objective after each round; it never falls.
    n_iter_ : int
        Rounds; fewer than ``n_rounds`` when no feature raises the objective any more.
    threshold_ : float
        The score F above which a row is predicted positive.
    classes_ : array of shape (2,)
        The second is the positive class, also where ``pos_label`` is the lesser of the two.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)

    Notes
    -----
    In each round the slope of the smooth partial AUC in every row's score gives the rows their weights, and for each
    feature the function that fits the classes, as 1 and -1, best under these weights and the penalty is found by a
    small linear system (for a discrete feature, the best single step). The feature that promises most is taken, with
    the length of the step found by the objective itself; where it does not rise, the next best is tried. The first
    round, which has no score yet, takes the feature whose function has the highest objective. Where pAUCBoost adds one
    element of a spline's basis by a Newton step, this fits all of them at once.

    Only the positives and the negatives in the band have weights, so that a round costs O((m + k) d n_knots^2) for k
    such negatives, and O(n_samples) for each of a few evaluations of the objective, which is computed for all pairs,
    to about nine digits, in O(n + (m + k) log(m + k)) time. Memory beyond X, which is copied into columns unless it
    is stored so: O(n_samples + (m + k) n_knots). Sparse matrices are read column by column. Nothing is random. A
    feature with a long tail is best transformed first, since the penalty is on the feature's own scale.

    References
    ----------
    .. [1] O. Komori and S. Eguchi (2010). A boosting method for maximizing the partial area under the ROC curve.
       BMC Bioinformatics 11, 314.

    Examples
    --------
    >>> from rocband.baselines import PartialAUCBoost
    >>> from rocband.datasets import make_band_problem
    >>> from rocband.metrics import partial_auc_score
    >>> X, y = make_band_problem(2000, random_state=0)
    >>> model = PartialAUCBoost((0.0, 0.05), n_rounds=20).fit(X, y)
    >>> bool(partial_auc_score(y, model.decision_function(X), fpr_range=(0.0, 0.05)) > 0.3)
    True
    """

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        *,
        n_rounds: int = 100,
        sigma: float = 0.02,
        roughness: float = 1e-6,
        n_knots: int = 10,
        pos_label: object = None,
        target_fpr: float | None = None,
        verbose: int = 0,
    ) -> None:
        self.fpr_range = fpr_range
        self.n_rounds = n_rounds
        self.sigma = sigma
        self.roughness = roughness
        self.n_knots = n_knots
        self.pos_label = pos_label
        self.target_fpr = target_fpr
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> PartialAUCBoost:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels of two classes; ``pos_label`` says which is positive.

        Returns
        -------
        PartialAUCBoost
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, accept_sparse="csc", dtype=[np.float64, np.float32], order="F")
        positive = self._encode(y)
        n_negatives = int(np.count_nonzero(~positive))
        band = Band.from_range(self.fpr_range, n_negatives)
        hint_at_few_negatives(self.fpr_range, n_negatives)
        self.functions_ = [functions_of(column(X, k), self.n_knots) for k in range(self.n_features_in_)]
        ascent = _Ascent(X, positive, SmoothArea(band, self.sigma), self.functions_, self.roughness)
        for number in range(self.n_rounds):
            if not ascent.advance():
                break
            if self.verbose:
                feature = ascent.chosen[-1]
                objective = ascent.history[-1]
                tell(f"round {number + 1:3d}  feature {feature:4d}  objective {objective:.6f}")
        self.coefficients_ = ascent.coefficients
        self.chosen_ = np.array(ascent.chosen, dtype=np.intp)
        self.history_ = np.array(ascent.history)
        self.n_iter_ = len(ascent.chosen)
        final = ascent.scores_of(self._score(X))
        target = self.fpr_range[1] if self.target_fpr is None else self.target_fpr
        self.threshold_ = halfway_threshold(final.positives, final.negatives, float(target))
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Score each row; above 0 means positive at the threshold for ``target_fpr``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csc", dtype=[np.float64, np.float32], reset=False)
        return self._score(X) - self.threshold_

    def _score(self, X: Any) -> FloatArray:
        total = np.zeros(X.shape[0])
        for k, functions in enumerate(self.functions_):
            if functions is not None and self.coefficients_[k].any():
                total += functions.evaluate(column(X, k), self.coefficients_[k])
        return total

    def _check_parameters(self) -> None:
        check_range(self.fpr_range)
        check_number("n_rounds", self.n_rounds, 0, integer=True)
        check_number("sigma", self.sigma, 0.0)
        if self.roughness != 0:
            check_number("roughness", self.roughness, 0.0)
        check_number("n_knots", self.n_knots, 2, integer=True)
        if self.target_fpr is not None:
            check_number("target_fpr", self.target_fpr, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A function of one feature that promises a gain."""

    feature: int
    functions: FeatureFunctions
    coefficients: FloatArray
    gain: float


class _Ascent:
    """The scores, the functions so far and the objective, and how a round changes them."""

    def __init__(
        self,
        X: Any,
        positive: BoolArray,
        area: SmoothArea,
        functions: list[FeatureFunctions | None],
        penalty: float,
    ) -> None:
        self.X = X
        self.area = area
        self.functions = functions
        self.penalty = penalty
        self.positives = np.flatnonzero(positive)
        self.negatives = np.flatnonzero(~positive)
        self.coefficients = [np.zeros(0 if each is None else each.size) for each in functions]
        self.scores = self.scores_of(np.zeros(len(positive)))
        self.chosen: list[int] = []
        self.history: list[float] = []
        self._rough = 0.0  # the penalty of all functions

    def scores_of(self, values: FloatArray) -> ClassParts:
        """Part the values of all rows by class."""
        return ClassParts(values[self.positives], values[self.negatives])

    def advance(self) -> bool:
        """Change the function of the feature that promises most; False where none raises the objective."""
        candidates = self._candidates()
        if self.history:
            return any(self._accept(candidate) for candidate in candidates)
        if not candidates:
            return False
        # There is no score yet to compare with, so the best function starts it whatever its objective.
        values = [self._objective(each, self._along(each), 1.0) for each in candidates]
        best = int(np.argmax(values))
        self._take(candidates[best], 1.0, values[best])
        return True

    def _candidates(self) -> list[_Candidate]:
        """Fit a function of each feature to the slope of the area in the scores; the most promising first."""
        rising, falling, index = self.area.gradient(self.scores)
        rows = np.concatenate([self.positives, self.negatives[index]])
        slope = np.concatenate([rising, falling])
        found = []
        for k, functions in enumerate(self.functions):
            if functions is None:
                continue
            # The penalty of c + step is that of c, plus pull.step + step'bend step/2.
            bend = 2 * self.penalty * functions.roughness
            pull = bend @ self.coefficients[k]
            values = column(self.X, k)[rows]
            coefficients, gain = functions.fit(values, slope, bend, pull)
            found.append(_Candidate(k, functions, coefficients, gain))
        return sorted(found, key=lambda each: -each.gain)

    def _accept(self, candidate: _Candidate) -> bool:
        """Search the length of the step; take it if the objective rises."""
        along = self._along(candidate)
        length = 1.0
        best = self._objective(candidate, along, length)
        if best > self.history[-1]:
            length, best = self._lengthened(candidate, along, best)
        while best <= self.history[-1]:
            length /= 4
            if length < _SHORTEST:
                return False
            best = self._objective(candidate, along, length)
        self._take(candidate, length, best)
        return True

    def _lengthened(self, candidate: _Candidate, along: ClassParts, best: float) -> tuple[float, float]:
        """Double the length from 1 on while the objective rises; return the length and the objective."""
        length = 1.0
        while length < _LONGEST:
            longer = self._objective(candidate, along, 2 * length)
            if longer <= best:
                break
            length *= 2
            best = longer
        return length, best

    def _take(self, candidate: _Candidate, length: float, objective: float) -> None:
        self.scores = self.scores.along(self._along(candidate), length)
        self._rough += self._change(candidate, length)
        self.coefficients[candidate.feature] += length * candidate.coefficients
        self.chosen.append(candidate.feature)
        self.history.append(objective)

    def _along(self, candidate: _Candidate) -> ClassParts:
        values = candidate.functions.evaluate(column(self.X, candidate.feature), candidate.coefficients)
        return self.scores_of(values)

    def _objective(self, candidate: _Candidate, along: ClassParts, length: float) -> float:
        penalty = self._rough + self._change(candidate, length)
        return self.area.value(self.scores.along(along, length)) - penalty

    def _change(self, candidate: _Candidate, length: float) -> float:
        """How much the penalty grows."""
        before = self.coefficients[candidate.feature]
        step = length * candidate.coefficients
        # (c + s)'R(c + s) - c'R c = (2c + s)'R s.
        return float((2 * before + step) @ candidate.functions.roughness @ step) * self.penalty
