"""How tables are read: what is tolerated, what is told, and what is refused in one sentence."""

from __future__ import annotations

import bz2
import decimal
import gzip
import json
import lzma
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import ARGUMENTS, QUICK, TEST, TRAIN, execute, fails, fit, fitted, python_of, run
from rocband import persist

pytestmark = pytest.mark.usefixtures("folder")

SMALL = TRAIN[["age", "new", "sick"]]


def coefficients(data, *options):
    run("fit", data, *ARGUMENTS, *options)
    return persist.load("m")[-1].coef_.tolist()


class TestFields:
    @pytest.mark.parametrize("line", ["4,5", "4", '"4, 5",6', '"a ""b"" c,",7', '"4\n5",6'])
    def test_too_few(self, line):
        lines = SMALL.to_csv(index=False).splitlines()
        Path("a.csv").write_text("\n".join([*lines[:9], line, *lines[9:]]))
        found = 1 if line == "4" else 2
        fields = "field" if found == 1 else "fields"
        assert f"line 10 has {found} {fields} where 3 are expected" in fails("fit", "a.csv", *ARGUMENTS)

    def test_the_last_line_is_cut_off(self):
        Path("a.csv").write_text(SMALL.to_csv(index=False) + "4,")
        assert "line 602 has 2 fields where 3 are expected" in fails("fit", "a.csv", *ARGUMENTS)

    def test_late_in_a_stream(self, tables):
        fitted()
        Path("long.csv").write_text(
            TEST.to_csv(index=False) * 1 + "\n".join(["p,1,2,north,3,4,5,no"] * 20_000 + ["p,1"])
        )
        sentence = fails("predict", "model.rocband", "long.csv", "-o", "out.csv", "--chunk-rows", 500)
        assert "line 20602 has 2 fields where 8 are expected" in sentence

    def test_quotation_marks(self):
        """Fields with separators, line ends and quotation marks in them count as one."""
        notes = ['a, b and "c"', "two\nlines, and\n more", 'an inch"', "", '"', "'", '"",""'] * 100
        table = SMALL.assign(note=notes[:600])[["age", "note", "new", "sick"]]
        table.to_csv("a.csv", index=False)
        assert coefficients("a.csv", "--drop", "note")
        table.to_csv("a.csv", index=False, quoting=1)
        assert coefficients("a.csv", "--drop", "note")
        Path("a.csv").write_text('age,note,sick\n1,5" pipe,yes\n2,6",no\n' * 1 + '3,4" x 5",yes\n4,,no\n' * 20)
        assert coefficients("a.csv", "--drop", "note")

    def test_what_is_tolerated(self):
        SMALL.to_csv("plain.csv", index=False)
        expected = coefficients("plain.csv")
        head, *lines = SMALL.to_csv(index=False).splitlines()
        for name, text in {
            "commas": "\n".join([head, *(f"{line}," for line in lines)]),
            "all commas": "\n".join(f"{line}," for line in (head, *lines)),
            "comma of the header": "\n".join([f"{head},", *lines]),
            "blank lines": "\n\n".join(["", head, *lines, "", "   ", "", ""]),
            "returns": "\r\n".join([head, *lines, "", ""]),
            "spaces": "\n".join(f" {line} ".replace(",", " , ") for line in (head, *lines)),
            "mark": "\ufeff" + "\n".join([head, *lines]),
        }.items():
            Path("a.csv").write_bytes(text.encode())
            assert coefficients("a.csv") == expected, name


