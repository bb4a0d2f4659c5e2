"""What ``fit`` builds: a visible pipeline that prepares the columns, and a model for the band."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rocband.cli.dates import part_names
from rocband.cli.failures import Failure
from rocband.cli.python import Name, Script

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

__all__ = ["Recipe", "grid_edge", "set_verbose", "settle", "trained"]

Impute: TypeAlias = Literal["median", "mean", "most_frequent", "none"]
Scale: TypeAlias = Literal["standard", "maxabs", "none"]

# A kernel's grid is coarse and high: its features are many, and each C is a fit of its own.
KERNEL_CS = [10.0, 100.0, 1000.0, 10_000.0, 100_000.0]
# Rows held out to set a threshold with a guarantee, when whole groups are.
_HELD_OUT = 0.3


@dataclass(frozen=True)
class Recipe:
    """The choices of a fit."""

    fpr: tuple[float, float]
    C: float | None = None
    folds: int = 5
    surrogate: str | None = None
    anchor: str | None = None
    kernel: str | None = None
    gamma: str = "scale"
    components: int | None = None
    target_fpr: float | None = None
    confidence: float | None = None
    impute: Impute = "median"
    scale: Scale = "standard"
    seed: int = 0
    numeric: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    sparse: bool = False
    grouped: bool = False

    @property
    def numbers(self) -> list[str]:
        """The features that are numbers, those of dates among them."""
        return [*self.numeric, *part_names(self.dates)]

    def model(self, preparation: BaseEstimator | Name | None = None, scorer: Name | None = None) -> BaseEstimator:
        """Return the whole model, not yet fitted, with variables of a script in the place of its parts if given."""
        from sklearn.pipeline import Pipeline  # noqa: PLC0415

        from rocband.threshold import FPRThresholdClassifier  # noqa: PLC0415

        steps = [("prepare", preparation or self.preparation()), ("model", self.band_model(scorer))]
        pipeline = Pipeline([(name, step) for name, step in steps if step is not None])
        if self.confidence is None:
            return pipeline
        target = self.fpr[1] if self.target_fpr is None else self.target_fpr
        options: dict[str, Any] = {"target_fpr": target, "confidence": self.confidence, "random_state": self.seed}
        if self.grouped:
            options["cv"] = self._group_split()
        return FPRThresholdClassifier(pipeline, **options)

    def preparation(self, numbers: Name | None = None, categories: Name | None = None) -> BaseEstimator | None:
        """Return what turns columns into features on one scale, with variables for the columns if given."""
        from sklearn.compose import ColumnTransformer  # noqa: PLC0415
        from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder  # noqa: PLC0415

        if self.sparse:
            return None if self.scale == "none" else MaxAbsScaler()
        parts = []
        if self.numbers:
            parts.append(("numbers", self._for_numbers(), numbers or self.numbers))
        if self.categories:
            encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            parts.append(("categories", encoder, categories or list(self.categories)))
        return ColumnTransformer(parts)

    def _for_numbers(self) -> Pipeline | str:
        from sklearn.impute import SimpleImputer  # noqa: PLC0415
        from sklearn.pipeline import make_pipeline  # noqa: PLC0415
        from sklearn.preprocessing import MaxAbsScaler, StandardScaler  # noqa: PLC0415

        steps: list[BaseEstimator] = []
        if self.impute != "none":
            steps.append(SimpleImputer(strategy=self.impute, keep_empty_features=True))
        if self.scale != "none":
            steps.append({"standard": StandardScaler, "maxabs": MaxAbsScaler}[self.scale]())
        return make_pipeline(*steps) if steps else "passthrough"

    def band_model(self, scorer: Name | None = None) -> BaseEstimator:
        """Return the classifier for the band."""
        from rocband import PartialAUCSVC, PartialAUCSVCCV  # noqa: PLC0415

        options: dict[str, Any] = {"fpr_range": self.fpr, "random_state": self.seed}
        if self.surrogate is not None:
            options["surrogate"] = self.surrogate
        if self.anchor is not None:
            options["anchor"] = None if self.anchor == "none" else self.anchor
        if self.target_fpr is not None:
            options["target_fpr"] = self.target_fpr
        if self.kernel is not None:
            return self._kernel_model(options, scorer)
        if self.C is not None:
            return PartialAUCSVC(**options, C=self.C)
        return PartialAUCSVCCV(**options, cv=self._folds())

    def _kernel_model(self, options: dict[str, Any], scorer: Name | None) -> BaseEstimator:
        from sklearn.model_selection import GridSearchCV  # noqa: PLC0415

        from rocband import KernelPartialAUCSVC  # noqa: PLC0415
        from rocband.metrics import partial_auc_scorer  # noqa: PLC0415

        gamma = self.gamma if self.gamma in ("scale", "auto") else _number(self.gamma, "--gamma")
        options |= {"kernel": self.kernel, "gamma": gamma, "n_components": self.components}
        if self.C is not None:
            return KernelPartialAUCSVC(**options, C=self.C)
        scoring = partial_auc_scorer(self.fpr) if scorer is None else scorer
        return GridSearchCV(KernelPartialAUCSVC(**options), {"C": KERNEL_CS}, scoring=scoring, cv=self._folds())

    def _folds(self) -> Any:
        from sklearn.model_selection import StratifiedGroupKFold  # noqa: PLC0415

        return StratifiedGroupKFold(self.folds) if self.grouped else self.folds

    def _group_split(self) -> Any:
        from sklearn.model_selection import GroupShuffleSplit  # noqa: PLC0415

        return GroupShuffleSplit(1, test_size=_HELD_OUT, random_state=self.seed)

    @property
    def searches(self) -> bool:
        """Whether C is chosen by a search around the band model."""
        return self.kernel is not None and self.C is None

    def fit_options(self) -> list[str]:
        """Names under which the groups are passed to ``fit``."""
        names = []
        if self.grouped and self.confidence is not None:
            names.append("groups")
        if self.grouped and self.C is None:
            names.append("model__groups")
        return names

    def write_python(self, script: Script, groups: str) -> None:
        """Add the lines that make the model and fit it to X and y, with Python for the groups."""
        preparation = self.preparation(Name("numbers"), Name("categories"))
        prepare = None
        if preparation is not None:
            script.add(f"prepare = {script.expression(preparation)}")
            prepare = Name("prepare")
        scorer = None
        if self.searches:
            script.use("rocband.metrics", "partial_auc_scorer")
            script.add(f"scorer = partial_auc_scorer({self.fpr!r})")
            scorer = Name("scorer")
        script.add(f"model = {script.expression(self.model(prepare, scorer))}")
        given = [f"{name}={groups}" for name in self.fit_options()]
        script.add(f"model.fit({', '.join(['X', 'y', *given])})")
        if self.searches:
            self._write_settling(script)

    def _write_settling(self, script: Script) -> None:
        """Add the lines that do what `settle` does."""
        inner = "model" if self.confidence is None else "model.estimator_"
        script.add(f'{inner}.steps[-1] = ("model", {inner}[-1].best_estimator_)')
        if self.confidence is not None:
            script.add("model.estimator = model.estimator_")

    def sentence(self) -> str:
        """Say what is done, for people."""
        parts = []
        if self.numbers:
            filled = f"replaced by the {self.impute.replace('_', ' ')}" if self.impute != "none" else "not filled in"
            parts.append(f"missing numbers are {filled}, scaling: {self.scale}")
        if self.dates:
            parts.append("dates become year, month, weekday and days since 1970")
        if self.categories:
            parts.append("categories are one-hot encoded, a missing one is a category of its own")
        kind = "linear" if self.kernel is None else f"kernel {self.kernel}"
        parts.append(f"a {kind} model for FPR {self.fpr[0]:g} to {self.fpr[1]:g}")
        text = "; ".join(parts)
        return f"{text[0].upper()}{text[1:]}."


def _number(text: str, option: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Failure(f"{option} must be 'scale', 'auto' or a number, got {text!r}.") from None


def trained(model: Any) -> Any:
    """Return the band model inside a fitted one."""
    return getattr(model, "estimator_", model)[-1]


def settle(model: Any) -> dict[float, float]:
    """Put the chosen model in the place of a search, and return the mean score of each C that was tried."""
    search = trained(model)
    if hasattr(search, "best_estimator_"):
        for outer in (getattr(model, "estimator", model), getattr(model, "estimator_", model)):
            outer.steps[-1] = ("model", search.best_estimator_)
        results = search.cv_results_
        return dict(zip(results["param_C"].tolist(), results["mean_test_score"].tolist(), strict=True))
    if hasattr(search, "scores_"):
        means = search.scores_.mean(axis=1)
        return dict(zip(search.Cs_.tolist(), means.tolist(), strict=True))
    return {}


def grid_edge(means: dict[float, float], chosen: float) -> Literal["lower", "upper"] | None:
    """Return the end of the grid at which the chosen C lies, if it does."""
    if len(means) < 2 or min(means) < chosen < max(means):
        return None
    return "upper" if chosen == max(means) else "lower"


def set_verbose(model: Any, level: int) -> None:
    """Set how much the band model inside tells; a search of scikit-learn would print to standard output."""
    for outer in (getattr(model, "estimator", model), getattr(model, "estimator_", None)):
        if outer is not None and hasattr(outer[-1], "fpr_range"):
            outer[-1].verbose = level
