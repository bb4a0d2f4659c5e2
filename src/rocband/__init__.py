"""Train and measure models for the part of the ROC curve you operate in."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rocband._warnings import CollapsedSolutionWarning, PositiveClassWarning, TrainingDataWarning
    from rocband.kernel import KernelPartialAUCSVC
    from rocband.linear import PartialAUCSVC
    from rocband.linear_cv import PartialAUCSVCCV

__version__ = "0.1.0.dev0"

__all__ = [
    "CollapsedSolutionWarning",
    "KernelPartialAUCSVC",
    "PartialAUCSVC",
    "PartialAUCSVCCV",
    "PositiveClassWarning",
    "TrainingDataWarning",
    "__version__",
]

# scikit-learn takes a second to import, and imports pandas: neither is needed to ask for help or for the version.
_HOMES = {
    "CollapsedSolutionWarning": "rocband._warnings",
    "KernelPartialAUCSVC": "rocband.kernel",
    "PartialAUCSVC": "rocband.linear",
    "PartialAUCSVCCV": "rocband.linear_cv",
    "PositiveClassWarning": "rocband._warnings",
    "TrainingDataWarning": "rocband._warnings",
}
_MODULES = ("baselines", "datasets", "inference", "metrics", "persist", "plot", "report", "risks", "study", "threshold")


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(f"rocband.{name}")
    raise AttributeError(f"module 'rocband' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
