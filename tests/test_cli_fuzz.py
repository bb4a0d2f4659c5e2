"""Five hundred malformed files and argument lists: each ends in a result or one sentence, and leaves nothing behind."""

from __future__ import annotations

import io
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import dump_svmlight_file

from command_line import QUICK, command, fitted, make_table, run

CASES = 500
PART = 50
SMALL = make_table(120, seed=3)

JUNK = [
    *("", " ", ",", ";", "\t", '"', "'", "\n", "\r\n", "\x00", "\ufeff", "NA", "nan", "inf", "-inf", "1e999", "yes"),
    *("0x10", "1,5", "=cmd()", "../../etc/passwd", "é" * 50, "9" * 400, "{}", "[", "\\", "%s", "${HOME}", "-", "--"),
]


def valid_content(kind):
    """Bytes of a sound file of each kind."""
    stream = io.BytesIO()
    y = (SMALL["sick"] == "yes").astype(int).to_numpy()
    if kind == "csv":
        SMALL.to_csv(stream, index=False)
    elif kind == "parquet":
        SMALL.to_parquet(stream)
    elif kind == "svm":
        dump_svmlight_file(SMALL[["age", "old"]].to_numpy(), y, stream, zero_based=False)
    elif kind == "npz":
        np.savez(stream, X=SMALL[["age", "old"]].to_numpy(), y=y)
    else:
        stream.write(Path("model.rocband").read_bytes())
    return stream.getvalue()


def damage_text(content, draw):
    """Break a table as people and programs do."""
    lines = content.split(b"\n")
    for _ in range(draw.randint(1, 4)):
        line = draw.randrange(len(lines))
        junk = draw.choice(JUNK).encode()
        fields = lines[line].split(b",")
        action = draw.randrange(6)
        if action == 0:
            fields.insert(draw.randrange(len(fields) + 1), junk)
        elif action == 1:
            fields[draw.randrange(len(fields))] = junk
        elif action == 2 and len(fields) > 1:
            del fields[draw.randrange(len(fields))]
        elif action == 3:
            fields = [junk * draw.randint(1, 30)]
        elif action == 4:
            fields = [b",".join(fields).decode(errors="replace").encode(draw.choice(["utf-16", "latin-1"]), "replace")]
        lines[line] = b",".join(fields)
    return b"\n".join(lines)


def damage_bytes(content, draw):
    """Cut, flip, repeat or replace bytes."""
    content = bytearray(content)
    action = draw.randrange(5)
    if action == 0:
        return bytes(content[: draw.randrange(len(content))])
    if action == 1:
        for _ in range(draw.randint(1, 20)):
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        return bytes(content)
    if action == 2:
        start = draw.randrange(len(content))
        return bytes(content[:start]) + draw.randbytes(draw.randrange(200)) + bytes(content[start:])
    if action == 3:
        return draw.randbytes(draw.randrange(300))
    return bytes(content) * 2


def number(draw):
    return draw.choice(["0", "1", "-1", "0.05", "0.5", "1e-9", "1e9", "nan", "inf", "", "abc", "0.1.2", "1,5"])


def column(draw):
    return draw.choice([*SMALL.columns, "none", "", "sick ", "x0", "target", "y", *JUNK[:6]])


OPTIONS = {
    "--target": column,
    "--positive": lambda draw: draw.choice(["yes", "no", "1", "", "maybe", "1.0"]),
    "--group": column,
    "--drop": column,
    "--columns": column,
    "--numeric": column,
    "--categories": column,
    "--score": column,
    "--keep": column,
    "--C": number,
    "--folds": number,
    "--target-fpr": number,
    "--guarantee": number,
    "--confidence": number,
    "--draws": lambda draw: draw.choice(["100", "150", "0", "-5", "x"]),
    "--prevalence": number,
    "--at": number,
    "--seed": lambda draw: draw.choice(["0", "-1", "4294967296", "x"]),
    "--chunk-rows": lambda draw: draw.choice(["1", "50", "0", "-3", "x"]),
    "--separator": lambda draw: draw.choice([",", ";", "\\t", "", "ab", "\n", '"']),
    "--decimal": lambda draw: draw.choice([".", ",", "", "xy"]),
    "--encoding": lambda draw: draw.choice(["utf-8", "latin-1", "utf-16", "ascii", "none", "", "rot13", "base64"]),
    "--missing": lambda draw: draw.choice(JUNK[:12]),
    "--format": lambda draw: draw.choice(["csv", "parquet", "npz", "svmlight", "pickle"]),
    "--surrogate": lambda draw: draw.choice(["ramp", "tight", "naive", "other"]),
    "--anchor": lambda draw: draw.choice(["none", "auc", "logistic", "other"]),
    "--impute": lambda draw: draw.choice(["none", "mean", "most_frequent", "other"]),
    "--scale": lambda draw: draw.choice(["none", "maxabs", "other"]),
    "--method": lambda draw: draw.choice(["analytic", "spacings", "other"]),
    "--max-categories": number,
}
FLAGS = ["--json", "--quiet", "--one-vs-rest", "--zero-based", "--unknown", "-x", "--"]


