"""``fit``: a table to a model file."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import click

from rocband._files import is_standard_output
from rocband.cli.columns import (
    Kinds,
    check_columns,
    check_present,
    column,
    features,
    group_names,
    kinds_of,
    like_identifiers,
    like_target,
    named_columns,
    option_list,
)
from rocband.cli.dates import date_note, with_parts, write_parts
from rocband.cli.failures import Failure
from rocband.cli.labels import Labels, Target
from rocband.cli.options import (
    SEED,
    Share,
    fpr_option,
    label_options,
    output_options,
    reading_options,
    table_of,
)
from rocband.cli.outputs import check_output
from rocband.cli.python import Script, literal
from rocband.cli.recipe import Recipe, grid_edge, set_verbose, settle, trained
from rocband.cli.scoring import data_notes
from rocband.cli.show import Output, progress, warn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame as Frame

    from rocband.cli.formats.base import Chunk
    from rocband.cli.table_file import TableFile

__all__ = ["fit"]

_LOOKED_AT = 1000  # rows whose scores are compared
_LISTED = 8  # names of columns that are shown
# A share of the rows is held out for a guarantee: what is left must do for the folds.
_LEFT = 0.7
# How much further the grid should reach when its last C is the best.
_FURTHER = 10
_KERNELS = ["linear", "rbf", "poly", "sigmoid"]
_DEFAULT_BAND = (0.0, 0.05)


@dataclass(frozen=True)
class TrainingRows:
    """Features, labels and groups of a table."""

    X: Any
    y: NDArray[np.int64]
    groups: NDArray[Any] | None

    @property
    def n_positives(self) -> int:
        """Number of positives."""
        return int(self.y.sum())

    @property
    def n_negatives(self) -> int:
        """Number of negatives."""
        return len(self.y) - self.n_positives


@dataclass(frozen=True)
class Fitted:
    """A fitted model, the mean score of each C that was tried, and the seconds it took."""

    model: Any
    means: dict[float, float]
    seconds: float

    @property
    def C(self) -> float:
        """The C of the model."""
        inner = trained(self.model)
        return float(getattr(inner, "C_", None) or inner.C)


@dataclass(frozen=True)
class FitPlan:
    """A table to a model file.

    Attributes
    ----------
    table : TableFile
        The table.
    target : Target
        The labels, and the one that is positive.
    labels : Labels
        What they are called.
    group : str or None
        The column that says which rows belong together.
    recipe : Recipe
        What is built.
    output : str
        The model file.
    """

    table: TableFile
    target: Target
    labels: Labels
    group: str | None
    recipe: Recipe
    output: str

    def run(self, rows: TrainingRows, *, quiet: bool) -> Fitted:
        """Fit the model and write it with its notes."""
        from rocband import persist  # noqa: PLC0415

        model: Any = self.recipe.model()
        began = time.perf_counter()
        set_verbose(model, 1)
        with progress("Fitting", quiet=quiet):
            model.fit(rows.X, rows.y, **dict.fromkeys(self.recipe.fit_options(), rows.groups))
        means = settle(model)
        # The file should not tell of steps to whoever fits its model again.
        set_verbose(model, 0)
        persist.save(model, self.output, notes=self.notes)
        return Fitted(model, means, time.perf_counter() - began)

    @property
    def notes(self) -> dict[str, str]:
        """What later commands want to know."""
        return {
            "target": self.target.name,
            "positive": self.labels.positive,
            "negative": self.labels.negative,
            "rest": "yes" if self.target.rest else "no",
            **date_note(self.recipe.dates),
            **data_notes(self.table),
        }

    def python(self) -> str:
        """Return the same as Python."""
        script = Script()
        self.table.write_python(script, (self.target.name, self.group))
        write_parts(script, self.recipe.dates)
        if not self.recipe.sparse:
            self._write_columns(script)
        self.labels.write_python(script, self.table.column_code(self.target.name))
        self.recipe.write_python(script, self.table.column_code(self.group or ""))
        script.use("rocband", "persist")
        entries = [f"{literal(name)}: {literal(value)}" for name, value in self.notes.items()]
        script.add(f"notes = {script.call('', entries, brackets=('{', '}'))}")
        script.add(f"persist.save(model, {literal(self.output)}, notes=notes)")
        return script.text()

    def _write_columns(self, script: Script) -> None:
        """Name the columns of both kinds, and add the line that picks them."""
        kinds = {"numbers": self.recipe.numbers, "categories": self.recipe.categories}
        given = {name: columns for name, columns in kinds.items() if columns}
        for name, columns in given.items():
            script.add(f"{name} = {script.expression(columns)}")
        script.add(f"X = table[{' + '.join(given)}]")


@click.command(short_help="A table to a model file.")
@click.argument("data")
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The model file to write; an existing one is replaced."
)
@label_options
@fpr_option("Band of false-positive rates to train for.  [default: 0 0.05]")
@click.option("--columns", multiple=True, metavar="COLUMNS", help="Features, such as age,site.  [default: all others]")
@click.option("--drop", multiple=True, metavar="COLUMNS", help="Columns that are no features, such as id,name.")
@click.option("--numeric", multiple=True, metavar="COLUMNS", help="Columns that must hold numbers.")
@click.option("--categories", multiple=True, metavar="COLUMNS", help="Columns to encode as categories.")
@click.option("--max-categories", default=50, show_default=True, help="Most values of a column of text.")
@click.option(
    "--impute",
    type=click.Choice(["median", "mean", "most_frequent", "none"]),
    default="median",
    show_default=True,
    help="What replaces a missing number.",
)
@click.option(
    "--scale",
    type=click.Choice(["standard", "maxabs", "none"]),
    default="standard",
    show_default=True,
    help="How numbers are scaled.",
)
@click.option("--C", "C", type=float, help="Weight of the risk.  [default: chosen by cross-validation]")
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True, help="Of the cross-validation.")
@click.option("--surrogate", type=click.Choice(["ramp", "tight", "hinge", "naive"]), help="[default: the model's]")
@click.option("--anchor", type=click.Choice(["logistic", "logistic_cv", "auc", "none"]), help="[default: the model's]")
@click.option("--kernel", type=click.Choice(_KERNELS), help="Train a kernel model.  [default: linear]")
@click.option("--gamma", default="scale", show_default=True, help="Of the kernel.")
@click.option("--components", type=click.IntRange(1), help="Landmarks of Nystroem's method.  [default: exact]")
@click.option(
    "--target-fpr", type=Share(high=True), help="Rate to call positives at.  [default: upper end of the band]"
)
@click.option("--guarantee", type=Share(), metavar="SHARE", help="Hold out rows so that the rate is kept this surely.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of every random choice.")
@reading_options
@output_options
def fit(data: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Train a model for a band of false-positive rates on the table DATA.

    DATA is a CSV, Parquet, SVMlight or NPZ file, or - for standard input. Columns of numbers are imputed and scaled,
    columns of text one-hot encoded, and dates become year, month, weekday and days; the pipeline is printed and goes
    into the model file.

    \b
    Examples:
      rocband fit train.csv --target sick --positive yes -o model.rocband
      rocband fit train.csv --target sick --fpr 0 0.01 --drop id,name --group patient -o model.rocband
      rocband fit train.parquet --target fraud --C 100 --guarantee 0.95 -o model.rocband
      rocband fit train.svm --fpr 0.02 0.05 -o model.rocband
      cat train.csv | rocband fit - --target sick -o model.rocband
    """
    check_output(options["output"], "the model file", [data])
    out = Output(as_json=as_json, quiet=quiet, err=is_standard_output(options["output"]))
    rows, plan = _decided(table_of(data, options), options)
    fitted = plan.run(rows, quiet=quiet or as_json)
    _warn_of_one_score(fitted.model, rows.X)
    _tell(out, plan, rows, fitted)


