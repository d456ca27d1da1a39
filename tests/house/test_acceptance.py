"""The page of acceptance points names tests that exist, of the kind it says, and leaves no point out."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house import pages
from tests.house.source import ROOT

PAGE = (ROOT / "docs" / "acceptance.md").read_text("utf-8")
POINTS = 60
TOKEN = re.compile(r'`([^`]+)`|"([^"]+)"')
KINDS = {
    "P": re.compile(r"run_test\(|from tests\.workbench\.(shown|workbench|merge\.stage|views\.real) import"),
    "T": re.compile(r"from tests\.terminal import|from tests\.web\.browser import"),
}
"""What a test file that drives the workbench, or a terminal, has in it."""
LATER = re.compile(r"Needs observations\.")


def rows() -> list[list[str]]:
    return pages.table_rows(PAGE, "Acceptance")


def held_by(cell: str) -> Iterator[tuple[str, str]]:
    """Each file or folder with a test or measurement of it."""
    place = ""
    for code, quoted in TOKEN.findall(cell):
        if code.startswith("tests/"):
            place = code
        else:
            yield place, code or quoted


def defines(place: Path, name: str) -> bool:
    """Whether a file defines a test, or a folder of measurements has one of this name."""
    files = sorted(place.glob("*.py")) if place.is_dir() else [place]
    for file in files:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
                return name.startswith("test_")
            if place.is_dir() and isinstance(node, ast.Constant) and isinstance(node.value, str) and name in node.value:
                return True
    return False


def of_kind(place: Path, kind: str) -> bool:
    """Whether the tests of a file are of a kind; measurements run the program in a terminal."""
    return kind == "T" if place.is_dir() else bool(KINDS[kind].search(place.read_text("utf-8")))


def test_every_point_is_there_once() -> None:
    assert [row[0] for row in rows()] == [str(number) for number in range(1, POINTS + 1)]
    assert all(set(row[1].split()) <= {"P", "T", "U"} and row[2] for row in rows())


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"point-{row[0]}")
def test_what_holds_a_point_exists(row: list[str]) -> None:
    found = list(held_by(row[3]))
    assert found or LATER.search(row[3]), row[3]
    missing = [(place, name) for place, name in found if not (ROOT / place).exists() or not defines(ROOT / place, name)]
    assert not missing


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"point-{row[0]}")
def test_a_point_has_a_test_of_each_kind_it_names(row: list[str]) -> None:
    if LATER.search(row[3]):
        return
    places = {ROOT / place for place, _ in held_by(row[3])}
    assert not [kind for kind in row[1].split() if kind in KINDS and not any(of_kind(place, kind) for place in places)]


def test_what_is_missing_is_found() -> None:
    here = Path(__file__)
    assert list(held_by('`tests/a.py`: `test_x`, `test_y`; `tests/bench/`: "a b"')) == [
        ("tests/a.py", "test_x"), ("tests/a.py", "test_y"), ("tests/bench/", "a b"),
    ]  # fmt: skip
    assert defines(here, "test_what_is_missing_is_found")
    assert not defines(here, "test_that_is_not_there")
    assert not defines(here, "held_by")
    assert not defines(ROOT / "tests/bench", "a measurement nobody took")
    assert not of_kind(ROOT / "tests/test_safe_text.py", "P")
