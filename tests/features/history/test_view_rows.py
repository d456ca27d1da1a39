"""The time line: order, marks, names, sizes; each version exactly once, whatever else is in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine import Engine
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
    load,
    notes,
    show,
    time_line,
)
from memtui.safe_text import cell_width
from memtui.ui.draw.difference import DiffStyle
from memtui.ui.draw.pages import SHOWN_BYTES, Page
from memtui.ui.draw.text import RowStyle
from tests.workbench.views.real import CLAUDE, ME, World, at, write

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


LOOK = DiffStyle(70)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def engine(world: World) -> Iterator[Engine]:
    with world.engine() as engine:
        engine.watch.reconcile()
        yield engine


def text(page: Page) -> str:
    return "\n".join("".join(words for words, _ in line.runs) for line in page)


def shown(engine: Engine, name: str, index: int = 0, *, whole: bool = False) -> str:
    past = load(engine, at(name))
    entry = past.entries[index]
    page, _ = show(engine, past, entry, before(past.entries, index), past.entries[0].at, LOOK, whole=whole)
    return text(page)


def test_a_version_shows_who_when_and_the_words_that_differ(engine: Engine) -> None:
    write(engine, ["one two\n", "one three\n"], at("a.md"))
    words = shown(engine, "a.md")
    assert "Version 2, changed by claude, just now (" in words
    assert "10 bytes, +2 to the one before, sha-256 " in words
    assert "1 - one {two}" in words
    assert "1 + one {three}" in words
    assert "1  one three" in shown(engine, "a.md", whole=True)


def test_a_deleted_memory_has_its_deletion_on_top(engine: Engine) -> None:
    write(engine, ["one\n"], at("a.md"))
    engine.memories.delete([at("a.md")], actor=CLAUDE)
    past = load(engine, at("a.md"))
    assert [one.kind for one in past.entries] == [GONE, "version"]
    assert past.current is None
    assert "Deleted by claude" in shown(engine, "a.md")


def test_a_renamed_memory_is_found_under_both_names(engine: Engine) -> None:
    write(engine, ["one\n", "two\n"], at("old.md"))
    engine.memories.rename(at("old.md"), at("sub/new.md"), actor=ME)
    write(engine, ["three\n"], at("sub/new.md"))
    past = load(engine, at("old.md"))
    assert (past.address, past.asked) == (at("sub/new.md"), at("old.md"))
    operations = [("modified", ""), ("renamed", "old.md"), ("modified", ""), ("created", "")]
    assert [(one.operation, one.was) for one in past.entries] == operations
    assert load(engine, at("sub/new.md")).asked is None


def test_binary_and_huge_versions_are_said_and_not_shown(engine: Engine, world: World) -> None:
    write(engine, ["one\n"], at("a.md"))
    (world.folder / "a.md").write_bytes(b"\x00\xff" * 50)
    past = load(engine, at("a.md"))
    assert past.entries[0].kind == DISK
    assert "The newer one: binary, 100 bytes." in shown(engine, "a.md")
    assert "r restores it byte for byte" in shown(engine, "a.md", whole=True)
    (world.folder / "a.md").write_bytes(b"x" * (SHOWN_BYTES - 1) + b"\n\n\n")
    assert "memtui reads up to" in load(engine, at("a.md")).problem


def test_a_redacted_version_says_why_it_is_empty(engine: Engine) -> None:
    write(engine, ["a key\n", "no key\n"], at("a.md"))
    engine.redaction.redact(at("a.md"), engine.history.of(at("a.md"))[1].sha256, reason="it held a key", actor=ME)
    assert "it held a key" in shown(engine, "a.md", 1)
    newer = shown(engine, "a.md")
    assert "it held a key" in newer
    assert "1  no key" in newer


def test_a_draft_is_compared_with_the_file(engine: Engine) -> None:
    write(engine, ["one\n"], at("a.md"))
    engine.drafts.save(Draft(at("a.md"), engine.read(at("a.md")).sha256, "mine\n", (0, 0), 1))
    assert load(engine, at("a.md")).entries[0].kind == DRAFT
    words = shown(engine, "a.md")
    assert "1 - one" in words
    assert "1 + mine" in words


def test_a_file_that_cannot_be_read_says_why(engine: Engine, world: World) -> None:
    write(engine, ["one\n"], at("a.md"))
    (world.folder / "a.md").unlink()
    (world.folder / "a.md").symlink_to("/etc/hostname")
    past = load(engine, at("a.md"))
    assert past.current is None
    assert past.problem
    assert len(past.entries) == 1


def test_a_memory_nobody_ever_saw_has_no_past(engine: Engine) -> None:
    past = load(engine, at("never.md"))
    assert past.entries == ()
    assert past.address == at("never.md")
