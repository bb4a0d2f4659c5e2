"""The parts of the benchmarks that could be wrong without anybody noticing."""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import competitors, regression, standings
from benchmarks.band_objective import band_objective
from benchmarks.boards import quality, scale
from benchmarks.boards import time_to_accuracy_page as times
from benchmarks.cells import Cell, fill
from benchmarks.competitors import Recipe, no_aim, whole_band
from benchmarks.pages import spread_labels
from scipy.optimize import approx_fprime

from rocband.reproduce.sets import Split


def pair_loss(y, scores, fpr_range):
    """All pairs of positives and the negatives of ranks ja < j <= jb, one by one."""
    negatives = np.sort(scores[y == 0])[::-1]
    ja, jb = int(np.floor(len(negatives) * fpr_range[0])), int(np.ceil(len(negatives) * fpr_range[1]))
    return sum(np.mean([np.log1p(np.exp(z - s)) for z in negatives[ja:jb]]) for s in scores[y == 1])


@pytest.mark.parametrize("fpr_range", [(0.0, 0.25), (0.1, 0.5), (0.0, 1.0)])
def test_band_objective(fpr_range):
    random = np.random.default_rng(0)
    y = np.repeat([1, 0], (6, 20))
    scores = random.normal(size=26)
    objective = band_objective(fpr_range)
    first, second = objective(y, scores)
    assert first == pytest.approx(approx_fprime(scores, lambda s: pair_loss(y, s, fpr_range)), abs=1e-6)
    step = 1e-5
    for k in range(26):
        moved = scores + step * np.eye(26)[k]
        assert second[k] == pytest.approx((objective(y, moved)[0][k] - first[k]) / step, abs=1e-4)


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ([0.5, 0.6, 0.7], [0.4, 0.5, 0.61], "win"),
        ([0.4, 0.5, 0.61], [0.5, 0.6, 0.7], "loss"),
        ([0.5, 0.6, 0.7], [0.7, 0.6, 0.5], "tie"),
        ([0.5, 0.6], [0.5, 0.6], "tie"),
        ([0.9], [0.1], "tie"),  # nothing is known of the spread
    ],
)
def test_verdict(ours, theirs, expected):
    assert standings.verdict(ours, theirs) == expected


def test_standings():
    scores = {
        "first": {"ours": [0.9, 0.8], "other": [0.5, 0.4], "third": [0.1, 0.1]},
        "second": {"ours": [0.2, 0.3], "other": [0.6, 0.7], "third": [0.1, 0.1]},
        "third failed here": {"ours": [0.9, 0.8], "other": [0.5, 0.4]},
    }
    assert standings.win_tie_loss(scores, "ours", "other") == (2, 0, 1)
    assert standings.win_tie_loss(scores, "ours", "third") == (2, 0, 0)
    assert standings.mean_ranks(scores) == {"ours": 1.5, "other": 1.5, "third": 3.0}


def test_an_interrupted_board_goes_on(tmp_path, capsys):
    path, calls = tmp_path / "board.jsonl", []

    def cell(number, fails=False):
        def measure():
            calls.append(number)
            if fails:
                raise ValueError("not today")
            return {"value": number}

        return Cell(f"cell {number}", {"number": number, "band": (0.0, 0.05)}, measure)

    values, failed = fill(path, [cell(0), cell(1, fails=True)])
    assert values == [{"value": 0}, None]
    assert failed == {"cell 1": "ValueError: not today"}
    with path.open("a") as file:
        file.write('{"key": {"number": 2, "ba')
    assert fill(path, [cell(0), cell(1), cell(2)]) == ([{"value": 0}, {"value": 1}, {"value": 2}], {})
    assert fill(path, [cell(0), cell(1), cell(2)])[0] == [{"value": 0}, {"value": 1}, {"value": 2}]
    assert calls == [0, 1, 1, 2]
    assert "1 of 3 are in board.jsonl already" in capsys.readouterr().out


def test_a_competitor_that_is_not_there_is_skipped_with_its_reason(monkeypatch):
    monkeypatch.setitem(sys.modules, "dlib", None)
    monkeypatch.setattr(competitors, "names", lambda: ["dlib", "ours"])
    recipes, skipped = competitors.available()
    assert "dlib" in skipped["dlib"]
    assert "cannot be imported" in skipped["dlib"]
    assert "rocband" in recipes
    assert not any("dlib" in label for label in recipes)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["ours", "scikit_learn"])
def test_recipes_run(name):
    """Every linear recipe fits with its default and with the first configuration of its grid."""
    random = np.random.default_rng(0)
    y = random.random(120) < 0.3
    X = random.normal(size=(120, 4)) + y[:, None]
    for recipe in competitors.load(name).recipes().values():
        for configuration in (recipe.default, recipe.grid[0]) if recipe.kind == "linear" else ():
            assert recipe.fit(X, y, (0.0, 0.5), **configuration)(X[:7]).shape == (7,)