def damaged_file(kind, draw):
    """Write a damaged file and return its name."""
    content = valid_content(kind)
    text = kind in ("csv", "svm") and draw.random() < 0.7
    path = Path(f"bad.{kind}")
    path.write_bytes(damage_text(content, draw) if text else damage_bytes(content, draw))
    return path.name


def arguments_for(draw):
    """Return an argument list: a bad file, bad options, or both."""
    name = draw.choice(["fit", "fit", "predict", "evaluate", "compare", "report", "export"])
    bad_file = draw.random() < 0.6
    data = damaged_file(draw.choice(["csv", "csv", "csv", "parquet", "svm", "npz"]), draw) if bad_file else "good.csv"
    model = damaged_file("rocband", draw) if draw.random() < 0.3 else "model.rocband"
    labels = ["--target", "sick", "--positive", "yes"] if "sv" not in data[-3:] or data.endswith("csv") else []
    arguments = {
        "fit": ["fit", data, *labels, "--drop", "id", *QUICK, "-o", "out"],
        "predict": ["predict", model, data, "-o", draw.choice(["out", "out.parquet"])],
        "evaluate": ["evaluate", data, "--model", model, *labels, "--draws", "100"],
        "compare": ["compare", data, "--model", model, "--score", "old", *labels, "--method", "analytic"],
        "report": ["report", data, "--model", model, *labels, "--draws", "100", "-o", "out"],
        "export": ["export", model, "-o", "out"],
    }[name]
    for _ in range(draw.choice([0, 0, 1, 2, 3] if bad_file else [1, 2, 3])):
        option = draw.choice([*OPTIONS, *FLAGS, "--fpr", "junk"])
        if option in OPTIONS:
            arguments += [option, OPTIONS[option](draw)]
        elif option == "--fpr":
            arguments += [option, number(draw), number(draw)]
        else:
            arguments.append(draw.choice(JUNK) if option == "junk" else option)
    if draw.random() < 0.05:
        draw.shuffle(arguments)
    return arguments


@pytest.mark.parametrize("start", range(0, CASES, PART))
def test_no_traceback_and_no_file_left_behind(tables, start):
    fitted()
    SMALL.to_csv("good.csv", index=False)
    codes = {0: 0, 1: 0, 2: 0}
    for seed in range(start, start + PART):
        arguments = arguments_for(random.Random(seed))
        before = {path.name: path.read_bytes() for path in Path().iterdir()}
        result = CliRunner().invoke(command, arguments, input=b"")
        said = f"case {seed}: rocband {arguments}\n{result.output}"
        assert result.exit_code in codes, said
        assert result.exception is None or isinstance(result.exception, SystemExit), said
        assert "Traceback" not in result.output, said
        assert "an unexpected" not in result.output, said
        if result.exit_code:
            assert "Error: " in result.stderr, said
        codes[result.exit_code] += 1
        after = {path.name: path.read_bytes() for path in Path().iterdir()}
        made = set(after) - set(before)
        assert made <= ({"out", "out.parquet"} if result.exit_code == 0 else set()), said
        assert {name: after[name] for name in before} == before, said
        for name in made:
            Path(name).unlink()
    assert codes[1] + codes[2] > PART / 3


def test_sound_files_pass(tables):
    """The files that are damaged above are sound before."""
    fitted()
    for kind in ("csv", "parquet", "svm", "npz"):
        Path(f"good.{kind}").write_bytes(valid_content(kind))
        labels = ["--target", "sick", "--positive", "yes", "--drop", "id"] if kind in ("csv", "parquet") else []
        run("fit", f"good.{kind}", *labels, *QUICK, "-o", "m")
    assert len(pd.read_csv("good.csv")) == len(SMALL)
