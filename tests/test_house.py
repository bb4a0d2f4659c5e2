"""The map of the house, held: what each package may import, read from the source without running it."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import rocband

HOME = Path(rocband.__file__).parent
# From the ground up: a room imports from its own floor and from those below. DESIGN's list, read from its solid ground.
FLOORS = [
    {"_types", "_errors", "_warnings", "_progress", "_files", "_input", "ranks"},
    {"risks", "rows"},
    {"kernels", "problems"},
    {"solvers"},
    {"metrics", "inference", "threshold"},
    {"anchor", "_hints", "_base", "linear", "linear_cv", "kernel", "stacking"},
    {"study", "datasets"},
    {"plot", "report", "persist", "baselines", "dask", "torch"},
    {"demo", "cli"},
    {"rocband", "__main__"},
]
# The underscore of these says that users should not import them. They are where the rooms agree: on types, on how an
# error, a warning or a line of progress reads, on how input is checked, files are written and estimators predict.
SHARED = {"_types", "_errors", "_warnings", "_hints", "_progress", "_files", "_input", "_base"}
# What knows scores and labels, and no model.
STATISTICS = {"metrics", "inference", "threshold", "study"}
MODELS = {"rows", "kernels", "problems", "solvers", "anchor", "_base", "linear", "linear_cv", "kernel", "stacking"}


@dataclass(frozen=True)
class Import:
    """``module`` imports ``name`` from ``source``; name is empty where the module itself is imported."""

    module: str
    source: str
    name: str

    @property
    def rooms(self):
        return room_of(self.module), room_of(self.source)

    def __str__(self):
        return f"{self.module} -> {self.source} {self.name}".rstrip()


def room_of(module):
    """The part of the package that a module belongs to; the package's own ``__init__`` is the room ``rocband``."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def module_of(path):
    parts = ("rocband", *path.relative_to(HOME).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


TREES = {module_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in HOME.rglob("*.py")}


def resolved(module, source, name):
    """The import of a name, at home in the module that has it where the package's front door only passes it on."""
    whole = f"{source}.{name}"
    if whole in TREES:
        return Import(module, whole, "")
    if source == "rocband":
        return Import(module, getattr(rocband, name).__module__, name)
    return Import(module, source, name)


def imports_of(module):
    """All imports of our own: at the top, in functions, for types only, and by a string that names a module."""
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            if node.module.split(".")[0] == "rocband":
                yield from (resolved(module, node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            own = [alias.name for alias in node.names if alias.name.split(".")[0] == "rocband"]
            # `import rocband` alone counts by what is then taken from it.
            yield from (Import(module, name, "") for name in own if name != "rocband")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "rocband":
            if node.attr != "__version__":  # a text, not a room
                yield resolved(module, "rocband", node.attr)
        elif isinstance(node, ast.Constant) and node.value in TREES and node.value != "rocband":
            yield Import(module, node.value, "")


IMPORTS = [each for module in TREES for each in imports_of(module)]
CROSSING = [each for each in IMPORTS if each.rooms[0] != each.rooms[1]]


def floor_of(room):
    """The floor of a room; one that is not on the map is above all."""
    return next((number for number, rooms in enumerate(FLOORS) if room in rooms), len(FLOORS))


def told(imports):
    return "\n".join(sorted({str(each) for each in imports}))


def test_the_graph_is_read_in_full():
    """Guards the tests below: an import of each kind is found where it is known to be."""
    found = {each.rooms for each in CROSSING}
    assert ("linear", "solvers") in found  # at the top of a module
    assert ("persist", "linear") in found  # by a string
    assert ("rocband", "linear") in found  # for types only
    assert ("demo", "linear_cv") in found  # through the front door
    assert ("problems", "rows") in found  # in a package's own module
    inside = next(each for each in IMPORTS if each.module == "rocband.risks.scores" and "plane" in each.source)
    assert inside.name == "Plane"  # under TYPE_CHECKING


def test_every_room_is_on_the_map():
    rooms = {room_of(module) for module in TREES}
    assert rooms <= set().union(*FLOORS)
    nowhere = [each for each in IMPORTS if each.source not in TREES]
    assert not nowhere, told(nowhere)


def test_no_cycle_between_rooms():
    graph = defaultdict(set)
    for each in CROSSING:
        importer, imported = each.rooms
        graph[importer].add(imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"These rooms import each other in a circle: {' <- '.join(error.args[1])}")


def test_no_import_goes_up():
    upwards = [each for each in CROSSING if floor_of(each.rooms[0]) < floor_of(each.rooms[1])]
    assert not upwards, told(upwards)


def test_no_private_name_crosses_rooms():
    def private(each):
        modules = each.source.split(".")[1:]
        return [part for part in (*modules, each.name) if part.startswith("_") and part not in SHARED]

    crossing = [each for each in CROSSING if private(each)]
    assert not crossing, told(crossing)


def test_no_private_attribute_of_a_module_is_taken():
    """``from rocband import linear; linear._hidden`` would get round the test above."""
    taken = []
    for module, tree in TREES.items():
        bound = {
            alias.asname or alias.name.split(".")[-1]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        taken += [
            f"{module}: {node.value.id}.{node.attr}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in bound
            and node.attr.startswith("_")
            and not node.attr.startswith("__")
        ]
    # Documented, and the one way to end a process whatever its threads do.
    private = [each for each in taken if not each.endswith("os._exit")]
    assert not private, "\n".join(private)


def test_risks_know_numbers_only():
    of_ours = {each.rooms[1] for each in CROSSING if each.rooms[0] == "risks"}
    assert of_ours <= {"_types", "_errors", "ranks"}
    others = set()
    for module, tree in TREES.items():
        if room_of(module) == "risks":
            for node in ast.walk(tree):
                if isinstance(node, ast.Import):
                    others |= {alias.name.split(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom):
                    others.add(node.module.split(".")[0])
    assert others - set(sys.stdlib_module_names) <= {"numpy", "rocband"}


def test_rows_know_no_classes():
    assert not [each for each in CROSSING if each.rooms[0] == "rows" and each.rooms[1] != "_types"]


@pytest.mark.parametrize("room", sorted(STATISTICS))
def test_statistics_know_no_model(room):
    knows = [each for each in CROSSING if each.rooms[0] == room and each.rooms[1] in MODELS]
    assert not knows, told(knows)


@pytest.mark.parametrize("room", ["solvers", "risks", "linear", "linear_cv", "_base", "anchor"])
def test_problems_are_not_told_apart(room):
    """A solver is written against the protocol alone: no cast, and no question which problem it was given."""
    told_apart = []
    for module, tree in TREES.items():
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
        for call in calls if room_of(module) == room else []:
            named = {part.id for part in ast.walk(call) if isinstance(part, ast.Name)}
            asks = call.func.id == "isinstance" and any(name.endswith("Problem") for name in named)
            if asks or call.func.id == "cast":
                told_apart.append(f"{module}, line {call.lineno}")
    assert not told_apart, "\n".join(told_apart)
