"""The shell sessions in the documentation run, and print what is shown there; its Python runs as doctests.

Only the Python that writes the sessions' tables runs here as well.
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner

import rocband
from command_line import command
from printed import assert_same
from rocband.inference.intervals import Method
from rocband.kernels.function import KernelName
from rocband.risks import Surrogate

ROOT = Path(__file__).resolve().parent.parent
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "docs" / "command-line.md"]


def sessions(text):
    """Return each command of the console blocks with the lines shown below it."""
    lines = "\n".join(re.findall(r"```console\n(.*?)```", text, re.DOTALL)).splitlines()
    commands: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("$ "):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line)
    return [(line, "\n".join(shown).rstrip()) for line, shown in commands]


def write_tables(text, page):
    """Run the blocks of Python that write the tables of the sessions."""
    names: dict[str, object] = {}
    for block in python_blocks(text):
        if "to_csv" in block:
            for example in doctest.DocTestParser().get_examples(block):
                exec(compile(example.source, page.name, "single"), names)


def python_blocks(text):
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sessions(page, folder):
    text = page.read_text(encoding="utf-8")
    write_tables(text, page)
    ran = 0
    for line, shown in sessions(text):
        words = shlex.split(line, comments=True)
        if words[0] == "rocband":
            result = CliRunner().invoke(command, words[1:], prog_name="rocband")
            said = result.stdout if result.exit_code == 0 else result.stderr
            if shown:
                assert_same(said, shown)
            else:
                assert result.exit_code == 0, said
            ran += 1
        elif words[0] == "head":
            assert_same("\n".join(Path(words[-1]).read_text().splitlines()[:3]), shown)
    assert ran > 0


@pytest.mark.parametrize("page", sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("docs/howto/*.md"), ROOT / "README.md"]))
def test_all_python_is_run(page):
    """Every block of Python is a doctest, and every file that a page links to is there."""
    text = page.read_text(encoding="utf-8")
    for block in python_blocks(text):
        assert block.startswith(">>> ")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[\w-]+)?\)", text):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def summaries():
    """Return the names that the page of the API lists, by module."""
    lists = re.findall(r"\.\. currentmodule:: (\S+)\n\.\. autosummary::\n\n((?: {3}\w+\n)+)", API)
    return {module: set(names.split()) for module, names in lists}


@pytest.mark.parametrize("module", summaries())
def test_the_api_lists_everything_public(module):
    public = set(importlib.import_module(module).__all__) - {"__version__"}
    assert summaries()[module] == public


def test_every_module_is_public_or_said_to_be_internal():
    internal = set(re.findall(r"`(rocband\.\w+)`", API.partition("## What is internal")[2]))
    there = {f"rocband.{module.name}" for module in pkgutil.iter_modules(rocband.__path__)}
    visible = {name for name in there if not name.startswith("rocband._")}
    assert {*summaries(), *internal} - {"rocband"} == visible


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PLACE = re.compile(r"`((?:[\w-]+/)+|(?:[\w-]+/)*\w+\.(?:py|md|html|js))`")


def found(place):
    """Return where a path of the map is: in the package, in the repository, or for a name alone in some folder."""
    package = ROOT / "src" / "rocband"
    folders = (package, ROOT, ROOT / "benchmarks", *package.glob("*/"))
    return next((folder / place for folder in folders if (folder / place).exists()), None)


@pytest.mark.parametrize("place", sorted(set(PLACE.findall(CONTRIBUTING))))
def test_the_map_names_what_is_there(place):
    assert "NAME" in place or found(place)


@pytest.mark.parametrize(("names", "place"), re.findall(r"((?:`\w+` and )?`\w+`) of `([\w/]+\.py)`", CONTRIBUTING))
def test_what_the_map_says_is_in_a_file_is_there(names, place):
    text = found(place).read_text(encoding="utf-8")
    for name in re.findall(r"\w+", names.replace(" and ", " ")):
        assert re.search(rf"^ *(?:def {name}\(|class {name}\b|{name}\b.*=)", text, re.MULTILINE)


def test_every_room_is_on_the_map():
    rooms = {f"{module.name}{'/' if module.ispkg else '.py'}" for module in pkgutil.iter_modules(rocband.__path__)}
    named = set(PLACE.findall(CONTRIBUTING))
    # What runs `python -m rocband` says so itself.
    assert rooms - named <= {"__main__.py"}


@pytest.mark.parametrize(
    ("option", "kind"), [("surrogate", Surrogate), ("method", Method), ("kernel", KernelName)], ids=str
)
def test_commands_offer_what_the_library_has(option, kind):
    """The command line writes these names out, since importing them would make --help slow."""
    offered = [
        set(parameter.type.choices)
        for each in command.commands.values()
        for parameter in each.params
        if parameter.name == option
    ]
    assert offered
    for choices in offered:
        assert choices == set(get_args(kind)) - {"precomputed"}


def test_the_gallery_shows_every_example():
    gallery = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    for script in ROOT.glob("examples/*.py"):
        assert f"`python examples/{script.name}`" in gallery
