"""The parts of the benchmarks that could be wrong without anybody noticing."""

from __future__ import annotations

import importlib
import re
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import competitors, hot_paths, pages, regression, standings, style
from benchmarks.band_objective import band_objective
from benchmarks.boards import quality, scale, time_to_accuracy
from benchmarks.boards import time_to_accuracy_page as times
from benchmarks.cells import Cell, fill, name_of
from benchmarks.competitors import Recipe, no_aim, whole_band
from benchmarks.pages import spread_labels
from benchmarks.regression import Called, Compared
from benchmarks.sets import Split, made, made_on_disk
from benchmarks.tangent import tight_tangent
from scipy.optimize import approx_fprime

from rocband import PartialAUCSVC, PartialAUCSVCCV
from rocband.datasets import make_band_problem
from rocband.inference import partial_auc_interval


def pair_loss(y, scores, fpr_range):
    """All pairs of positives and the negatives of ranks ja < j <= jb, one by one."""
    negatives = np.sort(scores[y == 0])[::-1]
    ja = int(np.floor(len(negatives) * fpr_range[0]))
    jb = int(np.ceil(len(negatives) * fpr_range[1]))
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
    path = tmp_path / "board.jsonl"
    calls = []

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


def test_a_board_goes_split_by_split_and_keeps_each_figure_under_a_name_of_its_own(monkeypatch):
    monkeypatch.setattr(competitors, "versions", lambda: {"numpy": "2.0"})
    grid = tuple({"C": float(C)} for C in range(16))
    recipes = {"one": Recipe(print, grid, packages=("numpy",)), "other": Recipe(print)}
    settings = {"sets": ["a", "b"], "rows": 100, "splits": 2, "bands": ((0.0, 0.1),), "budget": 8}
    cells = quality.plan(recipes, settings)
    assert [cell.text for cell in cells[:5]] == [
        "a, split 0, one",
        "a, split 0, other",
        "b, split 0, one",
        "b, split 0, other",
        "a, split 1, one",
    ]
    assert [len(cell.key["grid"]) for cell in cells[:2]] == [8, 1]
    assert [cell.key["versions"] for cell in cells[:2]] == [{"numpy": "2.0"}, {}]
    assert len({name_of(cell.key) for cell in cells}) == len(cells) == 8


def test_sets_that_are_not_there_are_left_out():
    settings = {"gap_sets": ("a", "b"), "passes": {"a": (), "b": ()}, "test_sets": ("b",), "repeats": 3}
    left = time_to_accuracy.without(settings, {"b": "it is elsewhere"})
    assert left == {"gap_sets": ["a"], "passes": {"a": ()}, "test_sets": [], "repeats": 3}


def test_versions_are_found_under_other_names_too(monkeypatch):
    monkeypatch.setattr(competitors, "distributions", lambda: {"np": ["numpy"]})
    assert competitors.version_of("numpy", "numpy") == np.__version__
    assert competitors.version_of("numpy-for-all", "np.core") == np.__version__
    assert competitors.version_of("nothing-of-this-name", "nothing") is None


def test_pages_wrap_paragraphs_and_lay_out_tables(monkeypatch):
    monkeypatch.setattr(pages, "versions", lambda: {"numpy": "2.0"})
    assert pages.paragraph("\none\ntwo\n") == ["one two", ""]
    assert max(map(len, pages.paragraph("word " * 100))) <= pages.WIDTH
    assert pages.table(["", "x"], [["a", "1"]]) == ["|  | x |", "|---|---|", "| a | 1 |", ""]
    lines = pages.closing({"dlib": "not here"}, {}, "boards.scale")
    assert lines[0] == "Skipped: dlib (not here)."
    assert not any("Failed" in line for line in lines)
    assert lines[-3:] == ["Versions: numpy 2.0.", "", "Made by `make bench ARGS=boards.scale`."]


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


