"""Python that does the same as a command."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

from rocband.cli.source import Source

__all__ = ["Name", "Script", "quoted"]

_WIDTH = 100
_HOMES = {
    "PartialAUCSVC": "rocband",
    "PartialAUCSVCCV": "rocband",
    "KernelPartialAUCSVC": "rocband",
    "FPRThresholdClassifier": "rocband.threshold",
}


class Name(str):
    """A variable of the script."""


class Script:
    """Lines of Python with the imports they need."""

    def __init__(self) -> None:
        self._imports: dict[str, set[str]] = {}
        self._lines: list[str] = []

    def use(self, module: str, name: str | None = None) -> None:
        """Import a module, or a name from it."""
        self._imports.setdefault(module, set()).update([] if name is None else [name])

    def add(self, line: str) -> None:
        """Add a line."""
        self._lines.append(line)

    def read(self, source: Source, variable: str = "table") -> None:
        """Add the line that reads a table with the columns of a source."""
        path = "/dev/stdin" if source.path == "-" else source.path
        if source.format == "parquet":
            self.use("pandas as pd")
            self.add(f"{variable} = pd.read_parquet({quoted(path)})")
        elif source.format == "csv":
            self.use("pandas as pd")
            options = {
                "sep": (source.separator, ","),
                "decimal": (source.decimal, "."),
                "encoding": (source.encoding, "utf-8"),
                "na_values": (list(source.missing), []),
                "dtype": (dict.fromkeys(source.text, "str"), {}),
            }
            given = {name: value for name, (value, default) in options.items() if value != default}
            arguments = [f"{name}={self.expression(value)}" for name, value in given.items()]
            self.add(self.call(f"{variable} = pd.read_csv", [quoted(path), *arguments, "skipinitialspace=True"]))
        elif source.format == "npz":
            self.use("numpy as np")
            self.add(f"{variable} = np.load({quoted(path)})")
        else:
            self.use("sklearn.datasets", "load_svmlight_file")
            arguments = [quoted(path), "query_id=True", f"zero_based={source.zero_based}"]
            self.add(self.call("X, target, qid = load_svmlight_file", arguments))

    def expression(self, value: Any) -> str:
        """Return Python for an estimator or a plain value, and note its imports."""
        if isinstance(value, Name):
            return str(value)
        if isinstance(value, list | tuple):
            parts = [self.expression(item) for item in value]
            if value and all(isinstance(item, str) and not isinstance(item, Name) for item in value):
                parts = textwrap.wrap(", ".join(parts), _WIDTH - 8, break_long_words=False, break_on_hyphens=False)
                parts = [part.removesuffix(",") for part in parts]
            left, right = "[]" if isinstance(value, list) else "()"
            comma = "," if isinstance(value, tuple) and len(parts) == 1 else ""
            return self.call("", parts, brackets=(left, f"{comma}{right}"))
        if not hasattr(value, "get_params") and not hasattr(value, "get_n_splits"):
            return quoted(value)
        name = type(value).__name__
        self.use(_HOMES.get(name) or _public(type(value).__module__), name)
        given = inspect.signature(type(value)).parameters
        arguments: list[str] = []
        for parameter in given.values():
            item = getattr(value, parameter.name)
            if parameter.default is not inspect.Parameter.empty and _same(item, parameter.default):
                continue
            if parameter.name == "verbose":
                continue
            text = self.expression(item)
            plain = parameter.kind is not inspect.Parameter.KEYWORD_ONLY and not arguments
            arguments.append(text if plain else f"{parameter.name}={text}")
        return self.call(name, arguments)

    @staticmethod
    def call(name: str, arguments: list[str], brackets: tuple[str, str] = ("(", ")")) -> str:
        """Return a call on one line, or on several where it would be too long."""
        left, right = brackets
        line = f"{name}{left}{', '.join(arguments)}{right}"
        if len(line) <= _WIDTH and "\n" not in line:
            return line
        inner = "\n".join(f"    {part}," for argument in arguments for part in [argument.replace("\n", "\n    ")])
        return f"{name}{left}\n{inner}\n{right.lstrip(',')}"

    def text(self) -> str:
        """Return the whole script."""
        imports = [f"import {module}" for module, names in sorted(self._imports.items()) if not names]
        named = [(module, ", ".join(sorted(names))) for module, names in sorted(self._imports.items()) if names]
        imports += [f"from {module} import {names}" for module, names in named]
        return "\n".join([*imports, "", *self._lines])


def quoted(value: Any) -> str:
    """Return Python for a plain value, text in double quotes."""
    text = repr(value)
    plain = isinstance(value, str) and '"' not in value and text.startswith("'")
    return f'"{text[1:-1]}"' if plain else text


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


def _public(module: str) -> str:
    parts = module.split(".")
    private = next((k for k, part in enumerate(parts) if part.startswith("_")), len(parts))
    return ".".join(parts[:private])
