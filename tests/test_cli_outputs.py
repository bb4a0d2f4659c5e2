"""Where outputs go: devices and pipes as they are, modes kept; and what a terminal or a spreadsheet would run."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import pty
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import ARGUMENTS, FEW_DRAWS, TEST, TRAIN, execute, fails, fit, fitted, python_of, run
from rocband import persist
from rocband._files import check_target, is_standard_output, open_whole, write_whole
from rocband.cli.commands.predict import _parquet_schema
from rocband.cli.formats import delimited

pytestmark = pytest.mark.usefixtures("tables")

PREDICT = ("predict", "model.rocband", "test.csv")
ESCAPE = "\x1b[31mred\x07"


class TestPlaces:
    def test_a_device_is_written_through(self, tables):
        fitted()
        before = os.stat("/dev/null")
        os.symlink("/dev/null", "nowhere.csv")
        for output in ("/dev/null", "nowhere.csv"):
            run(*PREDICT, "-o", output)
        run("report", "test.csv", "--model", "model.rocband", "-o", "nowhere.csv", *FEW_DRAWS)
        after = os.stat("/dev/null")
        assert stat.S_ISCHR(after.st_mode)
        assert (after.st_ino, after.st_rdev) == (before.st_ino, before.st_rdev)
        assert Path("nowhere.csv").is_symlink()

    @pytest.mark.parametrize("name", ["pipe.csv", "pipe.parquet"])
    def test_a_pipe_is_written_through(self, name):
        fitted()
        os.mkfifo(name)
        read = []
        reader = threading.Thread(target=lambda: read.append(Path(name).read_bytes()))
        reader.start()
        run(*PREDICT, "-o", name)
        reader.join()
        assert stat.S_ISFIFO(os.stat(name).st_mode)
        frame = pd.read_csv(io.BytesIO(read[0])) if name.endswith("csv") else pd.read_parquet(io.BytesIO(read[0]))
        assert len(frame) == len(TEST)

    @pytest.mark.parametrize("kind", ["pipe", "file"])
    def test_standard_output_by_its_name(self, kind):
        """What is said goes to standard error, and the file behind is neither replaced nor overwritten."""
        fitted()
        command = [sys.executable, "-m", "rocband", *PREDICT, "-o", "/dev/stdout"]
        if kind == "pipe":
            done = subprocess.run(command, capture_output=True, check=True)
            content, said = done.stdout, done.stderr
        else:
            with Path("out.csv").open("wb") as file:
                file.write(b"before\n")
                file.flush()
                said = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, check=True).stderr
            head, _, content = Path("out.csv").read_bytes().partition(b"\n")
            assert head == b"before"
        assert len(pd.read_csv(io.BytesIO(content))) == len(TEST)
        assert b"600 rows scored" in said

    def test_a_replaced_file_keeps_its_mode(self):
        fitted()
        for mode in (0o600, 0o666, 0o640):
            Path("s.csv").write_text("old")
            os.chmod("s.csv", mode)
            run(*PREDICT, "-o", "s.csv")
            assert stat.S_IMODE(os.stat("s.csv").st_mode) == mode
        mask = os.umask(0o027)
        try:
            run(*PREDICT, "-o", "new.csv")
        finally:
            os.umask(mask)
        assert stat.S_IMODE(os.stat("new.csv").st_mode) == 0o640

    def test_a_secret_is_never_readable_while_it_is_written(self, folder, monkeypatch):
        """Not even between its first byte and the change of its mode."""
        Path("s").write_text("old")
        os.chmod("s", 0o600)
        monkeypatch.setattr(os, "chmod", lambda *_: None)
        with open_whole(Path("s"), "the output") as file:
            file.write(b"new")
            (beside,) = folder.glob(".rocband-*")
            assert stat.S_IMODE(beside.stat().st_mode) == 0o600

    def test_links_stay_links(self):
        Path("real").write_text("old")
        os.symlink("real", "link")
        write_whole(Path("link"), b"new", "the output")
        assert Path("link").is_symlink()
        assert Path("real").read_bytes() == b"new"

    def test_what_cannot_be_opened_is_one_sentence(self, folder):
        with pytest.raises(IsADirectoryError, match=r"The path of the output, .*, is a folder"):
            check_target(folder, "the output")
        with pytest.raises(OSError, match="could not be written: No space left on device"):
            write_whole(Path("/dev/full"), b"x" * 10, "the output")
        assert not is_standard_output(None)
        assert not is_standard_output("none")


class TestTerminals:
    """No byte of a file reaches a terminal in a way that it acts on."""

    def strange(self):
        table = TRAIN[["age", "sick"]].assign(**{f"age{ESCAPE}": TRAIN["new"]})
        table["sick"] = np.where(TRAIN["sick"] == "yes", f"yes{ESCAPE}", "no\x9b2J")
        table.to_csv(f"a{ESCAPE}.csv", index=False)
        return f"a{ESCAPE}.csv", ("--target", "sick", "--positive", f"yes{ESCAPE}")

    def test_in_all_commands(self):
        data, labels = self.strange()
        said = [run("fit", data, *labels, "--C", 10, "-o", "m\x1b")]
        said.append(run("evaluate", data, "--model", "m\x1b", "--score", f"age{ESCAPE}", *FEW_DRAWS))
        said.append(run("compare", data, "--model", "m\x1b", "--score", f"age{ESCAPE}", *FEW_DRAWS))
        said.append(run("predict", "m\x1b", data, "-o", "s\x1b.csv", "--keep", f"age{ESCAPE}"))
        for sentence in (
            fails("fit", data, "--target", ESCAPE, "-o", "m"),
            fails("fit", data, "--target", "sick", "-o", "m"),
            fails("fit", data, *labels, "-o", "m", "--C", ESCAPE),
            fails("fit", f"none{ESCAPE}.csv", *labels, "-o", "m"),
            run(ESCAPE, code=2).stderr,
            run(f"--{ESCAPE}", code=2).stderr,
        ):
            assert not set(sentence) & set("\x1b\x07\x9b")
        for result in said:
            assert not set(result.output) & set("\x1b\x07\x9b")
            assert "\\x1b[31mred\\x07" in result.output
        execute(python_of(said[0]))
        # The file itself holds what the table held.
        assert f"age{ESCAPE}" in Path("s\x1b.csv").read_text()

    def test_scores_on_a_terminal(self):
        data, labels = self.strange()
        run("fit", data, *labels, "--C", 10, "-o", "m")
        outer, inner = pty.openpty()
        command = [sys.executable, "-m", "rocband", "predict", "m", data, "-q"]
        with subprocess.Popen(command, stdout=inner, stderr=subprocess.PIPE) as done:
            os.close(inner)
            shown = b""
            # A terminal whose other end was closed gives an error, not an end.
            while part := self.read(outer):
                shown += part
        os.close(outer)
        assert done.returncode == 0
        assert b"yes\\x1b[31mred\\x07" in shown
        assert not set(shown) & set(b"\x1b\x07\x9b")

    @staticmethod
    def read(number):
        try:
            return os.read(number, 1 << 16)
        except OSError:
            return b""


class TestSpreadsheets:
    TEXTS = ("=1+1", "+A1", "-A1", "@SUM(A1)", "\tx", "-1.5", "+", "-", "a=b", "'=1", "")

    def table(self):
        texts = [self.TEXTS[k % len(self.TEXTS)] for k in range(600)]
        return TEST.assign(note=texts, **{"=name": texts, "-size": TEST["age"] - 50})

    def test_formulas_get_an_apostrophe(self):
        fitted()
        self.table().to_csv("a.csv", index=False)
        result = run("predict", "model.rocband", "a.csv", "-o", "s.csv", "--keep", "note,=name,-size")
        scores = pd.read_csv("s.csv", dtype=str, keep_default_na=False)
        expected = [f"'{text}" if k < 5 else text for k, text in enumerate(self.TEXTS)]
        assert scores["note"].tolist()[: len(self.TEXTS)] == expected
        assert list(scores.columns) == ["note", "'=name", "'-size", "score", "label"]
        assert scores["'-size"].astype(float).tolist() == pytest.approx((TEST["age"] - 50).tolist())
        assert "texts that a spreadsheet would run got an apostrophe; --raw copies them as they are" in result.stderr
        written = Path("s.csv").read_bytes()
        execute(python_of(result))
        again = pd.read_csv("s.csv", dtype=str, keep_default_na=False)
        pd.testing.assert_frame_equal(again.drop(columns="score"), scores.drop(columns="score"))
        run("predict", "model.rocband", "a.csv", "-o", "s.csv", "--keep", "note,=name,-size", "--chunk-rows", 70)
        assert Path("s.csv").read_bytes() == written

    def test_raw(self):
        fitted()
        self.table().to_csv("a.csv", index=False)
        result = run("predict", "model.rocband", "a.csv", "-o", "s.csv", "--keep", "note", "--raw")
        assert "apostrophe" not in result.output
        scores = pd.read_csv("s.csv", dtype=str, keep_default_na=False)
        assert scores["note"].tolist()[: len(self.TEXTS)] == list(self.TEXTS)

    def test_labels_and_parquet(self):
        TRAIN[["age", "sick"]].replace({"sick": {"yes": "=yes"}}).to_csv("a.csv", index=False)
        run("fit", "a.csv", "--target", "sick", "--positive", "=yes", "--C", 10, "-o", "m")
        run("predict", "m", "test.csv", "-o", "s.csv")
        assert set(pd.read_csv("s.csv")["label"]) == {"'=yes", "no"}
        run("predict", "m", "test.csv", "-o", "s.parquet")
        assert set(pd.read_parquet("s.parquet")["label"]) == {"=yes", "no"}

    def test_types_of_a_parquet_file_hold_for_all_chunks(self):
        table = TEST.assign(
            count=pd.array([None if k < 150 else k for k in range(600)], dtype="Int64"),
            flag=pd.array([None if k < 150 else k % 2 == 0 for k in range(600)], dtype="boolean"),
            text=[None if k < 150 else f"t{k}" for k in range(600)],
        )
        fitted()
        for part, name in ((table, "a.parquet"), (table[::-1], "b.parquet")):
            part.to_parquet(name, index=False)
            run("predict", "model.rocband", name, "-o", "s.parquet", "--keep", "count,flag,text", "--chunk-rows", 100)
            kept = pd.read_parquet("s.parquet")
            for column in ("count", "flag", "text"):
                assert kept[column].isna().tolist() == part[column].isna().tolist()
                assert kept[column].dropna().tolist() == part[column].dropna().tolist()

    def test_a_column_that_starts_empty_may_hold_text_later(self):
        empty = pd.DataFrame({"text": pd.Series([None], dtype=object), "score": [1.0]})
        assert [str(kind) for kind in _parquet_schema(empty).types] == ["string", "double"]

    def test_copies_look_as_they_do_in_the_file(self):
        fitted()
        codes = ["007" if k % 2 else "7.50" for k in range(600)]
        late = ["" if k < 300 else "x" for k in range(600)]
        TEST.assign(code=codes, late=late).to_csv("a.csv", index=False)
        for output in ("s.csv", "s.parquet"):
            run("predict", "model.rocband", "a.csv", "-o", output, "--keep", "code,late", "--chunk-rows", 100)
        assert pd.read_csv("s.csv", dtype=str)["code"].tolist() == codes
        frame = pd.read_parquet("s.parquet")
        assert frame["code"].tolist() == codes
        assert frame["late"].fillna("").tolist() == late


class Zeros(io.RawIOBase):
    """An endless line, as a small compressed file may hold."""

    def __init__(self, head):
        self.head = head
        self.read_so_far = 0

    def readable(self):
        return True

    def readinto(self, buffer):
        part, self.head = self.head[: len(buffer)], self.head[len(buffer) :]
        content = part or b"0" * len(buffer)
        buffer[: len(content)] = content
        self.read_so_far += len(content)
        # Held to be enough for whoever reads to stop.
        assert self.read_so_far < 200 * delimited._BLOCK
        return len(content)


class TestEndlessLines:
    @pytest.mark.parametrize("head", [b"", b"age,sick\n", b"age,sick\n1,yes\n" * 3, b'age,sick\n1,yes\n2,"'])
    def test_refused_in_bounded_memory(self, monkeypatch, head):
        monkeypatch.setattr(delimited, "_BLOCK", 1 << 12)
        endless = Zeros(head)
        monkeypatch.setattr("rocband.cli.table_file._UNPACKED", {".gz": lambda *_: endless})
        assert "a line is longer than" in fails("fit", "a.csv.gz", *ARGUMENTS)

    @pytest.mark.parametrize(("ending", "packed"), [("gz", gzip), ("bz2", bz2), ("xz", lzma)])
    def test_in_a_real_archive(self, ending, packed):
        with packed.open(f"a.csv.{ending}", "wb") as file:
            file.write(b"age,sick\n1,yes\n2,")
            for _ in range(8):
                file.write(b"0" * (1 << 20))
        assert "a line is longer than" in fails("fit", f"a.csv.{ending}", *ARGUMENTS)

    def test_long_rows_are_read(self):
        """As long as a block, with a header as long."""
        draw = np.random.default_rng(0)
        names = [f"a rather long name of a feature {k}" for k in range(200)]
        table = pd.DataFrame(draw.integers(0, 10, (60, 200)), columns=names).assign(sick=TRAIN["sick"].head(60))
        table.to_csv("wide.csv", index=False)
        run("fit", "wide.csv", *ARGUMENTS)
        assert len(persist.describe("m")["feature_names"]) == 200


class TestParsing:
    """What Arrow reads is what pandas reads of the same file, and a bad record is told with its line."""

    @pytest.mark.parametrize("block", [64, 1 << 20])
    def test_the_line_of_a_record(self, monkeypatch, block):
        monkeypatch.setattr(delimited, "_BLOCK", block)
        rows = ['1,"a\nb",yes', "2,c,no", "", "3,d,yes", "   "] * 30
        for place, line in ((0, 2), (1, 4), (3, 6), (100, 122)):
            for bad in ("4,5", "4,5,6,7", '"4\n,5",6'):
                lines = [*rows[:place], bad, *rows[place:]]
                for end in ("\n", "\r\n", "\r"):
                    Path("a.csv").write_bytes("\n".join(["age,note,sick", *lines]).replace("\n", end).encode())
                    found = 4 if bad == "4,5,6,7" else 2
                    assert f"line {line} has {found} fields where 3 are expected" in fails("fit", "a.csv", *ARGUMENTS)

    @pytest.mark.parametrize("tail", ['"2', '"2\n', '"2\n3,yes\n4,no\n', '"two\n\n'])
    def test_a_quotation_mark_that_is_open_at_the_end(self, tail):
        """Though there are as many fields as there should be."""
        Path("a.csv").write_text('age,sick\n1,yes\n2,"n\no"\n3,' + tail)
        assert "a quotation mark that opens in line 5 is never closed" in fails("fit", "a.csv", *ARGUMENTS)

    @pytest.mark.parametrize("tail", ['"no"', '"n""o"\n', '5" pipe\n', '"no"x\n', "no\n\n\n"])
    def test_marks_that_are_closed_or_none(self, tail):
        Path("a.csv").write_text("age,sick\n" + "1,yes\n2,maybe\n" * 20 + "3," + tail)
        run("fit", "a.csv", *ARGUMENTS, "--one-vs-rest")

    def test_numbers_are_those_of_pandas(self):
        texts = ["1", "+2.50", " 3e-7", ".5", "-7.", "1E5", "0.1234567890123456789", "99999999999999999999", "NA", " "]
        codes = ["0x1F" if k % 2 else "0x20" for k in range(600)]
        table = TRAIN[["sick"]].assign(x=[texts[k % len(texts)] for k in range(600)], code=codes)
        table.to_csv("a.csv", index=False)
        result = run("fit", "a.csv", *ARGUMENTS)
        assert "1 numbers: x" in result.stdout
        assert "1 categories: code" in result.stdout
        first = persist.load("m")
        execute(python_of(result))
        np.testing.assert_array_equal(first[-1].coef_, persist.load("m")[-1].coef_)
        values = pd.to_numeric(table["x"].str.strip().replace({"NA": None, "": None}))
        assert first[0].named_transformers_["numbers"][-1].mean_[0] == pytest.approx(
            values.fillna(values.median()).mean()
        )

    def test_points_beside_decimal_commas_are_no_numbers(self):
        TRAIN[["sick"]].assign(x="1.234,5", y="1.5").to_csv("a.csv", index=False, sep=";")
        result = run("fit", "a.csv", *ARGUMENTS, "--separator", ";", "--decimal", ",")
        assert "2 categories: x, y" in result.stdout

    @pytest.mark.parametrize("option", ["--keep", "--score"])
    def test_fields_beyond_the_header(self, option):
        fitted()
        head, *lines = TEST.to_csv(index=False).splitlines()
        body = [f"{line}," for line in lines]
        body[30] = f"{lines[30]},more"
        Path("a.csv").write_text("\n".join([head, *body, ""]))
        sentence = fails("predict", "model.rocband", "a.csv", "-o", "s.csv", "--chunk-rows", 20)
        assert "a.csv: data row 31 has more fields than the header, with 'more' at its end" in sentence


def test_what_fit_prints_goes_to_standard_error_when_the_model_takes_standard_output():
    command = [sys.executable, "-m", "rocband", "fit", "train.csv", *map(str, ARGUMENTS[:-1]), "/dev/stdout"]
    done = subprocess.run([*command, "--columns", "age"], capture_output=True, check=True)
    Path("m").write_bytes(done.stdout)
    fit("--columns", "age", output="other")
    assert persist.load("m")[-1].coef_.shape == (1, 1)
    assert b"600 rows" in done.stderr
