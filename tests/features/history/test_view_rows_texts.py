"""What a history shows: deleted, renamed, redacted, binary, huge and lost texts, each in words, none a fault."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Draft
from memtui.features.history.view_rows import DISK, DRAFT, GONE, before, load, show
from memtui.ui.draw.difference import DiffStyle
from memtui.ui.draw.pages import SHOWN_BYTES, Page
from tests.workbench.views.real import CLAUDE, ME, World, at, write

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
