"""``evaluate``, ``compare`` and ``report``: what scorers achieve in a band, with intervals."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import click

from rocband._files import check_target, write_whole
from rocband.cli.code import Script, quoted
from rocband.cli.options import (
    fpr_option,
    inference_options,
    label_options,
    output_options,
    reading_options,
    scorer_options,
    source_of,
)
from rocband.cli.scoring import Scored, Scorer, features_code, score_rows
from rocband.cli.show import Output, interval_text
from rocband.cli.source import Source

__all__ = ["compare", "evaluate", "report"]

_BAND = "Band of false-positive rates.  [default: that of the models]"


@click.command()
@click.argument("data")
@scorer_options
@label_options
@fpr_option(_BAND)
@click.option("--at", "rates", multiple=True, type=float, help="False-positive rate to tabulate; may be repeated.")
@click.option("--prevalence", type=float, help="Share of positives where the model will be used.")
@click.option("--plot", metavar="FILE", help="Draw the ROC curves into a .png, .svg or .pdf file.")
@inference_options
@reading_options
@output_options
def evaluate(data: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Measure scores or models on DATA: partial AUC with its interval, and operating points.

    \b
    Examples:
      rocband evaluate test.csv --model model.rocband
      rocband evaluate test.csv --target sick --positive yes --score risk --fpr 0 0.05 --plot roc.png
      rocband evaluate test.csv --model model.rocband --at 0.01 --at 0.05 --prevalence 0.002 --json
    """
    study = _Study(data, options, at_least=1)
    if options["plot"]:
        check_target(Path(options["plot"]), "the picture")
    out, scored = Output(as_json, quiet), study.scored
    out.say(_sizes(scored))
    results, rows = {}, []
    for name, scores in scored.scores.items():
        results[name] = study.figures(scores)
        texts = [interval_text(*results[name][key].values()) for key in ("pauc", "tpr", "auc")]
        rows.append([name, *texts])
    low, high = scored.fpr
    out.table(["scorer", f"pAUC {low:g} to {high:g}", f"TPR at FPR {high:g}", "AUC"], rows)
    for name, scores in scored.scores.items():
        results[name]["operating_points"] = points = study.points(scores)
        title = f"Operating points of {name}" if len(scored.scores) > 1 else "Operating points"
        out.table(["FPR at most", "threshold", "TPR", "PPV", "alerts per 1,000"], _point_rows(points), title=title)
    if options["plot"]:
        study.draw(Path(options["plot"]))
        out.say(f"Picture: {options['plot']}")
    out.add(rows=len(scored.y), positives=int(scored.y.sum()), fpr=list(scored.fpr), scorers=results)
    out.end(study.python("evaluate"))


@click.command()
@click.argument("data")
@scorer_options
@label_options
@fpr_option(_BAND)
@inference_options
@reading_options
@output_options
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
    study = _Study(data, options, at_least=2)
    out, scored = Output(as_json, quiet), study.scored
    out.say(_sizes(scored))
    results = study.comparisons()
    low, high = scored.fpr
    rows = [
        [
            f"{one.names[0]} - {one.names[1]}",
            *(f"{estimate:.3f}" for estimate in one.estimates),
            f"{one.difference:+.3f} ({one.low:+.3f} to {one.high:+.3f})",
            f"{one.pvalue:.2g}",
        ]
        for one in results
    ]
    out.table([f"pAUC {low:g} to {high:g}", "first", "second", "difference", "p-value"], rows)
    out.add(rows=len(scored.y), positives=int(scored.y.sum()), fpr=list(scored.fpr))
    names = ("difference", "low", "high", "pvalue", "estimates", "names", "confidence", "method")
    out.add(comparisons=[{name: getattr(one, name) for name in names} for one in results])
    out.end(study.python("compare"))


