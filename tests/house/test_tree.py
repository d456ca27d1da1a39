"""The test tree mirrors the package, no test file is empty, the top level holds what it may, all merges are done."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

from tests.house.source import ROOT, Source, python_files, sources

BESIDE = frozenset({"bench", "contract", "corpus", "faults", "house", "hygiene", "races", "recall", "screenshots"})
"""Folders of tests that follow no module."""

TOP = frozenset(
    {
        ".ci",
        ".gitattributes",
        ".gitignore",
        ".pre-commit-config.yaml",
        "LICENSE",
        "README.md",
        "docs",
        "memtui",
        "pyproject.toml",
        "screenshots",
        "tests",
    }
)

MARKER = re.compile(rb"^(<{7} |={7}\r?$|>{7} )", re.MULTILINE)
"""A line that a merge writes between two versions of a text."""

OWN = frozenset({"tests/test_terminal.py"})
"""Tests of what tests share."""


def strays(root: Path) -> list[str]:
    """Test files that follow no module: `test_x.py` or `test_x_what.py` stands where `x.py` or the folder `x` does."""
    found = []
    for path in python_files("tests", root=root):
        name = path.relative_to(root / "tests")
        if name.parts[0] in BESIDE or not path.name.startswith("test_") or f"tests/{name.as_posix()}" in OWN:
            continue
        room = root / "memtui" / name.parent
        words = path.stem.removeprefix("test_").split("_")
        stems = ["_".join(words[:count]) for count in range(1, len(words) + 1)]
        if not any((room / f"{stem}.py").exists() or (room / stem).is_dir() for stem in stems):
            found.append(f"tests/{name.as_posix()}")
    return found


def count_tests(source: Source) -> int:
    """How many tests a file defines."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    tests = [node for node in ast.walk(source.tree) if isinstance(node, functions) and node.name.startswith("test_")]
    machines = [node for node in ast.walk(source.tree) if isinstance(node, ast.Assign) and "TestCase" in ast.dump(node)]
    return len(tests) + len(machines)


def test_each_test_file_follows_a_module() -> None:
    assert not strays(ROOT)


def test_a_stray_test_file_is_found(tmp_path: Path) -> None:
    for name in ("memtui/room/files.py", "tests/room/test_files.py", "tests/room/test_files_save.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "tests/room/test_gone.py").touch()
    assert strays(tmp_path) == ["tests/room/test_gone.py"]


def test_no_test_file_is_empty() -> None:
    files = [source for source in sources("tests") if source.name.rpartition("/")[2].startswith("test_")]
    assert files
    assert not [source.name for source in files if not count_tests(source)]


@pytest.mark.parametrize(("text", "count"), [("x = 1", 0), ("def test_a(): ...", 1), ("TestA = Machine.TestCase", 1)])
def test_tests_are_counted(text: str, count: int) -> None:
    assert count_tests(Source.of(text)) == count


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_the_top_level_holds_nothing_else() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {name.partition("/")[0] for name in listed.split("\0") if name} <= TOP


def unmerged(*files: Path) -> list[str]:
    """Files in which a merge was left undecided, with the line of the first marker."""
    marked = ((file, MARKER.search(file.read_bytes())) for file in files)
    return [f"{file}:{len(mark.string[: mark.start()].splitlines()) + 1}" for file, mark in marked if mark]


def test_no_merge_is_left_undecided() -> None:
    folders = (ROOT / name for name in ("docs", "memtui", "screenshots", "tests"))
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc"]
    assert len(files) > 1000
    assert not unmerged(*files, *(file for file in ROOT.iterdir() if file.is_file()))


@pytest.mark.parametrize(
    "marker", ["<<<<<" + "<< HEAD", "=====" + "==", "=====" + "==\r", ">>>>>" + ">> 1a2b3c4 (Say it)"]
)
def test_a_merge_left_undecided_is_found(tmp_path: Path, marker: str) -> None:
    page = tmp_path / "page.md"
    page.write_bytes(f"# Page\n\n{marker}\nText.\n".encode())
    assert unmerged(page) == [f"{page}:3"]
    page.write_text(f"# Page\n\n    {marker}\n========\nText of {marker}.\n")
    assert not unmerged(page)
