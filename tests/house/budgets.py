"""How large a file, a class and a function may grow before they must be split."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.source import Offence, Source, python_files

FILE_ASKS, FILE_FAILS, CLASS_FAILS, FUNCTION_FAILS = 400, 600, 350, 60
"""Lines."""

FOLDERS = ("memtui", "tests", "screenshots")


def too_large(source: Source) -> Iterator[Offence]:
    """Find what is over its budget."""
    lines = source.text.count("\n")
    if lines > FILE_FAILS:
        yield Offence(source.name, 1, f"the file has {lines} lines, {FILE_FAILS} at most")
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        kind, limit = ("class", CLASS_FAILS) if isinstance(node, ast.ClassDef) else ("function", FUNCTION_FAILS)
        size = (node.end_lineno or node.lineno) - node.lineno + 1
        if size > limit:
            yield Offence(source.name, node.lineno, f"{kind} {node.name} has {size} lines, {limit} at most")


def asks_for_a_split(root: Path) -> list[str]:
    """Name the files that are over the smaller limit, with their lines."""
    counted = [(path.read_bytes().count(b"\n"), path) for path in python_files(*FOLDERS, root=root)]
    return [f"{path.relative_to(root).as_posix()}: {lines} lines" for lines, path in counted if lines > FILE_ASKS]
