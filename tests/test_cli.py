"""The command line: what it prints and writes, that the Python it prints is the same, and what it says of bad input."""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import rocband
from rocband import PartialAUCSVC, cli, persist
from rocband.cli.app import cli as command
from rocband.inference import compare_partial_auc, partial_auc_interval

QUICK = ("--C", "10")


def make_table(n=600, seed=0):
    draw = np.random.default_rng(seed)
    sick = draw.random(n) < 0.3
    table = pd.DataFrame(
        {
            "id": [f"p{k}" for k in range(n)],
            "age": np.round(draw.normal(50 + 8 * sick, 10), 1),
            "marker": draw.lognormal(0.9 * sick),
            "site": draw.choice(["north", "south", "east"], n),
            "patient": np.arange(n) // 3,
            "old": draw.normal(sick),
            "new": draw.normal(1.5 * sick),
            "sick": np.where(sick, "yes", "no"),
        }
    )
    table.loc[draw.random(n) < 0.05, "marker"] = np.nan
    table.loc[draw.random(n) < 0.05, "site"] = None
    return table


TRAIN, TEST = make_table(seed=0), make_table(seed=1)
FEATURES = ["age", "marker", "site"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def tables(folder):
    TRAIN.to_csv("train.csv", index=False)
    TEST.to_csv("test.csv", index=False)
    return folder


def run(*arguments, code=0, stdin=None):
    result = CliRunner().invoke(command, [str(part) for part in arguments], input=stdin)
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def fails(*arguments, code=2, stdin=None):
    """Run a command that must fail, and return its one sentence."""
    before = sorted(os.listdir())
    result = run(*arguments, code=code, stdin=stdin)
    assert sorted(os.listdir()) == before
    assert "Traceback" not in result.output
    assert "unexpected" not in result.output
    sentence = result.stderr.rstrip().splitlines()[-1]
    assert sentence.startswith("Error: ")
    return sentence.removeprefix("Error: ")


def fit(*options, data="train.csv", output="model.rocband", code=0):
    chosen = [part for name in FEATURES for part in ("--columns", name)]
    return run("fit", data, "--target", "sick", "--positive", "yes", *chosen, *QUICK, "-o", output, *options, code=code)


def python_of(result):
    """Return the Python that a command printed."""
    lines = result.stdout.partition("The same in Python:\n")[2] or result.stderr.partition("The same in Python:\n")[2]
    return "\n".join(line.removeprefix("    ") for line in lines.splitlines())


def execute(code):
    names: dict[str, object] = {}
    exec(compile(code, "printed", "exec"), names)
    return names


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

    def test_kernel_models_say_when_they_are_not_there(self, tables, monkeypatch):
        monkeypatch.setitem(sys.modules, "rocband.kernel", None)
        arguments = ["fit", "train.csv", "--columns", "age", *ARGUMENTS, "--kernel", "rbf"]
        assert "no kernel models" in fails(*arguments, code=1)


class TestPredict:
    def test_chunks_do_not_matter(self, tables):
        fit()
        run("predict", "model.rocband", "test.csv", "-o", "whole.csv")
        run("predict", "model.rocband", "test.csv", "-o", "parts.csv", "--chunk-rows", 7)
        assert Path("whole.csv").read_bytes() == Path("parts.csv").read_bytes()
        scores = pd.read_csv("whole.csv")
        expected = persist.load("model.rocband").decision_function(TEST)
        np.testing.assert_allclose(scores["score"], expected, rtol=1e-12)
        assert scores["label"].tolist() == np.where(expected > 0, "yes", "no").tolist()

    def test_keep_columns_and_write_parquet(self, tables):
        fit()
        result = run("predict", "model.rocband", "test.csv", "-o", "s.parquet", "--keep", "id", "--chunk-rows", 100)
        scores = pd.read_parquet("s.parquet")
        assert scores.columns.tolist() == ["id", "score", "label"]
        assert scores["id"].tolist() == TEST["id"].tolist()
        Path("s.parquet").unlink()
        execute(python_of(result))
        pd.testing.assert_frame_equal(pd.read_parquet("s.parquet"), scores)

    def test_to_standard_output(self, tables):
        fit()
        result = run("predict", "model.rocband", "-", stdin=Path("test.csv").read_bytes())
        assert len(pd.read_csv(io.StringIO(result.stdout))) == len(TEST)
        assert "600 rows scored" in result.stderr
        assert "persist.load" in result.stderr

    def test_columns_may_come_in_any_order_and_number(self, tables):
        fit()
        TEST[["site", "marker", "age"]].to_csv("few.csv", index=False)
        run("predict", "model.rocband", "few.csv", "-o", "few.out.csv")
        run("predict", "model.rocband", "test.csv", "-o", "all.out.csv")
        assert Path("few.out.csv").read_bytes() == Path("all.out.csv").read_bytes()

    def test_category_codes_keep_their_form(self, folder):
        """007 is not 7, in whichever chunk it is."""
        codes = np.where(np.arange(600) % 2, "007", "7")
        TRAIN[["age", "sick"]].assign(code=codes).to_csv("train.csv", index=False)
        arguments = ["--target", "sick", "--positive", "yes", *QUICK, "--categories", "code", "-o", "m"]
        run("fit", "train.csv", *arguments)
        encoder = persist.load("m")[0].named_transformers_["categories"]
        assert encoder.categories_[0].tolist() == ["007", "7"]
        run("predict", "m", "train.csv", "-o", "a.csv", "--chunk-rows", 1)
        run("predict", "m", "train.csv", "-o", "b.csv")
        np.testing.assert_allclose(pd.read_csv("a.csv")["score"], pd.read_csv("b.csv")["score"])

    def test_truth_values_count_as_numbers(self, folder):
        table = TRAIN[["age", "sick"]].assign(flag=np.where(TRAIN["new"] > 0, "TRUE", "FALSE"))
        table.loc[::7, "flag"] = ""
        table.to_csv("train.csv", index=False)
        run("fit", "train.csv", "--target", "sick", "--positive", "yes", *QUICK, "-o", "m")
        run("predict", "m", "train.csv", "-o", "a.csv", "--chunk-rows", 1)
        run("predict", "m", "train.csv", "-o", "b.csv")
        np.testing.assert_allclose(pd.read_csv("a.csv")["score"], pd.read_csv("b.csv")["score"])

    def test_a_model_of_an_array(self, tables):
        model = PartialAUCSVC().fit(TRAIN[["age", "new"]].to_numpy(), TRAIN["sick"])
        persist.save(model, "plain.rocband")
        TEST[["age", "new"]].to_csv("two.csv", index=False)
        run("predict", "plain.rocband", "two.csv", "-o", "s.csv")
        expected = model.decision_function(TEST[["age", "new"]].to_numpy())
        np.testing.assert_allclose(pd.read_csv("s.csv")["score"], expected, rtol=1e-12)
        assert "was trained on 2 features, but test.csv has 8" in fails("predict", "plain.rocband", "test.csv")

    def test_memory_is_bounded(self, tables):
        """Ten times the rows take the same memory."""
        fit()
        rows = Path("test.csv").read_bytes().split(b"\n", 1)
        peaks = []
        for times in (20, 200):
            Path("big.csv").write_bytes(rows[0] + b"\n" + rows[1] * times)
            code = (
                "import resource, sys; from rocband.cli.app import cli\n"
                "try: cli(sys.argv[1:], prog_name='rocband')\n"
                "except SystemExit: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
            )
            arguments = ["predict", "model.rocband", "big.csv", "-o", "out.csv", "-q", "--chunk-rows", "2000"]
            done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
            peaks.append(int(done.stderr.split()[-1]))
        assert len(Path("out.csv").read_bytes().splitlines()) == 200 * 600 + 1
        assert peaks[1] < 1.15 * peaks[0]


class TestMeasure:
    def test_evaluate_is_what_the_library_says(self, tables):
        fit()
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
        fit()
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
            ["old", "model"],
            ["old", "other"],
            ["model", "other"],
        ]
        execute(document["python"])

    def test_models_of_one_name(self, tables):
        fit()
        os.mkdir("b")
        fit(output="b/model.rocband")
        names = ("--model", "model.rocband", "--model", "b/model.rocband")
        assert "model.rocband - b/model.rocband" in run("compare", "test.csv", *names).stdout
        assert "given twice" in fails("compare", "test.csv", "--score", "old", "--score", "old", *names)

    def test_report(self, tables):
        fit()
        result = run(
            "report", "test.csv", "--model", "model.rocband", "--score", "old", "-o", "page.html", "--draws", 200
        )
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
        fit()
        assert "encodes the text of 'site'" in fails("export", "model.rocband", "-o", "x.onnx")


