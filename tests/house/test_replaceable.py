"""Every call about memory files can be replaced, so that a test can make the n-th one fail, stall or kill."""

import ast

import pytest

from memtui.engine.disk import fsio
from tests.house.rules import CHANGES_BY_HANDLE, CHANGES_BY_NAME, READS
from tests.house.source import ROOT, Source, dotted, imported_names, sources

CALLS = CHANGES_BY_NAME | CHANGES_BY_HANDLE | READS | {"os.close", "os.read", "portalocker.lock", "portalocker.unlock"}

HELPERS = frozenset({"_rename_flags", "_openat2", "_libc"})
"""Called by operations only."""


def callers(source: Source) -> set[str]:
    """The functions of a file that call the operating system about files."""
    bound = imported_names(source.tree)
    functions = [node for node in source.tree.body if isinstance(node, ast.FunctionDef)]
    calls = {
        function.name: {dotted(node.func, bound) for node in ast.walk(function) if isinstance(node, ast.Call)}
        for function in functions
    }
    return {name for name, called in calls.items() if called & (CALLS | HELPERS)}


def taken_by_name(source: Source) -> list[str]:
    """What a file takes out of `fsio` at import, so that replacing it there would change nothing here."""
    return [
        alias.name
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ImportFrom) and node.module == "memtui.engine.disk.fsio"
        for alias in node.names
        if alias.name in fsio.OPERATIONS
    ]


def test_every_operation_is_listed() -> None:
    text = (ROOT / "memtui/engine/disk/fsio.py").read_text("utf-8")
    assert callers(Source.of(text)) - HELPERS <= set(fsio.OPERATIONS)
    assert all(callable(getattr(fsio, name)) for name in fsio.OPERATIONS)


def test_nobody_keeps_an_operation_of_their_own() -> None:
    assert not {source.name: taken for source in sources("memtui") if (taken := taken_by_name(source))}


@pytest.mark.parametrize(
    "text", ["import os\ndef f():\n    os.fsync(1)", "from os import fsync as g\ndef f():\n    return g(1)"]
)
def test_an_unlisted_call_is_found(text: str) -> None:
    assert callers(Source.of(text)) == {"f"}


def test_an_operation_taken_by_name_is_found() -> None:
    assert taken_by_name(Source.of("from memtui.engine.disk.fsio import fsync, closing")) == ["fsync"]
    assert not taken_by_name(Source.of("from memtui.engine import fsio"))
