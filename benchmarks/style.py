"""Count the code as it is counted in other packages: ``python -m benchmarks.style [folders]``.

Lengths of functions, comments, characters a line, assignments of several values at once, and uses of ``Any``.
Docstrings are neither code nor comments; a line is counted as code when a token other than a comment stands on it.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src/rocband",)
# Longer than any function should be; those that are get named.
LONGEST = 60
# Tokens that stand for the layout of a file.
LAYOUT = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER}
# Comments with these words are instructions for a linter or a type checker.
FOR_TOOLS = ("noqa", "type: ignore")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Counts:
    """What was counted; they add up over files."""

    lengths: dict[str, int] = field(default_factory=dict)
    code_lines: int = 0
    characters: int = 0
    comments: int = 0
    assignments: int = 0
    parallel: int = 0
    anys: int = 0
    literals: int = 0

    def add(self, path: Path) -> None:
        """Count one file."""
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        documented = docstring_lines(tree)
        code = {number for number in lines_of_code(text) if number not in documented}
        lines = text.splitlines()
        self.code_lines += len(code)
        self.characters += sum(len(lines[number - 1].strip()) for number in code)
        self.comments += sum(is_reason(token) for token in tokens(text))
        for node in ast.walk(tree):
            if isinstance(node, Function):
                self.lengths[f"{path}:{node.lineno} {node.name}"] = body_length(node, code)
            elif isinstance(node, ast.Assign):
                self.assignments += 1
                self.parallel += is_parallel(node)
            elif isinstance(node, ast.Name):
                self.anys += node.id == "Any"
                self.literals += node.id == "Literal"

    def figures(self) -> dict[str, float]:
        """Return what is worth quoting."""
        lengths = np.array(list(self.lengths.values()))
        return {
            "functions": len(lengths),
            "lines of a function, median": float(np.median(lengths)),
            "lines of a function, 90th percentile": float(np.quantile(lengths, 0.9)),
            "lines of a function, most": float(lengths.max()),
            "lines of code": self.code_lines,
            "comments per 100 lines of code": 100 * self.comments / self.code_lines,
            "characters a line of code": self.characters / self.code_lines,
            "parallel assignments in 100": 100 * self.parallel / self.assignments,
            "Any": self.anys,
            "Literal": self.literals,
        }


def tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(text).readline)


def is_reason(token: tokenize.TokenInfo) -> bool:
    """Tell comments for readers from those for tools."""
    return token.type == tokenize.COMMENT and not any(word in token.string for word in FOR_TOOLS)


def lines_of_code(text: str) -> set[int]:
    """Return the numbers of the lines on which something stands that is no comment."""
    found: set[int] = set()
    for token in tokens(text):
        if token.type != tokenize.COMMENT and token.type not in LAYOUT:
            found.update(range(token.start[0], token.end[0] + 1))
    return found


def docstring_lines(tree: ast.AST) -> set[int]:
    """Return the numbers of the lines of all docstrings."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            found.update(range(docstring.lineno, docstring.end_lineno + 1))
    return found


def body_length(function: Function, code: set[int]) -> int:
    """Return the lines of code after the signature."""
    first = function.body[0].lineno
    return sum(first <= number <= function.end_lineno for number in code)


def is_parallel(node: ast.Assign) -> bool:
    """Tell ``a, b = x, y`` from the unpacking of what a call returned."""
    return isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)


def count(folders: tuple[str, ...] = FOLDERS) -> Counts:
    """Count all files of some folders of the repository."""
    counts = Counts()
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            counts.add(path.relative_to(ROOT))
    return counts


def main(arguments: list[str]) -> None:
    counts = count(tuple(arguments) or FOLDERS)
    for name, value in counts.figures().items():
        print(f"{name:38} {value:8.5g}")
    for place, length in counts.lengths.items():
        if length > LONGEST:
            print(f"{length} lines: {place}")


if __name__ == "__main__":
    main(sys.argv[1:])
