"""Whoever opened a memory has looked at it, however quickly it was left."""

from __future__ import annotations

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
