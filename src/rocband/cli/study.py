"""Scorers on the rows of a table: their figures, operating points, comparisons and picture."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import click

from rocband._files import write_whole
from rocband.cli.options import source_of
from rocband.cli.scoring import Scorer, score_rows, takes_rest

__all__ = ["Study"]


class Study:
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
    def rest(self) -> bool:
        """Whether all other labels are negatives."""
        return takes_rest(self.scorers, self.options)

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

    def own_points(self) -> dict[str, dict[str, int]]:
        """Count the rows that each model calls positive, as ``predict`` does, among negatives and positives."""
        y, found = self.scored.y, {}
        for name, _ in zip(self.scored.scores, self.scorers, strict=False):
            called = self.scored.scores[name] > 0
            found[name] = {
                "false_positives": int((called & (y == 0)).sum()),
                "negatives": int((y == 0).sum()),
                "true_positives": int((called & (y == 1)).sum()),
                "positives": int((y == 1).sum()),
            }
        return found

    def smallest_pvalue(self) -> float:
        """Return the smallest p-value that the draws can show."""
        if self.options["method"] == "analytic":
            return 0.0
        return (2 if len(self.scored.scores) == 2 else 1) / (int(self.options["draws"]) + 1)

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
