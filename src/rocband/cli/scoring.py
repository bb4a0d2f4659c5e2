"""Rows scored by models, chunk by chunk, and labels and groups beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from rocband.cli.columns import Labels, as_text, column, group_names, numbers, positive_rows
from rocband.cli.failures import Failure
from rocband.cli.source import Chunk, Source

__all__ = ["Scored", "Scorer", "features", "features_code", "score_rows", "typed"]

CHUNK_ROWS = 20_000


@dataclass(frozen=True)
class Scorer:
    """A model from a file, and what the file says about it."""

    path: str
    model: Any
    about: dict[str, Any]

    @classmethod
    def load(cls, path: str) -> Scorer:
        """Load a model."""
        from rocband import persist  # noqa: PLC0415

        about, model = persist.describe(path), persist.load(path)
        if not hasattr(model, "decision_function"):
            raise Failure(f"{path} holds a {type(model).__name__}, which does not score rows.")
        return cls(path, model, about)

    @property
    def name(self) -> str:
        """The name of the file without its ending."""
        return Path(self.path).stem

    @property
    def features(self) -> list[str] | None:
        """Names of the columns that the model was trained on, where it knows them."""
        names: list[str] | None = self.about["feature_names"]
        return names

    @property
    def categories(self) -> list[str]:
        """Columns that are one-hot encoded."""
        return [name for step in _steps(self.model) for name in _encoded(step)]

    def scores(self, chunk: Chunk, source: Source, leave_out: Sequence[str | None]) -> Any:
        """Return the decision function of some rows."""
        if chunk.sparse is not None:
            return self.model.decision_function(chunk.sparse)
        names = self.features or [name for name in chunk.frame.columns if name not in leave_out]
        count = self.model.n_features_in_
        if len(names) != count:
            raise Failure(f"{self.path} was trained on {count} features, but {source.name} has {len(names)}.")
        X = features(chunk.frame, names, self.categories, source.name)
        return self.model.decision_function(X if self.features else X.to_numpy())


def features(frame: Any, names: Sequence[str], categories: Sequence[str], source: str) -> Any:
    """Return the columns of a model: categories as text, the rest as numbers."""
    import pandas as pd  # noqa: PLC0415

    columns = {}
    for name in names:
        values = column(frame, name, source)
        columns[name] = as_text(values) if name in categories else numbers(values, name, source)
    return pd.DataFrame(columns)


def features_code(source: Source, scorer: Scorer, variable: str) -> str:
    """Return Python for the features of a model in a table that was read."""
    if source.format in ("svmlight", "npz"):
        return "X" if source.format == "svmlight" else 'table["X"]'
    return f"table[{variable}.feature_names_in_]" if scorer.features else "table.to_numpy()"


def _steps(model: Any) -> list[Any]:
    inner = getattr(model, "estimator_", model)
    return [step for _, step in getattr(inner, "steps", [])]


def _encoded(step: Any) -> list[str]:
    parts = getattr(step, "transformers_", [])
    return [str(name) for _, part, names in parts if type(part).__name__ == "OneHotEncoder" for name in names]


@dataclass(frozen=True)
class Scored:
    """Labels, scores of each scorer by its name, and groups of all rows."""

    y: Any
    scores: dict[str, Any]
    groups: Any
    labels: Labels
    target: str
    fpr: tuple[float, float]


def score_rows(
    source: Source, scorers: Sequence[Scorer], score_columns: Sequence[str], options: dict[str, Any]
) -> Scored:
    """Read a table once, in chunks, and keep one number for each row and scorer."""
    import numpy as np  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    notes = scorers[0].about["notes"] if scorers else {}
    target = options["target"] or notes.get("target") or source.default_target
    if target is None:
        raise Failure("Say which column holds the labels with --target.")
    fpr = _band(scorers, options["fpr"])
    names = _names(scorers, score_columns)
    group, labels = options["group"], []
    source = typed(source, scorers, [target, group])
    values: dict[str, list[Any]] = {name: [] for name in names}
    groups: list[Any] = []
    for chunk in source.chunks(CHUNK_ROWS):
        labels.append(as_text(column(chunk.frame, target, source.name)))
        if group is not None:
            groups.append(group_names(chunk.frame, group, source.name))
        for name, scorer in zip(names, scorers, strict=False):
            values[name].append(scorer.scores(chunk, source, (target, group, *score_columns)))
        for name in score_columns:
            values[name].append(_score_column(chunk.frame, name, source.name))
    positive = options["positive"] or (notes.get("positive") if target == notes.get("target") else None)
    rest = options["rest"] or notes.get("rest") == "yes"
    y, called = positive_rows(pd.concat(labels), target, source.name, positive, rest)
    _warn_of_training_rows(scorers, source)
    scores = {name: np.concatenate(parts) for name, parts in values.items()}
    return Scored(y, scores, _natural(groups), called, target, fpr)


def typed(source: Source, scorers: Sequence[Scorer], labels: Sequence[str | None]) -> Source:
    """Read labels and categories as text in every chunk, and sparse rows as wide as the models are."""
    text = {name for scorer in scorers for name in scorer.categories} | {name for name in labels if name}
    width = scorers[0].model.n_features_in_ if scorers and source.format == "svmlight" else None
    return replace(source.with_text(*sorted(text)), n_features=width)


def _band(scorers: Sequence[Scorer], fpr: tuple[float, float] | None) -> tuple[float, float]:
    if fpr is not None:
        return fpr
    bands = {tuple(scorer.about["fpr_range"]) for scorer in scorers if scorer.about["fpr_range"]}
    if len(bands) != 1:
        raise Failure("Say which band of false-positive rates to look at, for example --fpr 0 0.05.")
    low, high = bands.pop()
    return float(low), float(high)


def _names(scorers: Sequence[Scorer], score_columns: Sequence[str]) -> list[str]:
    """Name models by their files, with the ending or the whole path where names would be the same."""
    for way in (lambda s: s.name, lambda s: Path(s.path).name, lambda s: s.path):
        names = [*map(way, scorers), *score_columns]
        if len(set(names)) == len(names):
            return names
    raise Failure("The same scorer is given twice; give each --score and --model once.")


def _natural(groups: Sequence[Any]) -> Any:
    """Put groups together; numbers are numbers again, in whose order Python would see them."""
    import numpy as np  # noqa: PLC0415

    if not groups:
        return None
    whole = np.concatenate(groups)
    try:
        return whole.astype(np.float64)
    except ValueError:
        return whole


def _score_column(frame: Any, name: str, source: str) -> Any:
    values = numbers(column(frame, name, source), name, source)
    if values.isna().any():
        row = int(values.index[values.isna()][0]) + 1
        raise Failure(f"The score {name!r} of {source} is missing in data row {row}; leave such rows out.")
    return values.to_numpy()


def _warn_of_training_rows(scorers: Sequence[Scorer], source: Source) -> None:
    for scorer in scorers:
        if source.path != "-" and scorer.about["notes"].get("data") == str(Path(source.path).resolve()):
            click.echo(
                f"Warning: {scorer.path} was trained on {source.name}; figures on training rows flatter.", err=True
            )