@click.command()
@click.argument("data")
@click.option("-o", "--output", required=True, metavar="FILE", help="The HTML file to write.")
@click.option("--title", default="Partial ROC report", show_default=True, help="Heading of the page.")
@click.option("--prevalence", type=float, help="Share of positives where the model will be used.")
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

    check_target(Path(output), "the report")
    study = _Study(data, options, at_least=1)
    scored = study.scored
    extra = {"title": title, "prevalence": options["prevalence"]}
    write(output, scored.y, scored.scores, fpr_range=scored.fpr, groups=scored.groups, **extra, **study.drawing)
    out = Output(as_json, quiet)
    out.say(f"{_sizes(scored)} Written: {output}")
    out.add(output=output, rows=len(scored.y), scorers=list(scored.scores), fpr=list(scored.fpr))
    out.end(study.python("report", output=output, title=title))


def _sizes(scored: Scored) -> str:
    positives, labels = int(scored.y.sum()), scored.labels
    text = f"{len(scored.y):,} rows: {positives:,} positive ({scored.target} = {labels.positive}), "
    return f"{text}{len(scored.y) - positives:,} negative ({labels.negative})."


def _point_rows(points: list[dict[str, float]]) -> list[list[str]]:
    return [
        [
            f"{point['target FPR']:g}",
            f"{point['threshold']:.4g}",
            *(_point_text(point, name) for name in ("TPR", "PPV")),
            _point_text(point, "alerts per 1,000", digits=1),
        ]
        for point in points
    ]


def _point_text(point: dict[str, float], name: str, digits: int = 3) -> str:
    if point[name] != point[name]:
        return "no alerts"
    return interval_text(point[name], point[f"{name} low"], point[f"{name} high"], digits)


