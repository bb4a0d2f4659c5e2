"""The page of a report: figures and charts put into the template, and the template into a file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import rocband
from rocband._files import check_target, write_whole
from rocband.inference import Interval
from rocband.inference.comparison import draws_of_each
from rocband.inference.intervals import FULL, Method
from rocband.inference.resampling import RandomState
from rocband.report.drawing import COLUMNS, QUANTILES, chart_data, quantile_table
from rocband.study import Study
from rocband.threshold.decimals import threshold_text

if TYPE_CHECKING:
    import os

    import jinja2

__all__ = ["write"]

CHART_VERSION = "4.6.1"
_METHODS = {
    "spacings": "uniform spacings: {draws:,} draws of the gaps between the true rates at the sorted scores",
    "bootstrap": "stratified percentile bootstrap with {draws:,} draws",
    "analytic": "influence functions on the logit scale, without draws",
}
_COMPARED = {
    "permutation": "exchange of the scorers' ranks, {draws:,} times",
    "analytic": "influence functions with Student's t",
    "spacings": "uniform spacings, {draws:,} draws that all scorers share",
    "bootstrap": "stratified bootstrap, {draws:,} draws that all scorers share",
}
_MAX_T = "intervals and p-values account for all pairs by max-T"
_HOLM = "p-values account for all pairs by Holm's method, intervals by Bonferroni's"
_ADJUSTED = {"permutation": _HOLM, "analytic": _HOLM, "spacings": _MAX_T, "bootstrap": _MAX_T}


def write(
    path: str | os.PathLike[str],
    y_true: npt.ArrayLike,
    scores: Any,
    *,
    fpr_range: tuple[float, float],
    title: str = "Partial ROC report",
    confidence: float = 0.95,
    method: Method = "auto",
    n_draws: int = 2000,
    groups: npt.ArrayLike | None = None,
    prevalence: float | None = None,
    random_state: RandomState = None,
    pos_label: object = None,
    verbose: int = 0,
) -> Path:
    """Write one HTML page about what scorers achieve in a band of false-positive rates.

    The page holds a summary with intervals, the ROC curves with the band, a comparison of several scorers, an explorer
    of operating points, the distributions of the scores, and how it was made. It is a single file that needs no
    network, follows the reader's light or dark scheme, and prints.

    Parameters
    ----------
    path : str or path
        The file to write. An existing one is replaced at once, or left as it was when something goes wrong.
    y_true : array-like of shape (n_samples,)
        Labels of two classes, at least 2 of each. Use samples that the models were not trained on.
    scores : mapping of str to array-like, data frame, or array-like of shape (n_samples,)
        The scores of each model by its name, larger for what looks more positive. Of a data frame, each column is a
        model.
    fpr_range : (float, float)
        The band, with 0 <= low < high <= 1.
    title : str, default "Partial ROC report"
        The heading of the page.
    confidence : float, default 0.95
        Nominal coverage of every interval, strictly between 0 and 1.
    method, n_draws, groups, random_state, pos_label
        How the intervals of the areas are made, see :func:`rocband.inference.partial_auc_interval`. Several scorers
        are compared by :func:`rocband.inference.compare_many`, with the same method. The intervals of operating points
        are those of :func:`rocband.threshold.operating_points`, which take samples as independent even if ``groups``
        are given.
    prevalence : float, optional
        The share of positives where the models will be used, on which the share of alerts that are right depends. By
        default that of the sample. Readers of the page can try others.
    verbose : int, default 0
        Whether to tell the progress on the standard error stream.

    Returns
    -------
    pathlib.Path
        Where the page is.

    Notes
    -----
    Curves are thinned to what a screen can show and the slider has some 200 stops, so the page of a million scores is
    as light as that of some thousands: about 0.2 MB for Chart.js and 0.1 MB for each scorer.

    Needs the extra ``report``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rocband import report
    >>> from rocband.datasets import make_band_problem
    >>> X, y = make_band_problem(1000, random_state=0)
    >>> scores = {"second": X[:, 1], "both": X[:, 0] + X[:, 1]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = report.write(Path(folder) / "report.html", y, scores, fpr_range=(0.0, 0.05), random_state=0)
    ...     page.name, page.read_text(encoding="utf-8")[:15]
    ('report.html', '<!doctype html>')
    """
    environment = _environment()
    target = Path(path)
    check_target(target, "the report")
    study = Study.of(
        y_true,
        scores,
        fpr_range=fpr_range,
        confidence=confidence,
        method=method,
        n_draws=n_draws,
        groups=groups,
        random_state=random_state,
        pos_label=pos_label,
        prevalence=prevalence,
        verbose=verbose,
    )
    page = environment.get_template("page.html").render(_contents(study, str(title), target.name))
    write_whole(target, page.encode("utf-8", errors="replace"), "the report")
    return target


def _environment() -> jinja2.Environment:
    try:
        import jinja2  # noqa: PLC0415
        import pandas  # noqa: F401, PLC0415
    except ImportError as error:
        raise ImportError(
            f"rocband.report needs {error.name}; install it with: pip install 'rocband[report]'"
        ) from None
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"interval": _interval, "cell": _cell, "number": _number, "percent": _percent, "rate": _rate}
    environment.globals |= {"asset": _verbatim, "digest": _digest}
    return environment


def _asset(name: str) -> str:
    text = (resources.files("rocband.report") / "assets" / name).read_text(encoding="utf-8")
    # A browser's developer tools would ask for the source map, which is not there.
    return "\n".join(line for line in text.splitlines() if not line.startswith("//# sourceMappingURL"))


def _verbatim(name: str) -> Any:
    from markupsafe import Markup  # noqa: PLC0415

    return Markup(_asset(name))


def _digest(name: str) -> str:
    """Return what the page's security policy calls a script or style sheet by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(_asset(name).encode()).digest()).decode()


def _contents(study: Study, title: str, file_name: str) -> dict[str, Any]:
    """Return what the template asks for."""
    return {
        "title": title,
        "file_name": file_name,
        "study": study,
        "positives": study.n_positives,
        "negatives": study.n_negatives,
        "n_groups": study.n_groups,
        "sample_prevalence": study.sample_prevalence,
        "summaries": [_summary(study, name) for name in study.scores],
        "comparisons": study.comparisons,
        "columns": COLUMNS,
        "operating": {name: _operating_rows(study, name) for name in study.scores},
        "quantiles": QUANTILES,
        "quantile_rows": quantile_table(study),
        "data": chart_data(study),
        "method": _METHODS[study.method_of_intervals].format(draws=study.n_draws),
        "compared": _comparison_method(study),
        "call": _call(study, title, file_name),
        "version": rocband.__version__,
        "chart_version": CHART_VERSION,
        "date": datetime.now(UTC),
    }


def _summary(study: Study, name: str) -> dict[str, Any]:
    """Return the figures of a scorer, without those that say nothing: the TPR at 1, and the AUC again."""
    return {
        "name": name,
        "area": study.pauc(name),
        "rate": study.tpr(name) if study.fpr_range[1] < 1 else None,
        "auc": study.auc(name) if study.fpr_range != FULL else None,
    }


def _operating_rows(study: Study, name: str) -> list[dict[str, Any]]:
    """Return the operating points of a scorer; the threshold's text parts the scores as its exact value does."""
    table = study.operating_points(name).reset_index()
    texts = [threshold_text(threshold, study.scores[name]) for threshold in table["threshold"]]
    rows: list[dict[str, Any]] = table.assign(**{"threshold text": texts}).to_dict("records")
    return rows


def _comparison_method(study: Study) -> str:
    """Say how scorers are compared, and how the number of pairs is accounted for."""
    if not study.comparisons:
        return ""
    method = study.comparisons[0].method
    n_pairs = len(study.comparisons)
    n_draws = study.n_draws
    if method == "permutation":
        n_draws = draws_of_each(n_draws, n_pairs, study.confidence)
    how = _COMPARED[method].format(draws=n_draws)
    one_pair = n_pairs == 1
    return f"by {how}; " + ("one pair, which needs no adjustment" if one_pair else _ADJUSTED[method])


def _call(study: Study, title: str, file_name: str) -> str:
    """Return the call that makes the page, with dots for data, and with the seed that was used."""
    named = ", ".join(f"{name!r}: ..." for name in study.scores)
    arguments = {
        "fpr_range": repr(study.fpr_range),
        "title": repr(title),
        "confidence": repr(study.confidence),
        "method": repr(study.method),
        "n_draws": repr(study.n_draws),
        "groups": "None" if study.groups is None else "...",
        "prevalence": repr(study.prevalence),
        "random_state": repr(study.random_state),
        "pos_label": repr(study.pos_label),
    }
    lines = [f"{file_name!r},", "y_true,", f"scores={{{named}}},", *(f"{k}={v}," for k, v in arguments.items())]
    return "\n".join(["rocband.report.write(", *(f"    {line}" for line in lines), ")"])


def _interval(value: Interval, digits: int = 3) -> str:
    return f"{value.low:.{digits}f} to {value.high:.{digits}f}"


def _cell(row: Mapping[str, float], label: str) -> tuple[str, str]:
    """Return a figure of an operating point and its interval as text."""
    values = [row[name] for name in (label, f"{label} low", f"{label} high")]
    if label == "alerts per 1,000":
        value, low, high = (f"{number:.1f}" for number in values)
    else:
        value, low, high = (_percent(number) for number in values)
    return value, f"{low} to {high}"


def _percent(value: float) -> str:
    """Return a figure with three digits."""
    if np.isnan(value):
        return "no alerts"
    return f"{100 * value:#.3g}".rstrip(".") + "%" if value else "0%"


def _rate(value: float) -> str:
    """Return a rate that was asked for, with no more digits than it has."""
    return f"{100 * value:.6g}%"


def _number(value: float, digits: int = 4) -> str:
    return f"{value + 0.0:.{digits}g}"  # -0.0 is 0
