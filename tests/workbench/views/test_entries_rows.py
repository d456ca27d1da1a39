"""Rows of entries: what is shown, in which room, and which row is the same one after a reload."""

from __future__ import annotations

import pytest

from memtui.engine.model import Address, Snapshot
from memtui.features.entries.fullness import usage
from memtui.features.entries.parse import parse
from memtui.safe_text import cell_width
from memtui.workbench.views.entries_rows import Held, Shelf, entry_runs, heading

AT = Address("notes", "a.txt")


def held(data: bytes, limit: int | None = None) -> Held:
    """What is read of a file of Goose."""
    file = parse(data, "goose")
    return Held(Snapshot(AT, data, "0" * 64, 1), file, usage(file, limit))


def shelf(data: bytes) -> Shelf:
    """A list of its entries."""
    found = Shelf(AT)
    found.load(held(data))
    return found


def drawn(width: int, text: bytes, *, tagged: bool = True, plain: bool = False) -> str:
    """The first row of a file."""
    entry = held(text).file.entries[0]
    return "".join(part for part, _ in entry_runs(entry, width, digits=2, plain=plain, tagged=tagged))


def test_equal_entries_are_told_apart_across_reloads() -> None:
    found = shelf(b"a\n\nb\n\na\n\n")
    keys = [found.key(entry) for entry in found.all]
    assert len(set(keys)) == 3
    found.load(held(b"new\n\na\n\nb\n\na\n\n"))
    assert [found.key(entry) for entry in found.all[1:]] == keys


def test_a_filter_stays_over_a_reload_and_looks_into_texts() -> None:
    found = shelf(b"# zsh\nShell\n\nTabs\n\n")
    found.filter(("shell", "zsh"))
    assert [entry.number for entry in found.shown] == [1]
    found.load(held(b"New\n\n# zsh\nShell\n\nTabs\n\n"))
    assert [entry.number for entry in found.shown] == [2]
    found.filter(())
    assert found.shown == found.all


def test_a_row_is_found_by_number_or_the_nearest_one() -> None:
    found = shelf(b"a\n\nb\n\nc\n\n")
    assert [found.place(number) for number in (0, 1, 3, 9)] == [0, 0, 2, 2]
    found.filter(("c",))
    assert found.place(1) == found.place(3) == 0
    found.load("There is no memory.")
    assert (found.place(2), found.problem, found.all) == (0, "There is no memory.", ())


@pytest.mark.parametrize("width", [12, 30, 58, 90, 160])
def test_a_row_keeps_to_its_width_and_says_tags_where_there_is_room(width: int) -> None:
    row = drawn(width, "# ünï code\nSome words 漢字 and more of them\x1b[0m".encode())
    assert cell_width(row) <= max(width, 13)
    assert ("ünï code" in row) == (width >= 58)
    assert "\x1b" not in row


def test_a_row_without_words_says_that() -> None:
    assert drawn(60, b"  ", tagged=False).endswith("(blank)")


def test_the_heading_says_where_the_entry_stands_and_how_full_the_file_is() -> None:
    full = held(b"# t\na\nb\n\nc\n\n", 4)
    assert heading(full, full.file.entries[0]) == [
        "2 entries, 12 of 4 characters (300 %): 8 over what the agent takes.",
        f"Entry 1 of 2, 3 lines from line 1 on, 7 characters, check {full.file.entries[0].sha256[:8]}.",
        "Tags: t.",
    ]
    plain = held(b"x\n\n")
    assert heading(plain, plain.file.entries[0])[0].startswith("Entry 1 of 1, a line from line 1 on, 1 characters")
