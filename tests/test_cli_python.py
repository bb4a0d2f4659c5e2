"""The Python that commands print runs, and gives what the commands gave, for tables written in many ways."""

from __future__ import annotations

import contextlib
import decimal
import gzip
import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from command_line import FEW_DRAWS, QUICK, TEST, TRAIN, execute, python_of, run
from rocband import PartialAUCSVC, persist
from rocband.inference import partial_auc_interval, tpr_at_fpr_interval

pytestmark = pytest.mark.usefixtures("folder")

LONG = {f"a long name of measurement number {k}": 1.0 + k for k in range(12)}


def base(table):
    """Return numbers, categories with some missing, a group, a score and a target."""
    kept = table[["age", "marker", "site", "patient", "old", "sick"]]
    return kept.assign(flag=table["new"] > 0)


def plain_csv(table, path):
    table.to_csv(f"{path}.csv", index=False)
    return f"{path}.csv", ()


def semicolons(table, path):
    table.to_csv(f"{path}.csv", index=False, sep=";", decimal=",", na_rep="none")
    return f"{path}.csv", ("--separator", ";", "--decimal", ",", "--missing", "none")


def tabs(table, path):
    table.to_csv(f"{path}.tsv", index=False, sep="\t", encoding="utf-16")
    return f"{path}.tsv", ("--encoding", "utf-16")


def compressed(table, path):
    Path(f"{path}.csv.gz").write_bytes(gzip.compress(table.to_csv(index=False).encode()))
    return f"{path}.csv.gz", ()


def commas_at_the_ends(table, path):
    head, *lines = table.to_csv(index=False).splitlines()
    Path(f"{path}.csv").write_text("\n".join([head, *(f"{line}," for line in lines), ""]))
    return f"{path}.csv", ()


def spaces_around(table, path):
    lines = table.to_csv(index=False).splitlines()
    Path(f"{path}.csv").write_text("\n".join(line.replace(",", " , ") + " " for line in lines))
    return f"{path}.csv", ()


def some_flags_missing(table, path):
    table.assign(flag=table["flag"].astype(object).where(table.index % 7 > 0)).to_csv(f"{path}.csv", index=False)
    return f"{path}.csv", ()


def plain_parquet(table, path):
    table.to_parquet(f"{path}.parquet", index=False)
    return f"{path}.parquet", ()


def filtered_parquet(table, path):
    table[::-1].iloc[5:].to_parquet(f"{path}.parquet")
    return f"{path}.parquet", ()


def named_index_parquet(table, path):
    table.set_index("patient").to_parquet(f"{path}.parquet")
    return f"{path}.parquet", ()


def nullable_parquet(table, path):
    types = {"site": "string", "age": "Float64", "marker": "Float64", "patient": "Int64", "flag": "boolean"}
    types |= {"sick": "string"}
    table.astype(types).to_parquet(f"{path}.parquet", index=False)
    return f"{path}.parquet", ()


def decimal_parquet(table, path):
    exact = [decimal.Decimal(f"{age:.1f}") for age in table["age"]]
    table.assign(age=exact, site=table["site"].astype("category")).to_parquet(f"{path}.parquet", index=False)
    return f"{path}.parquet", ()


def text_labels_parquet(table, path):
    table.assign(sick=np.where(table["sick"] == "yes", " 1", "0 "), site=table["site"] + " ").to_parquet(
        f"{path}.parquet"
    )
    return f"{path}.parquet", ()


WAYS = [
    *(plain_csv, semicolons, tabs, compressed, commas_at_the_ends, spaces_around, some_flags_missing),
    *(plain_parquet, filtered_parquet, named_index_parquet, nullable_parquet, decimal_parquet, text_labels_parquet),
]


