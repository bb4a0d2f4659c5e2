"""``fit``: a table to a model file."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from rocband.cli.code import Name, Script, column_code, quoted
from rocband.cli.columns import check_present, column, features, group_names, kinds, like_identifiers
from rocband.cli.failures import Failure
from rocband.cli.labels import positive_rows
from rocband.cli.options import (
    SEED,
    Share,
    fpr_option,
    label_options,
    output_options,
    reading_options,
    source_of,
)
from rocband.cli.outputs import check_output
from rocband.cli.recipe import Recipe, set_verbose, settle, trained
from rocband.cli.scoring import data_notes
from rocband.cli.show import Output, progress
from rocband.cli.source import Source

__all__ = ["fit"]

_LOOKED_AT = 1000  # rows whose scores are compared
_KERNELS = ["linear", "rbf", "poly", "sigmoid"]


@click.command(short_help="A table to a model file.")
@click.argument("data")
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The model file to write; an existing one is replaced."
)
@label_options
@fpr_option("Band of false-positive rates to train for.  [default: 0 0.05]")
@click.option("--columns", multiple=True, metavar="COLUMN", help="Features; may be repeated.  [default: all others]")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Column that is no feature; may be repeated.")
@click.option("--numeric", multiple=True, metavar="COLUMN", help="Column that must hold numbers.")
@click.option("--categories", multiple=True, metavar="COLUMN", help="Column to encode as categories.")
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
    columns of text one-hot encoded; the pipeline is printed and goes into the model file.

    \b
    Examples:
      rocband fit train.csv --target sick --positive yes -o model.rocband
      rocband fit train.csv --target sick --fpr 0 0.01 --drop id --group patient -o model.rocband
      rocband fit train.parquet --target fraud --C 100 --guarantee 0.95 -o model.rocband
      rocband fit train.svm --fpr 0.02 0.05 -o model.rocband
      cat train.csv | rocband fit - --target sick -o model.rocband
    """
    out, target_file = Output(as_json, quiet), Path(options["output"])
    check_output(options["output"], "the model file", [data])
    source = source_of(data, options).with_text(*options["categories"])
    task = _Task(source, options)
    model = task.recipe.model()
    began = time.perf_counter()
    set_verbose(model, 1)
    with progress("Fitting", quiet=quiet or as_json):
        model.fit(task.X, task.y, **task.fit_groups())
    means = settle(model)
    set_verbose(model, 0)
    _warn_of_one_score(model, task.X)
    task.save(model, target_file)
    _tell(out, task, model, means, time.perf_counter() - began)


