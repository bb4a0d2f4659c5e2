"""The demo runs, prints a table, and its figures are in order."""

from __future__ import annotations

from rocband.demo import figures, main, table


def test_output(capsys):
    main()
    shown = capsys.readouterr().out
    assert "logistic regression" in shown
    assert "partial AUC, FPR 2% to 5%" in shown
    assert "TPR at FPR 5%" in shown


def test_figures_of_a_perfect_model():
    y = [0] * 50 + [1] * 50
    assert set(figures(y, y).values()) == {1.0}


def test_columns_line_up():
    rows = table({"a": {"AUC": 0.5}, "a longer name": {"AUC": 1.0}}).splitlines()
    assert len({len(row) for row in rows}) == 1
    assert rows[-1].split() == ["AUC", "0.5000", "1.0000"]