class TestNames:
    def test_columns_of_one_name(self):
        Path("a.csv").write_text("age,sick,age , age\n" + "1,yes,2,3\n2,no,3,4\n" * 20)
        assert "a.csv has more than one column named 'age'" in fails("fit", "a.csv", *ARGUMENTS)
        table = SMALL.rename(columns={"new": "age "})
        table.to_parquet("a.parquet")
        assert "more than one column named 'age'" in fails("fit", "a.parquet", *ARGUMENTS)

    def test_numbers_of_rows(self):
        SMALL.assign(number=np.arange(600) + 7, patient=np.arange(600) // 2).to_csv("a.csv")
        shown = run("fit", "a.csv", *ARGUMENTS).stderr
        assert "column Unnamed: 0 looks like a number of the row" in shown
        assert "--drop 'Unnamed: 0'" in shown
        assert "column number looks like" in shown
        assert "patient" not in shown
        shown = run("fit", "a.csv", *ARGUMENTS, "--drop", "Unnamed: 0", "--numeric", "number").stderr
        assert "looks like" not in shown

    def test_spaces_around_names_and_categories(self):
        table = TRAIN[["age", "site", "sick"]]
        table.to_csv("plain.csv", index=False)
        padded = table.assign(site=table["site"] + " ").rename(columns={"age": "age ", "site": " site"})
        padded.to_csv("a.csv", index=False)
        assert coefficients("a.csv") == coefficients("plain.csv")
        result = run("predict", "m", "a.csv", "-o", "s.csv")
        assert "not seen" not in result.stderr

    def test_an_empty_column(self):
        SMALL.assign(nothing="").to_csv("a.csv", index=False)
        assert "Column 'nothing' of a.csv holds nothing; leave it out with --drop" in fails("fit", "a.csv", *ARGUMENTS)


class TestStrangers:
    def test_categories_that_training_has_not_seen(self, tables):
        fitted()
        TEST.assign(site="west").to_csv("west.csv", index=False)
        warning = "Warning: column site: 600 of 600 values were not seen in training."
        shown = run("predict", "model.rocband", "west.csv", "-o", "s.csv", "--chunk-rows", 100).stderr
        assert shown.splitlines().count(warning) == 1
        assert warning in run("evaluate", "west.csv", "--model", "model.rocband").stderr
        assert run("predict", "model.rocband", "test.csv", "-o", "s.csv").stderr == ""

    def test_a_feature_that_no_row_has(self, tables):
        fitted()
        TEST.assign(age=np.nan, site=None).to_csv("a.csv", index=False)
        shown = run("predict", "model.rocband", "a.csv", "-o", "s.csv", "--chunk-rows", 100).stderr
        assert "column age: missing in all 600 rows" in shown
        assert "column site: missing in all 600 rows" in shown


class TestNumbers:
    def test_numbers_too_large(self, tables):
        fit("--quiet")
        table = TRAIN.astype({"age": object})
        table.loc[41, "age"] = "1e300"
        table.to_csv("a.csv", index=False)
        expected = "Column 'age' of a.csv holds 1e+300 in data row 42, which is too large"
        result = run("fit", "a.csv", *ARGUMENTS, "--columns", "age", code=2)
        assert result.stderr.startswith(f"Error: {expected}")
        assert expected in fails("predict", "model.rocband", "a.csv", "-o", "s.csv", "--chunk-rows", 10)

    def test_missing_numbers_that_nothing_fills_in(self, tables):
        row = int(TRAIN["marker"].isna().to_numpy().argmax()) + 1
        sentence = fails("fit", "train.csv", *ARGUMENTS, "--columns", "marker", "--impute", "none")
        assert sentence == (
            f"Column 'marker' of train.csv is missing in data row {row}, and --impute none fills nothing in; choose "
            "another --impute."
        )
        TRAIN.dropna().to_csv("whole.csv", index=False)
        run("fit", "whole.csv", *ARGUMENTS, "--columns", "marker", "--impute", "none")
        assert "m does not fill in missing numbers" in fails("predict", "m", "train.csv", "-o", "s.csv")

    def test_decimals_of_a_database(self):
        SMALL.to_parquet("plain.parquet")
        expected = coefficients("plain.parquet")
        exact = [decimal.Decimal(f"{age:.1f}") for age in SMALL["age"]]
        SMALL.assign(age=exact).to_parquet("a.parquet")
        assert coefficients("a.parquet") == expected

    def test_numbers_written_as_text(self):
        SMALL.assign(code=np.where(SMALL["new"] > 0, "10", "9")).to_parquet("a.parquet")
        assert "1 categories: code" in run("fit", "a.parquet", *ARGUMENTS).stdout

    def test_decimal_commas(self):
        SMALL.to_csv("a.csv", index=False, sep=";", decimal=",")
        sentence = fails("fit", "a.csv", *ARGUMENTS)
        assert "The header of a.csv is one field, 'age;new;sick'; say --separator ';'" in sentence
        assert "--decimal ," in sentence
        sentence = fails("fit", "a.csv", *ARGUMENTS, "--separator", ";")
        assert "holds numbers with decimal commas" in sentence
        assert "--decimal ," in sentence


class TestLabels:
    @pytest.mark.parametrize("written", [("true", "false"), ("TRUE", "FALSE"), ("True", "False")])
    def test_truth_values(self, written):
        SMALL.assign(sick=np.where(SMALL["sick"] == "yes", *written)).to_csv("a.csv", index=False)
        expected = int((SMALL["sick"] == "yes").sum())
        for positive in ("true", "TRUE", "True", "1", None):
            given = () if positive is None else ("--positive", positive)
            document = json.loads(run("fit", "a.csv", "--target", "sick", *given, *QUICK, "-o", "m", "--json").stdout)
            assert document["positives"] == expected
            assert (
                json.loads(run("evaluate", "a.csv", "--model", "m", *given, "--json").stdout)["positives"] == expected
            )
        document = run("fit", "a.csv", "--target", "sick", "--positive", "0", *QUICK, "-o", "m", "--json").stdout
        assert json.loads(document)["positives"] == 600 - expected

    def test_truth_values_with_spaces(self):
        """pandas takes them for text, and so the Python that is printed does."""
        written = np.where(SMALL["sick"] == "yes", " true", "False ")
        SMALL.assign(sick=written).to_csv("a.csv", index=False)
        result = run("fit", "a.csv", "--target", "sick", *QUICK, "-o", "m")
        first = persist.load("m")[-1].coef_
        names = execute(python_of(result))
        assert int(names["y"].sum()) == int((SMALL["sick"] == "yes").sum())
        np.testing.assert_array_equal(first, persist.load("m")[-1].coef_)

    def test_models_of_different_positives(self, tables):
        fitted()
        run("fit", "train.csv", "--target", "sick", "--positive", "no", "--columns", "age", *QUICK, "-o", "other")
        sentence = fails("compare", "test.csv", "--model", "model.rocband", "--model", "other")
        assert "model.rocband takes sick = yes as positive and other takes no" in sentence
        sentence = fails("evaluate", "test.csv", "--model", "model.rocband", "--positive", "no")
        assert "--positive no is not the label that model.rocband was trained for, sick = yes" in sentence
        run("evaluate", "test.csv", "--model", "model.rocband", "--positive", "yes")

    def test_models_of_different_targets(self, tables):
        fitted()
        TRAIN.rename(columns={"sick": "ill"}).to_csv("ill.csv", index=False)
        run("fit", "ill.csv", "--target", "ill", "--positive", "yes", "--columns", "age", *QUICK, "-o", "other")
        models = ("--model", "model.rocband", "--model", "other")
        assert "models of different targets" in fails("compare", "test.csv", *models)
        run("compare", "test.csv", *models, "--target", "sick")


class TestFormats:
    @pytest.mark.parametrize(("ending", "compress"), [("gz", gzip), ("bz2", bz2), ("xz", lzma)])
    def test_compressed(self, ending, compress):
        content = SMALL.to_csv(index=False).encode()
        Path("plain.csv").write_bytes(content)
        Path(f"a.csv.{ending}").write_bytes(compress.compress(content))
        assert coefficients(f"a.csv.{ending}") == coefficients("plain.csv")
        Path(f"bad.csv.{ending}").write_bytes(compress.compress(content)[:-50])
        assert f"bad.csv.{ending} cannot be read" in fails("fit", f"bad.csv.{ending}", *ARGUMENTS)
        Path(f"text.csv.{ending}").write_bytes(content)
        assert f"text.csv.{ending} cannot be read" in fails("fit", f"text.csv.{ending}", *ARGUMENTS)
        Path("a.csv").write_bytes(compress.compress(content))
        assert "a.csv is compressed with" in fails("fit", "a.csv", *ARGUMENTS)

    def test_what_is_not_read_compressed(self):
        assert "a.csv.zst is compressed in a way that is not read here" in fails("fit", "a.csv.zst", *ARGUMENTS)
        assert "read for CSV files only" in fails("fit", "a.svm.gz", *ARGUMENTS)

    def test_other_formats_under_the_name_of_csv(self):
        SMALL.to_csv("a.csv", index=False, encoding="utf-16")
        assert "starts as text in UTF-16 does; say --encoding utf-16" in fails("fit", "a.csv", *ARGUMENTS)
        assert coefficients("a.csv", "--encoding", "utf-16")
        SMALL.to_parquet("b.parquet")
        os.rename("b.parquet", "b.csv")
        assert "holds Parquet; say --format parquet" in fails("fit", "b.csv", *ARGUMENTS)
        Path("c.csv").write_bytes(b"PK\x03\x04 and so on")
        assert "is a ZIP archive or a workbook" in fails("fit", "c.csv", *ARGUMENTS)

    def test_the_index_of_parquet_is_no_feature(self):
        SMALL[::-1].to_parquet("a.parquet")
        run("fit", "a.parquet", *ARGUMENTS)
        assert persist.describe("m")["feature_names"] == ["age", "new"]
        assert len(pd.read_parquet("a.parquet")) == 600
