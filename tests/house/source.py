"""The project's own source as the house tests see it: files, syntax trees and offences with a place.

It exists so that every rule is a function from one source file to offences, and can therefore be fed a bad sample.
"""

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""

SKIPPED = frozenset({"__pycache__", "data", "__snapshots__"})
"""Folders that hold no source of ours."""


class Source(NamedTuple):
    """One Python file."""

    name: str
    """Relative to the checkout, with `/`."""
    text: str
    tree: ast.Module

    @classmethod
    def of(cls, text: str, name: str = "memtui/engine/sample.py") -> "Source":
        """A source file that exists only as text."""
        return cls(name, text, ast.parse(text, name))

    @property
    def module(self) -> str:
        """The dotted name Python imports it by."""
        return self.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def room(self) -> str:
        """The part of the package it belongs to: `engine`, `workbench`, ..., or its own name at the top."""
        return self.module.split(".")[1] if "." in self.module else ""


class Offence(NamedTuple):
    """One place where a rule is broken."""

    name: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.name}:{self.line}: {self.what}"


def python_files(*folders: str, root: Path = ROOT) -> Iterator[Path]:
    """Every Python file below these folders of the checkout, sorted."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            if not SKIPPED.intersection(path.parts):
                yield path


def sources(*folders: str, root: Path = ROOT) -> list[Source]:
    """Read and parse every Python file below these folders of the checkout."""
    found = [
        _parsed(path.read_text("utf-8"), path.relative_to(root).as_posix())
        for path in python_files(*folders, root=root)
    ]
    assert found, f"no source in {folders}"
    gc.freeze()  # the trees stay to the end; no later test should pay for looking at them again
    return found


@cache
def _parsed(text: str, name: str) -> Source:
    """Parse a file once for all rules."""
    return Source.of(text, name)


@cache
def imported_names(tree: ast.AST) -> dict[str, str]:
    """Map each name an import binds, anywhere in the file, to what it stands for: `env` to `os.environ`."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return bound


def dotted(node: ast.AST, bound: dict[str, str]) -> str:
    """Spell out a name or attribute chain with its imports resolved; an empty string for anything else."""
    if isinstance(node, ast.Name):
        return bound.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        base = dotted(node.value, bound)
        return f"{base}.{node.attr}" if base else ""
    return ""
