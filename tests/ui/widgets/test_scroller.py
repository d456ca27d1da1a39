"""What a scrolling view has sent to the terminal is what it would draw."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.strip import Strip

from memtui.ui.draw.paint import THEMES, Paint
from memtui.ui.widgets.scroller import Scroller, Token
from tests.test_mask import GITHUB
from tests.workbench.shown import engine_with, resize, shown


class Numbers(Scroller):
    """So many numbered lines; remembers what was last drawn at each place."""

    def __init__(self, count: int) -> None:
        super().__init__(id="numbers")
        self.total = count
        self.sent: dict[int, str] = {}

    def length(self) -> int:
        return self.total

    def token(self, index: int) -> Token:
        return (((f"line {index}" if index < self.total else "", "name"),), "")

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        self.sent[y] = strip.text.split("  ")[0]
        return strip


class OneView(App[None]):
    """Only a view."""

    plain = True

    def __init__(self, count: int) -> None:
        super().__init__()
        self.register_theme(THEMES[0])
        self.theme = THEMES[0].name
        self.paint = Paint(self.get_css_variables())
        self.numbers = Numbers(count)

    def compose(self) -> ComposeResult:
        yield self.numbers


@pytest.mark.parametrize(("before", "after"), [(10, 40), (40, 10), (10, 24)])
async def test_a_resize_at_the_end_fills_the_view_and_leaves_nothing_old(before: int, after: int) -> None:
    app = OneView(60)
    async with app.run_test(size=(40, before)) as pilot:
        app.numbers.scroll_to_row(60)
        await pilot.pause()
        assert app.numbers.sent[before - 1] == "line 59"
        await resize(pilot, 40, after)
        await pilot.pause()
        top = app.numbers.top
        assert top <= 60 - after
        assert [app.numbers.sent[y] for y in range(after)] == [f"line {top + y}" for y in range(after)]
        app.numbers.scroll_rows(-1)
        await pilot.pause()
        assert [app.numbers.sent[y] for y in range(after)] == [f"line {top - 1 + y}" for y in range(after)]


async def test_the_thumb_goes_where_fewer_lines_need_none() -> None:
    app = OneView(60)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        sent: list[tuple[int, int]] = []
        refresh = app.numbers.refresh

        def watched(*regions: Region, **options: bool) -> Numbers:
            sent.extend((x, region.y) for region in regions for x in range(region.x, region.right))
            return refresh(*regions, **options)

        app.numbers.refresh = watched  # type: ignore[method-assign]
        app.numbers.total = 5
        app.numbers.repaint()
        assert (39, 0) in sent
        assert (39, 9) not in sent
        assert (30, 0) not in sent


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
