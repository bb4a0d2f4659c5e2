"""``evaluate``, ``compare`` and ``report``: what scorers achieve in a band, with intervals."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path
from typing import Any

import click

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
from rocband.cli.show import Output, interval_text
from rocband.cli.study import Study
from rocband.cli.study_code import compare_code, evaluate_code, report_code

__all__ = ["compare", "evaluate", "report"]

_PLOT = "Draw the ROC curves into a .png, .svg or .pdf file; an existing one is replaced."
_POINT_HEAD = ["FPR at most", "threshold", "FPR", "TPR", "PPV", "alerts per 1,000"]
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
    if options["plot"]:
        check_output(options["plot"], "the picture", (data, *options["models"]))
        check_picture(options["plot"])
    study = Study(data, options, at_least=1)
    out, scored = Output(as_json, quiet), study.scored
    out.say(_sizes(scored))
    results, rows = {}, []
    for name, scores in scored.scores.items():
        results[name] = study.figures(scores)
        texts = [interval_text(*results[name][key].values()) for key in ("pauc", "tpr", "auc")]
        rows.append([name, *texts])
    low, high = scored.fpr
    out.table(["scorer", f"pAUC {low:g} to {high:g}", f"TPR at FPR {high:g}", "AUC"], rows, always=True)
    for name, scores in scored.scores.items():
        results[name]["operating_points"] = points = study.points(scores)
        title = f"Operating points of {name}" if len(scored.scores) > 1 else "Operating points"
        out.table(_POINT_HEAD, _point_rows(points, scores), title=title, always=True)
    out.say("A row is called positive where score > threshold.")
    if options["group"]:
        out.say("The intervals of operating points take rows as independent, also those of one group.")
    for name, own in study.own_points().items():
        out.say(_own_text(name, own))
        results[name]["own_threshold"] = own
    if options["plot"]:
        study.draw(Path(options["plot"]))
        out.say(f"Picture: {options['plot']}")
    out.add(rows=len(scored.y), positives=int(scored.y.sum()), fpr=list(scored.fpr), scorers=results)
    out.end(evaluate_code(study))


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
    study = Study(data, options, at_least=2)
    out, scored = Output(as_json, quiet), study.scored
    out.say(_sizes(scored))
    results = study.comparisons()
    low, high = scored.fpr
    rows = [
        [
            f"{one.names[0]} - {one.names[1]}",
            *(f"{estimate:.3f}" for estimate in one.estimates),
            f"{one.difference:+.3f} ({one.low:+.3f} to {one.high:+.3f})",
            _pvalue_text(one.pvalue, study.smallest_pvalue()),
        ]
        for one in results
    ]
    out.table([f"pAUC {low:g} to {high:g}", "first", "second", "difference", "p-value"], rows, always=True)
    out.add(rows=len(scored.y), positives=int(scored.y.sum()), fpr=list(scored.fpr))
    names = ("difference", "low", "high", "pvalue", "estimates", "names", "confidence", "method")
    out.add(comparisons=[{name: getattr(one, name) for name in names} for one in results])
    out.end(compare_code(study))


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
    from rocband.report import write  # noqa: PLC0415

    check_output(output, "the report", (data, *options["models"]))
    study = Study(data, options, at_least=1)
    scored = study.scored
    extra = {"title": title, "prevalence": options["prevalence"]}
    write(output, scored.y, scored.scores, fpr_range=scored.fpr, groups=scored.groups, **extra, **study.drawing)
    out = Output(as_json, quiet)
    out.say(f"{_sizes(scored)} Written: {output}")
    out.add(output=output, rows=len(scored.y), scorers=list(scored.scores), fpr=list(scored.fpr))
    out.end(report_code(study, output, extra))


def _sizes(scored: Scored) -> str:
    positives, labels = int(scored.y.sum()), scored.labels
    text = f"{len(scored.y):,} rows: {positives:,} positive ({scored.target} = {labels.positive}), "
    return f"{text}{len(scored.y) - positives:,} negative ({labels.negative})."


def _own_text(name: str, own: dict[str, int]) -> str:
    """Say what a model does at its own threshold."""
    fpr = f"FPR {own['false_positives'] / own['negatives']:.4f} ({own['false_positives']:,} of {own['negatives']:,})"
    tpr = f"TPR {own['true_positives'] / own['positives']:.4f} ({own['true_positives']:,} of {own['positives']:,})"
    return f"At its own threshold, score > 0, as predict calls rows, {name} has {fpr} and {tpr}."


def _pvalue_text(pvalue: float, smallest: float) -> str:
    """Return a p-value, or what it is less than where the draws cannot show how much."""
    if pvalue > smallest:
        return f"{pvalue:.2g}"
    return f"< {Context(prec=1, rounding=ROUND_CEILING).plus(Decimal(smallest)):f}"


def _point_rows(points: list[dict[str, float]], scores: Any) -> list[list[str]]:
    from rocband.threshold.decimals import threshold_text  # noqa: PLC0415

    return [
        [
            f"{point['target FPR']:g}",
            threshold_text(point["threshold"], scores),
            f"{point['FPR']:.4f}",
            *(_point_text(point, name) for name in ("TPR", "PPV")),
            _point_text(point, "alerts per 1,000", digits=1),
        ]
        for point in points
    ]


def _point_text(point: dict[str, float], name: str, digits: int = 3) -> str:
    if point[name] != point[name]:
        return "no alerts"
    return interval_text(point[name], point[f"{name} low"], point[f"{name} high"], digits)
