"""Thousands of lines and memories: ten times as much takes about ten times as long, not a hundred times."""

from __future__ import annotations

from memtui.engine.model import Address
from memtui.features.health.apply import preview
from memtui.features.health.checks import CheckedIndex, check
from tests.features.health.folders import LINKS, entry
from tests.growth import growth

FEW, MANY = 400, 4_000
MOST = 25
"""How many times as long; twice and a half what it is on a quiet machine."""


def index(size: int) -> CheckedIndex:
    """An index of which every line dangles, beside as many memories that it does not name."""
    data = "".join(entry(f"gone{number}.md") for number in range(size)).encode()
    memories = {f"m{number}.md": "About it" for number in range(size)}
    return CheckedIndex(
        Address("notes", "MEMORY.md"), data, LINKS, {**memories, "MEMORY.md": ""}, mine=tuple(sorted(memories))
    )


def test_checking_grows_with_the_lines() -> None:
    given = {size: index(size) for size in (FEW, MANY)}
    assert len(check(given[MANY]).findings) == 2 * MANY + 1
    assert growth(lambda size: check(given[size]), FEW, MANY) < MOST


def test_the_preview_of_all_fixes_grows_with_the_lines() -> None:
    given = {size: index(size) for size in (FEW, MANY)}
    found = {size: check(given[size]).findings for size in (FEW, MANY)}

    def shown(size: int) -> object:
        return preview(given[size].address, given[size].data, found[size], LINKS, rebuilt=False)

    assert growth(shown, FEW, MANY) < MOST


def test_checking_grows_with_the_pointers_of_one_line() -> None:
    given = {}
    for size in (FEW, MANY):
        data = ("- " + " ".join(f"[m{number}](m{number}.md)" for number in range(size)) + "\n").encode()
        given[size] = CheckedIndex(Address("notes", "MEMORY.md"), data, LINKS, {"MEMORY.md": ""})
    assert growth(lambda size: check(given[size]), FEW, MANY) < MOST
