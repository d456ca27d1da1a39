"""Digits switch between views; the main screen's place is as it was."""

from __future__ import annotations

import pytest

from tests.tui.shown import shown

RETRY = "memtui:project/decisions/retry.md"


async def test_a_visit_leaves_the_main_screen_as_it_was() -> None:
    async with shown(size=(80, 24)) as screen:
        await screen.go(RETRY)
        await screen.press("space", "k")
        await screen.press("slash")
        await screen.type("retry")
        await screen.press("enter")
        tree = screen.browser.memories
        before = (screen.here, tree.cursor, tree.top, set(tree.marks), screen.browser.forest.words)
        await screen.press("3")
        await screen.until_text("Changes since you looked")
        await screen.press("1")
        await screen.until(lambda: screen.app.screen is screen.browser)
        assert (screen.here, tree.cursor, tree.top, set(tree.marks), screen.browser.forest.words) == before


@pytest.mark.parametrize("key", ["escape", "q", "1"])
async def test_the_ways_back(key: str) -> None:
    async with shown() as screen:
        await screen.press("3")
        await screen.until(lambda: screen.browser.views.current == "changes")
        await screen.press(key)
        await screen.until(lambda: screen.app.screen is screen.browser)
        assert screen.app.is_running


async def test_the_same_digit_again_does_nothing() -> None:
    async with shown() as screen:
        await screen.press("3")
        await screen.until(lambda: screen.browser.views.current == "changes")
        top = screen.app.screen
        await screen.press("3")
        assert screen.app.screen is top
        assert len(screen.app.screen_stack) == 2


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
