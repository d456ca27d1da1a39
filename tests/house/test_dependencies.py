"""What the package imports is what an installation brings along."""

import ast
import importlib.metadata
import re
import sys
import tomllib
from functools import cache

import pytest

from tests.house.source import ROOT, Source, dotted, imported_names, sources

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
OWN = {"memtui", *sys.stdlib_module_names, "_sha2"}
"""`_sha2` is part of newer standard libraries only; older ones fall back."""


def plain(requirement: str) -> str:
    """The name of a distribution, as every spelling of it is compared."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()


EXTRAS = {
    "memtui/mcp_server/": "mcp",
    "memtui/adapters/anthropic.py": "anthropic",
    "memtui/web/": "web",
    "memtui/daemon/": "serve",
    "memtui/given/tokens.py": "tokens",
    "memtui/features/workers/ask.py": "model",
    "memtui/telemetry.py": "telemetry",
    "memtui/features/team/postgres.py": "team",
}
"""What may import more than a plain installation brings, and the extra it needs."""


def imported(source: Source) -> set[str]:
    """The modules of others that a file imports, by their first name."""
    found: set[str] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found - OWN


@cache
def used() -> dict[str, set[str]]:
    """The distributions that are imported, by the extra whose files import them; none for all others."""
    provided = importlib.metadata.packages_distributions()
    by_extra: dict[str, set[str]] = {}
    for source in sources("memtui"):
        extra = next((name for beginning, name in EXTRAS.items() if source.name.startswith(beginning)), "")
        asked = {plain(one) for one in PROJECT["optional-dependencies"].get(extra, PROJECT["dependencies"])}
        for module in imported(source):
            found = {plain(one) for one in provided.get(module, [f"?{module}"])}
            # Several may share one name, of which the rest is there only when somebody else asked for it.
            by_extra.setdefault(extra, set()).update(found & asked or found)
    return by_extra


def brought(distribution: str) -> set[str]:
    """What comes along with a distribution: itself, and what it requires."""
    required = importlib.metadata.requires(distribution) or []
    return {distribution, *(plain(one) for one in required if "extra ==" not in one)}


def test_every_import_is_a_declared_dependency_and_every_dependency_is_imported() -> None:
    assert used()[""] == {plain(requirement) for requirement in PROJECT["dependencies"]}


def test_what_needs_an_extra_is_brought_by_it() -> None:
    found = used()
    always = found[""]
    for extra in set(EXTRAS.values()) & found.keys():
        declared = {plain(requirement) for requirement in PROJECT["optional-dependencies"][extra]}
        along = set().union(*map(brought, declared))
        assert found[extra] <= along | always, extra
        assert declared <= found[extra] | always, extra


def own_locks(source: Source) -> list[str]:
    """The calls that lock a file without portalocker, or with a class of it that opens the file itself."""
    bound = imported_names(source.tree)
    names = [dotted(node.func, bound) for node in ast.walk(source.tree) if isinstance(node, ast.Call)]
    return [
        name
        for name in names
        if name in ("fcntl.flock", "fcntl.lockf", "os.lockf")
        or (name.startswith("portalocker.") and name not in ("portalocker.lock", "portalocker.unlock"))
    ]


def test_every_lock_is_taken_by_portalocker_on_a_handle_of_ours() -> None:
    assert not {source.name: found for source in sources("memtui") if (found := own_locks(source))}


@pytest.mark.parametrize(
    "text",
    [
        "import fcntl\nfcntl.flock(1, 2)",
        "from os import lockf as f\nf(1, 2, 3)",
        "import portalocker\nportalocker.Lock('a')",
    ],
)
def test_another_lock_is_found(text: str) -> None:
    assert own_locks(Source.of(text))
    assert not own_locks(Source.of("import portalocker\nportalocker.lock(1, portalocker.LockFlags.EXCLUSIVE)"))
