"""The plans of ``evaluate``, ``compare`` and ``report``: one study of the scorers of a table, shown in three ways."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rocband._files import write_whole
from rocband.cli.options import table_of
from rocband.cli.python import Name, Script, literal
from rocband.cli.scoring import Scored, ScoredRows, Scorer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rocband.study import Study

__all__ = ["ComparePlan", "EvaluatePlan", "Measures", "ReportPlan"]

_FIGURE_SIZE = (7.5, 5.5)
_DPI = 130


@dataclass(frozen=True)
class Measures:
    """What is measured, and how: the rows that are scored, and the settings of the figures.

    Attributes
    ----------
    rows : ScoredRows
        The table and the scorers.
    settings : dict of str to object
        Arguments of `Study.of`, and of `report.write`.
    """

    rows: ScoredRows
    settings: dict[str, Any]

    @classmethod
    def of(cls, data: str, options: Mapping[str, Any], at_least: int) -> Measures:
        """Settle what the options leave open."""
        table = table_of(data, options)
        if len(options["scores"]) + len(options["models"]) < at_least:
            many = "one scorer" if at_least == 1 else "two scorers"
            raise click.UsageError(f"Give at least {many}: columns with --score, model files with --model.")
        scorers = [Scorer.load(path) for path in options["models"]]
        rows = ScoredRows.of(table, scorers, options)
        settings = {
            "fpr_range": rows.fpr,
            "confidence": options["confidence"],
            "method": options["method"],
            "n_draws": options["draws"],
            "random_state": options["seed"],
        }
        return cls(rows, settings)

    def study(self, scored: Scored, **more: Any) -> Study:
        """Return the study, whose figures are computed when they are asked for."""
        from rocband.study import Study  # noqa: PLC0415

        return Study.of(scored.y, scored.scores, groups=scored.groups, verbose=1, **self.settings, **more)

    def script(self, scored: Scored) -> Script:
        """Return a script that makes y and scores."""
        script = Script()
        self.rows.write_python(script, scored)
        return script

    def write_study(self, script: Script, **more: object) -> None:
        """Add the line that makes the study."""
        script.use("rocband.study", "Study")
        script.add(script.call("study = Study.of", ["y", "scores", *self.arguments(**more)]))

    def arguments(self, **more: object) -> list[str]:
        """Return Python for all settings, and the groups."""
        given = {name: value for name, value in (self.settings | more).items() if value is not None}
        groups = self.rows.groups_code()
        if groups is not None:
            given["groups"] = Name(groups)
        script = Script()
        return [f"{name}={script.expression(value)}" for name, value in given.items()]


@dataclass(frozen=True)
class EvaluatePlan:
    """Figures of each scorer, operating points, and a picture.

    Attributes
    ----------
    measures : Measures
        What is measured.
    rates : tuple of float or None
        False-positive rates of the operating points; None for those that a study takes.
    prevalence : float or None
        Share of positives where the models will be used.
    plot : str or None
        Where to draw the ROC curves.
    """

    measures: Measures
    rates: tuple[float, ...] | None
    prevalence: float | None
    plot: str | None

    def run(self) -> tuple[Scored, Study]:
        """Score the rows, compute all figures, and draw the picture."""
        scored = self.measures.rows.run()
        study = self.measures.study(scored, rates=self.rates, prevalence=self.prevalence)
        for name in study.scores:
            study.figures(name)
        if self.plot is not None:
            _draw(study, Path(self.plot))
        return scored, study

    def python(self, scored: Scored) -> str:
        """Return the same as Python."""
        script = self.measures.script(scored)
        self.measures.write_study(script, rates=self.rates, prevalence=self.prevalence)
        body = ["print(name)"]
        body += [f"print(study.{figure}(name))" for figure in ("pauc", "tpr", "auc")]
        body.append("print(study.operating_points(name).to_string())")
        script.add_block("for name in study.scores:", body)
        models = list(scored.scores)[: len(self.measures.rows.scorers)]
        if models:
            script.add_block(f"for name in {script.expression(models)}:", ["print(name, study.calls(name))"])
        if self.plot is not None:
            self._write_picture(script, self.plot)
        return script.text()

    def _write_picture(self, script: Script, path: str) -> None:
        """Add the lines that do what `_draw` does."""
        script.use("matplotlib.figure", "Figure")
        script.use("rocband.plot", "PartialROCDisplay")
        script.use("sklearn.metrics", "roc_curve")
        script.add(f'figure = Figure(figsize={_FIGURE_SIZE}, layout="constrained")')
        script.add("ax = figure.subplots()")
        body = [
            "fpr, tpr, _ = roc_curve(y, values)",
            "curve = PartialROCDisplay(fpr=fpr, tpr=tpr, fpr_range=study.fpr_range, interval=study.pauc(name))",
            "curve.plot(ax, name=name)",
        ]
        script.add_block("for name, values in study.scores.items():", body)
        script.add(f"figure.savefig({literal(path)}, dpi={_DPI}, format={literal(_picture_format(path))})")


@dataclass(frozen=True)
class ComparePlan:
    """Every pair of scorers compared."""

    measures: Measures

    def run(self) -> tuple[Scored, Study]:
        """Score the rows and compare the scorers."""
        scored = self.measures.rows.run()
        study = self.measures.study(scored)
        _ = study.comparisons
        return scored, study

    def python(self, scored: Scored) -> str:
        """Return the same as Python."""
        script = self.measures.script(scored)
        self.measures.write_study(script)
        script.add_block("for one in study.comparisons:", ["print(one)"])
        return script.text()


@dataclass(frozen=True)
class ReportPlan:
    """One HTML page.

    Attributes
    ----------
    measures : Measures
        What is measured.
    output : str
        The page.
    title : str
        Its heading.
    prevalence : float or None
        Share of positives where the models will be used.
    """

    measures: Measures
    output: str
    title: str
    prevalence: float | None

    def run(self) -> Scored:
        """Score the rows and write the page."""
        from rocband import report  # noqa: PLC0415

        scored = self.measures.rows.run()
        report.write(
            self.output,
            scored.y,
            scored.scores,
            groups=scored.groups,
            verbose=1,
            **self.measures.settings,
            **self._page,
        )
        return scored

    def python(self, scored: Scored) -> str:
        """Return the same as Python."""
        script = self.measures.script(scored)
        script.use("rocband", "report")
        arguments = [literal(self.output), "y", "scores", *self.measures.arguments(**self._page)]
        script.add(script.call("report.write", arguments))
        return script.text()

    @property
    def _page(self) -> dict[str, Any]:
        return {"title": self.title, "prevalence": self.prevalence}


def _draw(study: Study, path: Path) -> None:
    """Draw the ROC curves around the band, with the intervals of the study."""
    content = io.BytesIO()
    _figure(study).savefig(content, dpi=_DPI, format=_picture_format(str(path)))
    write_whole(path, content.getvalue(), "the picture")


def _figure(study: Study) -> Figure:
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        raise ImportError("A picture needs matplotlib; install rocband[plot]") from None
    from sklearn.metrics import roc_curve  # noqa: PLC0415

    from rocband.plot import PartialROCDisplay  # noqa: PLC0415

    figure = Figure(figsize=_FIGURE_SIZE, layout="constrained")
    ax = figure.subplots()
    for name, scores in study.scores.items():
        fpr, tpr, _ = roc_curve(study.y_true, scores)
        curve = PartialROCDisplay(fpr=fpr, tpr=tpr, fpr_range=study.fpr_range, interval=study.pauc(name))
        curve.plot(ax, name=name)
    return figure


def _picture_format(path: str) -> str:
    return Path(path).suffix.lstrip(".").lower() or "png"
