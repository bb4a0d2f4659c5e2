"""Tables for the command line, and ways to run it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from click.testing import CliRunner

from rocband.cli.app import cli as command

QUICK = ("--C", "10")
FEW_DRAWS = ("--draws", "200")


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
ARGUMENTS = ("--target", "sick", "--positive", "yes", *QUICK, "-o", "m")
FEATURES = ["age", "marker", "site"]


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
    assert "an unexpected" not in result.output
    sentence = result.stderr.rstrip().splitlines()[-1]
    assert sentence.startswith("Error: ")
    return sentence.removeprefix("Error: ")


def fit(*options, data="train.csv", output="model.rocband", code=0):
    chosen = [part for name in FEATURES for part in ("--columns", name)]
    return run("fit", data, "--target", "sick", "--positive", "yes", *chosen, *QUICK, "-o", output, *options, code=code)


def fitted():
    """Put the model of `fit` into the folder; it is fitted once for all tests."""
    Path("model.rocband").write_bytes(_model())


@cache
def _model():
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        TRAIN.to_csv("train.csv", index=False)
        fit()
        return Path("model.rocband").read_bytes()


def python_of(result):
    """Return the Python that a command printed."""
    lines = result.stdout.partition("The same in Python:\n")[2] or result.stderr.partition("The same in Python:\n")[2]
    return "\n".join(line.removeprefix("    ") for line in lines.splitlines())


def execute(code):
    names: dict[str, object] = {}
    exec(compile(code, "printed", "exec"), names)
    return names
