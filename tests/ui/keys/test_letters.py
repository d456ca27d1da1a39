"""A click on a key is that key."""

from __future__ import annotations

from functools import partial

from memtui.ui.keys.letters import key_named
from memtui.workbench.actions import ACTIONS
from tests.workbench.shown import Shown, shown


def test_what_the_footer_shows_is_found_as_keys() -> None:
    assert key_named("d t", ACTIONS) == ("d", "t")
    assert key_named("esc", ACTIONS) == ("escape",)
    assert key_named("page down", ACTIONS) == ("pagedown",)
    assert key_named("move", ACTIONS) == ()


async def test_a_click_on_a_key_of_the_footer_presses_it() -> None:
    async with shown() as screen:
        await screen.go("memtui:project/notes.md")
        line = screen.text.split("\n")[-1]
        for words in ("? help", "?"):
            await screen.pilot.click("#footer", offset=(line.index("?") + len(words) - 1, 0))
            await screen.until(lambda: screen.app.screen is not screen.browser)
            await screen.press("escape")
        await screen.pilot.click("#footer", offset=(line.index("d t") + 1, 0))
        await screen.until_text("moved to the trash")
        await screen.pilot.click("#footer", offset=(0, 0))
        assert screen.app.screen is screen.browser


async def test_a_click_on_the_line_that_is_typed_presses_nothing() -> None:
    async with shown() as screen:
        await screen.press("/")
        await screen.pilot.click("#footer", offset=(1, 0))
        assert screen.browser.prompt is not None
        assert screen.browser.prompt.text == ""


async def test_a_click_on_how_it_is_sorted_sorts_the_next_way() -> None:
    async with shown() as screen:
        for wanted in ("uses", "age", "size", "edited", "name"):
            line = screen.text.split("\n")[screen.browser.query_one("#tree-title").region.y]
            await screen.pilot.click("#tree-title", offset=(line.index(f"| {screen.browser.forest.sort}") + 3, 0))
            await screen.until(partial(sorted_by, screen, wanted))


def sorted_by(screen: Shown, wanted: str) -> bool:
    return screen.browser.forest.sort == wanted
