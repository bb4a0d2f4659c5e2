"""What the command line says of bad input and of trouble outside: one sentence, no traceback, no file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from command_line import ARGUMENTS, QUICK, TEST, TRAIN, command, fails, fitted, run

pytestmark = pytest.mark.usefixtures("folder")


SCORE = ["evaluate", "test.csv", "--target", "sick", "--positive", "yes", "--score", "old", "--fpr", "0", "0.1"]


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
        fitted()
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
        TRAIN[["sick", "age"]].assign(t=pd.Timedelta(days=1)).to_parquet("a.parquet")
        assert "Column 't' of a.parquet holds timedelta64" in fails("fit", "a.parquet", *ARGUMENTS)
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
        assert "line 2 has 3 fields where 2 are expected" in fails("fit", "a.csv", *ARGUMENTS)
        Path("a.csv").write_text('sick,age\nyes,1\nno,"2\n')
        assert "opens in line 3 is never closed" in fails("fit", "a.csv", *ARGUMENTS)

    def test_a_bad_row_late_in_a_stream_leaves_no_file(self, tables):
        fitted()
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
            assert "--fpr" in fails("fit", "train.csv", "--columns", "age", *ARGUMENTS, "--fpr", *band)
        assert "--C must be a finite number" in fails("fit", "train.csv", "--columns", "age", *ARGUMENTS, "--C", -1)
        assert "--fpr 0 0.05" in fails(
            "evaluate", "test.csv", "--score", "old", "--target", "sick", "--positive", "yes"
        )

    def test_too_few_scorers(self, tables):
        assert "at least one scorer" in fails("evaluate", "test.csv")
        assert "at least two scorers" in fails("compare", "test.csv", "--score", "old")

    def test_places_that_cannot_be_written(self, tables):
        fitted()
        assert "The folder of the model file" in fails("fit", "train.csv", *ARGUMENTS[:-1], "no/m")
        assert "The folder of the output" in fails("predict", "model.rocband", "test.csv", "-o", "no/x.csv")
        assert "The folder of the report" in fails("report", "test.csv", "--model", "model.rocband", "-o", "no/x.html")
        assert "The folder of the picture" in fails(
            "evaluate", "test.csv", "--model", "model.rocband", "--plot", "no/x.png"
        )
        assert "not supported" in fails("evaluate", "test.csv", "--model", "model.rocband", "--plot", "x.docx")
        assert "name a file with -o" in fails("predict", "model.rocband", "test.csv", "--json")

    def test_damaged_and_foreign_models(self, tables):
        fitted()
        content = Path("model.rocband").read_bytes()
        Path("model.rocband").write_bytes(content[:-1] + b"x")
        assert "model.rocband is damaged" in fails("predict", "model.rocband", "test.csv")
        Path("model.rocband").write_bytes(b"\x80\x04K\x01.")
        assert "is not a rocband model file" in fails("evaluate", "test.csv", "--model", "model.rocband")


def start(*arguments, blocks=None, **options):
    """Start the command, with a limit on the size of files if wanted."""
    python = [sys.executable, "-m", "rocband", *map(str, arguments)]
    limited = python if blocks is None else ["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *python]
    # A background job of a shell without a terminal inherits that interrupts are ignored: undo that for the child.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(limited, preexec_fn=heed, **pipes, **options)  # noqa: PLW1509


class TestTrouble:
    """What goes wrong outside: a full disk, an interrupt, a pipe that closes."""

    def test_no_room_for_the_output(self, tables):
        fitted()
        before = sorted(os.listdir())
        done = start("predict", "model.rocband", "test.csv", "-o", "out.csv", blocks=2, text=True)
        _, err = done.communicate()
        assert done.returncode == 1
        assert "Error: The output out.csv could not be written: File too large; nothing was changed." in err
        assert "Traceback" not in err
        assert sorted(os.listdir()) == before

    def test_no_room_for_the_model(self, tables):
        done = start("fit", "train.csv", "--columns", "age", *ARGUMENTS, blocks=1, text=True)
        _, err = done.communicate()
        assert done.returncode == 1
        assert "The model file m could not be written" in err
        assert "Traceback" not in err
        assert sorted(os.listdir()) == ["test.csv", "train.csv"]

    @pytest.mark.parametrize("arguments", [["--help"], ["evaluate", "test.csv", "--model", "model.rocband"]])
    def test_standard_output_is_full(self, tables, arguments):
        fitted()
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "rocband", *arguments],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert done.returncode == 1
        assert "Traceback" not in done.stderr

    def test_a_pipe_that_closes(self, tables):
        fitted()
        command = f"{sys.executable} -m rocband predict model.rocband test.csv --chunk-rows 5 -q | head -n 1"
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        assert done.stdout == "score,label\n"
        assert done.stderr == ""

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_interrupted_in_the_middle(self, tables, number):
        """The signal comes when rows are being written beside the target, and the command waits for more."""
        fitted()
        Path("kept.csv").write_text("before")
        before = sorted(os.listdir())
        head, rows = Path("test.csv").read_bytes().split(b"\n", 1)
        with start("predict", "model.rocband", "-", "-o", "kept.csv", stdin=subprocess.PIPE) as done:
            done.stdin.write(head + b"\n")
            # Rows are parsed when a block of them is there; the file's end never comes.
            while not any(path.stat().st_size for path in tables.glob(".rocband-*")):
                done.stdin.write(rows)
                done.stdin.flush()
                assert done.poll() is None
            done.send_signal(number)
            assert done.stderr.read().decode().endswith("Error: Interrupted; nothing was written.\n")
        assert done.returncode == 1
        assert Path("kept.csv").read_text() == "before"
        assert sorted(os.listdir()) == before

    def test_interrupted_inside_a_callback_that_drops_exceptions(self, tables):
        """As a finalizer or a callback of compiled code does."""
        code = (
            "import os, signal, sys\n"
            "from rocband import cli\n"
            "from rocband.cli.commands import other\n"
            "from rocband._files import open_whole\n"
            "from pathlib import Path\n"
            "class Dropped:\n"
            "    def __del__(self):\n"
            "        os.kill(os.getpid(), signal.SIGTERM)\n"
            "        while True: pass\n"
            "def main():\n"
            "    with open_whole(Path('out.csv'), 'the output') as file:\n"
            "        file.write(b'half')\n"
            "        Dropped()\n"
            "from rocband import demo\n"
            "demo.main = main\n"
            "sys.argv = ['rocband', 'demo']\n"
            "cli.main()\n"
        )
        before = sorted(os.listdir())
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100)
        assert done.returncode == 1
        assert done.stderr == "Error: Interrupted; nothing was written.\n"
        assert sorted(os.listdir()) == before

    def test_a_bug_is_one_sentence_too(self, tables, monkeypatch):
        monkeypatch.setattr("rocband.cli.scoring.ScoredRows.run", lambda *_: 1 / 0)
        result = run(*SCORE, code=1)
        assert "Stopped by an unexpected ZeroDivisionError: division by zero; ROCBAND_DEBUG=1" in result.stderr
        monkeypatch.setenv("ROCBAND_DEBUG", "1")
        result = CliRunner().invoke(command, SCORE)
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

        monkeypatch.setattr("rocband.cli.scoring.ScoredRows.run", broken)
        assert sentence in run(*SCORE, code=code).stderr
