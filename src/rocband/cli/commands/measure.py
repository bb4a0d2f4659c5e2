"""``evaluate``, ``compare`` and ``report``: what scorers achieve in a band, with intervals."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING, Any

import click

from rocband._files import is_standard_output
from rocband.cli.measuring import ComparePlan, EvaluatePlan, Measures, ReportPlan
from rocband.cli.options import (
    Share,
    fpr_option,
    inference_options,
    label_options,
    output_options,
    reading_options,
    scorer_options,
    table_options,
)
from rocband.cli.outputs import check_output, check_picture
from rocband.cli.scoring import Scored
from rocband.cli.show import Output, interval_text, progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocband.inference import Comparison, Interval
    from rocband.study import Calls, Study

__all__ = ["compare", "evaluate", "report"]

_PLOT = "Draw the ROC curves into a .png, .svg or .pdf file; an existing one is replaced."
_POINT_HEAD = ["FPR at most", "threshold", "FPR", "TPR", "PPV", "alerts per 1,000"]
# How a normal curve ends is anybody's guess: a smaller p-value is only said to be small.
_SMALLEST_SHOWN = 1e-4
_BAND = "Band of false-positive rates.  [default: that of the models]"


@click.command(short_help="Partial AUC with its interval, operating points, a picture.")
@click.argument("data")
@scorer_options
@label_options
@fpr_option(_BAND)
@click.option(
    "--at", "rates", multiple=True, type=Share(low=True), help="False-positive rate to tabulate; may be repeated."
)
@click.option("--prevalence", type=Share(), help="Share of positives where the model will be used.")
@click.option("--plot", metavar="FILE", help=_PLOT)
@inference_options
@reading_options
@table_options
def evaluate(data: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Measure scores or models on DATA: partial AUC with its interval, and operating points.

    \b
    Examples:
      rocband evaluate test.csv --model model.rocband
      rocband evaluate test.csv --target sick --positive yes --score risk --fpr 0 0.05 --plot roc.png
      rocband evaluate test.csv --model model.rocband --at 0.01 --at 0.05 --prevalence 0.002 --json
    """
    plot = options["plot"]
    if plot is not None:
        check_output(plot, "the picture", (data, *options["models"]))
        check_picture(plot)
    out = Output(as_json=as_json, quiet=quiet, err=is_standard_output(plot))
    plan = EvaluatePlan(Measures.of(data, options, at_least=1), options["rates"] or None, options["prevalence"], plot)
    with progress("Measuring", quiet=_untold(out)):
        scored, study = plan.run()
    _say_sizes(out, plan.measures, scored)
    _show_figures(out, study)
    for name in study.scores:
        title = f"Operating points of {name}" if len(study.scores) > 1 else "Operating points"
        out.table(_POINT_HEAD, _point_rows(study, name), title=title, always=True)
    out.say("A row is called positive where score > threshold.")
    if options["group"]:
        out.say("The intervals of operating points take rows as independent, also those of one group.")
    models = list(study.scores)[: len(options["models"])]
    for name in models:
        out.say(_own_text(name, study.calls(name)))
    if plot is not None:
        out.say(f"Picture: {plot}")
    out.add(scorers={name: _scorer_document(study, name, is_model=name in models) for name in study.scores})
    out.end(plan.python(scored))


