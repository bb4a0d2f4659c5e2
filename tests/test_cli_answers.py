"""What commands say beyond their figures, what they refuse before any work, and what they leave in files."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import ARGUMENTS, QUICK, TEST, TRAIN, fails, fit, fitted, run
from rocband import persist

pytestmark = pytest.mark.usefixtures("folder")

LABELS = ("--target", "sick", "--positive", "yes")
SCORE = ("evaluate", "test.csv", *LABELS, "--score", "old")


class TestOutputs:
    """An output that is also an input is refused before anything is read."""

    def test_the_same_file(self, tables):
        fitted()
        model = ("--model", "model.rocband")
        before = {path.name: path.read_bytes() for path in tables.iterdir()}
        os.symlink("train.csv", "link.csv")
        for output in ("train.csv", "./train.csv", tables / "train.csv", "link.csv"):
            assert "would replace the input train.csv" in fails("fit", "train.csv", *ARGUMENTS[:-1], output)
        for output in ("test.csv", "model.rocband"):
            assert f"would replace the input {output}" in fails("predict", "model.rocband", "test.csv", "-o", output)
            assert f"would replace the input {output}" in fails("report", "test.csv", *model, "-o", output)
            assert f"would replace the input {output}" in fails("evaluate", "test.csv", *model, "--plot", output)
        assert "would replace the input model.rocband" in fails("export", "model.rocband", "-o", "model.rocband")
        assert {name: Path(name).read_bytes() for name in before} == before

    def test_before_any_work(self, folder):
        """Even a file that is not there yet."""
        assert "would replace the input none.csv" in fails("fit", "none.csv", *ARGUMENTS[:-1], "./none.csv")

    def test_other_kinds_of_tables_and_pictures(self, tables):
        fitted()
        for ending in ("xlsx", "json", "csv.gz"):
            sentence = fails("predict", "model.rocband", "test.csv", "-o", f"out.{ending}")
            assert "Scores are written as CSV or Parquet" in sentence
        assert "end its name in .png, .svg or .pdf" in fails(*SCORE, "--fpr", 0, 0.1, "--plot", "x.docx")

    @pytest.mark.parametrize("name", ["fit", "predict", "report", "export", "evaluate"])
    def test_help_says_that_files_are_replaced(self, name):
        text = " ".join(run(name, "--help").stdout.split())
        assert re.search(r"an existing (file|one) is replaced", text)

    def test_model_files_do_not_say_where_data_were(self, tables):
        fit(data=str(tables / "train.csv"))
        assert str(tables).encode() not in Path("model.rocband").read_bytes()
        assert persist.describe("model.rocband")["notes"]["data"] == "train.csv"
        flattered = "was trained on train.csv"
        assert flattered in run("evaluate", "train.csv", "--model", "model.rocband").stderr
        TEST.to_csv("train.csv", index=False)
        assert flattered not in run("evaluate", "train.csv", "--model", "model.rocband").stderr


class TestEvaluate:
    def test_thresholds_keep_the_rate(self, folder):
        """The threshold that is shown does what its row says, however close the scores are."""
        draw = np.random.default_rng(0)
        y = draw.random(2000) < 0.3
        table = pd.DataFrame({"y": y.astype(int), "s": 1.523 + 1e-9 * draw.normal(y, size=2000)})
        table.to_csv("a.csv", index=False)
        shown = run("evaluate", "a.csv", "--target", "y", "--score", "s", "--fpr", 0, 0.1, "--at", 0.02, "--at", 0.1)
        rows = re.findall(r"^ (0\.\d+) +(1\.523\d*) +(0\.\d{4}) ", shown.stdout, re.MULTILINE)
        assert len(rows) == 2
        for rate, threshold, achieved in rows:
            above = (table["s"][~y] > float(threshold)).mean()
            assert above <= float(rate)
            assert f"{above:.4f}" == achieved
        assert "called positive where score > threshold" in shown.stdout

    def test_the_model_at_its_own_threshold(self, tables):
        fitted()
        arguments = ("evaluate", "test.csv", "--model", "model.rocband", "--score", "old")
        shown = run(*arguments).stdout
        run("predict", "model.rocband", "test.csv", "-o", "s.csv")
        called, sick = pd.read_csv("s.csv")["label"] == "yes", TEST["sick"] == "yes"
        false, true = int((called & ~sick).sum()), int((called & sick).sum())
        assert f"model has FPR {false / (~sick).sum():.4f} ({false} of {(~sick).sum()})" in shown
        assert f"TPR {true / sick.sum():.4f} ({true} of {sick.sum()})" in shown
        scorers = json.loads(run(*arguments, "--json").stdout)["scorers"]
        assert scorers["model"]["own_threshold"]["false_positives"] == false
        assert "own_threshold" not in scorers["old"]

    def test_groups_and_operating_points(self, tables):
        said = "operating points take rows as independent"
        assert said in run(*SCORE, "--fpr", 0, 0.1, "--group", "patient").stdout
        assert said not in run(*SCORE, "--fpr", 0, 0.1).stdout

    def test_quiet_prints_the_tables(self, tables):
        shown = run(*SCORE, "--fpr", 0, 0.1, "-q").stdout
        assert shown.startswith(" scorer")
        assert "rows:" not in shown
        assert "Python" not in shown
        arguments = ("compare", "test.csv", *LABELS, "--score", "old", "--score", "new", "--fpr", 0, 0.1, "-q")
        assert run(*arguments).stdout.startswith(" pAUC 0 to 0.1")
        assert "Print the tables only" in run("evaluate", "--help").stdout

    def test_the_smallest_pvalue(self, tables):
        scores = TEST.assign(perfect=(TEST["sick"] == "yes") + 0.0, noise=np.arange(600) % 7)
        scores.to_csv("a.csv", index=False)
        arguments = ("compare", "a.csv", *LABELS, "--score", "perfect", "--score", "noise", "--fpr", 0, 0.1)
        # An exchange of ranks counts once: 1 / 2001, 1 / 101, and three times 1 / 2001 for three pairs.
        assert "< 0.0005\n" in run(*arguments).stdout
        assert "< 0.01\n" in run(*arguments, "--draws", 100).stdout
        assert "< 0.002\n" in run(*arguments, "--score", "old").stdout
        # Of draws those on one side count twice: 2 / 2001.
        assert "< 0.001\n" in run(*arguments, "--method", "spacings").stdout
        # Without draws no p-value is too small, but below this nobody should believe one.
        assert "< 0.0001\n" in run(*arguments, "--method", "analytic").stdout


class TestOptions:
    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (("--fpr", 0.05), "--fpr takes two numbers, the ends of the band, such as --fpr 0 0.05."),
            (("--fpr", 0.05, "--seed", 1), "'--fpr': '--seed' is not a number; it takes two numbers"),
            (("--fpr", 0, 5), "'--fpr': 5.0 is not in the range 0<=x<=1; it takes two numbers"),
            (("--fpr", 0, "nan"), "'--fpr': 'nan' is not a number"),
            (("--at", 1), "'--at': 1.0 is not in the range 0<=x<1"),
            (("--at", "x"), "'--at': 'x' is not a number."),
            (("--prevalence", 0), "'--prevalence'"),
            (("--confidence", 95), "'--confidence'"),
            (("--draws", 10), "'--draws'"),
            (("--seed", -1), "'--seed'"),
        ],
    )
    def test_checked_before_anything_is_printed(self, tables, arguments, sentence):
        result = run(*SCORE, *arguments, code=2)
        assert sentence in result.stderr
        assert result.stdout == ""

    def test_of_fit(self, tables):
        few = ("fit", "train.csv", *ARGUMENTS, "--columns", "age")
        assert "'--guarantee'" in fails(*few, "--guarantee", 2)
        assert "'--target-fpr'" in fails(*few, "--target-fpr", 0)
        sentence = fails(*few, "--guarantee", 0.999999, "--target-fpr", 0.001)
        assert sentence.startswith("--guarantee 0.999999 at --target-fpr 0.001 needs at least")

    def test_help_in_the_order_of_a_session(self):
        text = run("--help").stdout
        names = re.findall(r"^  (\w+)  +\w", text.partition("Commands:")[2].partition("Examples:")[0], re.MULTILINE)
        assert names == ["demo", "fit", "predict", "evaluate", "compare", "report", "export", "completion"]
        assert "..." not in text.partition("Commands:")[2]


class TestFewRows:
    def test_folds(self, tables):
        sick = TRAIN["sick"] == "yes"
        pd.concat([TRAIN[sick].head(3), TRAIN[~sick]]).to_csv("few.csv", index=False)
        arguments = ("fit", "few.csv", *LABELS, "--columns", "age", "-o", "m")
        assert fails(*arguments) == (
            "Only 3 rows are positive in few.csv, too few for --folds 5; say fewer --folds (at least 2), or give --C "
            "instead."
        )
        assert "too few for --folds 3 beside --guarantee" in fails(*arguments, "--folds", 3, "--guarantee", 0.5)
        run(*arguments, "--folds", 3)
        run(*arguments, *QUICK)
        TRAIN.assign(team=TRAIN.index % 2).to_csv("teams.csv", index=False)
        sentence = fails("fit", "teams.csv", *LABELS, "--columns", "age", "-o", "m", "--group", "team")
        assert "The group 'team' of teams.csv has only 2 values, too few for --folds 5" in sentence

    def test_two_rows(self, folder):
        Path("two.csv").write_text("age,sick\n50,yes\n40,no\n")
        arguments = ("fit", "two.csv", *LABELS, "-o", "m")
        assert "Only 1 row is positive in two.csv, too few for --folds 2" in fails(*arguments, "--folds", 2)
        assert "too few for --guarantee" in fails(*arguments, *QUICK, "--guarantee", 0.5)
        run(*arguments, *QUICK)


class TestCollapse:
    def test_told_once_and_in_options(self, folder):
        draw = np.random.default_rng(0)
        table = pd.DataFrame({"x": draw.normal(size=400), "y": draw.integers(0, 2, 400)})
        table.to_csv("a.csv", index=False)
        shown = run("fit", "a.csv", "--target", "y", "--surrogate", "tight", "--anchor", "none", "-o", "m", "-q").stderr
        lines = shown.splitlines()
        assert sum("constant scorer" in line for line in lines) == 1
        assert "--surrogate ramp, a wider --fpr, or an anchor" in shown
        assert sum("the model gives every row the same score" in line for line in lines) == 1
        assert not re.search(r"fpr_range|surrogate=|max_iter|tol=", shown)
