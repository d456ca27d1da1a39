"""The history in the workbench: enter restores nothing, r restores and says so, X needs a word and a reason."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.model import Address, Draft, Policy, Version
from memtui.features.history.view import WORD, HistoryView, explanation
from memtui.features.history.view_rows import Timeline, TimelineSources, time_line
from memtui.pointers import references
from tests.workbench.views.real import ME, Real, World, at, real

TEXTS = ("# Retry\n\n- three\n", "# Retry\n\n- four\n", "# Retry\n\n- five times\n")


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.write(*TEXTS)
    return world


async def history(screen: Real, name: str = "a.md") -> HistoryView:
    """Open the history of a memory, and wait for its first text."""
    assert screen.browser.memories.reveal(at(name))
    await screen.press("H")
    await screen.until_text(f"History of notes/{name}")
    top = screen.app.screen
    assert isinstance(top, HistoryView)
    await screen.until(lambda: top.loaded and bool(top.page.page))
    return top


@asynccontextmanager
async def history_of(world: World, **options: Any) -> AsyncIterator[tuple[Real, HistoryView]]:
    async with real(world, **options) as screen:
        yield screen, await history(screen)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_time_line_and_what_a_version_changed(world: World, size: tuple[int, int]) -> None:
    async with history_of(world, size=size) as (screen, _):
        await screen.until_text("version 2 -> version 3")
        for words in ("3 versions", "current, seen", "claude", "created", "22 B", "+6B", "+ - {five times}"):
            assert words in screen.text
        assert "r restore" not in screen.footer
        await screen.press("j")
        await screen.until_text("version 1 -> version 2")
        await screen.until_text("+ - {four}")
        assert screen.footer.startswith("r restore")
        await screen.press("w")
        await screen.until_text("[-three-]{+four+}")
        await screen.press("v")
        await screen.until_text("Text of version 2")
        assert "3  - four" in screen.text


async def test_enter_never_restores(world: World) -> None:
    async with history_of(world) as (screen, view):
        await screen.press("j")
        await screen.until_text("version 1 -> version 2")
        before = world.disk()
        await screen.press("enter", "enter", "enter")
        assert world.disk() == before
        assert not any(record.operation == "restored" for record in screen.real.history.audit())
        await screen.press("escape")
        await screen.until(lambda: not view._in_page)


async def test_r_restores_at_once_and_u_takes_it_back(world: World) -> None:
    async with history_of(world) as (screen, view):
        await screen.press("j", "j")
        await screen.until_text("Text of version 1")
        await screen.press("r")
        await screen.until_text("Restored version 1 (by you, just now) of notes/a.md. u takes it back.")
        assert world.disk()["a.md"] == TEXTS[0].encode()
        await screen.until(lambda: len(view.rows.all) == 4)
        assert view.item is not None
        assert view.item.number == 1
        await screen.press("u")
        await screen.until(lambda: world.disk()["a.md"] == TEXTS[2].encode())


async def test_the_current_version_is_not_restored_and_says_so(world: World) -> None:
    async with history_of(world) as (screen, _):
        await screen.press("r")
        await screen.until_text("This is the current version already.")
        await screen.press("d", "r")
        await screen.until_text("The current version cannot be redacted: save a text without the secret first")


async def test_a_version_is_compared_with_the_file_or_with_a_marked_one(world: World) -> None:
    async with history_of(world) as (screen, _):
        await screen.press("G", "c")
        await screen.until_text("version 1 -> version 3")
        await screen.until_text("+ - {five times}")
        await screen.press("space", "k")
        await screen.until_text("1 marked")
        await screen.until_text("version 1 -> version 2")
        await screen.press("k")
        await screen.until_text("version 1 -> version 3")
        await screen.press("escape")
        await screen.until(lambda: "1 marked" not in screen.text)
        await screen.press("c")
        await screen.until_text("version 2 -> version 3")


async def test_redacting_needs_the_word_and_a_reason_and_escape_leaves_it(world: World) -> None:
    async with history_of(world) as (screen, _):
        await screen.press("j", "d", "r")
        await screen.until_text("This cannot be undone: not by u, and not by memtui at")
        await screen.type("redakt")
        await screen.press("enter")
        await screen.until_text("type redact, or esc")
        await screen.press("escape")
        await screen.until_text("Not redacted; nothing was changed.")
        await screen.until_text("+ - {four}")
        assert not any(version.redacted for version in screen.real.history.of(at("a.md")))
        await screen.press("d", "r")
        await screen.type("redact")
        await screen.press("enter", "enter")
        await screen.until_text("a redaction needs a reason")
        await screen.type("a key")
        await screen.press("enter")
        await screen.until_text("Redacted version 2 of notes/a.md")
        await screen.until_text("removed: a key")
        versions = screen.real.history.of(at("a.md"))
        assert [version.redacted for version in versions] == [False, True, False]
        assert world.disk()["a.md"] == TEXTS[2].encode()
        await screen.press("r")
        await screen.until_text("was redacted: it is gone for good.")


async def test_redacting_asks_for_others_that_keep_the_text_and_for_damaged_ledgers(world: World) -> None:
    with world.engine() as engine:
        engine.memories.create(at("other.md"), TEXTS[1], actor=ME)
    damaged = world.base / "state" / "state.db.damaged-1"
    damaged.write_bytes(TEXTS[1].encode())
    async with history_of(world) as (screen, _):
        await screen.press("j", "d", "r")
        for typed in ("redact", "a key"):
            await screen.type(typed)
            await screen.press("enter")
        await screen.until_text("still kept by 1 other: notes/other.md")
        await screen.press("escape")
        await screen.until_text("Not redacted; nothing was changed.")
        await screen.press("d", "r")
        for typed in ("redact", "a key"):
            await screen.type(typed)
            await screen.press("enter")
        await screen.until_text("type everywhere")
        await screen.type("everywhere")
        await screen.press("enter")
        await screen.until_text("deletes state.db.damaged-1, which is damaged and may hold the text, too")
        assert [version.redacted for version in screen.real.history.of(at("other.md"))] == [True]
        await screen.type("yes")
        await screen.press("enter")
        await screen.until_text("Deleted state.db.damaged-1.")
        assert not damaged.exists()


async def test_texts_that_were_kept_aside_are_found(world: World) -> None:
    with world.engine() as engine:
        engine.save(at("a.md"), "mine in conflict\n", expected_sha256="0" * 64, actor=ME)
        engine.drafts.save(Draft(at("a.md"), engine.read(at("a.md")).sha256, "a draft\n", (0, 0), world.clock()))
    async with history_of(world) as (screen, view):
        assert view.item is not None
        assert view.item.kind == "draft"
        await screen.until_text("your draft")
        await screen.press("n")
        await screen.until_text("mine in conflict")
        assert "refused: somebody else was first" in screen.text
        await screen.press("n")
        await screen.until_text("No other text was kept aside in this direction.")
        await screen.press("N")
        await screen.until(lambda: view.item is not None and view.item.kind == "draft")
        await screen.press("r")
        await screen.until_text("A draft is not in history")


async def test_what_is_copied_is_the_version_under_the_cursor(world: World) -> None:
    async with history_of(world) as (screen, view):
        await screen.press("j", "y", "c")
        await screen.until_text("Copied the text of version 2")
        assert screen.app.clipboard == TEXTS[1]
        await screen.press("y", "s")
        await screen.until_text("Copied the sha-256")
        assert view.item is not None
        assert screen.app.clipboard == view.item.sha256


async def test_the_history_of_what_cannot_be_asked_for_says_why(world: World) -> None:
    async with real(world) as screen:
        screen.browser.views.about("history", Address("/not/here", "a.md"))
        await screen.until_text("There is no root")
        assert "reading..." not in screen.text


async def test_a_deleted_memory_is_restored_from_its_history(world: World) -> None:
    with world.engine() as engine:
        engine.memories.delete([at("a.md")], actor=ME)
    async with real(world) as screen:
        screen.browser.views.about("history", at("a.md"))
        await screen.until_text("3 versions | deleted")
        await screen.press("r")
        await screen.until_text("A deletion has no text")
        await screen.press("e")
        await screen.until_text("It is not on disk; r restores a version.")
        await screen.press("j", "r")
        await screen.until_text("u takes it back.")
        assert world.disk()["a.md"] == TEXTS[2].encode()


async def test_two_thousand_versions_open_and_scroll(world: World) -> None:
    with world.engine() as engine, engine._ledger.transaction() as db:
        db.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
            " INSERT INTO versions (memory, blob, actor, at, operation)"
            " SELECT v.memory, v.blob, 'outside', v.at + n.i, 'modified' FROM n, versions v WHERE v.id = 1"
        )
    async with history_of(world) as (screen, view):
        assert "2,003 versions" in screen.text
        await screen.press("G")
        await screen.until(lambda: view.item is not None and view.item.number == 1)
        await screen.until_text("Version 1, created by you")


async def test_a_deleted_memory_comes_back_with_the_line_of_its_index(tmp_path: Path) -> None:
    world = World(tmp_path, Policy(index_file="MEMORY.md", index_format="links"))
    world.write(*TEXTS)
    with world.engine() as engine:
        engine.memories.create(at("MEMORY.md"), "- [A](a.md)\n- [B](b.md)\n", actor=ME)
        references.trash(engine, [at("a.md")], actor=ME)
    async with real(world, size=(120, 40)) as screen:
        await screen.press("6")
        await screen.until_text("- five times")
        await screen.press("H")
        await screen.until_text("History of notes/a.md")
        top = screen.app.screen
        assert isinstance(top, HistoryView)
        await screen.until(lambda: top.loaded and bool(top.page.page))
        await screen.press("j")
        await screen.until_text("version 2 -> version 3")
        await screen.press("r")
        await screen.until_text("of notes/a.md, 1 pointer brought back. u takes it back.")
        assert world.disk() == {"a.md": TEXTS[2].encode(), "MEMORY.md": b"- [A](a.md)\n- [B](b.md)\n"}


def past(*shas: str) -> Timeline:
    versions = [Version(sha * 64, 3, "tui", 10 - number, "modified") for number, sha in enumerate(shas)]
    return Timeline(at("a.md"), time_line(at("a.md"), TimelineSources(versions, current="c" * 64, seen=None)), "c" * 64)


def test_it_says_what_goes_what_stays_and_how_to_stop() -> None:
    said = " ".join(explanation(past("c", "a"), past("c", "a").entries[1]))
    for words in (
        "Redact version 1 of notes/a.md?",
        "cannot be undone",
        "The record stays",
        f"Type {WORD}",
        "esc leaves",
    ):
        assert words in said
    assert "same text" not in said


def test_other_versions_with_the_same_text_are_counted() -> None:
    found = past("c", "a", "b", "a", "a")
    assert "2 other versions of the same text: it is cleared there too." in explanation(found, found.entries[1])