def _decided(table: TableFile, options: Mapping[str, Any]) -> tuple[TrainingRows, FitPlan]:
    """Read the table and settle what the options leave open."""
    name = options["target"] or table.default_target
    if name is None:
        raise Failure("Say which column holds the labels with --target.")
    # Labels and categories are read as text however they look; which columns hold the latter, the names will tell.
    table = table.with_text([name, *options["categories"], *named_columns(options["categories"], ())])
    chunk = table.whole()
    target = Target(name, options["positive"], options["rest"])
    y, labels = target.positive_rows(column(chunk.frame, name, table.name), table)
    group = options["group"]
    groups = None if group is None else group_names(chunk.frame, group, table)
    # Before the features, which may take long to make.
    _check_folds(TrainingRows(None, y, groups), table.name, options)
    X, kinds = _features(chunk, table, name, options)
    recipe = _recipe(kinds, options, sparse=chunk.sparse is not None, grouped=groups is not None)
    rows = TrainingRows(X, y, groups)
    if chunk.sparse is None:
        _warn_of_the_target(rows, name)
    # Of all that the options may have meant, the columns that are there.
    given = tuple(name for name in table.text if name in kinds.categories)
    return rows, FitPlan(replace(table, text=given), target, labels, group, recipe, options["output"])


def _check_folds(rows: TrainingRows, source: str, options: Mapping[str, Any]) -> None:
    """Say before any work when there are too few rows for what is asked."""
    folds = options["folds"]
    held_out = options["guarantee"] is not None
    for kind, count in (("positive", rows.n_positives), ("negative", rows.n_negatives)):
        few = f"Only {count} {'row is' if count == 1 else 'rows are'} {kind} in {source}, too few for"
        if held_out and count < 2:
            raise Failure(f"{few} --guarantee, which holds some out; leave it away, or find more rows.")
        left = _LEFT * count if held_out else count
        if options["C"] is None and left < folds:
            also = " beside --guarantee" if held_out else ""
            raise Failure(f"{few} --folds {folds}{also}; say fewer --folds (at least 2), or give --C instead.")
    n_groups = folds if rows.groups is None else len(set(rows.groups.tolist()))
    if options["C"] is None and n_groups < folds:
        raise Failure(
            f"The group {options['group']!r} of {source} has only {n_groups} values, too few for --folds {folds}; "
            "say fewer --folds (at least 2), or give --C instead."
        )


