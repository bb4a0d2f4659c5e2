"""Python that does the same as a command."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

__all__ = ["Name", "Script", "literal"]

_WIDTH = 100
# Where people import our classes from, which is not where they are written.
_HOMES = {
    "PartialAUCSVC": "rocband",
    "PartialAUCSVCCV": "rocband",
    "KernelPartialAUCSVC": "rocband",
    "FPRThresholdClassifier": "rocband.threshold",
}
# Parameters that change what is printed and not what is computed.
_SILENT = ("verbose",)


class Name(str):
    """A variable of the script."""


class Script:
    """Lines of Python with the imports they need."""

    def __init__(self) -> None:
        self._imports: dict[str, set[str]] = {}
        self._functions: list[str] = []
        self._lines: list[str] = []

    def use(self, module: str, name: str | None = None) -> None:
        """Import a module, or a name from it."""
        names = self._imports.setdefault(module, set())
        if name is not None:
            names.add(name)

    def define(self, function: str) -> None:
        """Add a function before all lines, once."""
        if function not in self._functions:
            self._functions.append(function)

    def add(self, line: str) -> None:
        """Add a line."""
        self._lines.append(line)

    def add_block(self, head: str, body: Sequence[str]) -> None:
        """Add a statement with a body."""
        self.add(head)
        for line in body:
            self.add("    " + line.replace("\n", "\n    "))

    def file(self, path: str, *, seekable: bool = False) -> str:
        """Return Python for a file, or for standard input."""
        if path != "-":
            return literal(path)
        self.use("sys")
        if not seekable:
            return "sys.stdin.buffer"
        self.use("io")
        return "io.BytesIO(sys.stdin.buffer.read())"

    def expression(self, value: object) -> str:
        """Return Python for an estimator, a splitter or a plain value, and note its imports."""
        if isinstance(value, Name):
            return str(value)
        if isinstance(value, list | tuple):
            return self._sequence(value)
        if hasattr(value, "get_params") or hasattr(value, "get_n_splits"):
            return self._estimator(value)
        return literal(value)

    def _sequence(self, values: list[object] | tuple[object, ...]) -> str:
        parts = [self.expression(item) for item in values]
        if values and all(isinstance(item, str) and not isinstance(item, Name) for item in values):
            parts = list(_filled(parts))
        if isinstance(values, list):
            return self.call("", parts, brackets=("[", "]"))
        return self.call("", parts, brackets=("(", ",)" if len(parts) == 1 else ")"))

    def _estimator(self, value: BaseEstimator) -> str:
        """Return the call that makes an estimator, without what is the default of its own parameters."""
        kind = type(value)
        self.use(_HOMES.get(kind.__name__) or _public(kind.__module__), kind.__name__)
        arguments: list[str] = []
        for parameter in inspect.signature(kind).parameters.values():
            item = getattr(value, parameter.name)
            if parameter.name in _SILENT or _same(item, parameter.default):
                continue
            text = self.expression(item)
            by_place = parameter.kind is not inspect.Parameter.KEYWORD_ONLY and not arguments
            arguments.append(text if by_place else f"{parameter.name}={text}")
        return self.call(kind.__name__, arguments)

    @staticmethod
    def call(name: str, arguments: Sequence[str], brackets: tuple[str, str] = ("(", ")")) -> str:
        """Return a call on one line, or on several where it would be too long."""
        left, right = brackets
        line = f"{name}{left}{', '.join(arguments)}{right}"
        if len(line) <= _WIDTH and "\n" not in line:
            return line
        indented = [argument.replace("\n", "\n    ") for argument in arguments]
        inner = "\n".join(f"    {argument}," for argument in indented)
        return f"{name}{left}\n{inner}\n{right.lstrip(',')}"

    def text(self) -> str:
        """Return the whole script."""
        modules = sorted(self._imports.items())
        lines = [f"import {module}" for module, names in modules if not names]
        lines += [f"from {module} import {', '.join(sorted(names))}" for module, names in modules if names]
        for function in self._functions:
            lines += ["", "", function]
        lines += ["", ""] if self._functions else [""]
        return "\n".join([*lines, *self._lines])


def literal(value: object) -> str:
    """Return Python for a plain value, text in double quotes."""
    text = repr(value)
    plain = isinstance(value, str) and '"' not in value and text.startswith("'")
    return f'"{text[1:-1]}"' if plain else text


def _filled(parts: Sequence[str]) -> Iterator[str]:
    """Put parts together into lines that are not too long."""
    line = ""
    for part in parts:
        if line and len(line) + len(part) + 2 > _WIDTH - 8:
            yield line
            line = ""
        line = f"{line}, {part}" if line else part
    if line:
        yield line


def _same(value: object, default: object) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


def _public(module: str) -> str:
    """Return the public module in which a class of scikit-learn is found."""
    parts = module.split(".")
    private = next((k for k, part in enumerate(parts) if part.startswith("_")), len(parts))
    return ".".join(parts[:private])
