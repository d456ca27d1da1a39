"""Rows of entries: what is shown, in which room, and which row is the same one after a reload."""

from __future__ import annotations

import pytest

from memtui.engine.model import Address, Snapshot
from memtui.features.entries.model import parse, usage
from memtui.features.entries.view import EntriesRead, entry_runs, heading, page, place, row_key, rows_of
from memtui.safe_text import cell_width
from memtui.ui.draw.pages import revealed

AT = Address("notes", "a.txt")


def contents(data: bytes, limit: int | None = None) -> EntriesRead:
    """What is read of a file of Goose."""
    file = parse(data, "goose")
    return EntriesRead(Snapshot(AT, data, "0" * 64, 1), file, usage(file, limit))


def drawn(width: int, text: bytes, *, tagged: bool = True, plain: bool = False) -> str:
    """The first row of a file."""
    entry = contents(text).file.entries[0]
    return "".join(part for part, _ in entry_runs(entry, width, digits=2, plain=plain, tagged=tagged))


def test_equal_entries_are_told_apart_across_reloads() -> None:
    keys = [row_key(row) for row in rows_of(parse(b"a\n\nb\n\na\n\n", "goose"))]
    assert len(set(keys)) == 3
    assert [row_key(row) for row in rows_of(parse(b"new\n\na\n\nb\n\na\n\n", "goose"))][1:] == keys


def test_a_row_is_found_by_number_or_the_nearest_one() -> None:
    found = rows_of(parse(b"a\n\nb\n\nc\n\n", "goose"))
    assert [place(found, number) for number in (0, 1, 3, 9)] == [0, 0, 2, 2]
    assert place(found[2:], 1) == place(found[2:], 3) == place((), 2) == 0


@pytest.mark.parametrize("width", [12, 30, 58, 90, 160])
def test_a_row_keeps_to_its_width_and_says_tags_where_there_is_room(width: int) -> None:
    row = drawn(width, "# ünï code\nSome words 漢字 and more of them\x1b[0m".encode())
    assert cell_width(row) <= max(width, 13)
    assert ("ünï code" in row) == (width >= 58)
    assert "\x1b" not in row


def test_a_row_without_words_says_that() -> None:
    assert drawn(60, b"  ", tagged=False).endswith("(blank)")


def test_entries_in_the_middle_of_a_key_are_masked_and_revealed() -> None:
    key = ["-----BEGIN PRIVATE KEY-----", *(f"{n}" + "Qx9z" * 15 for n in range(4)), "-----END PRIVATE KEY-----"]
    found = contents(("\n\n".join(key) + "\n\nplain words\n").encode())
    entries = found.file.entries
    assert [entry.title for entry in entries] == ["[masked: private key]"] * 6 + ["plain words"]
    shown = page(found, entries[2], 100, plain=False)
    assert "Qx9z" not in str([line.runs for line in shown])
    assert "Qx9z" in str([line.runs for line in revealed(shown)[0]])


def test_the_heading_says_where_the_entry_stands_and_how_full_the_file_is() -> None:
    full = contents(b"# t\na\nb\n\nc\n\n", 4)
    assert heading(full, full.file.entries[0]) == [
        "2 entries, 12 of 4 characters (300 %): 8 over what the agent takes.",
        f"Entry 1 of 2, 3 lines from line 1 on, 7 characters, check {full.file.entries[0].sha256[:8]}.",
        "Tags: t.",
    ]
    plain = contents(b"x\n\n")
    assert heading(plain, plain.file.entries[0])[0].startswith("Entry 1 of 1, a line from line 1 on, 1 characters")
