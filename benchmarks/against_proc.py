"""Estimates and bootstrap intervals against R's pROC (Debian's r-cran-proc) on the same scores."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from rocband.inference import compare_partial_auc, partial_auc_interval

DRAWS = 2000
SAMPLES = 6
RANGES = {
    "FPR 0 to 0.1": {"fpr_range": (0.0, 0.1)},
    "FPR 0.05 to 0.2": {"fpr_range": (0.05, 0.2)},
    "TPR 0.8 to 1": {"tpr_range": (0.8, 1.0)},
}
SCRIPT = r"""
suppressMessages(library(pROC))
options(digits = 17)
set.seed(1)
ranges <- list(c("specificity", 0.9, 1), c("specificity", 0.8, 0.95), c("sensitivity", 0.8, 1))
for (sample in seq_len(SAMPLES)) {
  data <- read.csv(file.path(FOLDER, paste0(sample, ".csv")))
  curve <- roc(data$y, data$a, levels = c(0, 1), direction = "<", quiet = TRUE)
  other <- roc(data$y, data$b, levels = c(0, 1), direction = "<", quiet = TRUE)
  for (range in ranges) {
    ends <- as.numeric(range[2:3])
    start <- proc.time()[["elapsed"]]
    ci <- suppressWarnings(ci.auc(curve, method = "bootstrap", boot.n = DRAWS, boot.stratified = TRUE,
      reuse.auc = FALSE, partial.auc = ends, partial.auc.focus = range[1], progress = "none"))
    seconds <- proc.time()[["elapsed"]] - start
    area <- auc(curve, partial.auc = ends, partial.auc.focus = range[1])
    cat(c(area, ci[1], ci[3]) / (ends[2] - ends[1]), seconds, "\n")
  }
  cat(auc(curve), ci.auc(curve, method = "delong")[c(1, 3)], roc.test(curve, other, method = "delong")$p.value, "\n")
}
"""


def run() -> dict[str, object]:
    if shutil.which("Rscript") is None:
        return {"skipped": "Rscript is not installed; on Debian: apt install r-cran-proc"}
    samples = [sample(seed) for seed in range(SAMPLES)]
    lines = from_r(samples)
    per_sample = len(RANGES) + 1
    figures: dict[str, object] = {}
    for offset, (name, options) in enumerate(RANGES.items()):
        figures[name] = compared(samples, lines[offset::per_sample], options)
    figures["DeLong's test of two AUCs"] = {
        "largest_difference_of_p_values": max(
            abs(compare_partial_auc(y, a, b, method="analytic").pvalue - line[3])
            for (y, a, b), line in zip(samples, lines[len(RANGES) :: per_sample], strict=True)
        )
    }
    return figures


def sample(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every other sample has ties."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], (150, 400))
    scores = rng.normal(size=(2, len(y))) + [[1.2], [1.0]] * y
    return y, *(np.round(scores, 1) if seed % 2 else scores)


def from_r(samples: list[tuple[np.ndarray, ...]]) -> list[list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        for number, columns in enumerate(samples, 1):
            rows = np.column_stack(columns)
            np.savetxt(Path(folder) / f"{number}.csv", rows, "%.17g", ",", header="y,a,b", comments="")
        settings = f"FOLDER <- {json.dumps(folder)}; SAMPLES <- {len(samples)}; DRAWS <- {DRAWS}\n"
        script = Path(folder) / "compare.R"
        script.write_text(settings + SCRIPT)
        output = subprocess.run(["Rscript", str(script)], check=True, capture_output=True, text=True).stdout
    return [[float(word) for word in line.split()] for line in output.splitlines()]


def compared(
    samples: list[tuple[np.ndarray, ...]], lines: list[list[float]], options: dict[str, tuple[float, float]]
) -> dict[str, float]:
    """Largest differences; those of the ends as multiples of the Monte Carlo error of a difference."""
    estimates = []
    ends = []
    errors = []
    ours = 0.0
    for (y, a, _), (estimate, low, high, _) in zip(samples, lines, strict=True):
        start = time.perf_counter()
        interval = partial_auc_interval(y, a, method="bootstrap", n_draws=DRAWS, random_state=0, **options)
        ours += time.perf_counter() - start
        estimates.append(abs(interval.estimate - estimate))
        ends += [abs(interval.low - low), abs(interval.high - high)]
        # The error of a normal sample's 2.5% point is sqrt(p (1 - p) / draws) / density; a difference has it twice.
        error = (high - low) / (2 * 1.96) * np.sqrt(2 * 0.025 * 0.975 / DRAWS) / 0.0584
        errors += [ends[-2] / error, ends[-1] / error]
    return {
        "largest_difference_of_estimates": max(estimates),
        "largest_difference_of_ends": max(ends),
        "largest_in_monte_carlo_errors": max(errors),
        "seconds": ours,
        "seconds_of_proc": sum(line[3] for line in lines),
    }
