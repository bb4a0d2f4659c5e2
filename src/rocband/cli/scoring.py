"""Rows scored by models, chunk by chunk, and labels and groups beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocband.cli.columns import check_present, column, features, group_names, named_columns, numbers, row_number
from rocband.cli.dates import noted_dates, with_parts, write_parts
from rocband.cli.failures import Failure
from rocband.cli.labels import Labels, Target, same_label
from rocband.cli.python import Script, literal
from rocband.cli.show import warn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame as Frame
    from pandas import Series as Column

    from rocband.cli.formats.base import Chunk
    from rocband.cli.table_file import TableFile

__all__ = [
    "CHUNK_ROWS",
    "Scored",
    "ScoredRows",
    "Scorer",
    "Tally",
    "data_notes",
    "typed",
    "warn_of_strangers",
]

# Rows held at a time: some megabytes of a usual table, and enough for products with a model to be fast.
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

    def count(self, X: Frame, categories: Mapping[str, set[object]]) -> None:
        """Count some rows."""
        self.rows += len(X)
        self.columns = list(X.columns)
        for name in X.columns:
            missing = X[name].isna()
            self.missing[name] += int(missing.sum())
            if name in categories:
                strange = ~X[name].isin(categories[name]) & ~missing
                self.strange[name] += int(strange.sum())


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

        about = persist.describe(path)
        model = persist.load(path)
        if not hasattr(model, "decision_function"):
            raise Failure(f"{path} holds a {type(model).__name__}, which does not score rows.")
        return cls(path, model, about)

    @property
    def name(self) -> str:
        """The name of the file without its ending."""
        return Path(self.path).stem

    @property
    def notes(self) -> dict[str, str]:
        """What the command that fitted the model wrote down."""
        notes: dict[str, str] = self.about["notes"]
        return notes

    @property
    def features(self) -> list[str] | None:
        """Names of the columns that the model was trained on, where it knows them."""
        names: list[str] | None = self.about["feature_names"]
        return names

    @property
    def dates(self) -> list[str]:
        """Columns of dates whose parts are features."""
        return noted_dates(self.notes)

    @property
    def categories(self) -> dict[str, set[object]]:
        """Columns that are one-hot encoded, with the values that training saw."""
        return {name: known for step in _steps(self.model) for name, known in _encoded(step)}

    @property
    def label_names(self) -> tuple[str, str]:
        """What negatives and positives are called."""
        low, high = (str(label) for label in self.model.classes_)
        return self.notes.get("negative", low), self.notes.get("positive", high)

    @property
    def fills_in(self) -> bool:
        """Whether missing numbers are filled in."""
        return any(type(part).__name__ == "SimpleImputer" for step in _steps(self.model) for part in _parts(step))

    def rows(self, chunk: Chunk, table: TableFile, leave_out: Sequence[str | None]) -> Frame:
        """Return the features of some rows as the model takes them."""
        frame = with_parts(chunk.frame, self.dates, table.name)
        names = self.features or [name for name in frame.columns if name not in leave_out]
        count = self.model.n_features_in_
        if len(names) != count:
            raise Failure(f"{self.path} was trained on {count} features, but {table.name} has {len(names)}.")
        categories = self.categories
        numeric = [name for name in names if name not in categories]
        X = features(frame, numeric, [name for name in names if name in categories], table, "Mend them.")[names]
        self.met.count(X, categories)
        # Solvers would say only that there is a NaN somewhere.
        if not self.fills_in:
            check_present(X[numeric], table.name, f"{self.path} does not fill in missing numbers")
        return X

    def scores(self, chunk: Chunk, table: TableFile, leave_out: Sequence[str | None]) -> NDArray[np.float64]:
        """Return the decision function of some rows."""
        if chunk.sparse is not None:
            found: NDArray[np.float64] = self.model.decision_function(chunk.sparse)
            return found
        X = self.rows(chunk, table, leave_out)
        scores: NDArray[np.float64] = self.model.decision_function(X if self.features else X.to_numpy())
        return scores

    def features_code(self, script: Script, table: TableFile, variable: str) -> str:
        """Return Python for the features in a table that was read."""
        if table.is_sparse:
            return "X"
        if self.features:
            return f"table[{variable}.feature_names_in_]"
        return f"table[{script.expression(self.met.columns)}].to_numpy()"


def warn_of_strangers(scorers: Sequence[Scorer]) -> None:
    """Tell of values that training has not seen, and of features that no row has."""
    lines: dict[str, None] = {}  # in their order, each once
    for scorer in scorers:
        met = scorer.met
        for name in met.columns:
            if met.missing[name] == met.rows:
                lines[f"column {name}: missing in all {met.rows:,} rows."] = None
            if met.strange[name]:
                text = f"{met.strange[name]:,} of {met.rows:,} values were not seen in training"
                lines[f"column {name}: {text}."] = None
    for line in lines:
        warn(line)


def _steps(model: Any) -> list[Any]:
    inner = getattr(model, "estimator_", model)
    return [step for _, step in getattr(inner, "steps", [])]


def _encoded(step: Any) -> Iterator[tuple[str, set[object]]]:
    for _, part, names in getattr(step, "transformers_", []):
        if type(part).__name__ == "OneHotEncoder":
            for name, known in zip(names, part.categories_, strict=True):
                yield str(name), set(known.tolist())


def _parts(step: Any) -> list[Any]:
    """Return the transformers inside a step, and the step itself."""
    inner = [part for _, part, _ in getattr(step, "transformers_", [])]
    last = [final for part in inner for _, final in getattr(part, "steps", [])]
    return [step, *inner, *last]


@dataclass(frozen=True)
class Scored:
    """What scoring a table gave: one number for each row and scorer, and what its labels are called."""

    y: NDArray[np.int64]
    scores: dict[str, NDArray[np.float64]]
    groups: NDArray[Any] | None
    labels: Labels


@dataclass(frozen=True)
class ScoredRows:
    """The plan to score the rows of a table, by models and by columns that hold scores.

    Attributes
    ----------
    table : TableFile
        The table.
    scorers : tuple of Scorer
        The models.
    score_columns : tuple of str
        What the options say of columns of scores.
    target : Target
        The labels.
    group : str or None
        The column that says which rows belong together.
    fpr : (float, float)
        The band to look at.
    """

    table: TableFile
    scorers: tuple[Scorer, ...]
    score_columns: tuple[str, ...]
    target: Target
    group: str | None
    fpr: tuple[float, float]

    @classmethod
    def of(cls, table: TableFile, scorers: Sequence[Scorer], options: Mapping[str, Any]) -> ScoredRows:
        """Settle target, label and band, which models know, by what they and the options say."""
        name = _target(scorers, options["target"]) or table.default_target
        if name is None:
            raise Failure("Say which column holds the labels with --target.")
        positive = _positive(scorers, name, options["positive"])
        rest = options["rest"] or (bool(scorers) and scorers[0].notes.get("rest") == "yes")
        return cls(
            table=typed(table, scorers),
            scorers=tuple(scorers),
            score_columns=tuple(options["scores"]),
            target=Target(name, positive, rest),
            group=options["group"],
            fpr=_band(scorers, options["fpr"]),
        )

    def run(self) -> Scored:
        """Read the table once, in chunks, and keep one number for each row and scorer."""
        import numpy as np  # noqa: PLC0415
        import pandas as pd  # noqa: PLC0415

        # Labels and groups are one column whose chunks may look different: read as text, they are put together.
        table = self.table.with_text([self.target.name, self.group])
        labels: list[Column] = []
        groups: list[NDArray[Any]] = []
        parts: list[dict[str, NDArray[np.float64]]] = []
        for chunk in table.chunks(CHUNK_ROWS):
            labels.append(column(chunk.frame, self.target.name, table.name))
            if self.group is not None:
                groups.append(group_names(chunk.frame, self.group, table))
            parts.append(self._scores(chunk))
        y, called = self.target.positive_rows(pd.concat(labels), table)
        _warn_of_training_rows(self.scorers, table)
        warn_of_strangers(self.scorers)
        scores = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return Scored(y, scores, self._groups(groups), called)

    def _scores(self, chunk: Chunk) -> dict[str, NDArray[np.float64]]:
        columns = named_columns(self.score_columns, chunk.frame.columns)
        names = scorer_names(self.scorers, columns)
        leave_out = (self.target.name, self.group, *columns)
        found = [scorer.scores(chunk, self.table, leave_out) for scorer in self.scorers]
        found += [_score_column(chunk.frame, name, self.table) for name in columns]
        return dict(zip(names, found, strict=True))

    def _groups(self, parts: Sequence[NDArray[Any]]) -> NDArray[Any] | None:
        """Put groups together; numbers of a CSV file are numbers again, in whose order Python would see them."""
        import numpy as np  # noqa: PLC0415

        if self.group is None:
            return None
        whole = np.concatenate(parts)
        if self.table.format != "csv":
            return whole
        try:
            found = whole.astype(np.float64)
        except ValueError:
            return whole
        self.table.layout.text.discard(self.group)  # spaces around numbers do not make them text
        return found

    def write_python(self, script: Script, scored: Scored) -> None:
        """Add the lines that read the table and make y and scores."""
        table = self.table
        columns = list(scored.scores)[len(self.scorers) :]
        table.write_python(script, (self.target.name, self.group, *columns))
        dates = dict.fromkeys(name for scorer in self.scorers for name in scorer.dates)
        write_parts(script, list(dates))
        scored.labels.write_python(script, table.column_code(self.target.name))
        entries = []
        for number, (name, scorer) in enumerate(zip(scored.scores, self.scorers, strict=False), 1):
            variable = "model" if len(self.scorers) == 1 else f"model_{number}"
            script.use("rocband", "persist")
            script.add(f"{variable} = persist.load({literal(scorer.path)})")
            X = scorer.features_code(script, table, variable)
            entries.append(f"{literal(name)}: {variable}.decision_function({X})")
        entries += [f"{literal(name)}: {table.column_code(name)}" for name in columns]
        script.add(f"scores = {script.call('', entries, brackets=('{', '}'))}")

    def groups_code(self) -> str | None:
        """Return Python for the groups, if there are some."""
        return None if self.group is None else self.table.column_code(self.group)


def _target(scorers: Sequence[Scorer], given: str | None) -> str | None:
    """Return the column of the labels, that of the models if it is not given."""
    if given is not None:
        return given
    recorded = {scorer.notes["target"]: scorer.path for scorer in scorers if "target" in scorer.notes}
    if len(recorded) > 1:
        names = " and ".join(f"{path} for {target!r}" for target, path in list(recorded.items())[:2])
        raise Failure(f"{names} are models of different targets; say which column holds the labels with --target.")
    return next(iter(recorded), None)


def _positive(scorers: Sequence[Scorer], target: str, given: str | None) -> str | None:
    """Return the label of the positives: that of the models, which must agree with one another and what is given."""
    models = [scorer for scorer in scorers if scorer.notes.get("target") == target]
    recorded = [(one.path, one.notes["positive"]) for one in models if "positive" in one.notes]
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


def typed(table: TableFile, scorers: Sequence[Scorer]) -> TableFile:
    """Read the categories of models as text in every chunk, and sparse rows as wide as the models are."""
    text = {name for scorer in scorers for name in scorer.categories}
    width = scorers[0].model.n_features_in_ if scorers and table.format == "svmlight" else None
    return replace(table.with_text(sorted(text)), n_features=width)


def _band(scorers: Sequence[Scorer], fpr: tuple[float, float] | None) -> tuple[float, float]:
    if fpr is not None:
        return fpr
    bands = {tuple(scorer.about["fpr_range"]) for scorer in scorers if scorer.about["fpr_range"]}
    if len(bands) != 1:
        raise Failure("Say which band of false-positive rates to look at, for example --fpr 0 0.05.")
    low, high = bands.pop()
    return float(low), float(high)


def scorer_names(scorers: Sequence[Scorer], score_columns: Sequence[str]) -> list[str]:
    """Name models by their files, with the ending or the whole path where names would be the same."""
    for way in (lambda s: s.name, lambda s: Path(s.path).name, lambda s: s.path):
        names = [*map(way, scorers), *score_columns]
        if len(set(names)) == len(names):
            return names
    raise Failure("The same scorer is given twice; give each --score and --model once.")


def _score_column(frame: Frame, name: str, table: TableFile) -> NDArray[np.float64]:
    raw = column(frame, name, table.name)
    values = numbers(raw, name, table.name)
    if raw.dtype.kind not in "fiu":
        table.layout.floats.add(name)
    if values.isna().any():
        row = row_number(values.index[values.isna()][0])
        raise Failure(f"The score {name!r} of {table.name} is missing in data row {row}; leave such rows out.")
    found: NDArray[np.float64] = values.to_numpy()
    return found


def _warn_of_training_rows(scorers: Sequence[Scorer], table: TableFile) -> None:
    for scorer in scorers:
        if table.path != "-" and data_notes(table).items() <= scorer.notes.items():
            warn(f"{scorer.path} was trained on {table.name}; figures on training rows flatter.")


def data_notes(table: TableFile) -> dict[str, str]:
    """Return what tells a file again without saying where it was: its name and its size."""
    path = Path(table.path)
    return {"data": "-"} if table.path == "-" else {"data": path.name, "bytes": str(path.stat().st_size)}
