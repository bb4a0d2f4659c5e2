"""The experiments: cells that are kept and taken up again, the textbook's solver, tables and errors."""

from __future__ import annotations

import json
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

from rocband.datasets import make_band_problem
from rocband.metrics import partial_auc_score
from rocband.reproduce import sets, tables
from rocband.reproduce.cells import Cell, compute, read, write
from rocband.reproduce.command import main, run
from rocband.reproduce.cutting_plane import cutting_plane_steps
from rocband.reproduce.figures import FIGURES
from rocband.reproduce.methods import METHODS, Task
from rocband.reproduce.paper import figure
from rocband.reproduce.plan import EXPERIMENTS, cells_of
from rocband.reproduce.tables import TABLES
from rocband.rows import as_rows
from rocband.solvers.problem import Problem

BAND = (0.02, 0.05)


@pytest.fixture
def cell():
    return Cell("collapse", "collapse", "letter Q", "tight", (0.0, 0.3), 0, C=100.0)


def test_a_cell_is_the_same_every_time(cell):
    assert compute(cell) == compute(cell)


def test_a_kept_cell_is_read_again(cell, tmp_path):
    outcome = json.loads(json.dumps(compute(cell)))
    write(tmp_path, cell, outcome)
    assert read(tmp_path, cell) == outcome
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"cell": {}}', '{"cell": null, "result": {}}'])
def test_a_damaged_cell_is_computed_again(cell, tmp_path, content):
    path = tmp_path / cell.file
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert read(tmp_path, cell) is None


def test_every_cell_has_a_file_of_its_own():
    for quick in (True, False):
        cells = cells_of(list(EXPERIMENTS), quick)
        assert len({cell.file for cell in cells}) == len(cells)


def test_an_interrupted_run_ends_with_the_same_bytes(tmp_path, capsys):
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    run(whole, ["collapse"], quick=True)
    for number, cell in enumerate(cells_of(["collapse"], quick=True)):
        if number % 2:
            write(parted, cell, compute(cell))
    run(parted, ["collapse"], quick=True)
    assert "12 of them there" in capsys.readouterr().out
    for name in ("results.json", "collapse.md", "collapse.png"):
        assert (whole / name).read_bytes() == (parted / name).read_bytes()


@pytest.mark.parametrize("band", [(0.0, 0.3), (0.1, 0.4)])
def test_cutting_planes_reach_the_minimum(band):
    X, y = make_band_problem(400, random_state=0)
    problem = Problem(as_rows(X), y == 1, band)
    steps = [cutting_plane_steps(problem, 1.0, tol, 300) for tol in (1e-2, 1e-4)]
    assert 1 < steps[0] <= steps[1] < 300


def test_cutting_planes_say_when_they_stop_early():
    X, y = make_band_problem(400, random_state=0)
    assert cutting_plane_steps(Problem(as_rows(X), y == 1, (0.0, 0.1)), 1e4, 1e-8, 5) == 5


@pytest.mark.parametrize("method", METHODS)
def test_every_method_ranks_better_than_chance(method):
    split = sets.load("letter Q").split(0, 0.15)

    def metric(labels, scores):
        return partial_auc_score(labels, scores, fpr_range=(0.0, 0.3))

    fitted = METHODS[method](Task(split.X, split.y, None, (0.0, 0.3), metric, 0))
    assert metric(split.y_test, fitted.score(split.X_test)) > 0.3  # chance is 0.15
    assert fitted.fit_seconds >= 0


def test_fractions_draw_from_each_class():
    data = sets.load("letter Q")
    whole, part = data.split(3), data.split(3, 0.25)
    assert len(part.y) == pytest.approx(0.25 * len(whole.y), abs=1)
    assert part.y.mean() == pytest.approx(whole.y.mean(), rel=0.01)
    np.testing.assert_array_equal(part.y_test, whole.y_test)


def test_figures_of_the_paper():
    assert figure("uci", "a9a", "SVM_AUC", BAND) == 0.4338
    assert figure("kddcup06", "kddcup06", "SVM_pAUC", (0.05, 0.1)) == 0.5839
    assert figure("uci", "a9a", "logistic regression", BAND) is None


def outcomes(values):
    cells = {
        Cell("uci", "score", "a9a", method, BAND, split): score
        for method, scores in values.items()
        for split, score in enumerate(scores)
    }
    return {cell: {"result": {"score": score}, "seconds": {}} for cell, score in cells.items()}