class _Study:
    """The scored rows of a table, and the settings of its intervals."""

    def __init__(self, data: str, options: dict[str, Any], at_least: int) -> None:
        self.source, self.options = source_of(data, options), options
        count = len(options["scores"]) + len(options["models"])
        if count < at_least:
            many = "one scorer" if at_least == 1 else "two scorers"
            raise click.UsageError(f"Give at least {many}: columns with --score, model files with --model.")
        self.scorers = [Scorer.load(path) for path in options["models"]]
        self.scored = score_rows(self.source, self.scorers, options["scores"], options)

    @property
    def drawing(self) -> dict[str, Any]:
        """Settings of the intervals."""
        given = self.options
        return {
            "confidence": given["confidence"],
            "method": given["method"],
            "n_draws": given["draws"],
            "random_state": given["seed"],
        }

    def figures(self, scores: Any) -> dict[str, Any]:
        """Return partial AUC, TPR at the end of the band, and AUC, each with its interval."""
        from rocband.inference import partial_auc_interval, tpr_at_fpr_interval  # noqa: PLC0415

        scored = self.scored
        shared = {"groups": scored.groups, **self.drawing}
        found = {
            "pauc": partial_auc_interval(scored.y, scores, fpr_range=scored.fpr, **shared),
            "tpr": tpr_at_fpr_interval(scored.y, scores, fpr=scored.fpr[1], **shared),
            "auc": partial_auc_interval(scored.y, scores, **shared),
        }
        return {key: {end: getattr(one, end) for end in ("estimate", "low", "high")} for key, one in found.items()}

    @property
    def operating(self) -> dict[str, Any]:
        """What the operating points are asked for: the given rates, or the ends of the band and common ones."""
        usual = sorted({rate for rate in (*self.scored.fpr, 0.01, 0.05) if 0 < rate < 1})
        rates = {"fprs": tuple(self.options["rates"] or usual)}
        return rates | {name: self.options[name] for name in ("confidence", "prevalence")}

    def points(self, scores: Any) -> list[dict[str, float]]:
        """Return the operating points."""
        from rocband.threshold import operating_points  # noqa: PLC0415

        table = operating_points(self.scored.y, scores, **self.operating)
        points: list[dict[str, float]] = table.reset_index().to_dict("records")
        return points

    def comparisons(self) -> list[Any]:
        """Return every pair, as one comparison or as many."""
        from dataclasses import replace  # noqa: PLC0415

        from rocband.inference import compare_many, compare_partial_auc  # noqa: PLC0415

        scored = self.scored
        shared = {"fpr_range": scored.fpr, "groups": scored.groups, **self.drawing}
        if len(scored.scores) > 2:
            return list(compare_many(scored.y, scored.scores, **shared))
        first, second = scored.scores
        one = compare_partial_auc(scored.y, scored.scores[first], scored.scores[second], **shared)
        return [replace(one, names=(first, second))]

    def draw(self, path: Path) -> None:
        """Draw the ROC curves around the band."""
        try:
            from matplotlib.figure import Figure  # noqa: PLC0415
        except ImportError:
            raise ImportError("A picture needs matplotlib; install rocband[plot]") from None
        from rocband.plot import PartialROCDisplay  # noqa: PLC0415

        figure = Figure(figsize=(7.5, 5.5), layout="constrained")
        ax = figure.subplots()
        for name, scores in self.scored.scores.items():
            PartialROCDisplay.from_predictions(
                self.scored.y,
                scores,
                fpr_range=self.scored.fpr,
                name=name,
                ax=ax,
                confidence=self.options["confidence"],
                groups=self.scored.groups,
                random_state=self.options["seed"],
            )
        content = io.BytesIO()
        figure.savefig(content, dpi=130, format=path.suffix.lstrip(".").lower() or "png")
        write_whole(path, content.getvalue(), "the picture")

    def python(self, what: str, **names: str) -> str:
        """Return the same as Python."""
        script, scored = Script(), self.scored
        script.read(self.source.with_text(*sorted({name for one in self.scorers for name in one.categories})))
        self._python_scores(script)
        shared = [f"fpr_range={scored.fpr!r}"]
        shared += [f"{name}={quoted(value)}" for name, value in self.drawing.items() if value != _DEFAULTS.get(name)]
        if self.options["group"]:
            shared.append("groups=" + _column_code(self.source, self.options["group"]))
        if what == "report":
            script.use("rocband", "report")
            shared += [f"title={quoted(names['title'])}"]
            script.add(script.call("report.write", [quoted(names["output"]), "y", "scores", *shared]))
        elif what == "compare" and len(scored.scores) == 2:
            script.use("rocband.inference", "compare_partial_auc")
            script.add(script.call("print", [script.call("compare_partial_auc", ["y", "*scores.values()", *shared])]))
        elif what == "compare":
            script.use("rocband.inference", "compare_many")
            script.add(f"for one in {script.call('compare_many', ['y', 'scores', *shared])}:\n    print(one)")
        else:
            script.use("rocband.inference", "partial_auc_interval")
            script.use("rocband.threshold", "operating_points")
            script.add("for name, values in scores.items():")
            script.add(f"    print(name, partial_auc_interval(y, values, {', '.join(shared)}))")
            given = [f"{key}={value!r}" for key, value in self.operating.items() if value not in (None, 0.95)]
            script.add(f"    print(operating_points({', '.join(['y', 'values', *given])}))")
        return script.text()

    def _python_scores(self, script: Script) -> None:
        scored = self.scored
        script.add(f"y = ({_column_code(self.source, scored.target)} == {scored.labels.literal}).astype(int)")
        entries: list[str] = []
        for name, scorer in zip(scored.scores, self.scorers, strict=False):
            script.use("rocband", "persist")
            variable = "model" if len(self.scorers) == 1 else f"model_{len(entries) + 1}"
            script.add(f"{variable} = persist.load({quoted(scorer.path)})")
            X = features_code(self.source, scorer, variable)
            entries.append(f"{quoted(name)}: {variable}.decision_function({X})")
        entries += [f"{quoted(name)}: {_column_code(self.source, name)}" for name in self.options["scores"]]
        script.add(f"scores = {script.call('', entries, brackets=('{', '}'))}")


_DEFAULTS = {"confidence": 0.95, "method": "spacings", "n_draws": 2000}


def _column_code(source: Source, name: str) -> str:
    return name if source.format == "svmlight" else f"table[{quoted(name)}]"
