"""The linear model with C chosen by cross-validation along a path."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import metadata_routing
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.parallel import Parallel, delayed

from rocband._base import check_number
from rocband._errors import ParameterError
from rocband._progress import tell
from rocband._types import BoolArray, FloatArray, IndexArray
from rocband._warnings import warn
from rocband.linear import LinearBandClassifier
from rocband.metrics.in_band import partial_auc_of
from rocband.problems.base import Labelled, Problem
from rocband.risks import BandRisk, Surrogate
from rocband.solvers.objective import Objective
from rocband.solvers.path import solve_path
from rocband.solvers.result import Status
from rocband.solvers.solve import solve

__all__ = ["PartialAUCSVCCV"]


# Models that are only compared need no more: their scores on held-out rows differ far more from fold to fold.
_FOLD_LOOSER = 10.0


@dataclass(frozen=True, slots=True)
class _Fold:
    """Rows of the training part and of the held-out part, in the numbers with which they came."""

    number: int
    train: IndexArray
    test: IndexArray


@dataclass(frozen=True, slots=True)
class _FoldPath:
    """Models of one fold for every C, their partial AUC on its held-out part, and whether all converged."""

    models: list[FloatArray]
    areas: FloatArray
    converged: bool


class PartialAUCSVCCV(LinearBandClassifier):
    r"""Linear classifier for a band of false-positive rates with C chosen by cross-validation.

    In each fold the whole grid of C is solved along one path, from the smallest, with everything found so far taken
    over from C to C; the C with the best mean partial AUC on the held-out parts is then fitted to all rows, from the
    model of the best fold.

    Parameters
    ----------
    fpr_range : (float, float), default (0.0, 0.05)
        The band of false-positive rates, with 0 <= low < high <= 1.
    Cs : int or list of float, default 10
        The grid; a number stands for that many values from 0.1 to 10,000, evenly spaced in their logarithm.
    cv : int, cross-validation generator or iterable, default 5
        The folds; a number stands for stratified ones.
    n_jobs : int, optional
        Folds solved at the same time.
    one_standard_error : bool, default False
        Choose the smallest C whose mean is within one standard error of the best one.
    surrogate, anchor, pos_label, tol, max_iter, target_fpr, random_state
        As in `PartialAUCSVC`. The anchor of a fold is fitted to its training part only.
    verbose : int, default 0
        1 prints a line for each fold and the choice, 2 the steps of the last fit too.

    Attributes
    ----------
    C_ : float
        The chosen value.
    Cs_ : array of shape (n_Cs,)
        The grid, ascending.
    scores_ : array of shape (n_Cs, n_folds)
        Partial AUC in the band on the held-out part of each fold.
    coef_, intercept_, threshold_, classes_, objective_, lower_bound_, dual_gap_, converged_, history_, n_features_in_
        As in `PartialAUCSVC`, for the fit to all rows with ``C_``.
    n_iter_ : int
        Passes over the data of that fit.

    See Also
    --------
    PartialAUCSVC : The model for one C.

    Notes
    -----
    X is not copied into folds: a fold is a set of row numbers. Models that are only compared are solved to a tolerance
    of ``10 * tol``, the last fit to ``tol``.

    Examples
    --------
    >>> from rocband import PartialAUCSVCCV
    >>> from rocband.datasets import make_band_problem
    >>> X, y = make_band_problem(2000, random_state=0)
    >>> model = PartialAUCSVCCV((0.0, 0.05), Cs=[0.1, 1.0, 10.0, 100.0], cv=3).fit(X, y)
    >>> model.scores_.shape
    (4, 3)
    >>> bool(model.C_ in model.Cs_)
    True
    """

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        *,
        Cs: Any = 10,
        cv: Any = 5,
        n_jobs: int | None = None,
        one_standard_error: bool = False,
        surrogate: Surrogate | type[BandRisk] = "ramp",
        anchor: Any = "logistic",
        pos_label: object = None,
        tol: float = 1e-4,
        max_iter: int = 500,
        target_fpr: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.fpr_range = fpr_range
        self.Cs = Cs
        self.cv = cv
        self.n_jobs = n_jobs
        self.one_standard_error = one_standard_error
        self.surrogate = surrogate
        self.anchor = anchor
        self.pos_label = pos_label
        self.tol = tol
        self.max_iter = max_iter
        self.target_fpr = target_fpr
        self.random_state = random_state
        self.verbose = verbose

    # Groups are for the splitter: nobody need ask for them on behalf of `fit`.
    __metadata_request__fit: ClassVar = {"groups": metadata_routing.UNUSED}

    def fit(self, X: Any, y: Any, groups: Any = None, **params: Any) -> PartialAUCSVCCV:
        """Choose C and fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels of two classes; ``pos_label`` says which is positive.
        groups : array-like of shape (n_samples,), optional
            Groups for a splitter that keeps them together.
        **params : dict
            With scikit-learn's metadata routing enabled, what else the splitter asks for.

        Returns
        -------
        PartialAUCSVCCV
        """
        self._check_parameters()
        Cs = _grid(self.Cs)
        data = self._data(X, y)
        whole = data.problem()
        self._look_at(whole)
        folds = self._folds(data.positive, self._routed(groups, params))
        seeds = self._seeds(len(folds) + 1)
        paths: list[_FoldPath] = Parallel(n_jobs=self.n_jobs)(
            delayed(self._fold_path)(fold, seed, data, Cs) for fold, seed in zip(folds, seeds, strict=False)
        )
        self.Cs_ = Cs
        self.scores_ = np.column_stack([path.areas for path in paths])
        chosen = choose(self.scores_, self.one_standard_error)
        self.C_ = float(Cs[chosen])
        if self.verbose:
            tell(f"chosen: C = {self.C_:g}, mean pAUC {self.scores_.mean(axis=1).max():.4f}")
        n_failed = sum(not path.converged for path in paths)
        if n_failed:
            message = (
                f"In {n_failed} of {len(folds)} folds the solver stopped after max_iter={self.max_iter} passes for "
                "some C; raise max_iter or tol, scale the features, or leave out large Cs."
            )
            warn(message, ConvergenceWarning)
        best_fold = int(self.scores_[chosen].argmax())
        self._refit(whole, seeds[-1], paths[best_fold].models[chosen])
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who takes metadata: the splitter's ``split``.

        Returns
        -------
        MetadataRouter
        """
        to_splitter = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(splitter=self.cv, method_mapping=to_splitter)

    def _routed(self, groups: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Return the metadata that the splitter takes."""
        given = params if groups is None else {"groups": groups, **params}
        if get_config()["enable_metadata_routing"]:
            routed: dict[str, Any] = process_routing(self, "fit", **given).splitter.split
            return routed
        if params:
            raise ValueError(
                f"fit takes {', '.join(params)} only where scikit-learn's metadata routing is enabled: see "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        return given

    def _folds(self, positive: BoolArray, for_splitter: dict[str, Any]) -> list[_Fold]:
        """Split the rows, and check that each part of each fold holds both classes."""
        numbers = np.arange(len(positive))
        nothing = np.zeros((len(positive), 1))  # what splitters want for X, and do not look at
        splitter = check_cv(self.cv, positive, classifier=True)
        folds = [
            _Fold(number, numbers[train], numbers[test])
            for number, (train, test) in enumerate(splitter.split(nothing, positive, **for_splitter))
        ]
        if not folds:
            raise ParameterError("cv", "makes no folds; give a number of folds, a splitter or a list of splits.")
        for fold in folds:
            _check_classes(positive[fold.train], f"The training part of fold {fold.number}")
            _check_classes(positive[fold.test], f"The held-out part of fold {fold.number}")
        return folds

    def _fold_path(self, fold: _Fold, seed: int, data: Labelled, Cs: FloatArray) -> _FoldPath:
        """Solve the grid on the training part of a fold, and measure each model on its held-out part."""
        problem = data.problem(fold.train)
        risk = self._risk(problem)
        settings = self._settings(seed, show=False)
        settings = replace(settings, tol=_FOLD_LOOSER * settings.tol)
        origin = self._origin(problem, settings, self._feature_names)
        start = self._start(Objective(problem, risk, float(Cs[0]), origin), settings)
        results = solve_path(problem, risk, Cs.tolist(), origin, settings, start)
        models = [result.w for result in results]
        held_out = data.problem(fold.test)
        areas = np.array([partial_auc_of(held_out.scores(w), self.fpr_range) for w in models])
        if self.verbose:
            best = int(areas.argmax())
            tell(f"fold {fold.number}: pAUC {areas[best]:.4f} at C = {Cs[best]:g}")
        return _FoldPath(models, areas, all(result.status is Status.CONVERGED for result in results))

    def _refit(self, problem: Problem, seed: int, start: FloatArray) -> None:
        risk = self._risk(problem)
        settings = self._settings(seed, show=self.verbose > 1)
        origin = self._origin(problem, settings, self._feature_names)
        objective = Objective(problem, risk, self.C_, origin)
        constancy = self._store(solve(objective, settings, start), objective)
        self._warn(self.C_, constancy)


def _check_classes(positive: BoolArray, part: str) -> None:
    if positive.all() or not positive.any():
        raise ValueError(f"{part} holds only one class; use fewer folds or a stratified splitter.")


def _grid(Cs: Any) -> FloatArray:
    """Turn the parameter ``Cs`` into an ascending grid."""
    if np.ndim(Cs) == 0:
        check_number("Cs", Cs, 0, integer=True)
        return np.logspace(-1, 4, Cs)
    if len(Cs) == 0:
        raise ParameterError("Cs", "holds no value; give a number of values or a list of positive numbers.")
    for C in Cs:
        check_number("Every value of Cs", C, 0.0)
    return np.unique(np.asarray(Cs, dtype=np.float64))


def choose(scores: FloatArray, one_standard_error: bool) -> int:
    """Choose a row of scores: the best mean, or the first within one standard error of it."""
    means = scores.mean(axis=1)
    best = int(means.argmax())
    if not one_standard_error or scores.shape[1] < 2:
        return best
    allowed = means[best] - scores[best].std(ddof=1) / np.sqrt(scores.shape[1])
    return int(np.flatnonzero(means >= allowed)[0])
