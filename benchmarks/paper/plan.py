"""Which trials each experiment consists of, in full and in the quick version on the embedded letters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from benchmarks.paper.methods import METHODS
from benchmarks.paper.trials import Trial

__all__ = ["EXPERIMENTS", "Experiment", "trials_of"]

Range = tuple[float, float]

# Images over negatives in the KDD Cup 2008 data: what turns its false positives per image into rates.
IMAGES = 6848 / 101671


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper, or a new one."""

    title: str
    full: Callable[[], list[Trial]]
    quick: Callable[[], list[Trial]]


def _uci(data: tuple[str, ...], splits: int) -> list[Trial]:
    keys = product(data, METHODS, range(splits))
    return [Trial("uci", "score", name, method, (0.02, 0.05), split) for name, method, split in keys]


def _spread(data: tuple[str, ...], splits: int) -> list[Trial]:
    keys = product(data, ("SVM_AUC", "logistic regression", "rocband, C chosen"), range(splits))
    return [Trial("spread", "score", name, method, (0.02, 0.05), split) for name, method, split in keys]


def _fractions(data: tuple[str, ...], fractions: tuple[float, ...], splits: int) -> list[Trial]:
    methods = [name for name in METHODS if name not in ("SVM_pAUC^dc", "logistic regression", "rocband, no anchor")]
    bands: tuple[Range, ...] = ((0.0, 0.05), (0.0, 0.1))
    keys = product(data, bands, methods, fractions, range(splits))
    return [
        Trial("fractions", "score", name, method, band, split, fraction)
        for name, band, method, fraction, split in keys
        # Feature by feature, 1,617 of them take minutes a trial.
        if name != "hiva" or method not in ("pAUCBoost", "Greedy")
    ]


def _breast(data: str, splits: int) -> list[Trial]:
    methods = [name for name in METHODS if name not in ("ASVM", "rocband, no anchor")]
    band = (0.2 * IMAGES, 0.3 * IMAGES)
    return [Trial("kddcup08", "score", data, method, band, split) for method, split in product(methods, range(splits))]


def _embolism(data: str, splits: int) -> list[Trial]:
    wanted: list[tuple[str, Range]] = [
        ("SVM_pAUC", (0.0, 0.1)),
        ("SVM_pAUC", (0.05, 0.1)),
        ("SVM_pAUC^dc", (0.05, 0.1)),
        ("SVM_AUC", (0.0, 0.1)),
        ("logistic regression", (0.0, 0.1)),
        ("rocband, default", (0.0, 0.1)),
        ("rocband, C chosen", (0.0, 0.1)),
        ("rocband, C chosen", (0.05, 0.1)),
    ]
    keys = product(wanted, range(splits))
    return [Trial("kddcup06", "score", data, method, band, split, tpr_at=0.1) for (method, band), split in keys]


def _steps(data: tuple[str, ...], bands: tuple[Range, ...], Cs: tuple[float, ...], splits: int) -> list[Trial]:
    keys = product(data, bands, Cs, ("rocband", "cutting planes"), range(splits))
    return [Trial("steps", "steps", name, solver, band, split, C=C) for name, band, C, solver, split in keys]


def _collapse(data: tuple[str, ...], bands: tuple[Range, ...], splits: int) -> list[Trial]:
    keys = product(data, bands, ("tight", "naive"), range(splits))
    return [Trial("collapse", "collapse", name, kind, band, split, C=1e4) for name, band, kind, split in keys]


UCI = ("letter Q", "ijcnn1", "cod-rna", "a9a", "covtype 5")
FROM_ZERO: tuple[Range, ...] = tuple((0.0, beta) for beta in (0.02, 0.05, 0.1, 0.3, 1.0))
INTERVALS: tuple[Range, ...] = tuple(
    (alpha, alpha + length) for alpha in (0.1, 0.3, 0.5) for length in (0.05, 0.1, 0.2, 0.4)
)
BANDS: tuple[Range, ...] = ((0.0, 0.01), (0.0, 0.05), (0.0, 0.1), (0.02, 0.05), (0.05, 0.1), (0.0, 0.3), (0.0, 1.0))
COLLAPSING = (*UCI, "mammography", "protein", "spambase", "kddcup06")

EXPERIMENTS: dict[str, Experiment] = {
    "uci": Experiment(
        "Partial AUC in [0.02, 0.05] on the UCI sets", lambda: _uci(UCI, 5), lambda: _uci(("letter Q",), 2)
    ),
    "spread": Experiment(
        "How far the mean of five splits lies from that of others",
        lambda: _spread(("a9a", "cod-rna"), 20),
        lambda: _spread(("letter Q",), 3),
    ),
    "fractions": Experiment(
        "Partial AUC against the fraction of the training data",
        lambda: _fractions(("protein", "hiva"), (0.1, 0.25, 0.5, 1.0), 3),
        lambda: _fractions(("letter Q",), (0.1, 0.3), 1),
    ),
    "kddcup08": Experiment(
        "Partial AUC in the band of the KDD Cup 2008", lambda: _breast("protein", 5), lambda: _breast("letter G", 1)
    ),
    "kddcup06": Experiment(
        "TPR at FPR 0.1, KDD Cup 2006", lambda: _embolism("kddcup06", 10), lambda: _embolism("letter G", 1)
    ),
    "steps": Experiment(
        "Steps of the solvers against the band and C",
        lambda: _steps(("ijcnn1", "protein"), (*FROM_ZERO, *INTERVALS), (1.0, 100.0), 3),
        lambda: _steps(("letter Q",), (*FROM_ZERO[1:4], *INTERVALS[1:4]), (1.0, 100.0), 1),
    ),
    "collapse": Experiment(
        "How often each convex surrogate collapses",
        lambda: _collapse(COLLAPSING, BANDS, 3),
        lambda: _collapse(("letter G", "letter Q"), BANDS[1:4], 2),
    ),
}


def trials_of(names: list[str], quick: bool) -> list[Trial]:
    """All trials of some experiments, in their order."""
    return [trial for name in names for trial in (EXPERIMENTS[name].quick() if quick else EXPERIMENTS[name].full())]