def test_bold_is_above_the_paper_by_more_than_the_error():
    text = tables.uci(outcomes({"SVM_AUC": [0.43, 0.44], "rocband, default": [0.5, 0.52]}))
    text = text.replace("\N{NO-BREAK SPACE}", " ")
    assert "| SVM_AUC | 0.4350 ± 0.0050 (0.4338) |" in text
    assert "| rocband, default | **0.5100** ± 0.0100 |" in text


def test_missing_data_are_one_sentence(tmp_path, monkeypatch):
    monkeypatch.delenv("ROCBAND_DATA", raising=False)
    with pytest.raises(SystemExit, match=r"the sets a9a, .* are not there: set ROCBAND_DATA"):
        main(["--only", "uci", "--out", str(tmp_path)])


@pytest.mark.parametrize("arguments", [["--only", "nothing"], ["--jobs", "two"]])
def test_wrong_arguments(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "error: argument" in capsys.readouterr().err


def test_wrong_jobs_and_folder_are_one_sentence(tmp_path):
    with pytest.raises(SystemExit, match="--jobs must be at least 1, got 0"):
        main(["--quick", "--jobs", "0", "--out", str(tmp_path)])
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit, match="cannot be made a folder"):
        main(["--quick", "--out", str(tmp_path / "file")])


def test_a_killed_run_leaves_no_worker_behind(tmp_path):
    command = [sys.executable, "-m", "rocband.reproduce", "--quick", "--only", "steps", "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
        assert "cells" in run.stdout.readline()
        assert run.stdout.readline().startswith("[1/")  # a worker is at work
        run.kill()
        # The workers hold the other end of the pipe: it ends when they do.
        assert "Tables and figures" not in run.stdout.read()


# Tables and figures, of made-up outcomes


def made_up(cells):
    """Outcomes that differ from cell to cell: what a table or figure shows can be told from them."""
    random = np.random.default_rng(0)
    outcomes = {}
    for cell in cells:
        figures = {
            "score": {"score": float(random.random()), "chosen": {}},
            "steps": {"steps": int(random.integers(5, 900)), "enough": bool(random.random() < 0.9)},
            "collapse": {"collapsed": [True, False, None][random.integers(3)]},
        }
        seconds = {"tuning": float(random.random()), "fit": float(random.random())} if cell.kind == "score" else {}
        outcomes[cell] = {"cell": {}, "result": figures[cell.kind], "seconds": seconds}
    return outcomes


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_every_table_holds_every_row_and_every_figure_is_drawn(name, tmp_path):
    outcomes = made_up(EXPERIMENTS[name].full())
    text = TABLES[name](outcomes)
    for what in ("data", "method"):
        for value in {getattr(cell, what) for cell in outcomes}:
            assert value.replace("^dc", "<sup>dc</sup>") in text or value in text
    widths = {line.count("|") for line in text.splitlines() if line.startswith("|") and "---" not in line}
    assert len(widths) <= len({cell.data for cell in outcomes})
    if name in FIGURES:
        FIGURES[name](outcomes, tmp_path)
        picture = plt.imread(tmp_path / f"{name}.png")
        assert picture[..., :3].std() > 0.02


def test_what_a_table_says_of_steps_and_collapses():
    first, second = (
        Cell("steps", "steps", "d", "rocband", (0, 0.1), 0, C=1.0),
        Cell("steps", "steps", "d", "cutting planes", (0, 0.1), 0, C=1.0),
    )
    counted = {
        first: {"result": {"steps": 7, "enough": True}, "seconds": {}},
        second: {"result": {"steps": 1000, "enough": False}, "seconds": {}},
    }
    assert "| d | [0, 0.1] | 1 | 7 | > 1000 |" in TABLES["steps"](counted)
    splits = [Cell("collapse", "collapse", "d", "tight", (0, 0.1), k, C=1e4) for k in range(3)]
    found = {
        cell: {"result": {"collapsed": value}, "seconds": {}}
        for cell, value in zip(splits, (True, None, False), strict=True)
    }
    assert "| d | tight | 1 of 3, 1 open |" in TABLES["collapse"](found).replace("\N{NO-BREAK SPACE}", " ")


def test_a_collapse_of_tight_is_one_of_naive():
    outcomes = {
        kind: compute(Cell("collapse", "collapse", "letter Q", kind, (0.0, 0.01), 0, C=1e4))["result"]["collapsed"]
        for kind in ("tight", "naive")
    }
    assert outcomes == {"tight": True, "naive": True}
    assert compute(Cell("collapse", "collapse", "letter Q", "tight", (0.0, 1.0), 0, C=1e4))["result"] == {
        "collapsed": False
    }