@pytest.mark.parametrize(("aim", "fits"), [(no_aim, 2 + 1), (whole_band, 2 * (2 + 1))])
def test_equal_budget(aim, fits):
    """The configuration that is better on the held-out rows is fitted to all rows; bands share fits if they can."""
    random = np.random.default_rng(0)
    y = random.random(400) < 0.3
    X = y[:, None] + 0.1 * random.normal(size=(400, 1))
    seen = []

    def fit(X, y, band, sign):
        seen.append((len(y), sign))
        return lambda rows: sign * rows[:, 0]

    split = Split(X, y, None, X[:200], y[:200])
    grid = ({"sign": -1}, {"sign": 1})
    figures = quality.measure(Recipe(fit, grid, aim=aim), grid, split, ((0.0, 0.1), (0.0, 0.2)))
    assert [figure["chosen"] for figure in figures] == [{"sign": 1}] * 2
    assert [figure["test"] for figure in figures] == pytest.approx([1.0, 1.0])
    assert len(seen) == fits
    assert [sign for rows, sign in seen if rows == 400] == [1] * (fits // 3)


def test_race():
    """The configuration that arrives first counts, and repeats with other seeds do not move the target."""
    base = {"part": "test", "set": "made"}
    ours = {"seconds": [1.0, 2.0], "fastest": [0.9, 1.8], "slowest": [1.1, 2.2], "pauc": [0.5, 1.0]}
    records = [
        base | {"model": "rocband", "configuration": {"C": 1.0}, "figures": ours},
        base | {"model": "other", "configuration": {"lr": 1}, "seed": 0, "figures": {"seconds": [9.0], "pauc": [0.99]}},
        base
        | {"model": "other", "configuration": {"lr": 2}, "seed": 0, "figures": {"seconds": [5.0], "pauc": [0.995]}},
        base | {"model": "other", "configuration": {"lr": 2}, "seed": 1, "figures": {"seconds": [7.0], "pauc": [0.9]}},
        base | {"model": "never", "configuration": {}, "seed": 0, "figures": {"seconds": [1.0], "pauc": [0.3]}},
    ]
    found = times.race(records, "made")
    assert found["rocband"]["seconds"] == [1.8, 2.0, 2.2]
    assert found["other"]["configuration"] == {"lr": 2}
    assert found["other"]["seconds"] == [5.0, float("inf")]
    assert times.seconds_text(found["never"]["seconds"]) == "not"


def test_scale_stops_in_time(monkeypatch):
    monkeypatch.setattr(scale, "free_megabytes", lambda: 1000.0)
    last = {"seconds": 2.0, "added_megabytes": 40.0}
    assert scale.reason_to_stop(None, 1.0, 100.0, 30.0) is None
    assert scale.reason_to_stop(last, 10.0, 100.0, 30.0) is None
    assert scale.reason_to_stop(last, 20.0, 100.0, 30.0) == "would need 0.9 GB"
    assert scale.reason_to_stop(last, 12.0, 100.0, 20.0) == "would take 24 s"


class FakeWorker:
    """Takes given seconds, the first being the warm-up."""

    cases = ("case",)

    def __init__(self, *seconds):
        self.left = list(seconds)

    def seconds(self, name):
        return self.left.pop(0)


def test_regression_looks_at_the_spread(capsys):
    """One slow round is noise; a case that is slow in most rounds is not."""
    found = regression.ratios(FakeWorker(9.0, 1.0, 2.0, 1.0), FakeWorker(1.0, 1.0, 1.0, 5.0), 3)
    assert found == {"case": [1.0, 0.5, 5.0]}
    assert regression.report({"noise": [1.0, 1.0, 1.0, 5.0], "slow": [1.3, 1.2, 1.25, 1.0]}, 1.1) == ["slow"]
    assert "SLOWER" in capsys.readouterr().out


def test_labels_do_not_overlap():
    moved = np.array(spread_labels([0.0, 0.01, 0.02, 1.0], 0.1))
    assert np.all(np.diff(moved) >= 0.099)


def test_only_what_has_a_quick_form_runs_quickly(monkeypatch, tmp_path):
    runner = importlib.import_module("benchmarks.__main__")
    ran = []
    modules = {
        "benchmarks.slow": SimpleNamespace(__doc__="Slow.", run=lambda: ran.append("slow")),
        "benchmarks.fast": SimpleNamespace(__doc__="Fast.", run=lambda quick=False: ran.append(quick) or {"x": 1.0}),
    }
    monkeypatch.setattr(runner, "available", lambda: ["slow", "fast"])
    monkeypatch.setattr(runner, "HERE", tmp_path)
    monkeypatch.setattr(runner.importlib, "import_module", modules.__getitem__)
    monkeypatch.setattr(runner, "machine", dict)
    runner.main(["--quick"])
    assert ran == [True]
    assert [path.name for path in tmp_path.rglob("*.json")] == ["fast.json"]
