"""Find in the text beside the tree: as it is typed, every place marked and counted, and esc takes the marks away."""

from __future__ import annotations

import pytest

from tests.workbench.shown import Shown, engine_with, shown

NAME = "memtui:project/notes.md"
TEXT = "# Cats\n\n" + "a line\n" * 60 + "one cat, two Cats\n" + "a line\n" * 60 + "the last cat\n"


def marked(running: Shown) -> list[str]:
    return [text for line in running.browser.page_view.page for text, style in line.runs if style == "match"]


async def in_the_text(running: Shown) -> None:
    await running.go(NAME)
    await running.until(lambda: "Cats" in running.browser.page_view.text)
    await running.press("tab")
    await running.until(lambda: running.browser.focused is running.browser.page_view)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_places_are_marked_counted_and_gone_through(size: tuple[int, int]) -> None:
    async with shown(engine_with({NAME: TEXT}), size=size) as running:
        await in_the_text(running)
        await running.press("slash")
        await running.type("cat")
        await running.until(lambda: marked(running) == ["Cat", "cat", "Cat", "cat"])
        await running.until(lambda: "1 of 4" in running.footer)
        await running.press("down")
        await running.until(lambda: "2 of 4" in running.footer and "one cat, two Cats" in running.text)
        await running.press("up", "up")
        await running.until(lambda: "4 of 4, from the end" in running.footer and "the last cat" in running.text)
        await running.press("enter")
        await running.press("f3")
        await running.until(lambda: "1 of 4, from the top" in running.footer)
        await running.press("shift+f3")
        await running.until(lambda: "4 of 4, from the end" in running.footer)
        await running.press("escape")
        await running.until(lambda: not marked(running))
        assert running.browser.focused is running.browser.page_view


async def test_esc_in_the_line_finds_nothing_and_another_memory_forgets_it() -> None:
    async with shown(engine_with({NAME: TEXT, "memtui:project/other.md": "cat\n"})) as running:
        await in_the_text(running)
        await running.press("slash")
        await running.type("nothing")
        await running.until(lambda: "none" in running.footer)
        await running.press("escape")
        assert not running.browser.side.finds
        await running.press("slash")
        await running.type("cat")
        await running.until(lambda: len(marked(running)) == 4)
        await running.press("enter", "tab", "j")
        await running.until(lambda: running.here == "memtui:project/other.md")
        await running.until(lambda: "cat" in running.browser.page_view.text and not marked(running))
        await running.press("f3")
        await running.until(lambda: "Nothing is being searched for" in running.footer)


async def test_a_change_on_disk_keeps_the_marks_true() -> None:
    engine = engine_with({NAME: TEXT})
    async with shown(engine) as running:
        await in_the_text(running)
        await running.press("slash")
        await running.type("cat")
        await running.press("enter")
        await running.until(lambda: len(marked(running)) == 4)
        engine.outside(NAME, "# Cats\n")
        await running.until(lambda: marked(running) == ["Cat"])
