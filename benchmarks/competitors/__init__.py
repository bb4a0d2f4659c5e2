"""Competitors, a file each.

A file has ``REQUIRES``, the packages by the name they are installed under and the name they are imported by, and
``recipes()``, which imports them and returns ways to train. What does not import is skipped, with the reason.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from types import ModuleType
from typing import Any

import numpy as np

Band = tuple[float, float]
Scorer = Callable[[Any], np.ndarray]


def no_aim(band: Band) -> Hashable:
    """Training that knows nothing of the band."""
    return None


def upper_end(band: Band) -> Hashable:
    """Training for [0, b], whatever the lower end."""
    return band[1]


def whole_band(band: Band) -> Hashable:
    return band


@dataclass(frozen=True)
class Recipe:
    """One way to train: ``fit(X, y, band, **configuration)`` returns what scores rows.

    ``grid`` holds the configurations to choose from, ``default`` the one for when nothing is chosen, and ``aim`` says
    what of the band the training depends on, so that bands can share fits.
    """

    fit: Callable[..., Scorer]
    grid: tuple[dict[str, Any], ...] = ({},)
    default: dict[str, Any] = field(default_factory=dict)
    kind: str = "linear"
    aim: Callable[[Band], Hashable] = no_aim
    packages: tuple[str, ...] = ()


def names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")


def why_not(name: str) -> str | None:
    """Tell why a competitor cannot run here, or None if it can."""
    for package, imported in load(name).REQUIRES.items():
        try:
            importlib.import_module(imported)
        except ImportError as error:
            return f"{package} cannot be imported: {error}"
    return None


def available() -> tuple[dict[str, Recipe], dict[str, str]]:
    """Return the recipes of all competitors that can run here by label, and the reasons of those that cannot."""
    recipes: dict[str, Recipe] = {}
    skipped: dict[str, str] = {}
    for name in names():
        reason = why_not(name)
        if reason is not None:
            skipped[name] = reason
        elif hasattr(load(name), "recipes"):
            recipes |= load(name).recipes()
    return recipes, skipped


def versions() -> dict[str, str]:
    """Return the versions of the packages that the competitors name and that are there."""
    pairs = [pair for name in names() for pair in load(name).REQUIRES.items()]
    found = {package: version_of(package, imported) for package, imported in pairs}
    return {package: version for package, version in found.items() if version is not None}


def version_of(package: str, imported: str) -> str | None:
    """Return the version of a package, which may be installed under another name, as xgboost is from xgboost-cpu."""
    for name in (package, *distributions().get(imported.partition(".")[0], ())):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None


@cache
def distributions() -> Mapping[str, list[str]]:
    """Return what is installed, by the names that it is imported by; reading that takes seconds."""
    return metadata.packages_distributions()