class TestOther:
    def test_demo(self, folder):
        assert "from rocband import demo" in run("demo").stdout
        assert Path("rocband-demo.png").exists()

    def test_reproduce_hands_over(self, folder):
        result = CliRunner().invoke(command, ["reproduce", "--only", "nothing"])
        assert result.exit_code == 2
        assert "there is no experiment 'nothing'" in result.stderr

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_completion(self, shell):
        assert "_ROCBAND_COMPLETE" in run("completion", shell).stdout

    def test_completion_answers(self):
        environment = os.environ | {"_ROCBAND_COMPLETE": "bash_complete", "COMP_WORDS": "rocband ev", "COMP_CWORD": "1"}
        done = subprocess.run([sys.executable, "-m", "rocband"], env=environment, capture_output=True, text=True)
        assert done.stdout.strip() == "plain,evaluate"

    @pytest.mark.parametrize("name", sorted(command.commands))
    def test_help_has_an_example(self, name):
        if name == "reproduce":
            assert "--quick" in CliRunner().invoke(command, [name, "--help"]).output
            return
        text = run(name, "--help").stdout
        assert f"rocband {name}" in text

    def test_version(self):
        assert rocband.__version__ in run("--version").stdout

    def test_help_is_quick_and_light(self):
        code = (
            "import sys; from rocband.cli.app import cli\n"
            "try: cli(['--help'], prog_name='rocband')\n"
            "except SystemExit: print(sorted(set(sys.modules) & set(sys.argv[1:])), file=sys.stderr)"
        )
        heavy = ["numpy", "scipy", "sklearn", "pandas", "matplotlib", "dask", "pyarrow", "onnx"]
        done = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True)
        assert done.stderr.strip() == "[]"
        times = []
        for _ in range(5):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-m", "rocband", "--help"], capture_output=True, check=True)
            times.append(time.perf_counter() - began)
        assert min(times) < 0.5

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
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stderr.strip().endswith("install it with: pip install 'rocband[cli]'")

    def test_main(self, monkeypatch, capsys):
        monkeypatch.setattr(sys, "argv", ["rocband", "--version"])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        assert caught.value.code == 0
        assert rocband.__version__ in capsys.readouterr().out


