"""The text beside the tree: its own keys."""

from __future__ import annotations

from tests.test_mask import GITHUB
from tests.workbench.shown import engine_with, shown

TEXT = "".join(f"para {number}\n" * 9 + "\n" for number in range(30))


async def test_braces_go_from_blank_line_to_blank_line() -> None:
    engine = engine_with({"memtui:project/a.md": TEXT})
    async with shown(engine, size=(120, 24)) as screen:
        await screen.until_text("para 0")
        await screen.press("tab")
        page = screen.browser.page_view
        await screen.press("}")
        assert page.top == 9
        await screen.press("}", "}")
        assert page.top == 29
        await screen.press("{")
        assert page.top == 19
        await screen.press("{", "{", "{")
        assert page.top == 0
        await screen.press("G")
        bottom = page.top
        await screen.press("}")
        assert page.top == bottom


async def test_a_secret_is_revealed_until_the_cursor_leaves_and_shows_nowhere_before() -> None:
    engine = engine_with({"memtui:project/a.md": f"- the token: {GITHUB}\n", f"memtui:project/{GITHUB}.md": "plain\n"})
    async with shown(engine, size=(120, 24)) as screen:
        await screen.until_text("the token: [masked: GitHub token]")
        assert GITHUB[:9] not in screen.text
        await screen.press("V")
        await screen.until_text(f"the token: {GITHUB}")
        await screen.press("V")
        await screen.until_text("the token: [masked")
        await screen.press("V")
        await screen.until_text(f"the token: {GITHUB}")
        await screen.press("j")
        await screen.until_text("plain")
        assert GITHUB[:9] not in screen.text
        await screen.press("k")
        await screen.until_text("the token: [masked")
        await screen.press("j")
        await screen.until_text("plain")
        await screen.press("V")
        await screen.until_text("Nothing is masked here.")