class _Task:
    """The table of a fit, checked, and the recipe for it."""

    def __init__(self, source: Source, options: dict[str, Any]) -> None:
        chunk = source.whole()
        self.source, self.options = source, options
        self.target = options["target"] or source.default_target
        if self.target is None:
            raise Failure("Say which column holds the labels with --target.")
        frame, group = chunk.frame, options["group"]
        values = column(frame, self.target, source.name)
        self.y, self.labels = positive_rows(values, self.target, source.name, options["positive"], options["rest"])
        self.groups = None if group is None else group_names(frame, group, source)
        self._check_folds()
        numeric: list[str] = []
        categories: list[str] = []
        self.X = chunk.sparse
        if chunk.sparse is None:
            numeric, categories = self._kinds(frame)
            self.X = features(frame, [*numeric, *categories], categories, source)
            if options["impute"] == "none":
                check_present(self.X[numeric], source.name, "--impute none fills nothing in; choose another --impute")
            self._warn_of_identifiers(frame, numeric)
        self.recipe = self._recipe(numeric, categories)

    def _check_folds(self) -> None:
        """Say before any work when there are too few rows for what is asked."""
        folds, name, held_out = self.options["folds"], self.source.name, self.options["guarantee"] is not None
        for kind, count in (("positive", int(self.y.sum())), ("negative", int((1 - self.y).sum()))):
            rows = f"Only {count} {'row is' if count == 1 else 'rows are'} {kind} in {name}, too few for"
            if held_out and count < 2:
                raise Failure(f"{rows} --guarantee, which holds some out; leave it away, or find more rows.")
            if self.options["C"] is None and (0.7 * count if held_out else count) < folds:
                also = " beside --guarantee" if held_out else ""
                raise Failure(f"{rows} --folds {folds}{also}; say fewer --folds (at least 2), or give --C instead.")
        groups = folds if self.groups is None else len(set(self.groups.tolist()))
        if self.options["C"] is None and groups < folds:
            raise Failure(
                f"The group {self.options['group']!r} of {name} has only {groups} values, too few for --folds {folds}; "
                "say fewer --folds (at least 2), or give --C instead."
            )

    def _warn_of_identifiers(self, frame: Any, numeric: list[str]) -> None:
        given = {*self.options["columns"], *self.options["numeric"]}
        for name in like_identifiers(frame, [name for name in numeric if name not in given]):
            click.echo(
                f"Warning: column {name} looks like a number of the row, not like a measurement; leave it out with "
                f"--drop {shlex.quote(name)}, or name it with --numeric to say that it is one.",
                err=True,
            )

    def _kinds(self, frame: Any) -> tuple[list[str], list[str]]:
        chosen, dropped = self.options["columns"], self.options["drop"]
        for name in (*chosen, *dropped, *self.options["numeric"], *self.options["categories"]):
            column(frame, name, self.source.name)
        others = {self.target, self.options["group"], *dropped}
        names = [name for name in (chosen or frame.columns) if name not in others]
        if not names:
            raise Failure(f"{self.source.name} has no columns left to learn from.")
        given = (self.options["numeric"], self.options["categories"])
        return kinds(frame, names, self.source.name, *given, self.options["max_categories"])

    def _recipe(self, numeric: list[str], categories: list[str]) -> Recipe:
        known = {entry.name for entry in fields(Recipe)}
        given = {name: value for name, value in self.options.items() if name in known}
        given |= {"fpr": self.options["fpr"] or (0.0, 0.05), "confidence": self.options["guarantee"]}
        given |= {"numeric": numeric, "categories": categories}
        return Recipe(**given, sparse=not (numeric or categories), grouped=self.groups is not None)

    def fit_groups(self) -> dict[str, Any]:
        """Return what ``fit`` is passed besides rows and labels."""
        return dict.fromkeys(self.recipe.fit_options(), self.groups)

    @property
    def notes(self) -> dict[str, str]:
        """What later commands want to know."""
        labels = self.labels
        return {
            "target": str(self.target),
            "positive": labels.positive,
            "negative": labels.negative,
            "rest": "yes" if self.options["rest"] else "no",
            **data_notes(self.source),
        }

    def save(self, model: Any, path: Path) -> None:
        """Write the model with its notes."""
        from rocband import persist  # noqa: PLC0415

        persist.save(model, path, notes=self.notes)

    def python(self, output: str) -> str:
        """Return the same as Python."""
        script, recipe = Script(), self.recipe
        script.read(self.source, (self.target, self.options["group"]))
        script.use("rocband", "persist")
        if not recipe.sparse:
            script.add(self._columns_code(script))
        script.labels(self.source, str(self.target), self.labels, self.options["rest"])
        preparation = recipe.preparation(Name("numbers"), Name("categories"))
        if preparation is not None:
            script.add(f"prepare = {script.expression(preparation)}")
        name = None if preparation is None else Name("prepare")
        scorer = None
        if recipe.searches:
            script.use("rocband.metrics", "partial_auc_scorer")
            script.add(f"scorer = partial_auc_scorer({recipe.fpr!r})")
            scorer = Name("scorer")
        script.add(f"model = {script.expression(recipe.model(name, scorer))}")
        group = column_code(self.source, self.options["group"] or "")
        given = [f"{name}={group}" for name in recipe.fit_options()]
        script.add(f"model.fit({', '.join(['X', 'y', *given])})")
        if recipe.searches:
            inner = "model" if recipe.confidence is None else "model.estimator_"
            script.add(f'{inner}.steps[-1] = ("model", {inner}[-1].best_estimator_)')
        if recipe.searches and recipe.confidence is not None:
            script.add("model.estimator = model.estimator_")
        entries = [f"{quoted(name)}: {quoted(value)}" for name, value in self.notes.items()]
        script.add(f"notes = {script.call('', entries, brackets=('{', '}'))}")
        script.add(f"persist.save(model, {quoted(output)}, notes=notes)")
        return script.text()

    def _columns_code(self, script: Script) -> str:
        """Name the columns of both kinds, and return the line that picks them."""
        kinds = {"numbers": self.recipe.numeric, "categories": self.recipe.categories}
        given = {name: columns for name, columns in kinds.items() if columns}
        for name, columns in given.items():
            script.add(f"{name} = {script.expression(columns)}")
        return f"X = table[{' + '.join(given)}]"


