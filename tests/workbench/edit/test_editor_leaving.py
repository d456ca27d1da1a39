"""Whoever opened a memory has looked at it, however quickly it was left."""

from __future__ import annotations

from memtui.workbench.edit.editor import MemoryEditor
from tests.workbench.shown import shown

TODO = "memtui:workspace/todo.md"


async def test_leaving_counts_as_having_looked() -> None:
    async with shown(size=(80, 24)) as screen:
        screen.engine.outside(TODO, "other words\n")
        await screen.until(lambda: bool(screen.engine.unseen))
        await screen.go(TODO)
        await screen.press("enter")
        await screen.until(lambda: screen.browser.editing)
        await screen.press("escape")
        await screen.until(lambda: not screen.browser.editing)
        await screen.until(lambda: not screen.engine.unseen)


async def test_a_text_that_asked_for_the_keyboard_before_it_was_left_does_not_get_it() -> None:
    async with shown(size=(120, 40)) as screen:
        await screen.go(TODO)
        await screen.press("enter")
        await screen.until(lambda: screen.browser.editing)
        screen.browser.query_one(MemoryEditor).text_area.focus()
        screen.browser.host.leave()
        await screen.press("j")
        assert screen.browser.focused is screen.browser.memories
