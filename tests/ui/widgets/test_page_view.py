"""The text beside the tree: its own keys."""

from __future__ import annotations

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
