"""The paper's experiments: numbers that are kept and taken up again, the textbook's solver, tables and errors."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from benchmarks import sets
from benchmarks.cells import fill, name_of, read
from benchmarks.paper import tables
from benchmarks.paper.command import KEPT, main, run
from benchmarks.paper.cutting_plane import cutting_plane_steps
from benchmarks.paper.figures import FIGURES
from benchmarks.paper.methods import METHODS, Task
from benchmarks.paper.plan import EXPERIMENTS, trials_of
from benchmarks.paper.published import figure
from benchmarks.paper.tables import TABLES
from benchmarks.paper.trials import Trial, compute

from rocband.datasets import make_band_problem
from rocband.metrics import partial_auc_score

BAND = (0.02, 0.05)


@pytest.fixture
def trial():
    return Trial("collapse", "collapse", "letter Q", "tight", (0.0, 0.3), 0, C=100.0)


def test_a_number_is_the_same_every_time(trial):
    assert compute(trial) == compute(trial)


@pytest.mark.parametrize("damaged", ["", "{", "[]", "null", '{"key": {}}', '{"key": null, "value": {}}'])
def test_a_damaged_line_is_computed_again(trial, tmp_path, damaged):
    path = tmp_path / KEPT
    path.write_text(damaged)
    assert name_of(trial.cell().key) not in read(path)
    values, failed = fill(path, [trial.cell()])
    assert values == [{"result": {"collapsed": False}, "seconds": {}}]
    assert failed == {}
    assert read(path)[name_of(trial.cell().key)] == values[0]


def test_every_number_is_kept_under_a_name_of_its_own():
    for quick in (True, False):
        trials = trials_of(list(EXPERIMENTS), quick)
        assert len({name_of(trial.cell().key) for trial in trials}) == len(trials)


def test_an_interrupted_run_ends_with_the_same_bytes(tmp_path, capsys, monkeypatch):
    few = trials_of(["collapse"], quick=True)[:8]
    monkeypatch.setitem(EXPERIMENTS, "collapse", replace(EXPERIMENTS["collapse"], quick=lambda: few))
    whole = tmp_path / "whole"
    parted = tmp_path / "parted"
    run(whole, ["collapse"], quick=True)
    fill(parted / KEPT, [trial.cell() for trial in few[1::2]])
    run(parted, ["collapse"], quick=True, jobs=2)
    assert f"4 of 8 are in {KEPT} already" in capsys.readouterr().out
    for name in ("results.json", "collapse.md", "collapse.png"):
        assert (whole / name).read_bytes() == (parted / name).read_bytes()


@pytest.mark.parametrize("band", [(0.0, 0.3), (0.1, 0.4)])
def test_cutting_planes_reach_the_minimum(band):
    X, y = make_band_problem(400, random_state=0)
    steps = [cutting_plane_steps(X, y == 1, band, 1.0, tol, 300) for tol in (1e-2, 1e-4)]
    assert 1 < steps[0] <= steps[1] < 300


def test_cutting_planes_say_when_they_stop_early():
    X, y = make_band_problem(400, random_state=0)
    assert cutting_plane_steps(X, y == 1, (0.0, 0.1), 1e4, 1e-8, 5) == 5


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
    whole = data.split(3)
    part = data.split(3, 0.25)
    assert len(part.y) == pytest.approx(0.25 * len(whole.y), abs=1)
    assert part.y.mean() == pytest.approx(whole.y.mean(), rel=0.01)
    np.testing.assert_array_equal(part.y_test, whole.y_test)


def test_figures_of_the_paper():
    assert figure("uci", "a9a", "SVM_AUC", BAND) == 0.4338
    assert figure("kddcup06", "kddcup06", "SVM_pAUC", (0.05, 0.1)) == 0.5839
    assert figure("uci", "a9a", "logistic regression", BAND) is None


def outcomes(values):
    trials = {
        Trial("uci", "score", "a9a", method, BAND, split): score
        for method, scores in values.items()
        for split, score in enumerate(scores)
    }
    return {trial: {"result": {"score": score}, "seconds": {}} for trial, score in trials.items()}


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
    command = [sys.executable, "-m", "benchmarks.paper", "--quick", "--only", "steps", "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
        assert "numbers to compute" in run.stdout.readline()
        assert "; 1 of" in run.stdout.readline()  # a worker is at work
        run.kill()
        # The workers hold the other end of the pipe: it ends when they do.
        assert "Tables and figures" not in run.stdout.read()


# Tables and figures, of made-up outcomes


def made_up(trials):
    """Outcomes that differ from trial to trial: what a table or figure shows can be told from them."""
    random = np.random.default_rng(0)
    outcomes = {}
    for trial in trials:
        figures = {
            "score": {"score": float(random.random()), "chosen": {}},
            "steps": {"steps": int(random.integers(5, 900)), "enough": bool(random.random() < 0.9)},
            "collapse": {"collapsed": [True, False, None][random.integers(3)]},
        }
        seconds = {"tuning": float(random.random()), "fit": float(random.random())} if trial.kind == "score" else {}
        outcomes[trial] = {"result": figures[trial.kind], "seconds": seconds}
    return outcomes


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_every_table_holds_every_row_and_every_figure_is_drawn(name, tmp_path):
    outcomes = made_up(EXPERIMENTS[name].full())
    text = TABLES[name](outcomes)
    for what in ("data", "method"):
        for value in {getattr(trial, what) for trial in outcomes}:
            assert value.replace("^dc", "<sup>dc</sup>") in text or value in text
    widths = {line.count("|") for line in text.splitlines() if line.startswith("|") and "---" not in line}
    assert len(widths) <= len({trial.data for trial in outcomes})
    if name in FIGURES:
        FIGURES[name](outcomes, tmp_path)
        picture = plt.imread(tmp_path / f"{name}.png")
        assert picture[..., :3].std() > 0.02


def test_what_a_table_says_of_steps_and_collapses():
    first = Trial("steps", "steps", "d", "rocband", (0, 0.1), 0, C=1.0)
    second = Trial("steps", "steps", "d", "cutting planes", (0, 0.1), 0, C=1.0)
    counted = {
        first: {"result": {"steps": 7, "enough": True}, "seconds": {}},
        second: {"result": {"steps": 1000, "enough": False}, "seconds": {}},
    }
    assert "| d | [0, 0.1] | 1 | 7 | > 1000 |" in TABLES["steps"](counted)
    splits = [Trial("collapse", "collapse", "d", "tight", (0, 0.1), k, C=1e4) for k in range(3)]
    found = {
        trial: {"result": {"collapsed": value}, "seconds": {}}
        for trial, value in zip(splits, (True, None, False), strict=True)
    }
    assert "| d | tight | 1 of 3, 1 open |" in TABLES["collapse"](found).replace("\N{NO-BREAK SPACE}", " ")


def test_a_collapse_of_tight_is_one_of_naive():
    outcomes = {
        kind: compute(Trial("collapse", "collapse", "letter Q", kind, (0.0, 0.01), 0, C=1e4))["result"]["collapsed"]
        for kind in ("tight", "naive")
    }
    assert outcomes == {"tight": True, "naive": True}
    assert compute(Trial("collapse", "collapse", "letter Q", "tight", (0.0, 1.0), 0, C=1e4))["result"] == {
        "collapsed": False
    }
