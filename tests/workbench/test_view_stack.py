"""Digits switch between views; the main screen's place is as it was."""

from __future__ import annotations

import pytest

from memtui.features.changes.view import ChangesView
from memtui.features.search.view import SearchView
from tests.workbench.shown import Shown, engine_with, shown

RETRY = "memtui:project/decisions/retry.md"


async def test_a_visit_leaves_the_main_screen_as_it_was() -> None:
    async with shown(size=(80, 24)) as screen:
        await screen.go(RETRY)
        await screen.press("space", "k")
        await screen.press("slash")
        await screen.type("retry")
        await screen.press("enter")
        tree = screen.browser.memories
        before = (screen.here, tree.cursor, tree.top, set(tree.marks), screen.browser.forest.filter.words)
        await screen.press("3")
        await screen.until_text("Changes since you looked")
        await screen.press("1")
        await screen.until(lambda: screen.app.screen is screen.browser)
        assert (screen.here, tree.cursor, tree.top, set(tree.marks), screen.browser.forest.filter.words) == before


@pytest.mark.parametrize("key", ["escape", "q", "1"])
async def test_the_ways_back(key: str) -> None:
    async with shown() as screen:
        await screen.press("3")
        await screen.until(lambda: screen.browser.views.current == "changes")
        await screen.press(key)
        await screen.until(lambda: screen.app.screen is screen.browser)
        assert screen.app.is_running


async def test_a_digit_works_on_a_list_on_top_and_is_text_in_the_filter() -> None:
    async with shown() as screen:
        await screen.press("question_mark")
        await screen.until_text("This pane")
        await screen.press("3")
        await screen.until(lambda: screen.browser.views.current == "changes" and len(screen.app.screen_stack) == 2)
        await screen.press("1")
        await screen.until(lambda: screen.app.screen is screen.browser)
        await screen.press("slash", "3")
        assert screen.app.screen is screen.browser
        await screen.until_text("/3")


async def test_a_view_is_kept_and_drawn_in_other_colours() -> None:
    async with shown() as screen:
        await screen.press("3")
        await screen.until(lambda: screen.browser.views.current == "changes")
        made = screen.browser.views.made("changes")
        await screen.press("colon")
        await screen.type("theme memtui-light")
        await screen.press("enter")
        await screen.until(lambda: screen.app.theme == "memtui-light" and screen.app.screen is made)
        await screen.press("escape", "3")
        await screen.until(lambda: screen.app.screen is made)


async def edit_and_leave(screen: Shown, view: str) -> None:
    """From a row of a view into the editor and out of it again, which is one step back to the view."""
    await screen.press("e" if view != "search" else "enter")
    await screen.until(lambda: screen.browser.editing and screen.app.screen is screen.browser)
    await screen.until(lambda: screen.settled)
    await screen.press("escape")
    await screen.until(lambda: screen.browser.views.current == view)
    assert not screen.browser.editing
    await screen.until(lambda: screen.settled)


async def test_leaving_the_editor_goes_back_to_the_search_with_its_words_and_its_row() -> None:
    async with shown() as screen:
        await screen.press("ctrl+f")
        await screen.type("o")
        found = screen.app.screen
        assert isinstance(found, SearchView)
        await screen.until(lambda: len(found.rows.shown) > 3)
        await screen.press("down", "down")
        row = found.item
        await edit_and_leave(screen, "search")
        assert found.line.text == "o"
        await screen.until(lambda: found.item == row)
        await screen.press("escape")
        await screen.until(lambda: screen.app.screen is screen.browser)


async def test_leaving_the_editor_goes_back_to_the_inbox_at_its_row() -> None:
    engine = engine_with()
    async with shown(engine) as screen:
        for name in ("decisions/auth.md", "decisions/retry.md", "notes.md"):
            engine.outside(f"memtui:project/{name}", "changed\n")
        await screen.press("3")
        inbox = screen.app.screen
        assert isinstance(inbox, ChangesView)
        await screen.until_text("3 in 1 group")
        await screen.press("j", "j")
        await screen.until(lambda: inbox.item is not None and inbox.item.change is not None)
        row = inbox.list.cursor
        await edit_and_leave(screen, "changes")
        assert inbox.list.cursor == row


async def test_leaving_the_editor_goes_back_through_the_history_to_what_it_lay_over() -> None:
    async with shown() as screen:
        await screen.press("4")
        await screen.until(lambda: screen.browser.views.current == "hot")
        await screen.press("1")
        await screen.go(RETRY)
        await screen.press("H")
        await screen.until(lambda: screen.browser.views.current == "history")
        await edit_and_leave(screen, "history")
        await screen.press("escape")
        await screen.until(lambda: screen.app.screen is screen.browser)


async def test_leaving_an_editor_that_was_opened_in_the_tree_stays_in_the_tree() -> None:
    async with shown() as screen:
        await screen.press("5", "1")
        await screen.go(RETRY)
        await screen.press("e")
        await screen.until(lambda: screen.browser.editing and screen.settled)
        await screen.press("escape")
        await screen.until(lambda: not screen.browser.editing)
        assert screen.app.screen is screen.browser
