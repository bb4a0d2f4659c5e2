"""What ``fit`` builds: a visible pipeline that prepares the columns, and a model for the band."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from rocband.cli.failures import Failure

__all__ = ["Recipe", "set_verbose", "trained"]


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

    def model(self, preparation: Any = None) -> Any:
        """Return the whole model, not yet fitted, with another preparation if one is given."""
        from sklearn.pipeline import Pipeline  # noqa: PLC0415

        from rocband.threshold import FPRThresholdClassifier  # noqa: PLC0415

        steps = [("prepare", preparation or self.preparation()), ("model", self.band_model())]
        pipeline = Pipeline([(name, step) for name, step in steps if step is not None])
        if self.confidence is None:
            return pipeline
        target = self.fpr[1] if self.target_fpr is None else self.target_fpr
        options: dict[str, Any] = {"target_fpr": target, "confidence": self.confidence, "random_state": self.seed}
        if self.grouped:
            options["cv"] = self._group_split()
        return FPRThresholdClassifier(pipeline, **options)

    def preparation(self) -> Any:
        """Return what turns columns into features on one scale."""
        from sklearn.compose import ColumnTransformer  # noqa: PLC0415
        from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder  # noqa: PLC0415

        if self.sparse:
            return None if self.scale == "none" else MaxAbsScaler()
        parts = []
        if self.numeric:
            parts.append(("numbers", self._for_numbers(), list(self.numeric)))
        if self.categories:
            encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            parts.append(("categories", encoder, list(self.categories)))
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

    def band_model(self) -> Any:
        """Return the classifier for the band."""
        from rocband import PartialAUCSVC, PartialAUCSVCCV  # noqa: PLC0415

        options: dict[str, Any] = {"fpr_range": self.fpr, "random_state": self.seed}
        options |= {"surrogate": self.surrogate} if self.surrogate else {}
        options |= {"anchor": None if self.anchor == "none" else self.anchor} if self.anchor else {}
        options |= {"target_fpr": self.target_fpr} if self.target_fpr is not None else {}
        if self.kernel is not None:
            return self._kernel_model(options)
        if self.C is not None:
            return PartialAUCSVC(**options, C=self.C)
        return PartialAUCSVCCV(**options, cv=self._folds())

    def _kernel_model(self, options: dict[str, Any]) -> Any:
        try:
            model = import_module("rocband.kernel").KernelPartialAUCSVC
        except ImportError:
            raise Failure("This version of rocband has no kernel models; leave out --kernel.", exit_code=1) from None
        gamma = self.gamma if self.gamma in ("scale", "auto") else _number(self.gamma, "--gamma")
        options |= {"kernel": self.kernel, "gamma": gamma, "n_components": self.components}
        return model(**options, **({} if self.C is None else {"C": self.C}))

    def _folds(self) -> Any:
        from sklearn.model_selection import StratifiedGroupKFold  # noqa: PLC0415

        return StratifiedGroupKFold(self.folds) if self.grouped else self.folds

    def _group_split(self) -> Any:
        from sklearn.model_selection import GroupShuffleSplit  # noqa: PLC0415

        return GroupShuffleSplit(1, test_size=0.3, random_state=self.seed)

    @property
    def passes_groups(self) -> bool:
        """Whether the band model takes groups, for its folds."""
        return self.grouped and self.C is None and self.kernel is None

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


def set_verbose(model: Any, level: int) -> None:
    """Set how much the band model inside prints."""
    for outer in (getattr(model, "estimator", model), getattr(model, "estimator_", None)):
        if outer is not None:
            outer[-1].verbose = level