ARGUMENTS = ("--target", "sick", "--positive", "yes", *QUICK, "-o", "m")


class TestBadInput:
    def test_a_missing_file(self):
        assert fails("fit", "none.csv", *ARGUMENTS) == "none.csv cannot be read: No such file or directory."
        assert "none.rocband cannot be read" in fails("predict", "none.rocband", "none.csv")

    def test_a_folder(self, folder):
        os.mkdir("x.csv")
        assert "cannot be read: Is a directory" in fails("fit", "x.csv", *ARGUMENTS)

    def test_an_unknown_format(self, folder):
        Path("a.xyz").write_text("a")
        assert "--format csv|parquet|svmlight|npz" in fails("fit", "a.xyz", *ARGUMENTS)

    def test_a_missing_column(self, tables):
        assert "There is no column 'nose' in train.csv; its columns are 'id', 'age'" in fails(
            "fit", "train.csv", "--target", "nose", *QUICK, "-o", "m"
        )
        assert "no column 'nose'" in fails("fit", "train.csv", "--columns", "nose", *ARGUMENTS)
        fit()
        TEST.drop(columns="marker").to_csv("less.csv", index=False)
        assert "no column 'marker' in less.csv" in fails("predict", "model.rocband", "less.csv", "-o", "x.csv")
        assert "no column 'nose'" in fails("evaluate", "test.csv", "--model", "model.rocband", "--score", "nose")
        assert "no column 'nose'" in fails("evaluate", "test.csv", "--model", "model.rocband", "--group", "nose")

    def test_another_separator(self, folder):
        TRAIN.to_csv("a.csv", index=False, sep=";")
        assert "--separator" in fails("fit", "a.csv", *ARGUMENTS)

    def test_text_among_numbers(self, folder):
        table = TRAIN[["age", "new", "sick"]].astype({"age": object})
        table.loc[7, "age"] = "unknown"
        table.to_csv("a.csv", index=False)
        sentence = fails("fit", "a.csv", *ARGUMENTS)
        assert "Column 'age' of a.csv holds numbers, but 'unknown' in data row 8" in sentence
        assert run("fit", "a.csv", *ARGUMENTS, "--missing", "unknown").stdout.startswith("600 rows")
        assert "which is not a number" in fails("fit", "a.csv", *ARGUMENTS, "--numeric", "age")
        assert "'unknown' in data row 8, which is not a number" in fails("predict", "m", "a.csv", "-o", "x.csv")

    def test_text_with_many_values(self, tables):
        assert "Column 'id' of train.csv holds text with 600 different values, such as 'p0'" in fails(
            "fit", "train.csv", *ARGUMENTS
        )

    def test_an_empty_column_and_no_columns(self, folder):
        TRAIN[["sick"]].to_csv("a.csv", index=False)
        assert "no columns left to learn from" in fails("fit", "a.csv", *ARGUMENTS)
        TRAIN[["sick", "age"]].assign(t=pd.Timestamp("2020-01-01")).to_parquet("a.parquet")
        assert "Column 't' of a.parquet holds datetime64" in fails("fit", "a.parquet", *ARGUMENTS)
        TRAIN[["sick", "age"]].assign(t=pd.Series([None] * 600, dtype=object)).to_parquet("b.parquet")
        assert "Column 't' of b.parquet holds nothing" in fails("fit", "b.parquet", *ARGUMENTS)

    def test_infinite_numbers(self, folder):
        TRAIN[["sick", "age"]].assign(b=[1.0] * 599 + [np.inf]).to_csv("a.csv", index=False)
        assert "Column 'b' of a.csv is infinite in data row 600" in fails("fit", "a.csv", *ARGUMENTS)

    def test_targets(self, folder):
        TRAIN[["sick", "age"]].to_csv("a.csv", index=False)
        assert "say which is positive with --positive" in fails("fit", "a.csv", "--target", "sick", "-o", "m")
        assert "never is 'maybe'" in fails("fit", "a.csv", "--target", "sick", "--positive", "maybe", "-o", "m")
        TRAIN[["sick", "age"]].assign(sick="yes").to_csv("a.csv", index=False)
        assert "holds only 'yes'" in fails("fit", "a.csv", *ARGUMENTS)
        labels = TRAIN["sick"].where(TRAIN.index != 4)
        TRAIN[["age"]].assign(sick=labels).to_csv("a.csv", index=False)
        assert "missing in data row 5" in fails("fit", "a.csv", *ARGUMENTS)
        assert "with --target" in fails("fit", "a.csv", "-o", "m")

    def test_missing_groups_and_scores(self, folder):
        table = TRAIN[["sick", "age", "old"]].assign(team="a", old=TRAIN["old"].where(TRAIN.index != 2))
        table.loc[9, "team"] = None
        table.to_csv("a.csv", index=False)
        assert "group 'team' of a.csv is missing in data row 10" in fails("fit", "a.csv", *ARGUMENTS, "--group", "team")
        arguments = ["evaluate", "a.csv", "--target", "sick", "--positive", "yes", "--score", "old", "--fpr", 0, 0.1]
        assert "score 'old' of a.csv is missing in data row 3" in fails(*arguments)

    def test_an_unreadable_encoding(self, folder):
        Path("a.csv").write_bytes("sick,größe\nyes,1\nno,2\n".encode("latin-1"))
        assert "is not text in utf-8 (byte 0xf6 cannot be read)" in fails("fit", "a.csv", *ARGUMENTS)
        assert "There is no encoding 'klingon'" in fails("fit", "a.csv", *ARGUMENTS, "--encoding", "klingon")
        TRAIN[["sick", "age"]].rename(columns={"age": "größe"}).to_csv("b.csv", index=False, encoding="latin-1")
        assert "größe" in run("fit", "b.csv", *ARGUMENTS, "--encoding", "latin-1").stdout

    def test_rows_of_another_length(self, folder):
        Path("a.csv").write_text("sick,age\nyes,1\nno,2\nyes,3,4\n")
        assert "line 4 has 3 fields where 2 are expected" in fails("fit", "a.csv", *ARGUMENTS)
        Path("a.csv").write_text("sick,age\nyes,1,7\nno,2\n")
        assert "line 2) has more fields than the header" in fails("fit", "a.csv", *ARGUMENTS)
        Path("a.csv").write_text('sick,age\nyes,1\nno,"2\n')
        assert "opens in line 3 is never closed" in fails("fit", "a.csv", *ARGUMENTS)

    def test_a_bad_row_late_in_a_stream_leaves_no_file(self, tables):
        fit()
        with Path("test.csv").open("a") as file:
            file.write("1,2,3,4,5,6,7,8,9,10\n")
        sentence = fails("predict", "model.rocband", "test.csv", "-o", "out.csv", "--chunk-rows", 50)
        assert "line 602 has 10 fields where 8 are expected" in sentence

    @pytest.mark.parametrize("content", ["", "\n\n", "a,b\n"])
    def test_empty_files(self, folder, content):
        Path("a.csv").write_text(content)
        assert "is empty" in (sentence := fails("fit", "a.csv", *ARGUMENTS)) or "holds no rows" in sentence

    @pytest.mark.parametrize("name", ["a.parquet", "a.npz", "a.svm"])
    def test_files_that_are_not_what_they_say(self, folder, name):
        Path(name).write_bytes(b"\x00\x01nonsense\xff" * 10)
        assert f"{name} cannot be read as" in fails("fit", name, *ARGUMENTS)

    def test_arrays_that_hold_objects(self, folder):
        np.savez("a.npz", X=np.array([[print]], dtype=object), y=np.array([1]))
        assert "allow_pickle=False" in fails("fit", "a.npz", *ARGUMENTS)
        np.savez("b.npz", X=np.zeros(3), y=np.zeros(3))
        assert "X must hold numbers in rows and columns" in fails("fit", "b.npz", *ARGUMENTS)

    def test_features_counted_from_zero(self, folder):
        Path("a.svm").write_text("1 0:1 2:3\n0 1:1\n" * 20)
        assert "cannot be read as svmlight" in fails("fit", "a.svm", "-o", "m")
        run("fit", "a.svm", "-o", "m", "--zero-based", "--fpr", 0, 0.5, *QUICK)

    def test_bands_and_numbers(self, tables):
        for band in ((0.5, 0.1), (-1, 0.1), ("nan", 1)):
            assert "fpr_range" in fails("fit", "train.csv", "--columns", "age", *ARGUMENTS, "--fpr", *band)
        assert "C must be a finite number" in fails("fit", "train.csv", "--columns", "age", *ARGUMENTS, "--C", -1)
        assert "--fpr 0 0.05" in fails(
            "evaluate", "test.csv", "--score", "old", "--target", "sick", "--positive", "yes"
        )

    def test_too_few_scorers(self, tables):
        assert "at least one scorer" in fails("evaluate", "test.csv")
        assert "at least two scorers" in fails("compare", "test.csv", "--score", "old")

    def test_places_that_cannot_be_written(self, tables):
        fit()
        assert "The folder of the model file" in fails("fit", "train.csv", *ARGUMENTS[:-1], "no/m")
        assert "The folder of the output" in fails("predict", "model.rocband", "test.csv", "-o", "no/x.csv")
        assert "The folder of the report" in fails("report", "test.csv", "--model", "model.rocband", "-o", "no/x.html")
        assert "The folder of the picture" in fails(
            "evaluate", "test.csv", "--model", "model.rocband", "--plot", "no/x.png"
        )
        assert "not supported" in fails("evaluate", "test.csv", "--model", "model.rocband", "--plot", "x.docx")
        assert "name a file with -o" in fails("predict", "model.rocband", "test.csv", "--json")

    def test_damaged_and_foreign_models(self, tables):
        fit()
        content = Path("model.rocband").read_bytes()
        Path("model.rocband").write_bytes(content[:-1] + b"x")
        assert "model.rocband is damaged" in fails("predict", "model.rocband", "test.csv")
        Path("model.rocband").write_bytes(b"\x80\x04K\x01.")
        assert "is not a rocband model file" in fails("evaluate", "test.csv", "--model", "model.rocband")


