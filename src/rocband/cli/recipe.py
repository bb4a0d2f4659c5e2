"""What ``fit`` builds: a visible pipeline that prepares the columns, and a model for the band."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rocband.cli.failures import Failure

__all__ = ["Recipe", "set_verbose", "settle", "trained"]

KERNEL_CS = [10.0, 100.0, 1000.0, 10_000.0, 100_000.0]


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
    impute: str = "median"
    scale: str = "standard"
    seed: int = 0
    numeric: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    sparse: bool = False
    grouped: bool = False

    def model(self, preparation: Any = None, scorer: Any = None) -> Any:
        """Return the whole model, not yet fitted, with another preparation and scorer of the search if given."""
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

    def preparation(self, numbers: Any = None, categories: Any = None) -> Any:
        """Return what turns columns into features on one scale, with other names of the columns if given."""
        from sklearn.compose import ColumnTransformer  # noqa: PLC0415
        from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder  # noqa: PLC0415

        if self.sparse:
            return None if self.scale == "none" else MaxAbsScaler()
        parts = []
        if self.numeric:
            parts.append(("numbers", self._for_numbers(), numbers or list(self.numeric)))
        if self.categories:
            encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            parts.append(("categories", encoder, categories or list(self.categories)))
        return ColumnTransformer(parts)

    def _for_numbers(self) -> Any:
        from sklearn.impute import SimpleImputer  # noqa: PLC0415
        from sklearn.pipeline import make_pipeline  # noqa: PLC0415
        from sklearn.preprocessing import MaxAbsScaler, StandardScaler  # noqa: PLC0415

        steps: list[Any] = []
        if self.impute != "none":
            steps.append(SimpleImputer(strategy=self.impute, keep_empty_features=True))
        if self.scale != "none":
            steps.append({"standard": StandardScaler, "maxabs": MaxAbsScaler}[self.scale]())
        return make_pipeline(*steps) if steps else "passthrough"

    def band_model(self, scorer: Any = None) -> Any:
        """Return the classifier for the band."""
        from rocband import PartialAUCSVC, PartialAUCSVCCV  # noqa: PLC0415

        options: dict[str, Any] = {"fpr_range": self.fpr, "random_state": self.seed}
        options |= {"surrogate": self.surrogate} if self.surrogate else {}
        options |= {"anchor": None if self.anchor == "none" else self.anchor} if self.anchor else {}
        options |= {"target_fpr": self.target_fpr} if self.target_fpr is not None else {}
        if self.kernel is not None:
            return self._kernel_model(options, scorer)
        if self.C is not None:
            return PartialAUCSVC(**options, C=self.C)
        return PartialAUCSVCCV(**options, cv=self._folds())

    def _kernel_model(self, options: dict[str, Any], scorer: Any) -> Any:
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

        return GroupShuffleSplit(1, test_size=0.3, random_state=self.seed)

    @property
    def searches(self) -> bool:
        """Whether C is chosen by a search around the band model."""
        return self.kernel is not None and self.C is None

    @property
    def passes_groups(self) -> bool:
        """Whether the band model takes groups, for its folds."""
        return self.grouped and self.C is None

    def fit_options(self) -> list[str]:
        """Names under which the groups are passed to ``fit``."""
        names = ["groups"] if self.grouped and self.confidence is not None else []
        return [*names, "model__groups"] if self.passes_groups else names


def _number(text: str, option: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Failure(f"{option} must be 'scale', 'auto' or a number, got {text!r}.") from None


def trained(model: Any) -> Any:
    """Return the band model inside a fitted one."""
    return getattr(model, "estimator_", model)[-1]


def settle(model: Any) -> dict[float, float]:
    """Put the chosen model in the place of a search, and return the mean score of each C."""
    search = trained(model)
    if not hasattr(search, "best_estimator_"):
        return {}
    for outer in (getattr(model, "estimator", model), getattr(model, "estimator_", model)):
        outer.steps[-1] = ("model", search.best_estimator_)
    results = search.cv_results_
    return dict(zip(results["param_C"].tolist(), results["mean_test_score"].tolist(), strict=True))


def set_verbose(model: Any, level: int) -> None:
    """Set how much the band model inside prints."""
    for outer in (getattr(model, "estimator", model), getattr(model, "estimator_", None)):
        if outer is not None:
            outer[-1].verbose = level