@click.command(short_help="Two or more scorers on the same rows.")
@click.argument("data")
@scorer_options
@label_options
@fpr_option(_BAND)
@inference_options
@reading_options
@table_options
def compare(data: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Compare the partial AUC of two or more scorers on the same rows of DATA.

    Of two scorers the difference is the first minus the second; models come before columns. With more, intervals
    and p-values account for the number of pairs.

    \b
    Examples:
      rocband compare test.csv --target sick --positive yes --score old --score new --fpr 0 0.05
      rocband compare test.csv --model a.rocband --model b.rocband
      rocband compare test.csv --model a.rocband --score old
    """
    out = Output(as_json=as_json, quiet=quiet)
    plan = ComparePlan(Measures.of(data, options, at_least=2))
    with progress("Comparing", quiet=_untold(out)):
        scored, study = plan.run()
    _say_sizes(out, plan.measures, scored)
    low, high = study.fpr_range
    rows = [_comparison_row(one, study.smallest_pvalue) for one in study.comparisons]
    out.table([f"pAUC {low:g} to {high:g}", "first", "second", "difference", "p-value"], rows, always=True)
    out.add(comparisons=[asdict(one) for one in study.comparisons])
    out.end(plan.python(scored))


@click.command(short_help="One HTML page about scorers.")
@click.argument("data")
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The HTML file to write; an existing one is replaced."
)
@click.option("--title", default="Partial ROC report", show_default=True, help="Heading of the page.")
@click.option("--prevalence", type=Share(), help="Share of positives where the model will be used.")
@scorer_options
@label_options
@fpr_option(_BAND)
@inference_options
@reading_options
@output_options
def report(data: str, output: str, title: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Write one HTML page about scorers on DATA: intervals, curves, comparisons, a slider over thresholds.

    \b
    Examples:
      rocband report test.csv --model model.rocband -o page.html
      rocband report test.csv --target sick --score old --score new --fpr 0 0.05 -o page.html
    """
    check_output(output, "the report", (data, *options["models"]))
    out = Output(as_json=as_json, quiet=quiet, err=is_standard_output(output))
    plan = ReportPlan(Measures.of(data, options, at_least=1), output, title, options["prevalence"])
    with progress("Measuring", quiet=_untold(out)):
        scored = plan.run()
    _say_sizes(out, plan.measures, scored)
    out.say(f"Written: {output}")
    out.add(output=output)
    out.add(scorers=list(scored.scores))
    out.end(plan.python(scored))


def _untold(out: Output) -> bool:
    """Whether progress is not told: lines of it would only stand between results where no spinner turns."""
    return out.quiet or out.as_json or not sys.stderr.isatty()


def _say_sizes(out: Output, measures: Measures, scored: Scored) -> None:
    n_rows = len(scored.y)
    n_positives = int(scored.y.sum())
    labels = scored.labels
    positives = f"{n_positives:,} positive ({measures.rows.target.name} = {labels.positive})"
    out.say(f"{n_rows:,} rows: {positives}, {n_rows - n_positives:,} negative ({labels.negative}).")
    out.add(rows=n_rows, positives=n_positives, fpr=list(measures.rows.fpr))


def _show_figures(out: Output, study: Study) -> None:
    rows = []
    for name in study.scores:
        figures = study.figures(name)
        rows.append([name, *(_interval(one) for one in (figures.pauc, figures.tpr, figures.auc))])
    low, high = study.fpr_range
    out.table(["scorer", f"pAUC {low:g} to {high:g}", f"TPR at FPR {high:g}", "AUC"], rows, always=True)


def _interval(one: Interval) -> str:
    return interval_text(one.estimate, one.low, one.high)


def _scorer_document(study: Study, name: str, *, is_model: bool) -> dict[str, object]:
    """Return all figures of a scorer for JSON."""
    figures = study.figures(name)
    document: dict[str, object] = {}
    for key, one in (("pauc", figures.pauc), ("tpr", figures.tpr), ("auc", figures.auc)):
        document[key] = {"estimate": one.estimate, "low": one.low, "high": one.high}
    document["operating_points"] = _points(study, name)
    if is_model:
        document["own_threshold"] = asdict(study.calls(name))
    return document


def _own_text(name: str, own: Calls) -> str:
    """Say what a model does at its own threshold."""
    fpr = f"FPR {own.false_positives / own.negatives:.4f} ({own.false_positives:,} of {own.negatives:,})"
    tpr = f"TPR {own.true_positives / own.positives:.4f} ({own.true_positives:,} of {own.positives:,})"
    return f"At its own threshold, score > 0, as predict calls rows, {name} has {fpr} and {tpr}."


def _comparison_row(one: Comparison, smallest: float) -> list[str]:
    first, second = one.names
    estimates = [f"{estimate:.3f}" for estimate in one.estimates]
    difference = f"{one.difference:+.3f} ({one.low:+.3f} to {one.high:+.3f})"
    return [f"{first} - {second}", *estimates, difference, _pvalue_text(one.pvalue, smallest)]


def _pvalue_text(pvalue: float, smallest: float) -> str:
    """Return a p-value, or what it is less than where nobody can tell how much."""
    limit = max(smallest, _SMALLEST_SHOWN)
    if pvalue > limit:
        return f"{pvalue:.2g}"
    return f"< {Context(prec=1, rounding=ROUND_CEILING).plus(Decimal(str(limit))):f}"


def _points(study: Study, name: str) -> list[dict[str, float]]:
    points: list[dict[str, float]] = study.operating_points(name).reset_index().to_dict("records")
    return points


def _point_rows(study: Study, name: str) -> list[list[str]]:
    from rocband.threshold.decimals import threshold_text  # noqa: PLC0415

    scores: NDArray[Any] = study.scores[name]
    rows = []
    for point in _points(study, name):
        cells = [f"{point['target FPR']:g}", threshold_text(point["threshold"], scores), f"{point['FPR']:.4f}"]
        cells += [_point_text(point, figure) for figure in ("TPR", "PPV")]
        rows.append([*cells, _point_text(point, "alerts per 1,000", digits=1)])
    return rows


def _point_text(point: dict[str, float], name: str, digits: int = 3) -> str:
    if math.isnan(point[name]):
        return "no alerts"
    return interval_text(point[name], point[f"{name} low"], point[f"{name} high"], digits)
