"""Python that does the same as a command."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import Any

from rocband.cli.labels import Labels
from rocband.cli.source import Source

__all__ = ["Name", "Script", "column_code", "quoted"]

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

    def read(self, source: Source, columns: Iterable[str | None] = ()) -> None:
        """Add the lines that read a table; of an archive of arrays, these columns beside the features."""
        {"csv": self._read_csv, "parquet": self._read_parquet, "svmlight": self._read_svmlight}.get(
            source.format, self._read_npz
        )(source, sorted({name for name in columns if name}))
        if source.found.raw and source.format != "npz":
            self.add("table.columns = table.columns.str.strip()")
        for names, how in ((source.found.floats, "astype(float)"), (source.found.text, "apply(as_text)")):
            if names:
                chosen = f"table[{self.expression(sorted(names))}]"
                self.add(f"{chosen} = {chosen}.{how}")
        if source.found.text:
            self.use("rocband.cli.columns", "as_text")

    def _file(self, source: Source, seekable: bool = False, text: bool = False) -> str:
        """Return Python for the file, or for standard input."""
        if source.path != "-":
            return quoted(source.path)
        self.use("sys")
        if not seekable:
            return "sys.stdin" if text else "sys.stdin.buffer"
        self.use("io")
        return "io.BytesIO(sys.stdin.buffer.read())"

    def _read_csv(self, source: Source, _: list[str]) -> None:
        self.use("pandas as pd")
        text = [source.found.raw.get(name, name) for name in dict.fromkeys(source.text)]
        options = {
            "sep": (source.separator, ","),
            "decimal": (source.decimal, "."),
            "encoding": (source.encoding, "utf-8"),
            "na_values": (list(source.missing), []),
            "dtype": (dict.fromkeys(text, "str"), {}),
            "index_col": (False if source.found.longer else None, None),
        }
        given = {name: value for name, (value, default) in options.items() if value != default}
        arguments = [f"{name}={self.expression(value)}" for name, value in given.items()]
        arguments = [self._file(source), *arguments, "skipinitialspace=True"]
        self.add(self.call("table = pd.read_csv", arguments))

    def _read_parquet(self, source: Source, _: list[str]) -> None:
        if not source.found.own_types:
            self.use("pandas as pd")
            self.add(f"table = pd.read_parquet({self._file(source, seekable=True)})")
            return
        self.use("pyarrow.parquet as pq")
        self.add(f"table = pq.read_table({self._file(source, seekable=True)}).to_pandas(ignore_metadata=True)")

    def _read_svmlight(self, source: Source, _: list[str]) -> None:
        self.use("sklearn.datasets", "load_svmlight_file")
        arguments = [self._file(source), "query_id=True", f"zero_based={source.zero_based}"]
        if source.n_features is not None:
            arguments.append(f"n_features={source.n_features}")
        self.add(self.call("X, target, qid = load_svmlight_file", arguments))

    def _read_npz(self, source: Source, columns: list[str]) -> None:
        for module in ("numpy as np", "pandas as pd"):
            self.use(module)
        self.add(f"arrays = np.load({self._file(source, seekable=True)})")
        others = self.call("", [f"{quoted(name)}: arrays[{quoted(name)}]" for name in columns], brackets=("{", "}"))
        if source.found.sparse:
            self.use("scipy", "sparse")
            self.add('parts = arrays["data"], arrays["indices"], arrays["indptr"]')
            self.add('X = sparse.csr_matrix(parts, shape=arrays["shape"])')
            self.add(f"table = pd.DataFrame({others})")
            return
        names = 'arrays["columns"]' if source.found.named else '[f"x{k}" for k in range(arrays["X"].shape[1])]'
        self.add(f'table = pd.DataFrame(arrays["X"], columns={names})')
        if columns:
            self.add(f"table = table.assign(**{others})")

    def labels(self, source: Source, target: str, labels: Labels, rest: bool) -> None:
        """Add the line that makes y."""
        column = column_code(source, target)
        if labels.typed and (source.format == "csv" or not labels.text):
            literal = None if labels.padded else labels.positive
        else:
            literal = None if labels.changed else quoted(labels.positive)
        if literal is not None:
            self.add(f"y = ({column} == {literal}).astype(int)")
            return
        self.use("rocband.cli.labels", "positive_rows")
        arguments = [column, *map(quoted, (target, source.name, labels.positive, rest))]
        self.add(f"y = {self.call('positive_rows', arguments)}[0]")

    def expression(self, value: Any) -> str:
        """Return Python for an estimator or a plain value, and note its imports."""
        if isinstance(value, Name):
            return str(value)
        if isinstance(value, list | tuple):
            parts = [self.expression(item) for item in value]
            if value and all(isinstance(item, str) and not isinstance(item, Name) for item in value):
                parts = list(_filled(parts))
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


def column_code(source: Source, name: str) -> str:
    """Return Python for a column of a table that was read."""
    return name if source.format == "svmlight" else f"table[{quoted(name)}]"


def _filled(parts: list[str]) -> Iterator[str]:
    """Put parts together into lines that are not too long."""
    line = ""
    for part in parts:
        if line and len(line) + len(part) + 2 > _WIDTH - 8:
            yield line
            line = ""
        line = f"{line}, {part}" if line else part
    if line:
        yield line


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
