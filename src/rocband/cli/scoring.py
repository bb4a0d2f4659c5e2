"""Rows scored by models, chunk by chunk, and labels and groups beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from rocband.cli.code import Script
from rocband.cli.columns import check_present, column, features, group_names, numbers, row_number
from rocband.cli.failures import Failure
from rocband.cli.labels import Labels, positive_rows, same_label
from rocband.cli.source import Chunk, Source

__all__ = [
    "Scored",
    "Scorer",
    "Tally",
    "data_notes",
    "features_code",
    "score_rows",
    "takes_rest",
    "typed",
    "warn_of_strangers",
]

CHUNK_ROWS = 20_000


@dataclass
class Tally:
    """What a model met in the rows that it scored.

    Attributes
    ----------
    rows : int
        How many there were.
    strange, missing : Counter
        By column, how many values training had not seen, and how many were missing.
    columns : list of str
        The columns that were scored.
    """

    rows: int = 0
    strange: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    columns: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Scorer:
    """A model from a file, what the file says about it, and what the model met."""

    path: str
    model: Any
    about: dict[str, Any]
    met: Tally = field(default_factory=Tally)

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
    def categories(self) -> dict[str, set[Any]]:
        """Columns that are one-hot encoded, with the values that training saw."""
        return {name: known for step in _steps(self.model) for name, known in _encoded(step)}

    @property
    def fills_in(self) -> bool:
        """Whether missing numbers are filled in."""
        return any(type(part).__name__ == "SimpleImputer" for step in _steps(self.model) for part in _parts(step))

    def scores(self, chunk: Chunk, source: Source, leave_out: Sequence[str | None]) -> Any:
        """Return the decision function of some rows."""
        if chunk.sparse is not None:
            return self.model.decision_function(chunk.sparse)
        names = self.features or [name for name in chunk.frame.columns if name not in leave_out]
        count = self.model.n_features_in_
        if len(names) != count:
            raise Failure(f"{self.path} was trained on {count} features, but {source.name} has {len(names)}.")
        categories = self.categories
        X = features(chunk.frame, names, list(categories), source)
        self._note(X, categories)
        if not self.fills_in:
            present = X.drop(columns=list(categories))
            check_present(present, source.name, f"{self.path} does not fill in missing numbers")
        return self.model.decision_function(X if self.features else X.to_numpy())

    def _note(self, X: Any, categories: dict[str, set[Any]]) -> None:
        self.met.rows += len(X)
        self.met.columns = list(X.columns)
        for name in X.columns:
            missing = X[name].isna()
            self.met.missing[name] += int(missing.sum())
            if name in categories:
                self.met.strange[name] += int((~X[name].isin(categories[name]) & ~missing).sum())


def warn_of_strangers(scorers: Sequence[Scorer]) -> None:
    """Tell of values that training has not seen, and of features that no row has."""
    lines: dict[str, None] = {}
    for scorer in scorers:
        met = scorer.met
        for name in met.columns:
            if met.missing[name] == met.rows:
                lines[f"column {name}: missing in all {met.rows:,} rows"] = None
            if met.strange[name]:
                text = f"{met.strange[name]:,} of {met.rows:,} values were not seen in training"
                lines[f"column {name}: {text}"] = None
    for line in lines:
        click.echo(f"Warning: {line}.", err=True)


def _steps(model: Any) -> list[Any]:
    inner = getattr(model, "estimator_", model)
    return [step for _, step in getattr(inner, "steps", [])]


def _encoded(step: Any) -> Iterator[tuple[str, set[Any]]]:
    for _, part, names in getattr(step, "transformers_", []):
        if type(part).__name__ == "OneHotEncoder":
            for name, known in zip(names, part.categories_, strict=True):
                yield str(name), set(known.tolist())


def _parts(step: Any) -> list[Any]:
    """Return the transformers inside a step, and the step itself."""
    inner = [part for _, part, _ in getattr(step, "transformers_", [])]
    return [step, *inner, *(last for part in inner for _, last in getattr(part, "steps", []))]


def features_code(script: Script, source: Source, scorer: Scorer, variable: str) -> str:
    """Return Python for the features of a model in a table that was read."""
    if source.format == "svmlight" or source.found.sparse:
        return "X"
    if scorer.features:
        return f"table[{variable}.feature_names_in_]"
    return f"table[{script.expression(scorer.met.columns)}].to_numpy()"


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

    target = _target(scorers, options["target"]) or source.default_target
    if target is None:
        raise Failure("Say which column holds the labels with --target.")
    positive = _positive(scorers, target, options["positive"])
    fpr = _band(scorers, options["fpr"])
    names = _names(scorers, score_columns)
    group, labels = options["group"], []
    source = typed(source, scorers, [target, group])
    values: dict[str, list[Any]] = {name: [] for name in names}
    groups: list[Any] = []
    for chunk in source.chunks(CHUNK_ROWS):
        labels.append(column(chunk.frame, target, source.name))
        if group is not None:
            groups.append(group_names(chunk.frame, group, source))
        for name, scorer in zip(names, scorers, strict=False):
            values[name].append(scorer.scores(chunk, source, (target, group, *score_columns)))
        for name in score_columns:
            values[name].append(_score_column(chunk.frame, name, source))
    rest = takes_rest(scorers, options)
    y, called = positive_rows(pd.concat(labels), target, source.name, positive, rest)
    _warn_of_training_rows(scorers, source)
    warn_of_strangers(scorers)
    scores = {name: np.concatenate(parts) for name, parts in values.items()}
    whole = _natural(groups, source.format)
    if whole is not None and whole.dtype.kind == "f":
        source.found.text.discard(group)  # spaces around numbers do not make them text
    return Scored(y, scores, whole, called, target, fpr)


def _target(scorers: Sequence[Scorer], given: str | None) -> str | None:
    """Return the column of the labels, that of the models if it is not given."""
    if given is not None:
        return given
    recorded = {scorer.about["notes"].get("target"): scorer.path for scorer in scorers}
    recorded.pop(None, None)
    if len(recorded) > 1:
        names = " and ".join(f"{path} for {target!r}" for target, path in list(recorded.items())[:2])
        raise Failure(f"{names} are models of different targets; say which column holds the labels with --target.")
    return next(iter(recorded), None)


def _positive(scorers: Sequence[Scorer], target: str, given: str | None) -> str | None:
    """Return the label of the positives: that of the models, which must agree with one another and what is given."""
    models = [scorer for scorer in scorers if scorer.about["notes"].get("target") == target]
    recorded = [(one.path, one.about["notes"]["positive"]) for one in models if "positive" in one.about["notes"]]
    for path, label in recorded:
        first, other = recorded[0]
        if not same_label(label, other):
            raise Failure(
                f"{first} takes {target} = {other} as positive and {path} takes {label}; compare models of one label."
            )
        if given is not None and not same_label(label, given):
            raise Failure(
                f"--positive {given} is not the label that {path} was trained for, {target} = {label}; leave "
                "--positive out, or fit a model for it."
            )
    return given if given is not None or not recorded else recorded[0][1]


def takes_rest(scorers: Sequence[Scorer], options: dict[str, Any]) -> bool:
    """Whether all labels but the positive one are negatives."""
    return options["rest"] or (bool(scorers) and scorers[0].about["notes"].get("rest") == "yes")


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


def _natural(groups: Sequence[Any], kind: str) -> Any:
    """Put groups together; numbers of a CSV file are numbers again, in whose order Python would see them."""
    import numpy as np  # noqa: PLC0415

    if not groups:
        return None
    whole = np.concatenate(groups)
    if kind != "csv":
        return whole
    try:
        return whole.astype(np.float64)
    except ValueError:
        return whole


def _score_column(frame: Any, name: str, source: Source) -> Any:
    raw = column(frame, name, source.name)
    values = numbers(raw, name, source.name)
    if raw.dtype.kind not in "fiu":
        source.found.floats.add(name)
    if values.isna().any():
        row = row_number(values.index[values.isna()][0])
        raise Failure(f"The score {name!r} of {source.name} is missing in data row {row}; leave such rows out.")
    return values.to_numpy()


def _warn_of_training_rows(scorers: Sequence[Scorer], source: Source) -> None:
    for scorer in scorers:
        notes = scorer.about["notes"]
        if source.path != "-" and data_notes(source).items() <= notes.items():
            click.echo(
                f"Warning: {scorer.path} was trained on {source.name}; figures on training rows flatter.", err=True
            )


def data_notes(source: Source) -> dict[str, str]:
    """Return what tells a file again without saying where it was: its name and its size."""
    path = Path(source.path)
    return {"data": "-"} if source.path == "-" else {"data": path.name, "bytes": str(path.stat().st_size)}
