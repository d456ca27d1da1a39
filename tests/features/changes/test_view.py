"""The inbox as a user drives it: what is listed, what keys do to it, and that news never move anything."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from memtui.engine.model import Address, Draft, Root
from memtui.features.changes.view import ChangesView
from memtui.workbench.edit.memory_text import MemoryText
from tests.workbench.memories import Memories, usual_roots
from tests.workbench.shown import TEXTS, Shown, engine_with, resize, shown

AUTH, RETRY, NOTES, TODO = (
    "memtui:project/decisions/auth.md",
    "memtui:project/decisions/retry.md",
    "memtui:project/notes.md",
    "memtui:workspace/todo.md",
)
OLD = "# Retry\n\n- three times\n- with jitter\n"
NEW = "# Retry\n\n- four times\n- with jitter\n- and a budget\n"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def opened(screen: Shown) -> ChangesView:
    await screen.press("3")
    await screen.until(lambda: screen.browser.views.current == "changes")
    top = cast("ChangesView", screen.app.screen)
    await screen.until(lambda: top.loaded)
    return top


async def one_change(screen: Shown) -> ChangesView:
    screen.engine.outside(RETRY, NEW)
    await screen.until_text("A1 agent")
    top = await opened(screen)
    await screen.until(lambda: top.shown is not None)
    return top


@asynccontextmanager
async def review(*args: Any, **options: Any) -> AsyncIterator[tuple[Shown, ChangesView]]:
    async with shown(*args, **options) as screen:
        yield screen, await opened(screen)


@asynccontextmanager
async def one_change_shown(**options: Any) -> AsyncIterator[tuple[Shown, ChangesView]]:
    async with shown(**options) as screen:
        yield screen, await one_change(screen)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_an_empty_inbox_says_so(size: tuple[int, int]) -> None:
    async with review(size=size) as (screen, _):
        await screen.until_text("You have seen everything.")
        await screen.press("x")
        await screen.until_text("There is no change here.")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_a_change_is_shown_from_the_text_last_seen(size: tuple[int, int]) -> None:
    async with one_change_shown(size=size) as (screen, _):
        await screen.until_text("@@ hunk 1 of 2, line 3")
        for words in ("Changed outside memtui, just now.", "- - {three} times", "+ - {four} times", "+ - and a budget"):
            assert words in screen.text
        await screen.until_text("+2 -1")


async def test_seen_takes_it_away_and_u_brings_it_back() -> None:
    async with one_change_shown() as (screen, _):
        await screen.press("x")
        await screen.until_text("You have seen everything.")
        await screen.until_text("Seen: 1 change. u takes it back.")
        await screen.press("u")
        await screen.until_text("Undid: 1 change seen.")
        await screen.until_text("@@ hunk 1 of 2")


async def test_marked_ones_and_all_are_seen_at_once() -> None:
    async with shown() as screen:
        for name in (AUTH, RETRY, NOTES):
            screen.engine.outside(name, "other\n")
        await screen.until_text("A3 agent edits")
        await opened(screen)
        await screen.until_text("3 changed")
        await screen.press("j", "space", "space")
        await screen.until_text("2 marked")
        await screen.press("x")
        await screen.until_text("Seen: 2 changes.")
        await screen.until_text("A1 agent edits")
        await screen.press("u")
        await screen.until_text("A3 agent edits")
        await screen.press("X")
        await screen.until_text("You have seen everything.")


async def test_only_what_was_shown_counts_as_seen() -> None:
    async with one_change_shown() as (screen, top):
        screen.engine.outside(RETRY, "newer\n")
        await screen.until_text("changed again, R shows it")
        await screen.press("x")
        await screen.until_text("Seen: 1 change.")
        assert screen.engine.unseen[0].before == sha(NEW)
        await screen.until(lambda: len(top.rows.shown) == 1)


async def test_one_hunk_is_taken_back_and_the_rest_stays() -> None:
    async with one_change_shown() as (screen, _):
        await screen.until_text("@@ hunk 1 of 2")
        await screen.press("d")
        await screen.until_text("Take back: h this hunk (1 of 2), c all of memtui:project/decisions/retry.md")
        await screen.press("h")
        await screen.until_text("Took back one hunk of memtui:project/decisions/retry.md. 1 hunk left in it.")
        assert screen.engine.data[Address.parse(RETRY)].decode() == NEW.replace("four", "three")
        await screen.until_text("@@ hunk, line 5")
        await screen.press("escape", "3")
        await screen.until_text("@@ hunk, line 5")
        await screen.until_text("A1 agent edits")
        await screen.press("d", "h")
        await screen.until(lambda: screen.engine.data[Address.parse(RETRY)].decode() == OLD)
        await screen.until_text("You have seen everything.")


async def test_a_hunk_that_was_brought_back_is_shown_again() -> None:
    async with one_change_shown() as (screen, _):
        await screen.until_text("@@ hunk 1 of 2")
        await screen.press("d", "h")
        await screen.until_text("@@ hunk, line 5")
        await screen.press("u")
        await screen.until_text("@@ hunk 1 of 2")
        assert "changed again" not in screen.text
        await screen.press("escape", "3")
        await screen.until_text("@@ hunk 1 of 2")
        await screen.press("x")
        await screen.until_text("You have seen everything.")


async def test_the_hunk_that_is_pointed_at_is_the_one() -> None:
    async with one_change_shown() as (screen, _):
        await screen.until_text(">@@ hunk 1 of 2")
        await screen.press("right_square_bracket")
        await screen.until_text(">@@ hunk 2 of 2")
        await screen.press("d", "h")
        await screen.until(
            lambda: screen.engine.data[Address.parse(RETRY)].decode() == NEW.replace("- and a budget\n", "")
        )


async def test_a_hunk_of_the_row_before_is_not_taken_back() -> None:
    async with shown() as screen:
        for name in (AUTH, RETRY):
            screen.engine.outside(name, "other\n")
        await screen.until_text("A2 agent edits")
        top = await opened(screen)
        await screen.until_text("2 changed")
        await screen.press("g", "g", "j")
        await screen.until(lambda: top.shown is not None)
        top.list.move(1)
        assert top.shown is None
        assert top.rollback.no_hunk == "This change is still being read."
        top.rollback.hunk()
        await screen.until(lambda: top.shown is not None)
        assert top.rollback.no_hunk == ""
        assert {bytes(screen.engine.data[Address.parse(name)]) for name in (AUTH, RETRY)} == {b"other\n"}


async def test_the_cursor_goes_to_the_group_when_its_row_is_closed_into_it() -> None:
    engine = engine_with()
    engine.outside(NOTES, "other\n")
    engine.engine.watch.reconcile()
    engine.clock.now += 3_600_000
    for name in (AUTH, RETRY):
        engine.outside(name, "other\n")
    async with review(engine) as (screen, top):
        await screen.until(lambda: len(top.rows.shown) == 4)
        await screen.press("g", "g", "j", "t")
        await screen.until(lambda: len(top.rows.shown) == 2)
        assert top.list.cursor == 0


async def test_what_has_no_hunks_says_which_key_takes_it_back() -> None:
    async with shown() as screen:
        screen.engine.outside("memtui:project/new.md", "brand new\n")
        await screen.until_text("A1 agent")
        await opened(screen)
        await screen.until_text("brand new")
        await screen.press("d", "h")
        await screen.until_text(
            "It is new as a whole; taking the change back moves it to the trash. d c takes it back."
        )
        await screen.press("d", "c")
        await screen.until(lambda: Address.parse("memtui:project/new.md") not in screen.engine.data)


@pytest.mark.parametrize("second", ["h", "c"])
async def test_a_memory_written_again_meanwhile_is_shown_anew_and_nothing_is_taken_back(second: str) -> None:
    async with one_change_shown() as (screen, _):
        await screen.until_text("@@ hunk 1 of 2")
        address = Address.parse(RETRY)
        screen.engine.outside(RETRY, "# Retry\n\n- five times\n- with jitter\n- and a budget\n")
        await screen.press("d", second)
        await screen.until_text("changed again: nothing was taken back.")
        assert b"five" in screen.engine.data[address]
        assert not screen.engine.drafts
        await screen.until(lambda: "+ - {five} times" in screen.text)
        await screen.press("d", second)
        await screen.until(lambda: b"three" in screen.engine.data[address])


async def test_c_opens_the_conflict_of_the_memory_and_esc_comes_back() -> None:
    async with one_change_shown() as (screen, top):
        await screen.press("c")
        await screen.until_text("There is no conflict.")
        address = Address.parse(RETRY)
        mine = Draft(address, sha(OLD), OLD.replace("three", "nine"), (0, 0), 0, OLD.encode())
        screen.engine.engine.drafts.save(mine)
        screen.browser.bridge.refresh_drafts()
        await screen.until_text("!1 conflict")
        await screen.press("c")
        await screen.until_text("CONFLICT memtui:project/decisions/retry.md")
        await screen.press("escape")
        await screen.until(lambda: screen.app.screen is top)


async def test_enter_edits_at_the_hunk() -> None:
    async with one_change_shown() as (screen, _):
        await screen.until_text("@@ hunk 1 of 2")
        await screen.press("right_square_bracket", "enter")
        await screen.until(lambda: screen.browser.editing and screen.browser.typing)
        text = screen.browser.query_one(MemoryText)
        await screen.until(lambda: text.cursor_location[0] == 4)


async def test_a_deletion_is_shown_and_restored() -> None:
    async with shown() as screen:
        screen.engine.delete(RETRY)
        await screen.until_text("A1 agent")
        await opened(screen)
        await screen.until_text("What it held:")
        await screen.press("enter")
        await screen.until_text("is deleted; d c restores it.")
        await screen.press("d", "c")
        await screen.until(lambda: screen.engine.data.get(Address.parse(RETRY)) == OLD.encode())


async def test_a_checkout_is_one_row_that_opens() -> None:
    engine = engine_with()
    for number in range(500):
        engine.outside(f"memtui:project/many/n{number:03}.md", "x\n")
    engine.engine.watch.reconcile()
    engine.clock.now += 60_000
    engine.outside(RETRY, NEW)
    async with review(engine) as (screen, top):
        await screen.until(lambda: len(top.rows.shown) == 2)
        await screen.press("G")
        for size in ((80, 24), (200, 60), (120, 40)):
            await resize(screen.pilot, *size)
            await screen.until_text("500 new")
            await screen.until_text("memtui:project/many/n000.md")
        await screen.press("enter")
        await screen.until(lambda: len(top.rows.shown) == 502)
        await screen.press("h")
        await screen.until(lambda: len(top.rows.shown) == 2)
        await screen.press("d", "c")
        await screen.until_text("Took back the change of 500 memories.")
        assert engine.steps() == 1


async def test_news_move_neither_cursor_nor_text() -> None:
    engine = engine_with()
    for number in reversed(range(60)):
        engine.outside(f"memtui:project/many/n{number:02}.md", "x\n")
        engine.engine.watch.reconcile()
        engine.clock.now += 3_600_000
    async with review(engine) as (screen, top):
        await screen.until(lambda: len(top.rows.shown) == 60)
        await screen.press("j", "j", "j")
        await screen.until(lambda: top.shown is not None and top.shown.change.address.name == "n03.md")
        row = next(y for y, line in enumerate(screen.text.split("\n")) if line.startswith(">"))
        page = top.page.page
        screen.engine.outside(AUTH, "other\n")
        screen.engine.outside(NOTES, "other\n")
        await screen.until_text("2 new above")
        screen.engine.outside(NOTES, TEXTS[NOTES])
        await screen.until_text("1 new above")
        assert top.item is not None
        assert top.item.change is not None
        assert top.item.change.address.name == "n03.md"
        assert screen.text.split("\n")[row].startswith(">")
        assert "n03.md" in screen.text.split("\n")[row]
        assert top.page.page == page
        await screen.press("g", "g")
        await screen.until(lambda: "new above" not in screen.text)


async def test_a_change_that_comes_again_leaves_the_text_until_asked() -> None:
    async with one_change_shown() as (screen, _):
        await screen.until_text("{four}")
        screen.engine.outside(RETRY, NEW.replace("four", "six"))
        await screen.until_text("changed again, R shows it")
        assert "{four}" in screen.text
        await screen.press("R")
        await screen.until_text("{six}")
        assert "changed again" not in screen.text


async def test_a_folder_shows_only_what_is_below_it_and_3_shows_all() -> None:
    async with shown() as screen:
        screen.engine.outside(RETRY, NEW)
        screen.engine.outside(TODO, "other\n")
        await screen.until_text("A2 agent edits")
        await screen.go(RETRY)
        await screen.press("h", "w")
        await screen.until_text("Changes in decisions")
        top = cast("ChangesView", screen.app.screen)
        await screen.until(lambda: len(top.rows.shown) == 1)
        await screen.press("1", "3")
        await screen.until_text("Changes since you looked")
        await screen.until(lambda: len(top.rows.shown) == 3)


async def test_a_root_that_is_gone_has_a_row_and_words(home: Path) -> None:
    codex = Root("codex:global", str(home / ".codex"), "codex", label="Codex")
    engine = Memories(
        {**TEXTS, **{f"codex:global/n{number}.md": "x\n" for number in range(34)}}, (*usual_roots(), codex)
    )
    engine.open()
    shutil.rmtree(codex.path)
    async with review(engine) as (screen, _):
        await screen.until_text("folder gone: Codex, 34 memories were in it")
        await screen.until_text("None of them counts as deleted")
        await screen.press("x")
        await screen.until_text("There is no change here.")


async def test_any_other_key_after_d_cancels() -> None:
    async with one_change_shown() as (screen, _):
        await screen.press("d", "d")
        await screen.until_text("Cancelled; nothing was changed.")
        assert screen.engine.data[Address.parse(RETRY)].decode() == NEW


async def test_differences_are_shown_word_by_word_or_line_by_line() -> None:
    async with one_change_shown() as (screen, _):
        await screen.until_text("{three}")
        await screen.press("w")
        await screen.until_text("[-three-]{+four+}")
        await screen.press("w")
        await screen.until_text("- - {three}")


async def test_a_group_is_seen_and_taken_back_as_one() -> None:
    async with shown() as screen:
        for name in (AUTH, RETRY):
            screen.engine.outside(name, "other\n")
        await screen.until_text("A2 agent edits")
        await opened(screen)
        await screen.until_text("2 changed")
        await screen.press("g", "g", "x")
        await screen.until_text("Seen: 2 changes.")
        await screen.press("u")
        await screen.until_text("2 changed")
        await screen.press("g", "g", "d", "c")
        await screen.until_text("Took back the change of 2 memories.")
        assert screen.engine.data[Address.parse(RETRY)].decode() == OLD


async def test_the_history_opens_on_top_and_the_tree_is_a_key_away() -> None:
    async with one_change_shown() as (screen, top):
        await screen.press("H")
        await screen.until_text(f"History of {RETRY}")
        await screen.press("escape")
        await screen.until(lambda: screen.app.screen is top)
        await screen.press("o")
        await screen.until(lambda: screen.app.screen is screen.browser)
        assert screen.here == RETRY
