"""Plans: what was decided is run and printed, from the same values, in public Python; one pair has one p-value."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest

from command_line import FEW_DRAWS, QUICK, TEST, TRAIN, execute, fails, fit, fitted, python_of, run
from rocband import persist
from rocband._errors import ParameterError
from rocband.cli.failures import as_failure, with_options, without_escapes
from rocband.study import Study

pytestmark = pytest.mark.usefixtures("tables")

LABELS = ("--target", "sick", "--positive", "yes")
TO_MODEL = (*LABELS, *QUICK, "-o", "m")
SCORES = ("--score", "old", "--score", "new", "--fpr", 0, 0.1)


def calls_of(code, name):
    """Return the arguments of each call of a function in Python."""
    nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    calls = [node for node in nodes if ast.unparse(node.func) == name]
    return [{given.arg: ast.unparse(given.value) for given in call.keywords} for call in calls]


class TestPrinted:
    @pytest.mark.parametrize("prevalence", [0.95, 0.02])
    def test_no_setting_is_dropped_for_being_the_default_of_another(self, prevalence):
        arguments = (*LABELS, *SCORES, *FEW_DRAWS, "--prevalence", prevalence)
        code = python_of(run("evaluate", "test.csv", *arguments))
        (given,) = calls_of(code, "Study.of")
        assert given["prevalence"] == str(prevalence)
        points = execute(code)["study"].operating_points("old")
        document = json.loads(run("evaluate", "test.csv", *arguments, "--json").stdout)
        shown = [point["PPV"] for point in document["scorers"]["old"]["operating_points"]]
        assert shown == points["PPV"].tolist()

    def test_nor_of_a_report(self):
        settings = (*FEW_DRAWS, "--prevalence", 0.95, "--title", "A title")
        code = python_of(run("report", "test.csv", *LABELS, *SCORES, *settings, "-o", "page.html"))
        (given,) = calls_of(code, "report.write")
        assert given["prevalence"] == "0.95"
        assert given["title"] == "'A title'"
        assert given["n_draws"] == "200"

    def test_all_settings_of_a_study(self):
        settings = ("--confidence", 0.9, "--method", "bootstrap", "--draws", 150, "--seed", 7, "--at", 0.2)
        code = python_of(run("evaluate", "test.csv", *LABELS, *SCORES, *settings, "--group", "patient"))
        (given,) = calls_of(code, "Study.of")
        assert given == {
            "fpr_range": "(0.0, 0.1)",
            "confidence": "0.9",
            "method": "'bootstrap'",
            "n_draws": "150",
            "random_state": "7",
            "rates": "(0.2,)",
            "groups": "table['patient']",
        }

    def test_the_picture_is_in_it(self):
        code = python_of(run("evaluate", "test.csv", *LABELS, *SCORES, *FEW_DRAWS, "--plot", "roc.png"))
        before = Path("roc.png").read_bytes()
        Path("roc.png").unlink()
        execute(code)
        assert Path("roc.png").read_bytes() == before

    def test_every_import_is_public(self):
        fitted()
        TRAIN.assign(site=TRAIN["site"] + " ", day="2024-01-31").to_csv("padded.csv", index=False)
        printed = [
            python_of(run("fit", "padded.csv", *LABELS, "--drop", "id", *QUICK, "-o", "m")),
            python_of(run("predict", "m", "padded.csv", "-o", "s.csv", "--keep", "id,site")),
            python_of(run("evaluate", "padded.csv", "--model", "m", *FEW_DRAWS, "--plot", "roc.png")),
            python_of(run("compare", "padded.csv", "--model", "m", "--score", "old", *FEW_DRAWS)),
            python_of(run("report", "test.csv", "--model", "model.rocband", *FEW_DRAWS, "-o", "page.html")),
        ]
        for code in printed:
            for node in ast.walk(ast.parse(code)):
                if isinstance(node, ast.ImportFrom):
                    assert not node.module.startswith("rocband.cli")
                    assert not re.search(r"(^|\.)_", node.module)
                    assert not any(name.name.startswith("_") for name in node.names)


class TestOneAnswer:
    def test_evaluate_compare_report_and_study_agree(self):
        arguments = (*LABELS, *SCORES, *FEW_DRAWS, "--seed", 3, "--group", "patient")
        evaluated = json.loads(run("evaluate", "test.csv", *arguments, "--json").stdout)["scorers"]
        (compared,) = json.loads(run("compare", "test.csv", *arguments, "--json").stdout)["comparisons"]
        run("report", "test.csv", *arguments, "-o", "page.html")
        page = Path("page.html").read_text()
        study = Study.of(
            (TEST["sick"] == "yes").astype(int),
            {name: TEST[name] for name in ("old", "new")},
            fpr_range=(0.0, 0.1),
            n_draws=200,
            random_state=3,
            groups=TEST["patient"],
        )
        for name in study.scores:
            for figure in ("pauc", "tpr", "auc"):
                one = getattr(study, figure)(name)
                assert evaluated[name][figure] == {"estimate": one.estimate, "low": one.low, "high": one.high}
                assert f"{one.low:.3f} to {one.high:.3f}" in page
        (pair,) = study.comparisons
        assert (compared["low"], compared["high"], compared["pvalue"]) == (pair.low, pair.high, pair.pvalue)


class TestNames:
    @pytest.mark.parametrize(
        ("command", "error", "sentence"),
        [
            (
                "fit",
                ("confidence", "0.9 at target_fpr=0.01 needs more."),
                "--guarantee 0.9 at --target-fpr 0.01 needs more.",
            ),
            ("evaluate", ("confidence", "must be below 1."), "--confidence must be below 1."),
            ("compare", ("n_draws", "must be at least 100."), "--draws must be at least 100."),
            ("report", ("unheard_of", "must be something."), "unheard_of must be something."),
        ],
    )
    def test_an_error_names_the_option_of_its_parameter(self, command, error, sentence):
        assert as_failure(ParameterError(*error), command).message == sentence

    def test_errors_of_click_are_shown_without_escapes(self):
        assert without_escapes(click.UsageError("no \x1b[31m option")).message == "no \\x1b[31m option"

    def test_english_is_left_alone(self):
        options = {"C": "--C", "anchor": "--anchor", "fpr_range": "--fpr", "surrogate": "--surrogate"}
        text = "use surrogate='ramp' or C=3, a wider fpr_range, or an anchor; column 'C' has vitamin C"
        said = "use --surrogate ramp or --C 3, a wider --fpr, or an anchor; column 'C' has vitamin C"
        assert with_options(text, options) == said


class TestDates:
    TABLE = TRAIN[["age", "sick"]].assign(
        visit=(pd.Timestamp("2023-11-20") + pd.to_timedelta(np.arange(600) % 400, "D")).strftime("%Y-%m-%d"),
        seen=pd.Timestamp("2024-02-29 12:00"),
    )

    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    def test_become_numbers(self, kind):
        table = self.TABLE.assign(visit=self.TABLE["visit"].where(np.arange(600) % 9 > 0))
        getattr(table, f"to_{kind}")(f"a.{kind}", index=False)
        result = run("fit", f"a.{kind}", *TO_MODEL)
        assert "2 dates: visit, seen" in result.stdout
        assert "dates become year, month, weekday and days since 1970" in result.stdout
        parts = [f"{name} {part}" for name in ("visit", "seen") for part in ("year", "month", "weekday", "days")]
        assert persist.describe("m")["feature_names"] == ["age", *parts]
        first = persist.load("m")
        expected = first[0].named_transformers_["numbers"][0].statistics_
        days = (pd.to_datetime(table["visit"]) - pd.Timestamp(0)).dt.days
        assert expected[1:5].tolist() == [
            pd.to_datetime(table["visit"]).dt.year.median(),
            pd.to_datetime(table["visit"]).dt.month.median(),
            pd.to_datetime(table["visit"]).dt.day_of_week.median(),
            days.median(),
        ]
        assert expected[5:].tolist() == [2024, 2, 3, 19_782.5]
        execute(python_of(result))
        np.testing.assert_array_equal(first[-1].coef_, persist.load("m")[-1].coef_)

    def test_in_later_commands(self):
        self.TABLE.to_csv("a.csv", index=False)
        run("fit", "a.csv", *TO_MODEL)
        result = run("predict", "m", "a.csv", "-o", "s.csv", "--keep", "visit", "--chunk-rows", 250)
        scores = pd.read_csv("s.csv")
        assert scores["visit"].tolist() == self.TABLE["visit"].tolist()
        execute(python_of(result))
        pd.testing.assert_frame_equal(pd.read_csv("s.csv"), scores, rtol=1e-12)
        execute(python_of(run("evaluate", "a.csv", "--model", "m", *FEW_DRAWS)))
        self.TABLE.assign(visit="yesterday").to_csv("b.csv", index=False)
        assert "Column 'visit' of b.csv holds 'yesterday' in data row 1, which is not a date" in fails(
            "predict", "m", "b.csv", "-o", "x.csv"
        )

    def test_can_be_something_else(self):
        self.TABLE.to_csv("a.csv", index=False)
        run("fit", "a.csv", *LABELS, *QUICK, "--drop", "visit,seen", "-o", "m")
        assert persist.describe("m")["feature_names"] == ["age"]
        assert (
            "1 categories: seen"
            in run("fit", "a.csv", *LABELS, *QUICK, "--drop", "visit", "--categories", "seen", "-o", "m").stdout
        )
        self.TABLE.assign(visit="03/04/2024").to_csv("b.csv", index=False)
        assert "1 categories: visit" in run("fit", "b.csv", *LABELS, *QUICK, "--drop", "seen", "-o", "m").stdout

    def test_names_that_are_taken(self):
        self.TABLE.assign(**{"visit year": 1.5}).to_csv("a.csv", index=False)
        assert "a.csv has a column 'visit year', a name that a part of a date takes" in fails("fit", "a.csv", *TO_MODEL)


class TestRemarks:
    def test_all_problem_columns_at_once(self):
        table = TRAIN[["id", "age", "sick"]].assign(nothing="", note=[f"note {k}" for k in range(600)])
        table["dose"] = np.where(np.arange(600) == 6, "much", "1.5")
        table.to_csv("a.csv", index=False)
        sentence = fails("fit", "a.csv", *TO_MODEL)
        assert sentence.startswith("4 columns of a.csv cannot be used as they are: 'id' holds text with 600 different")
        for part in (
            "'nothing' holds nothing",
            "'note' holds text with 600",
            "'dose' holds numbers, but 'much' in data row 7",
        ):
            assert part in sentence
        given = re.search(r"--drop (\S+)\.$", sentence)[1]
        assert given == "id,nothing,note,dose"
        run("fit", "a.csv", *TO_MODEL, "--drop", given)
        assert persist.describe("m")["feature_names"] == ["age"]

    def test_all_bad_numbers_and_missing_columns_at_once(self):
        fitted()
        TEST.assign(age="old", marker=np.inf).to_csv("a.csv", index=False)
        sentence = fails("predict", "model.rocband", "a.csv", "-o", "x.csv")
        assert "'age' holds 'old' in data row 1, which is not a number; 'marker' is infinite in data row 1" in sentence
        TEST.drop(columns=["age", "site"]).to_csv("b.csv", index=False)
        assert "There is no column 'age' and no 'site' in b.csv" in fails(
            "predict", "model.rocband", "b.csv", "-o", "x.csv"
        )

    @pytest.mark.parametrize(
        "given",
        [("--drop", "id,site"), ("--drop", " id , site"), ("--drop", "id", "--drop", "site"), ("--drop", '"id",site')],
    )
    def test_several_columns_in_one_option(self, given):
        run("fit", "train.csv", *TO_MODEL, *given)
        assert persist.describe("m")["feature_names"] == ["age", "marker", "patient", "old", "new"]

    def test_commas_in_names(self):
        TRAIN[["age", "new", "sick"]].rename(columns={"age": "age, years"}).to_csv("a.csv", index=False)
        run("fit", "a.csv", *TO_MODEL, "--columns", "age, years")
        assert persist.describe("m")["feature_names"] == ["age, years"]
        run("fit", "a.csv", *TO_MODEL, "--columns", '"age, years",new')
        assert persist.describe("m")["feature_names"] == ["age, years", "new"]

    @pytest.mark.parametrize("codes", [("ill", "well"), (7, 3), ("True", "False")])
    def test_a_column_that_equals_the_target(self, codes):
        TRAIN[["age", "sick"]].assign(copy=np.where(TRAIN["sick"] == "yes", *codes)).to_csv("a.csv", index=False)
        said = "column copy says of every row what the target sick says; leave it out with --drop copy"
        assert said in run("fit", "a.csv", *TO_MODEL).stderr
        backwards = pd.read_csv("a.csv")[::-1]
        first = backwards["sick"].iloc[0]
        # Whichever class the first row is of.
        pd.concat([backwards[backwards["sick"] != first], backwards]).to_csv("a.csv", index=False)
        assert said in run("fit", "a.csv", *TO_MODEL).stderr
        nearly = np.where(np.arange(600) == 5, "no" if TRAIN["sick"][5] == "yes" else "yes", TRAIN["sick"])
        TRAIN[["age", "sick"]].assign(copy=nearly).to_csv("b.csv", index=False)
        assert "says of every row" not in run("fit", "b.csv", *TO_MODEL).stderr

    def test_the_best_C_at_the_edge(self):
        draw = np.random.default_rng(0)
        sick = TRAIN["sick"] == "yes"
        clear = pd.DataFrame({"x": np.where(sick, 1.0, -1.0) + draw.normal(size=600) / 9, "sick": TRAIN["sick"]})
        clear.to_csv("a.csv", index=False)
        arguments = ("fit", "a.csv", *LABELS, "--folds", 2, "-o", "m")
        result = run(*arguments)
        assert "The best C is at the lower end of the grid: fit again with --C 0.01," in result.stdout
        assert json.loads(run(*arguments, "--json").stdout)["edge"] == "lower"
        assert "end of the grid" not in fit().stdout
