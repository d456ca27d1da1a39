"""What the package imports is what an installation brings along."""

import ast
import importlib.metadata
import re
import sys
import tomllib

from tests.house.source import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
OWN = {"memtui", *sys.stdlib_module_names, "_sha2"}
"""`_sha2` is part of newer standard libraries only; older ones fall back."""


def plain(requirement: str) -> str:
    """The name of a distribution, as every spelling of it is compared."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()


def imported() -> set[str]:
    found: set[str] = set()
    for path in (ROOT / "memtui").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.split(".")[0])
    return found - OWN


def test_every_import_is_a_declared_dependency_and_every_dependency_is_imported() -> None:
    provided = importlib.metadata.packages_distributions()
    used = {plain(distribution) for name in imported() for distribution in provided.get(name, [f"?{name}"])}
    declared = {plain(requirement) for requirement in PROJECT["dependencies"]}

    assert used == declared
