"""The scripts in examples/ run and say what they promise."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@pytest.fixture
def example():
    return runpy.run_path(str(EXAMPLES / "operating_point.py"))


def write_table(folder, *, sparse=False):
    """Write a small table with groups under the name of one that the example knows."""
    random = np.random.default_rng(0)
    y = (random.random(1600) < 0.15).astype(np.int64)
    X = random.normal(size=(len(y), 4)) + y[:, None]
    parts = {"y": y, "groups": np.repeat(np.arange(80), 20)}
    if sparse:
        indptr = np.arange(len(y) + 1) * X.shape[1]
        indices = np.tile(np.arange(X.shape[1]), len(y))
        parts |= {"data": X.ravel(), "indices": indices, "indptr": indptr, "shape": np.array(X.shape)}
    else:
        parts["X"] = X
    np.savez(folder / "kddcup06_pe_test1391.npz", **parts)


def test_letters(example, capsys):
    example["main"]([])
    out = capsys.readouterr().out
    assert "<- chosen" in out
    called, found = (float(x) for x in re.search(r"calls ([\d.]+)% of the negatives and ([\d.]+)%", out).groups())
    assert called < 6
    assert found > 40
    assert [line.split()[0] for line in out.splitlines()[-4:]] == ["1%", "2%", "5%", "10%"]


@pytest.mark.parametrize("sparse", [False, True])
def test_table_with_groups(example, capsys, monkeypatch, tmp_path, sparse):
    write_table(tmp_path, sparse=sparse)
    monkeypatch.setenv("ROCBAND_DATA", str(tmp_path))
    example["main"](["kddcup06_pe_test1391"])
    assert "20 groups" in capsys.readouterr().out


def test_parts_share_no_group(example):
    random = np.random.default_rng(1)
    groups = random.integers(0, 40, 800)
    y = (random.random(800) < 0.3).astype(int)
    parts = example["three_parts"](y, groups)
    assert sum(map(len, parts)) == 800
    assert sum(len(np.unique(groups[part])) for part in parts) == len(np.unique(groups))


def test_missing_table(example, monkeypatch, tmp_path):
    monkeypatch.setenv("ROCBAND_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match=r"holds mammography\.npz"):
        example["main"](["mammography"])


def test_infinite_push(capsys):
    runpy.run_path(str(EXAMPLES / "infinite_push.py"))["main"]()
    rows = capsys.readouterr().out.splitlines()[2:]
    assert ["optimal" in row for row in rows] == [False, False, False, True, False, False]
    shares = [[float(share) for share in re.findall(r"([\d.]+)%", row)] for row in rows]
    push, ramp, logistic = shares[:3]
    assert push[0] > logistic[0]
    assert push[1] > logistic[1]
    assert ramp[1] > logistic[1]
    assert shares[3] == [0.0, 0.0]


def test_kernel_search(capsys):
    runpy.run_path(str(EXAMPLES / "kernel_search.py"))["main"](["--rows", "1500", "--components", "60"])
    out = capsys.readouterr().out
    assert re.search(r"Searched 9 pairs in [\d.]+ s: gamma = [\d.]+, C = \d+", out)
    assert "Fitted 60 components to 13,333 rows" in out
    kernel, linear = (float(x) for x in re.search(r"Test pAUC ([\d.]+), .* has ([\d.]+)\.\n", out).groups())
    assert kernel > linear + 0.2


def test_collapse(capsys, tmp_path):
    runpy.run_path(str(EXAMPLES / "collapse.py"))["main"]([str(tmp_path / "collapse.png")])
    out = capsys.readouterr().out
    convex, bounded = (float(x) for x in re.findall(r"objective ([\d.]+)", out))
    assert convex == pytest.approx(100, abs=0.01)
    assert bounded < 80
    assert (tmp_path / "collapse.png").read_bytes().startswith(b"\x89PNG")


def test_compare_models(capsys, tmp_path):
    runpy.run_path(str(EXAMPLES / "compare_models.py"))["main"](["--folder", str(tmp_path)])
    out = capsys.readouterr().out
    assert re.search(r"difference [+-]0\.\d+, from [+-]0\.\d+ to [+-]0\.\d+, p = ", out)
    assert {path.name for path in tmp_path.iterdir()} == {"compare.png", "compare.html"}


def test_dask_parquet(capsys):
    runpy.run_path(str(EXAMPLES / "dask_parquet.py"))["main"](["--rows", "4000", "--files", "4"])
    out = capsys.readouterr().out
    assert re.search(r"\d+ passes over 3 files", out)
    area, alarms = (float(x) for x in re.search(r"other files: ([\d.]+); alarms for ([\d.]+)%", out).groups())
    assert area > 0.15
    assert alarms < 5
