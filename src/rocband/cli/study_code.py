"""Python that does the same as ``evaluate``, ``compare`` and ``report``."""

from __future__ import annotations

from collections.abc import Mapping

from rocband.cli.code import Script, column_code, quoted
from rocband.cli.scoring import features_code, typed
from rocband.cli.study import Study

__all__ = ["compare_code", "evaluate_code", "report_code"]

_DEFAULTS = {"confidence": 0.95, "method": "spacings", "n_draws": 2000}


def evaluate_code(study: Study) -> str:
    """Return Python for the tables of ``evaluate``."""
    script, (band, *shared) = _scored(study), _settings(study)
    for name in ("partial_auc_interval", "tpr_at_fpr_interval"):
        script.use("rocband.inference", name)
    script.use("rocband.threshold", "operating_points")
    intervals = [
        script.call("partial_auc_interval", ["y", "values", band, *shared]),
        script.call("tpr_at_fpr_interval", ["y", "values", f"fpr={study.scored.fpr[1]!r}", *shared]),
        script.call("partial_auc_interval", ["y", "values", *shared]),
    ]
    given = [f"{key}={value!r}" for key, value in study.operating.items() if value not in (None, 0.95)]
    points = script.call("operating_points", ["y", "values", *given])
    body = ["print(name)", *(f"print({line})" for line in intervals), f"print({points}.to_string())"]
    script.add("for name, values in scores.items():")
    for line in body:
        script.add("    " + line.replace("\n", "\n    "))
    if study.scorers:
        names = list(study.scored.scores)[: len(study.scorers)]
        script.add(f"for name in {script.expression(names)}:")
        script.add("    called = scores[name] > 0")
        script.add("    print(name, called[y == 0].mean(), called[y == 1].mean())")
    return script.text()


def compare_code(study: Study) -> str:
    """Return Python for the comparisons."""
    script, shared = _scored(study), _settings(study)
    if len(study.scored.scores) == 2:
        script.use("rocband.inference", "compare_partial_auc")
        script.add(script.call("print", [script.call("compare_partial_auc", ["y", "*scores.values()", *shared])]))
    else:
        script.use("rocband.inference", "compare_many")
        script.add(f"for one in {script.call('compare_many', ['y', 'scores', *shared])}:\n    print(one)")
    return script.text()


def report_code(study: Study, output: str, extra: Mapping[str, object]) -> str:
    """Return Python for the page."""
    script, shared = _scored(study), _settings(study)
    script.use("rocband", "report")
    shared += [f"{name}={quoted(value)}" for name, value in extra.items() if value is not None]
    script.add(script.call("report.write", [quoted(output), "y", "scores", *shared]))
    return script.text()


def _settings(study: Study) -> list[str]:
    """Return the arguments that the functions of inference share, the band first."""
    settings = [f"fpr_range={study.scored.fpr!r}"]
    settings += [f"{name}={quoted(value)}" for name, value in study.drawing.items() if value != _DEFAULTS.get(name)]
    if study.options["group"]:
        settings.append("groups=" + column_code(study.source, study.options["group"]))
    return settings


def _scored(study: Study) -> Script:
    """Return a script that reads the table and makes y and scores."""
    script, scored, source, options = Script(), study.scored, study.source, study.options
    script.read(typed(source, study.scorers, ()), (scored.target, options["group"], *options["scores"]))
    script.labels(source, scored.target, scored.labels, study.rest)
    entries: list[str] = []
    for name, scorer in zip(scored.scores, study.scorers, strict=False):
        script.use("rocband", "persist")
        variable = "model" if len(study.scorers) == 1 else f"model_{len(entries) + 1}"
        script.add(f"{variable} = persist.load({quoted(scorer.path)})")
        X = features_code(script, source, scorer, variable)
        entries.append(f"{quoted(name)}: {variable}.decision_function({X})")
    entries += [f"{quoted(name)}: {column_code(source, name)}" for name in options["scores"]]
    script.add(f"scores = {script.call('', entries, brackets=('{', '}'))}")
    return script
