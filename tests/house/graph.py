"""Who imports whom inside the package, imports for types and imports inside functions included.

It exists so that circles, arrows up and single importers are counted on one graph, however an import is written.
"""

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping

from tests.house.source import Source

Graph = Mapping[str, frozenset[str]]
"""Each module to the modules it imports."""


def imports(files: Iterable[Source]) -> dict[str, frozenset[str]]:
    """Draw the arrows between these files; `from memtui.a import b` points to `memtui.a.b` where that is a module."""
    by_name = {source.module: source for source in files}
    return {
        name: frozenset(_imported(source.tree, by_name.keys())) - {name} for name, source in sorted(by_name.items())
    }


def _imported(tree: ast.Module, known: Collection[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield from [name for name in (inner, node.module) if name in known][:1]


def importers(graph: Graph) -> dict[str, list[str]]:
    """Turn the arrows round: each module to those that import it."""
    found: dict[str, list[str]] = {name: [] for name in graph}
    for name, targets in graph.items():
        for target in targets:
            found[target].append(name)
    return found


def in_circles(graph: Graph) -> set[str]:
    """Find the modules that import themselves by way of others."""
    return {name for name in graph if name in _reached(name, graph)}


def _reached(start: str, graph: Graph) -> set[str]:
    seen: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(graph[name])
    return seen
