"""How long a file and a function may grow before they must be split."""

import ast
from collections.abc import Iterator

from tests.house.source import Offence, Source

FILE_FAILS, FUNCTION_FAILS = 600, 60
"""Lines."""

FOLDERS = ("memtui", "tests", "screenshots")


def too_large(source: Source) -> Iterator[Offence]:
    """Find what is over its budget."""
    lines = source.text.count("\n")
    if lines > FILE_FAILS:
        yield Offence(source.name, 1, f"the file has {lines} lines, {FILE_FAILS} at most")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if size > FUNCTION_FAILS:
                yield Offence(
                    source.name, node.lineno, f"function {node.name} has {size} lines, {FUNCTION_FAILS} at most"
                )
