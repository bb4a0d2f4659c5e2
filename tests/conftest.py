"""A folder of its own for tests that write files by name, and tables in it."""

import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def tables(folder):
    from command_line import TEST, TRAIN

    TRAIN.to_csv("train.csv", index=False)
    TEST.to_csv("test.csv", index=False)
    return folder