def test_scale_climbs_until_a_fit_is_too_slow_and_keeps_arrays_and_maps_apart(monkeypatch, tmp_path):
    asked = []

    def alone(label, rows, columns, storage, limit):
        asked.append((rows, storage))
        return {"seconds": rows / 100, "added_megabytes": 1.0}

    monkeypatch.setattr(scale, "alone", alone)
    monkeypatch.setattr(scale, "free_megabytes", lambda: 1000.0)
    path = tmp_path / "scale.jsonl"
    sizes = ((100, 2), (1000, 2), (10_000, 2))
    found = scale.climb("rocband", sizes, "array", 20.0, path)
    assert [record.get("seconds") for record in found] == [1.0, 10.0, None]
    assert found[-1]["stopped"] == "would take 100 s"
    scale.climb("rocband", sizes[:1], "array", 20.0, path)
    scale.climb("rocband", sizes[:1], "map", 20.0, path)
    assert asked == [(100, "array"), (1000, "array"), (100, "map")]
    assert scale.most_rows(found, ["rocband", "other"]) == {"rocband": 1000, "other": 0}


def test_a_made_set_is_the_same_in_memory_and_on_disk(tmp_path):
    X, y = made(50, 20)
    mapped, labels = made_on_disk(50, 20, str(tmp_path))
    assert isinstance(mapped, np.memmap)
    np.testing.assert_array_equal(mapped, X)
    np.testing.assert_array_equal(labels, y)


class FakeWorker:
    """Takes given seconds, the first being the warm-up, and reaches given objectives."""

    cases = ("case",)

    def __init__(self, *seconds, objectives=None):
        objectives = objectives or [None] * len(seconds)
        self.left = [Called(*each, 0.01) for each in zip(seconds, objectives, strict=True)]

    def call(self, name):
        return self.left.pop(0)


def test_regression_looks_at_the_spread(capsys):
    """One slow round is noise; a case that is slow in most rounds is not."""
    found = regression.compare(FakeWorker(9.0, 1.0, 2.0, 1.0), FakeWorker(1.0, 1.0, 1.0, 5.0), 3)
    assert found == {"case": Compared([1.0, 0.5, 5.0], None)}
    noise = Compared([1.0, 1.0, 1.0, 5.0], None)
    slow = Compared([1.3, 1.2, 1.25, 1.0], None)
    assert regression.report({"noise": noise, "slow": slow}, 1.1) == (["slow"], [])
    assert "SLOWER" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("objective", "apart", "bad"),
    [(1.0, 0.0, False), (1.019, 1.9, False), (1.021, 2.1, True), (0.981, 1.9, False), (0.5, 50.0, True)],
)
def test_regression_compares_objectives(objective, apart, bad, capsys):
    """Both may be C * tol above the minimum, so twice that is allowed; one bad round is enough."""
    base = FakeWorker(1.0, 1.0, 1.0, objectives=[1.0, 1.0, 1.0])
    head = FakeWorker(1.0, 1.0, 1.0, objectives=[1.0, objective, 1.0])
    found = regression.compare(base, head, 2)
    assert found["case"].apart == pytest.approx(apart)
    assert regression.report(found, 1.1) == ([], ["case"] if bad else [])
    assert ("DIFFERS" in capsys.readouterr().out) == bad


def test_an_objective_that_is_no_number_differs():
    base = FakeWorker(1.0, 1.0, 1.0, objectives=[1.0, 1.0, 1.0])
    head = FakeWorker(1.0, 1.0, 1.0, objectives=[1.0, float("nan"), 1.0])
    assert regression.differs(regression.compare(base, head, 2)["case"])