def _features(chunk: Chunk, table: TableFile, target: str, options: Mapping[str, Any]) -> tuple[Any, Kinds]:
    """Return the features, and the columns that they are made of."""
    if chunk.sparse is not None:
        return chunk.sparse, Kinds([], [], [])
    kinds = _kinds(chunk.frame, table.name, target, options)
    frame = with_parts(chunk.frame, kinds.dates, table.name)
    recipe = _recipe(kinds, options, sparse=False, grouped=False)
    advice = f"Mend them, or leave them out with --drop, as in --drop {option_list(kinds.numeric[:2])}."
    X = features(frame, recipe.numbers, kinds.categories, table, advice)
    if options["impute"] == "none":
        check_present(X[recipe.numbers], table.name, "--impute none fills nothing in; choose another --impute")
    _warn_of_identifiers(chunk.frame, kinds.numeric, options)
    return X, kinds


def _kinds(frame: Frame, source: str, target: str, options: Mapping[str, Any]) -> Kinds:
    """Part the columns that are features into kinds."""
    given = {name: named_columns(options[name], frame.columns) for name in ("columns", "drop", "numeric", "categories")}
    check_columns(frame, [name for names in given.values() for name in names], source)
    others = {target, options["group"], *given["drop"]}
    names = [name for name in dict.fromkeys(given["columns"] or frame.columns) if name not in others]
    if not names:
        raise Failure(f"{source} has no columns left to learn from.")
    return kinds_of(frame, names, source, given["numeric"], given["categories"], options["max_categories"])