def start(*arguments, limit=None):
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.Popen(
        [sys.executable, "-m", "rocband", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limited if limit else None,
    )


class TestTrouble:
    """What goes wrong outside: a full disk, an interrupt, a pipe that closes."""

    def test_no_room_for_the_output(self, tables):
        fit()
        before = sorted(os.listdir())
        done = start("predict", "model.rocband", "test.csv", "-o", "out.csv", limit=2000)
        _, err = done.communicate()
        assert done.returncode == 1
        assert "Error: The output out.csv could not be written: File too large; nothing was changed." in err
        assert "Traceback" not in err
        assert sorted(os.listdir()) == before

    def test_no_room_for_the_model(self, tables):
        done = start("fit", "train.csv", "--columns", "age", *ARGUMENTS, limit=500)
        _, err = done.communicate()
        assert done.returncode == 1
        assert "The model file m could not be written" in err
        assert "Traceback" not in err
        assert sorted(os.listdir()) == ["test.csv", "train.csv"]

    @pytest.mark.parametrize("arguments", [["--help"], ["evaluate", "test.csv", "--model", "model.rocband"]])
    def test_standard_output_is_full(self, tables, arguments):
        fit()
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "rocband", *arguments], stdout=full, stderr=subprocess.PIPE, text=True
            )
        assert done.returncode == 1
        assert "Traceback" not in done.stderr

    def test_a_pipe_that_closes(self, tables):
        fit()
        command = f"{sys.executable} -m rocband predict model.rocband test.csv --chunk-rows 5 -q | head -n 1"
        done = subprocess.run(command, shell=True, capture_output=True, text=True)
        assert done.stdout == "score,label\n"
        assert "Traceback" not in done.stderr

    def test_interrupted_in_the_middle(self, folder):
        """The signal comes when rows are being written beside the target."""
        TRAIN.to_csv("train.csv", index=False)
        fit()
        rows = Path("train.csv").read_bytes().split(b"\n", 1)
        Path("big.csv").write_bytes(rows[0] + b"\n" + rows[1] * 400)
        before = sorted(os.listdir())
        Path("kept.csv").write_text("before")
        done = start("predict", "model.rocband", "big.csv", "-o", "kept.csv", "--chunk-rows", 500)
        for _ in range(3000):
            if any(path.stat().st_size for path in folder.glob(".rocband-*")):
                break
            time.sleep(0.01)
        done.send_signal(signal.SIGINT)
        _, err = done.communicate(timeout=60)
        assert done.returncode == 1
        assert err.strip().endswith("Error: Interrupted; nothing was written.")
        assert Path("kept.csv").read_text() == "before"
        assert sorted(os.listdir()) == sorted([*before, "kept.csv"])

    def test_a_bug_is_one_sentence_too(self, tables, monkeypatch):
        monkeypatch.setattr("rocband.cli.commands.measure.score_rows", lambda *_: 1 / 0)
        result = run("evaluate", "test.csv", "--score", "old", code=1)
        assert "Stopped by an unexpected ZeroDivisionError: division by zero; ROCBAND_DEBUG=1" in result.stderr
        monkeypatch.setenv("ROCBAND_DEBUG", "1")
        result = CliRunner().invoke(command, ["evaluate", "test.csv", "--score", "old"])
        assert isinstance(result.exception, ZeroDivisionError)

    @pytest.mark.parametrize(
        ("error", "sentence", "code"),
        [
            (MemoryError(), "memory of this machine", 1),
            (ImportError("needs x."), "needs x.", 1),
            (OSError(5, "Input/output error", "file"), "Input/output error: file", 1),
            (ValueError(), "was refused", 2),
        ],
    )
    def test_errors_of_the_library(self, tables, monkeypatch, error, sentence, code):
        def broken(*_):
            raise error

        monkeypatch.setattr("rocband.cli.commands.measure.score_rows", broken)
        assert sentence in run("evaluate", "test.csv", "--score", "old", code=code).stderr
