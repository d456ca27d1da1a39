"""The time line: order, marks, names, sizes; each version exactly once, whatever else is in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address, AuditRecord, Draft, Version
from memtui.features.history.view_rows import (
    DISK,
    DRAFT,
    GONE,
    VERSION,
    TimelineSources,
    before,
    change_words,
    entry_runs,
    notes,
    time_line,
)
from memtui.safe_text import cell_width
from memtui.ui.draw.times import RowStyle

HERE = Address("notes", "new.md")
NOW = 1_767_225_600_000


def version(sha: str, at: int, **rest: object) -> Version:
    base = Version(sha * 64, 10, "agent:claude", at, "modified")
    return base._replace(**rest)  # type: ignore[arg-type]


def deleted(at: int, seq: int) -> AuditRecord:
    return AuditRecord(seq, "2", HERE, None, "agent:claude", "deleted", "a" * 64, None, at, "done")


def test_current_and_seen_are_the_newest_plain_version_with_their_text() -> None:
    versions = [
        version("b", 50, note="late write into a replaced file"),
        version("b", 40),
        version("a", 30, bytes=4),
        version("b", 20),
    ]
    entries = time_line(HERE, TimelineSources(versions, current="b" * 64, seen="a" * 64))
    assert [(one.number, one.current, one.seen) for one in entries] == [
        (4, False, False),
        (3, True, False),
        (2, False, True),
        (1, False, False),
    ]
    assert [one.change for one in entries] == [0, 6, -6, None]
    assert [notes(one) for one in entries] == ["late write into a replaced file", "current", "seen", ""]


def test_drafts_texts_on_disk_and_deletions_stand_in_their_places() -> None:
    versions = [version("a", 30), version("b", 10)]
    draft = Draft(HERE, "a" * 64, "mine\n", (0, 0), 60)
    facts = TimelineSources(versions, [deleted(20, 7)], current="c" * 64, size=7, modified_at=50, draft=draft)
    entries = time_line(HERE, facts)
    assert [one.kind for one in entries] == [DRAFT, DISK, VERSION, GONE, VERSION]
    assert entries[0].change == -2
    assert entries[1].current


def test_a_version_is_compared_with_the_one_that_was_under_the_name() -> None:
    versions = [
        version("d", 40),
        version("c", 30, note="refused: somebody else was first"),
        version("b", 20),
        version("a", 10),
    ]
    draft = Draft(HERE, "d" * 64, "mine\n", (0, 0), 60)
    entries = time_line(HERE, TimelineSources(versions, current="d" * 64, draft=draft))
    others = [before(entries, index) for index in range(len(entries))]
    compared = [(one.title, other.title if other else "") for one, other in zip(entries, others, strict=True)]
    assert compared == [
        ("your draft", "version 4"),
        ("version 4", "version 2"),
        ("version 3", "version 2"),
        ("version 2", "version 1"),
        ("version 1", ""),
    ]


def test_changes_of_size_in_words() -> None:
    assert [change_words(change) for change in (None, 0, 120, -2_100)] == ["", "=", "+120B", "-2.1kB"]


@given(
    st.lists(
        st.builds(
            version,
            st.sampled_from("abcdef0123456789"),
            st.integers(0, NOW),
            note=st.sampled_from(["", "refused: somebody else was first", "x\x1b[31my\u202e"]),
            operation=st.sampled_from(["created", "modified", "renamed", "restored", "odd\x00"]),
            redacted=st.booleans(),
            bytes=st.integers(0, 2**40),
            actor=st.sampled_from(["tui", "outside", "agent:claude", "mcp:\x1b]0;x"]),
        ),
        max_size=12,
    ),
    st.lists(st.integers(0, NOW), max_size=4),
    st.integers(20, 200),
    st.booleans(),
)
def test_each_version_is_one_row_that_fits_and_is_safe(
    versions: list[Version], deletions: list[int], width: int, plain: bool
) -> None:
    versions.sort(key=lambda one: -one.at)
    records = [deleted(at, seq) for seq, at in enumerate(sorted(deletions, reverse=True))]
    entries = time_line(HERE, TimelineSources(versions, records, current="a" * 64))
    assert [one.number for one in entries if one.kind == VERSION] == list(range(len(versions), 0, -1))
    assert sum(one.kind == GONE for one in entries) == len(deletions)
    assert sum(one.current for one in entries) == 1
    for entry in entries:
        text = "".join(words for words, _ in entry_runs(entry, width, RowStyle(NOW, plain), marked=False))
        assert "\x1b" not in text
        assert "\x00" not in text
        assert "\u202e" not in text
        assert cell_width(text) <= max(width, 62)