def _warn_of_identifiers(frame: Frame, numeric: Sequence[str], options: Mapping[str, Any]) -> None:
    given = named_columns([*options["columns"], *options["numeric"]], frame.columns)
    for name in like_identifiers(frame, [name for name in numeric if name not in given]):
        warn(
            f"column {name} looks like a number of the row, not like a measurement; leave it out with --drop "
            f"{option_list([name])}, or name it with --numeric to say that it is one."
        )


def _warn_of_the_target(rows: TrainingRows, target: str) -> None:
    for name in like_target(rows.X, rows.y):
        warn(
            f"column {name} says of every row what the target {target} says; leave it out with --drop "
            f"{option_list([name])}, unless it is known of new rows before their target is."
        )


def _recipe(kinds: Kinds, options: Mapping[str, Any], *, sparse: bool, grouped: bool) -> Recipe:
    known = {entry.name for entry in fields(Recipe)}
    given = {name: value for name, value in options.items() if name in known}
    given |= {"fpr": options["fpr"] or _DEFAULT_BAND, "confidence": options["guarantee"]}
    given |= {"numeric": kinds.numeric, "dates": kinds.dates, "categories": kinds.categories}
    return Recipe(**given, sparse=sparse, grouped=grouped)


def _warn_of_one_score(model: Any, X: Any) -> None:
    """Tell when the model does not rank rows at all."""
    step = -(-X.shape[0] // _LOOKED_AT)
    scores = model.decision_function(X[::step])
    if len(scores) > 1 and scores.min() == scores.max():
        warn("the model gives every row the same score; try --surrogate ramp, --anchor, a wider --fpr, or another --C.")


def _tell(out: Output, plan: FitPlan, rows: TrainingRows, fitted: Fitted) -> None:
    recipe = plan.recipe
    labels = plan.labels
    positives = f"{rows.n_positives:,} positive ({plan.target.name} = {labels.positive})"
    out.say(f"{len(rows.y):,} rows: {positives}, {rows.n_negatives:,} negative ({labels.negative}).")
    for what, names in (("numbers", recipe.numeric), ("dates", recipe.dates), ("categories", recipe.categories)):
        if names:
            out.say(f"{len(names)} {what}: {_list(names)}")
    out.say(recipe.sentence())
    _tell_search(out, fitted)
    if hasattr(fitted.model, "expected_fpr_"):
        _tell_threshold(out, fitted.model)
    out.say(f"Fitted in {fitted.seconds:.1f} s. Written: {plan.output}")
    out.add(output=plan.output, rows=len(rows.y), positives=rows.n_positives)
    out.add(target=plan.target.name, positive=labels.positive, fpr=list(recipe.fpr))
    out.add(numeric=recipe.numeric, dates=recipe.dates, categories=recipe.categories)
    out.add(seconds=fitted.seconds, converged=trained(fitted.model).converged_)
    out.end(plan.python())


def _tell_search(out: Output, fitted: Fitted) -> None:
    """Show the C, and how it was chosen."""
    chosen = fitted.C
    means = fitted.means
    out.add(C=chosen, cross_validation=[{"C": C, "pauc": mean} for C, mean in means.items()])
    if not means:
        out.say(f"C = {chosen:g}.")
        return
    table = [[f"{C:.4g}", f"{mean:.4f}", "<- chosen" if chosen == C else ""] for C, mean in means.items()]
    out.table(["C", "cross-validated pAUC", ""], table)
    edge = grid_edge(means, chosen)
    out.add(edge=edge)
    if edge is not None:
        further = chosen * _FURTHER if edge == "upper" else chosen / _FURTHER
        out.say(
            f"The best C is at the {edge} end of the grid: fit again with --C {further:g}, and keep the better of the "
            "two on other rows."
        )


def _tell_threshold(out: Output, model: Any) -> None:
    count = model.n_calibration_negatives_
    rate = f"at most {model.target_fpr:g} with {100 * model.confidence:g}% confidence"
    out.say(f"Threshold set by {count:,} negatives held out: the false-positive rate is {rate}.")
    out.add(calibration_negatives=count)


def _list(names: Sequence[str]) -> str:
    return ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