def _warn_of_one_score(model: Any, X: Any) -> None:
    """Tell when the model does not rank rows at all."""
    step = -(-X.shape[0] // _LOOKED_AT)
    scores = model.decision_function(X[::step])
    if len(scores) > 1 and scores.min() == scores.max():
        click.echo(
            "Warning: the model gives every row the same score; try --surrogate ramp, --anchor, a wider --fpr, or "
            "another --C.",
            err=True,
        )


def _tell(out: Output, task: _Task, model: Any, means: dict[float, float], seconds: float) -> None:
    inner, recipe, labels = trained(model), task.recipe, task.labels
    positives = int(task.y.sum())
    rows = f"{len(task.y):,} rows: {positives:,} positive ({task.target} = {labels.positive}), "
    out.say(f"{rows}{len(task.y) - positives:,} negative ({labels.negative}).")
    for what, names in (("numbers", recipe.numeric), ("categories", recipe.categories)):
        if names:
            out.say(f"{len(names)} {what}: {_list(names)}")
    out.say(_how(recipe))
    chosen = float(getattr(inner, "C_", None) or inner.C)
    if hasattr(inner, "scores_"):
        means = dict(zip(inner.Cs_.tolist(), inner.scores_.mean(axis=1).tolist(), strict=True))
    if means:
        table = [[f"{C:.4g}", f"{mean:.4f}", "<- chosen" if chosen == C else ""] for C, mean in means.items()]
        out.table(["C", "cross-validated pAUC", ""], table)
    else:
        out.say(f"C = {chosen:g}.")
    if hasattr(model, "expected_fpr_"):
        _tell_threshold(out, model)
    output = task.options["output"]
    out.say(f"Fitted in {seconds:.1f} s. Written: {output}")
    out.add(output=output, rows=len(task.y), positives=positives, target=task.target, positive=labels.positive)
    out.add(numeric=recipe.numeric, categories=recipe.categories, fpr=list(recipe.fpr), C=chosen, seconds=seconds)
    out.add(converged=inner.converged_, cross_validation=[{"C": C, "pauc": mean} for C, mean in means.items()])
    out.end(task.python(output))


def _tell_threshold(out: Output, model: Any) -> None:
    count = model.n_calibration_negatives_
    rate = f"at most {model.target_fpr:g} with {100 * model.confidence:g}% confidence"
    out.say(f"Threshold set by {count:,} negatives held out: the false-positive rate is {rate}.")
    out.add(calibration_negatives=count)


def _how(recipe: Recipe) -> str:
    parts = []
    if recipe.numeric:
        missing = "not filled in" if recipe.impute == "none" else f"replaced by the {recipe.impute.replace('_', ' ')}"
        parts.append(f"missing numbers are {missing}, scaling: {recipe.scale}")
    if recipe.categories:
        parts.append("categories are one-hot encoded, a missing one is a category of its own")
    kind = "linear" if recipe.kernel is None else f"kernel {recipe.kernel}"
    parts.append(f"a {kind} model for FPR {recipe.fpr[0]:g} to {recipe.fpr[1]:g}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _list(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
