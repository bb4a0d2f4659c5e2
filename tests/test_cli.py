"""The command line: what it prints and writes, that the Python it prints is the same, and what it says of bad input."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import rocband
from command_line import FEATURES, FEW_DRAWS, QUICK, TEST, TRAIN, command, execute, fails, fit, fitted, python_of, run
from rocband import PartialAUCSVC, demo, persist
from rocband.inference import compare_partial_auc, partial_auc_interval

pytestmark = pytest.mark.usefixtures("folder")


class TestFit:
    def test_says_what_it_did(self, tables):
        result = fit()
        positives = int((TRAIN["sick"] == "yes").sum())
        assert f"600 rows: {positives} positive (sick = yes)" in result.stdout
        assert "2 numbers: age, marker" in result.stdout
        assert "1 categories: site" in result.stdout
        assert "replaced by the median" in result.stdout
        assert "Written: model.rocband" in result.stdout
        about = persist.describe("model.rocband")
        assert about["fpr_range"] == [0.0, 0.05]
        assert about["feature_names"] == FEATURES
        assert about["notes"]["target"] == "sick"

    @pytest.mark.parametrize(
        "options",
        [
            (),
            ("--fpr", 0, 0.2, "--surrogate", "tight", "--anchor", "none", "--target-fpr", 0.1),
            ("--guarantee", 0.8, "--impute", "mean", "--scale", "maxabs"),
            ("--categories", "patient", "--columns", "patient"),
        ],
    )
    def test_the_python_it_prints_gives_the_same_model(self, tables, options):
        result = fit(*options)
        Path("model.rocband").rename("first.rocband")
        execute(python_of(result))
        first, second = persist.load("first.rocband"), persist.load("model.rocband")
        rows = TRAIN.assign(patient=TRAIN["patient"].astype(str))
        np.testing.assert_array_equal(first.decision_function(rows), second.decision_function(rows))

    def test_cross_validation_with_groups_and_a_guarantee(self, tables):
        arguments = ["fit", "train.csv", "--target", "sick", "--positive", "yes", "--group", "patient"]
        arguments += ["--columns", "age", "--columns", "new", "--folds", 3, "-o", "a.rocband"]
        result = run(*arguments)
        assert "chosen" in result.stdout
        assert "fold 2" in result.stderr
        first = persist.load("a.rocband")
        execute(python_of(result))
        np.testing.assert_array_equal(first[-1].coef_, persist.load("a.rocband")[-1].coef_)
        assert first[-1].verbose == 0
        result = run(*arguments, "--guarantee", 0.8)
        assert "with 80% confidence" in result.stdout
        first = persist.load("a.rocband")
        execute(python_of(result))
        assert first.threshold_ == persist.load("a.rocband").threshold_

    def test_json(self, tables):
        document = json.loads(fit("--json").stdout)
        assert document["rows"] == 600
        assert document["numeric"] == ["age", "marker"]
        assert document["C"] == 10
        assert "PartialAUCSVC" in document["python"]

    def test_quiet(self, tables):
        result = fit("--quiet")
        assert result.output == ""

    def test_number_labels_need_no_positive(self, folder):
        table = TRAIN[["age", "new"]].assign(y=(TRAIN["sick"] == "yes").astype(float))
        table.to_csv("train.csv", index=False)
        result = run("fit", "train.csv", "--target", "y", *QUICK, "-o", "m")
        assert "(y = 1)" in result.stdout
        first = persist.load("m")[-1].coef_
        execute(python_of(result))
        np.testing.assert_array_equal(first, persist.load("m")[-1].coef_)

    def test_one_against_the_rest(self, folder):
        TRAIN[["age", "new", "site"]].fillna("north").to_csv("train.csv", index=False)
        arguments = ["fit", "train.csv", "--target", "site", "--positive", "north", *QUICK, "-o", "m"]
        assert "holds 3 classes ('east', 'north', 'south'); say --positive" in fails(*arguments)
        assert "negative (not north)" in run(*arguments, "--one-vs-rest").stdout
        shown = run("evaluate", "train.csv", "--model", "m").stderr
        assert "trained on train.csv; figures on training rows flatter" in shown

    def test_parquet_svmlight_npz_and_standard_input_agree(self, folder):
        X, y = TRAIN[["age", "new"]].to_numpy(), (TRAIN["sick"] == "yes").astype(int).to_numpy()
        table = TRAIN[["age", "new"]].assign(y=y)
        table.to_csv("a.csv", index=False)
        table.to_csv("a.tsv", index=False, sep="\t")
        table.to_parquet("a.parquet")
        np.savez("a.npz", X=X, y=y)
        for name in ("a.csv", "a.tsv", "a.parquet", "a.npz"):
            run("fit", name, "--target", "y", *QUICK, "-o", f"{name}.model")
        run("fit", "-", "--target", "y", *QUICK, "-o", "stdin.model", stdin=Path("a.csv").read_bytes())
        stream = Path("a.parquet").read_bytes()
        run("fit", "-", "--format", "parquet", "--target", "y", *QUICK, "-o", "stdin2.model", stdin=stream)
        coefficients = {tuple(persist.load(path)[-1].coef_[0]) for path in folder.glob("*.model")}
        assert len(coefficients) == 1

    @pytest.mark.parametrize("kind", ["svmlight", "npz"])
    def test_sparse_rows(self, folder, kind):
        draw = np.random.default_rng(0)
        y = (draw.random(400) < 0.3).astype(int)
        rows = sparse.csr_matrix((draw.random((400, 12)) < 0.3) * 1.0 + np.outer(y, np.eye(12)[0]))
        if kind == "svmlight":
            dump_svmlight_file(rows, y, "a.svm", zero_based=False, query_id=np.arange(400) // 4)
            name, group = "a.svm", "qid"
        else:
            parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": rows.shape}
            np.savez("a.npz", y=y, team=np.arange(400) // 4, **parts)
            name, group = "a.npz", "team"
        run("fit", name, "--group", group, "--folds", 2, "-o", "m")
        run("predict", "m", name, "-o", "scores.csv", "--chunk-rows", 37)
        scores = pd.read_csv("scores.csv")["score"]
        np.testing.assert_allclose(scores, persist.load("m").decision_function(rows), rtol=1e-12)
        assert json.loads(run("evaluate", name, "--model", "m", "--json").stdout)["rows"] == 400
        if kind == "svmlight":
            execute(python_of(run("fit", name, "--group", group, "--folds", 2, "-o", "m")))

    @pytest.mark.parametrize(
        "options",
        [
            ("--C", 100, "--gamma", 0.1),
            ("--C", 100, "--components", 30, "--gamma", "auto", "--group", "patient"),
            ("--folds", 2, "--components", 5, "--group", "patient", "--guarantee", 0.8, "--fpr", 0, 0.5),
            ("--folds", 2, "--kernel", "linear", "--components", 3, "--fpr", 0, 0.5),
        ],
    )
    def test_kernel_models(self, tables, options):
        TRAIN.head(200).to_csv("few.csv", index=False)
        arguments = ["fit", "few.csv", "--target", "sick", "--positive", "yes", "--kernel", "rbf"]
        result = run(*arguments, "--columns", "age,new,site", *options, "-o", "m")
        first = persist.load("m")
        document = json.loads(run("evaluate", "test.csv", "--model", "m", "--json", *FEW_DRAWS).stdout)
        assert document["scorers"]["m"]["auc"]["estimate"] > 0.6
        execute(python_of(result))
        np.testing.assert_array_equal(first.decision_function(TEST), persist.load("m").decision_function(TEST))
        if "--folds" in options:
            assert "<- chosen" in result.stdout


class TestPredict:
    def test_chunks_do_not_matter(self, tables):
        fitted()
        run("predict", "model.rocband", "test.csv", "-o", "whole.csv")
        run("predict", "model.rocband", "test.csv", "-o", "parts.csv", "--chunk-rows", 7)
        assert Path("whole.csv").read_bytes() == Path("parts.csv").read_bytes()
        scores = pd.read_csv("whole.csv")
        expected = persist.load("model.rocband").decision_function(TEST)
        np.testing.assert_allclose(scores["score"], expected, rtol=1e-12)
        assert scores["label"].tolist() == np.where(expected > 0, "yes", "no").tolist()

    def test_keep_columns_and_write_parquet(self, tables):
        fitted()
        result = run("predict", "model.rocband", "test.csv", "-o", "s.parquet", "--keep", "id", "--chunk-rows", 100)
        scores = pd.read_parquet("s.parquet")
        assert scores.columns.tolist() == ["id", "score", "label"]
        assert scores["id"].tolist() == TEST["id"].tolist()
        Path("s.parquet").unlink()
        execute(python_of(result))
        pd.testing.assert_frame_equal(pd.read_parquet("s.parquet"), scores)

    def test_to_standard_output(self, tables):
        fitted()
        result = run("predict", "model.rocband", "-", stdin=Path("test.csv").read_bytes())
        assert len(pd.read_csv(io.StringIO(result.stdout))) == len(TEST)
        assert "600 rows scored" in result.stderr
        assert "persist.load" in result.stderr

    def test_columns_may_come_in_any_order_and_number(self, tables):
        fitted()
        TEST[["site", "marker", "age"]].to_csv("few.csv", index=False)
        run("predict", "model.rocband", "few.csv", "-o", "few.out.csv")
        run("predict", "model.rocband", "test.csv", "-o", "all.out.csv")
        assert Path("few.out.csv").read_bytes() == Path("all.out.csv").read_bytes()

    def test_category_codes_keep_their_form(self, folder):
        """007 is not 7, in whichever chunk it is."""
        codes = np.where(np.arange(60) % 2, "007", "7")
        TRAIN[["age", "sick"]].head(60).assign(code=codes).to_csv("train.csv", index=False)
        arguments = ["--target", "sick", "--positive", "yes", *QUICK, "--categories", "code", "-o", "m"]
        run("fit", "train.csv", *arguments)
        encoder = persist.load("m")[0].named_transformers_["categories"]
        assert encoder.categories_[0].tolist() == ["007", "7"]
        run("predict", "m", "train.csv", "-o", "a.csv", "--chunk-rows", 1)
        run("predict", "m", "train.csv", "-o", "b.csv")
        expected = persist.load("m").decision_function(TRAIN[["age"]].head(60).assign(code=codes))
        for name in ("a.csv", "b.csv"):
            np.testing.assert_allclose(pd.read_csv(name)["score"], expected, rtol=1e-12)

    def test_truth_values_count_as_numbers(self, folder):
        table = TRAIN[["age", "sick"]].assign(flag=np.where(TRAIN["new"] > 0, "TRUE", "FALSE")).head(60)
        table.loc[::7, "flag"] = ""
        table.to_csv("train.csv", index=False)
        run("fit", "train.csv", "--target", "sick", "--positive", "yes", *QUICK, "-o", "m")
        run("predict", "m", "train.csv", "-o", "a.csv", "--chunk-rows", 1)
        run("predict", "m", "train.csv", "-o", "b.csv")
        np.testing.assert_allclose(pd.read_csv("a.csv")["score"], pd.read_csv("b.csv")["score"])

    def test_a_model_of_an_array(self, tables):
        model = PartialAUCSVC(pos_label="yes").fit(TRAIN[["age", "new"]].to_numpy(), TRAIN["sick"])
        persist.save(model, "plain.rocband")
        TEST[["age", "new"]].to_csv("two.csv", index=False)
        run("predict", "plain.rocband", "two.csv", "-o", "s.csv")
        expected = model.decision_function(TEST[["age", "new"]].to_numpy())
        np.testing.assert_allclose(pd.read_csv("s.csv")["score"], expected, rtol=1e-12)
        assert "was trained on 2 features, but test.csv has 8" in fails("predict", "plain.rocband", "test.csv")

    def test_memory_is_bounded(self, tables):
        """Ten times the rows take the same memory."""
        fitted()
        head, rows = Path("test.csv").read_bytes().split(b"\n", 1)
        for times in (10, 100):
            Path(f"{times}.csv").write_bytes(head + b"\n" + rows * times)
        code = (
            "import resource, sys\n"
            "from rocband.cli.app import cli\n"
            "from rocband.cli.formats import delimited\n"
            "delimited._BLOCK = 1 << 15\n"
            "for name in ('10.csv', '100.csv'):\n"
            "    arguments = ['predict', 'model.rocband', name, '-o', 'out.csv', '-q', '--chunk-rows', '2000']\n"
            "    cli(arguments, standalone_mode=False)\n"
            "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        before, after = (1024 * int(peak) for peak in done.stdout.split())
        assert len(Path("out.csv").read_bytes().splitlines()) == 100 * 600 + 1
        # Held at once, the text would be in memory as bytes and as columns, and the numbers beside it.
        assert after - before < 3 * Path("100.csv").stat().st_size


class TestMeasure:
    def test_evaluate_is_what_the_library_says(self, tables):
        fitted()
        document = json.loads(
            run("evaluate", "test.csv", "--model", "model.rocband", "--score", "old", "--json").stdout
        )
        y = (TEST["sick"] == "yes").astype(int)
        scores = {"old": TEST["old"], "model": persist.load("model.rocband").decision_function(TEST)}
        for name, values in scores.items():
            area = partial_auc_interval(y, values, fpr_range=(0.0, 0.05), random_state=0)
            shown = document["scorers"][name]["pauc"]
            assert (shown["estimate"], shown["low"], shown["high"]) == pytest.approx(
                (area.estimate, area.low, area.high)
            )
        assert [point["target FPR"] for point in document["scorers"]["old"]["operating_points"]] == [0.01, 0.05]

    def test_evaluate_for_people(self, tables):
        result = run(
            *("evaluate", "test.csv", "--target", "sick", "--positive", "yes", "--score", "new", "--fpr", 0, 0.1),
            *("--at", 0.02, "--at", 0.1, "--prevalence", 0.01, "--plot", "roc.png", "--group", "patient"),
        )
        assert "pAUC 0 to 0.1" in result.stdout
        assert "0.02" in result.stdout
        assert Path("roc.png").read_bytes().startswith(b"\x89PNG")
        execute(python_of(result))

    def test_compare_two_columns(self, tables):
        arguments = ["compare", "test.csv", "--target", "sick", "--positive", "yes", "--fpr", 0, 0.1]
        result = run(*arguments, "--score", "new", "--score", "old")
        y = (TEST["sick"] == "yes").astype(int)
        one = compare_partial_auc(y, TEST["new"], TEST["old"], fpr_range=(0.0, 0.1), random_state=0)
        assert "new - old" in result.stdout
        assert f"{one.difference:+.3f} ({one.low:+.3f} to {one.high:+.3f})" in result.stdout
        execute(python_of(result))

    def test_compare_many_and_models(self, tables):
        fitted()
        fit(output="other.rocband")
        arguments = [
            "compare",
            "test.csv",
            "--model",
            "model.rocband",
            "--model",
            "other.rocband",
            "--method",
            "analytic",
        ]
        assert "model - other" in run(*arguments).stdout
        document = json.loads(run(*arguments, "--score", "old", "--json").stdout)
        assert [one["names"] for one in document["comparisons"]] == [
            ["model", "other"],
            ["model", "old"],
            ["other", "old"],
        ]
        execute(document["python"])

    def test_models_of_one_name(self, tables):
        fitted()
        os.mkdir("b")
        fit(output="b/model.rocband")
        names = ("--model", "model.rocband", "--model", "b/model.rocband")
        assert "model.rocband - b/model.rocband" in run("compare", "test.csv", *names).stdout
        assert "given twice" in fails("compare", "test.csv", "--score", "old", "--score", "old", *names)

    def test_report(self, tables):
        fitted()
        result = run("report", "test.csv", "--model", "model.rocband", "-o", "page.html", *FEW_DRAWS)
        page = Path("page.html").read_text()
        assert page.startswith("<!doctype html>")
        assert "model" in page
        Path("page.html").unlink()
        execute(python_of(result))
        assert Path("page.html").exists()

    def test_number_and_truth_labels(self, folder):
        for labels in ((1, 0), (2.5, -1), (True, False)):
            table = TEST[["old"]].assign(y=np.where(TEST["sick"] == "yes", *labels))
            table.to_csv("a.csv", index=False)
            positive = ("--positive", labels[0])
            result = run("evaluate", "a.csv", "--target", "y", "--score", "old", "--fpr", 0, 0.1, *positive)
            assert f"y = {labels[0]}" in result.stdout
            names = execute(python_of(result))
            assert int(names["y"].sum()) == int((TEST["sick"] == "yes").sum())

    def test_export(self, tables):
        run(
            *("fit", "train.csv", "--target", "sick", "--positive", "yes", "--columns", "age", "--columns", "marker"),
            *QUICK,
            "-o",
            "m",
        )
        run("export", "m", "-o", "m.onnx")
        rows = TEST[["age", "marker"]]
        session = onnxruntime.InferenceSession("m.onnx", providers=["CPUExecutionProvider"])
        scores = session.run(["score"], {"X": rows.to_numpy(dtype=np.float32)})[0]
        np.testing.assert_allclose(scores, persist.load("m").decision_function(rows), rtol=1e-4, atol=1e-4)
        fitted()
        assert "encodes the text of 'site'" in fails("export", "model.rocband", "-o", "x.onnx")


class TestOther:
    def test_demo(self, folder, monkeypatch):
        """With one of its models: all of them run in the demo's own test."""
        contenders = demo.contenders()[:1]
        monkeypatch.setattr(demo, "contenders", lambda: contenders)
        assert "from rocband import demo" in run("demo").stdout
        assert Path("rocband-demo.png").exists()

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_completion(self, shell):
        assert "_ROCBAND_COMPLETE" in run("completion", shell).stdout

    def test_completion_answers(self):
        environment = os.environ | {"_ROCBAND_COMPLETE": "bash_complete", "COMP_WORDS": "rocband ev", "COMP_CWORD": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "rocband"], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "plain,evaluate"

    @pytest.mark.parametrize("name", sorted(command.commands))
    def test_help_has_an_example(self, name):
        text = run(name, "--help").stdout
        assert f"rocband {name}" in text

    def test_version(self):
        assert rocband.__version__ in run("--version").stdout

    def test_help_is_light(self):
        code = (
            "import sys; from rocband.cli.app import cli\n"
            "try: cli(['--help'], prog_name='rocband')\n"
            "except SystemExit: print(sorted(set(sys.modules) & set(sys.argv[1:])), file=sys.stderr)"
        )
        heavy = ["numpy", "scipy", "sklearn", "pandas", "matplotlib", "dask", "pyarrow", "onnx"]
        done = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True)
        assert done.stderr.strip() == "[]"

    def test_importing_the_package_is_light(self):
        code = "import sys, rocband; print(sorted({'matplotlib', 'dask', 'pandas', 'sklearn'} & set(sys.modules)))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"

    def test_public_names(self):
        assert {"PartialAUCSVC", "PartialAUCSVCCV", "metrics", "persist"} <= set(dir(rocband))
        assert rocband.metrics.partial_auc_score
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = rocband.nothing

    def test_without_the_extra(self):
        code = "import sys; sys.modules['click'] = None; from rocband.cli import main; main()"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert done.stderr.strip().endswith("install it with: pip install 'rocband[cli]'")

    def test_main(self):
        command = [sys.executable, "-m", "rocband", "--version"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert rocband.__version__ in done.stdout
