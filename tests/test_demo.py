"""The demo runs, prints the table that the README shows, writes the picture, and its table lines up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from printed import assert_same
from rocband import demo

README = Path(__file__).resolve().parent.parent / "README.md"
TABLE = re.compile(r"^model .*(?:\n.+)+?(?=\n```|\n\n)", re.MULTILINE)


def test_output_and_picture(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    demo.main()
    shown = capsys.readouterr()
    figures = {
        contender.name: float(re.search(rf"^{re.escape(contender.name)} .*?(0\.\d+)", shown.out, re.M)[1])
        for contender in demo.contenders()
    }
    assert len(figures) == 5
    assert_same(TABLE.search(shown.out)[0], TABLE.search(README.read_text(encoding="utf-8"))[0])
    assert figures["rocband default"] > figures["SVM_AUC"]
    assert "[rocband] 5 of 5: rocband default\n" in shown.err
    assert (tmp_path / "rocband-demo.png").read_bytes().startswith(b"\x89PNG")


def test_figures_of_a_perfect_model():
    y = [0] * 50 + [1] * 50
    cells = demo.row(demo.contenders()[0], y, y)
    assert cells[2:6] == ["1.0000"] * 4
    assert cells[6] == ""


def test_columns_line_up():
    rows = [["a", "b", "0.5", "0.5", "0.5", "0.5", "0.1234"], ["a longer name", "b", "1", "1", "1", "1", "0.4321"]]
    lines = demo.table(rows).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[-1].split()[-1] == "0.4321"


def test_no_matplotlib(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    assert "rocband[plot]" in demo.draw([0, 1], {"a": [0.0, 1.0]}, tmp_path / "x.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["SVM_AUC", "SVM_pAUC", "SVM_pAUC^dc"])
def test_published_figures_are_shown(name):
    contender = next(c for c in demo.contenders() if c.name == name)
    assert 0.4 < contender.published < 0.6
