"""The figures of a report, all of them from the library's own functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rocband.inference import (
    Comparison,
    Interval,
    compare_many,
    partial_auc_interval,
    tpr_at_fpr_interval,
)
from rocband.inference.intervals import FULL
from rocband.report.scorers import Study
from rocband.threshold import operating_points

__all__ = ["Summary", "comparisons", "operating_rates", "operating_table", "summaries"]

COLUMNS = ("FPR", "TPR", "PPV", "alerts per 1,000")


@dataclass(frozen=True, slots=True)
class Summary:
    """What one scorer achieves.

    Attributes
    ----------
    name : str
        The scorer.
    area : Interval
        The partial AUC in the band.
    rate : Interval or None
        The TPR at the band's upper end, unless that is 1.
    auc : Interval or None
        The whole AUC, unless that is the band.
    """

    name: str
    area: Interval
    rate: Interval | None
    auc: Interval | None


def summaries(study: Study) -> list[Summary]:
    """Return the figures of each scorer with intervals; the AUC's is DeLong's, which needs no draws."""
    return [_summary(study, name) for name in study.scores]


def _summary(study: Study, name: str) -> Summary:
    study.tell(f"figures of {name!r}")
    y_true, scores, top = study.y_true, study.scores[name], study.fpr_range[1]
    undrawn = study.drawing | {"method": "analytic"}
    return Summary(
        name,
        partial_auc_interval(y_true, scores, fpr_range=study.fpr_range, **study.drawing),
        tpr_at_fpr_interval(y_true, scores, fpr=top, **study.drawing) if top < 1 else None,
        partial_auc_interval(y_true, scores, **undrawn) if study.fpr_range != FULL else None,
    )


def comparisons(study: Study) -> tuple[Comparison, ...]:
    """Compare every pair of scorers, with the number of pairs accounted for."""
    if len(study.scores) < 2:
        return ()
    study.tell(f"comparison of {len(study.scores)} scorers")
    return compare_many(study.y_true, study.scores, fpr_range=study.fpr_range, **study.drawing)


def operating_rates(study: Study) -> list[float]:
    """Return the false-positive rates of the table: the ends of the band and its middle, or usual ones."""
    low, high = study.fpr_range
    rates = (0.01, 0.05, 0.1, 0.5) if study.fpr_range == FULL else (low, (low + high) / 2, high)
    return [rate for rate in rates if 0 < rate < 1]


def operating_table(study: Study, name: str, rates: Sequence[float], prevalence: float | None) -> Any:
    """Tabulate what one scorer achieves at false-positive rates."""
    return operating_points(
        study.y_true,
        study.scores[name],
        rates,
        confidence=study.confidence,
        prevalence=prevalence,
        pos_label=study.pos_label,
    )