def printed(code):
    """Run Python, and return what it prints."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        execute(code)
    return stream.getvalue()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_tables_written_in_many_ways(way):
    (train, options), (test, _) = way(base(TRAIN), "train"), way(base(TEST), "test")
    positive = "1" if way is text_labels_parquet else "yes"
    labels = ("--target", "sick", "--positive", positive)
    drop = () if way is filtered_parquet else ("--drop", "old")
    result = run("fit", train, *labels, "--group", "patient", *drop, *QUICK, *options, "-o", "m")
    first, about = persist.load("m"), persist.describe("m")
    execute(python_of(result))
    assert persist.describe("m") == about
    np.testing.assert_array_equal(first[-1].coef_, persist.load("m")[-1].coef_)

    result = run("predict", "m", test, "--keep", "age", *options, "-o", "scores.csv", "--chunk-rows", 150)
    scores = Path("scores.csv").read_text()
    execute(python_of(result))
    again = pd.read_csv("scores.csv")
    pd.testing.assert_frame_equal(again, pd.read_csv(io.StringIO(scores)), rtol=1e-12)

    arguments = ("--model", "m", "--score", "old", "--group", "patient", *FEW_DRAWS, *options)
    shown = json.loads(run("evaluate", test, *arguments, "--json").stdout)
    said = printed(shown["python"])
    for name in ("m", "old"):
        for figure in shown["scorers"][name]["pauc"], shown["scorers"][name]["tpr"], shown["scorers"][name]["auc"]:
            assert f"{figure['estimate']:.4f} (95% interval {figure['low']:.4f} to {figure['high']:.4f}" in said
        for point in shown["scorers"][name]["operating_points"]:
            assert f"{point['alerts per 1,000 high']:.6f}" in said
    result = run("compare", test, *arguments)
    assert f"p = {run_comparison(test, arguments)['pvalue']:.2g}" in printed(python_of(result))


def run_comparison(test, arguments):
    return json.loads(run("compare", test, *arguments, "--json").stdout)["comparisons"][0]


def test_all_columns_of_evaluate(tables):
    arguments = ("--target", "sick", "--positive", "yes", "--score", "new", "--fpr", 0, 0.1, "--confidence", 0.9)
    names = execute(python_of(run("evaluate", "test.csv", *arguments)))
    y, values = names["y"], names["scores"]["new"]
    options = {"confidence": 0.9, "random_state": 0}
    said = printed(python_of(run("evaluate", "test.csv", *arguments)))
    assert str(partial_auc_interval(y, values, fpr_range=(0.0, 0.1), **options)) in said
    assert str(tpr_at_fpr_interval(y, values, fpr=0.1, **options)) in said
    assert str(partial_auc_interval(y, values, **options)) in said
    assert "..." not in said


def test_long_names_with_spaces():
    draw = np.random.default_rng(0)
    table = TRAIN[["sick"]].assign(**{name: draw.normal(scale, size=600) for name, scale in LONG.items()})
    table.to_csv("a.csv", index=False)
    result = run("fit", "a.csv", "--target", "sick", "--positive", "yes", *QUICK, "-o", "m")
    first = persist.load("m")[-1].coef_
    execute(python_of(result))
    np.testing.assert_array_equal(first, persist.load("m")[-1].coef_)
    assert max(map(len, python_of(result).splitlines())) <= 110


@pytest.mark.parametrize("kind", ["dense", "named", "sparse"])
def test_arrays(kind):
    draw = np.random.default_rng(0)
    y = (draw.random(400) < 0.3).astype(int)
    X = draw.normal(size=(400, 3)) + y[:, None]
    arrays = {"y": y, "team": np.arange(400) // 4, "old score": draw.normal(y)}
    if kind == "sparse":
        rows = sparse.csr_matrix(X * (X > 1))
        arrays |= {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": rows.shape}
    else:
        arrays |= {"X": X} | ({"columns": np.array(["a", "b c", "d"])} if kind == "named" else {})
    np.savez("a.npz", **arrays)
    drop = () if kind == "sparse" else ("--drop", "old score")
    result = run("fit", "a.npz", "--group", "team", *drop, "--C", 10, "-o", "m")
    first = persist.load("m")[-1].coef_
    execute(python_of(result))
    np.testing.assert_array_equal(first, persist.load("m")[-1].coef_)
    result = run("predict", "m", "a.npz", "--keep", "team", "-o", "s.csv")
    scores = pd.read_csv("s.csv")
    execute(python_of(result))
    pd.testing.assert_frame_equal(pd.read_csv("s.csv"), scores)
    execute(python_of(run("evaluate", "a.npz", "--model", "m", "--score", "old score", "--group", "team")))


def test_a_model_of_an_array_takes_the_columns_that_are_features():
    model = PartialAUCSVC().fit(TRAIN[["age", "new"]].to_numpy(), TRAIN["sick"] == "yes")
    persist.save(model, "m")
    TEST[["age", "new", "sick"]].to_csv("a.csv", index=False)
    arguments = ("--target", "sick", "--positive", "yes", "--model", "m")
    names = execute(python_of(run("evaluate", "a.csv", *arguments)))
    np.testing.assert_allclose(names["scores"]["m"], model.decision_function(TEST[["age", "new"]].to_numpy()))


def test_standard_input_and_output(tables, monkeypatch):
    run("fit", "train.csv", "--target", "sick", "--positive", "yes", "--columns", "age", *QUICK, "-o", "m")
    result = run("predict", "m", "-", stdin=Path("test.csv").read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("test.csv").read_bytes())))
    again = printed(python_of(result))
    assert pd.read_csv(io.StringIO(again)).equals(pd.read_csv(io.StringIO(result.stdout)))