@pytest.mark.parametrize(("compared", "code"), [(([], []), 0), ((["case"], []), 1), (([], ["case"]), 1)])
def test_regression_exits_with_an_error_where_something_is_worse(compared, code, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["regression", "HEAD"])
    monkeypatch.setattr(regression, "checked_out", lambda revision: nullcontext(Path()))
    monkeypatch.setattr(regression, "Worker", lambda folder: SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(regression, "compare", lambda *arguments: {})
    monkeypatch.setattr(regression, "report", lambda *arguments: compared)
    assert regression.main() == code


def test_hot_paths_tell_figures():
    X, y = make_band_problem(300, random_state=0)
    band = (0.0, 0.3)
    model = PartialAUCSVC(band, C=10.0, tol=1e-3).fit(X, y)
    assert hot_paths.figure_of(model) == {"figure": model.objective_, "allowed": pytest.approx(0.01)}
    assert hot_paths.figure_of(PartialAUCSVCCV(band, Cs=[1.0, 10.0], cv=2).fit(X, y)) is None
    exact = {"allowed": hot_paths.ROUNDING}
    assert hot_paths.figure_of(0.5) == {"figure": 0.5, **exact}
    interval = partial_auc_interval(y, X[:, 0], fpr_range=band)
    assert hot_paths.figure_of(interval) == {"figure": interval.estimate, **exact}
    # Every pair is one unit apart in the wrong order: the hinge of each is 2.
    plane = tight_tangent((0.0, 0.5), 4)(np.zeros(3), np.ones(4))
    assert hot_paths.figure_of(plane) == {"figure": pytest.approx(2.0), **exact}


def test_the_tangent_touches_and_lies_below():
    random = np.random.default_rng(0)
    tangent = tight_tangent((0.0, 0.5), 10)
    s = random.normal(size=4)
    z = random.normal(size=10)
    plane = tangent(s, z)

    def height(s, z):
        return plane.offset + plane.positives @ s + plane.negatives @ z[plane.index]

    assert height(s, z) == pytest.approx(plane.value)
    for _ in range(20):
        other = random.normal(size=4)
        rivals = random.normal(size=10)
        assert height(other, rivals) <= tangent(other, rivals).value + 1e-12


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


ROOT = Path(__file__).resolve().parent.parent
WRITTEN = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py"), *ROOT.glob("benchmarks/**/*.py")]


def test_every_benchmark_that_is_named_is_there():
    """A constant whose reason is a benchmark that is gone has no reason."""
    runner = importlib.import_module("benchmarks.__main__")
    named = {word for path in WRITTEN for word in re.findall(r"make bench ARGS=([\w.]+\w)", path.read_text())}
    assert "metric_speed" in named
    assert {word for word in named if not any(runner.means(word, name) for name in runner.available())} == set()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["boards.sc"], ["boards.scale"]),
        (["scale"], ["boards.scale"]),
        (["metric", "solver"], ["metric_speed", "solver"]),
        (["boards"], ["boards.quality", "boards.scale", "boards.time_to_accuracy"]),
    ],
)
def test_names_of_benchmarks_may_be_short(words, names):
    assert importlib.import_module("benchmarks.__main__").chosen(words) == names


def test_an_unknown_benchmark_is_refused():
    with pytest.raises(SystemExit, match=r"There is no benchmark named speed; there are boards\.quality, "):
        importlib.import_module("benchmarks.__main__").chosen(["speed"])


CODE = '''"""A module."""

from typing import Any, Literal  # noqa: F401

# A reason.
LIMIT = 5


def swap(a: Any) -> None:
    """Swap."""
    b, c = a, 1  # another
    c, d = divmod(b, 2)

    def inner():
        return (
            c,
            d,
        )
'''


def test_style_is_counted(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(CODE)
    counts = style.Counts()
    counts.add(path)
    assert list(counts.lengths.values()) == [7, 4]
    lines = [line.strip() for line in CODE.splitlines()]
    code = [line for line in lines if line and not line.startswith(("#", '"""'))]
    assert counts.code_lines == len(code)
    assert counts.characters == sum(map(len, code))
    assert counts.comments == 2
    assert (counts.parallel, counts.assignments) == (1, 3)
    assert (counts.anys, counts.literals) == (1, 0)
