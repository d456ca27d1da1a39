"""Lists and texts that scroll: what was sent to the terminal is what they would draw, and no more than is seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.pilot import Pilot
from textual.strip import Strip

from memtui.ui.draw.paint import THEMES, Paint
from memtui.ui.draw.text import Run
from memtui.ui.widgets.scroller import RowList, Scroller, Token
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


S = TypeVar("S", bound=Scroller)


class Only(App[None], Generic[S]):
    """Only a list or text of numbers."""

    plain = True

    def __init__(self, numbers: S) -> None:
        super().__init__()
        self.register_theme(THEMES[0])
        self.theme = THEMES[0].name
        self.paint = Paint(self.get_css_variables())
        self.numbers = numbers

    def compose(self) -> ComposeResult:
        yield self.numbers


@pytest.mark.parametrize(("before", "after"), [(10, 40), (40, 10), (10, 24)])
async def test_a_resize_at_the_end_fills_the_view_and_leaves_nothing_old(before: int, after: int) -> None:
    app = Only(Numbers(60))
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
    app = Only(Numbers(60))
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


class Rows(RowList):
    """So many numbered rows; remembers which were asked for."""

    def __init__(self, count: int) -> None:
        super().__init__(id="numbers")
        self.total = count
        self.asked: set[int] = set()

    def count(self) -> int:
        return self.total

    def runs(self, index: int, *, cursor: bool) -> Sequence[Run]:
        self.asked.add(index)
        return [(">" if cursor else " ", "cursor"), (f"row {index}", "name")] if index < self.total else ()


class ListApp(Only[Rows]):
    """Only a list."""

    def __init__(self, count: int) -> None:
        super().__init__(Rows(count))

    def on_mount(self) -> None:
        self.numbers.focus()

    def lines(self) -> list[str]:
        strips = self.screen._compositor.render_strips(self.size)
        return [strip.text.rstrip(" |") for strip in strips]


async def settled(pilot: Pilot[None]) -> None:
    await pilot.pause()


async def test_only_rows_in_view_are_asked_for() -> None:
    app = ListApp(100_000)
    async with app.run_test(size=(40, 20)) as pilot:
        await settled(pilot)
        app.numbers.asked.clear()
        app.numbers.move(1)
        await settled(pilot)
        assert app.numbers.asked <= {0, 1}
        app.numbers.go(99_999)
        await settled(pilot)
        assert len(app.numbers.asked) < 50
        assert app.lines()[-1] == ">row 99999"


async def test_stepping_over_the_edge_brings_in_more_than_a_row() -> None:
    app = ListApp(1_000)
    async with app.run_test(size=(40, 20)) as pilot:
        await settled(pilot)
        for _ in range(19):
            app.numbers.move(1)
        assert app.numbers.top == 0
        app.numbers.move(1)
        assert app.numbers.top == 13
        for _ in range(8):
            app.numbers.move(-1)
        assert app.numbers.top == 0
        await settled(pilot)
        assert app.lines()[12] == ">row 12"


async def test_a_short_list_does_not_scroll_and_has_no_thumb() -> None:
    app = ListApp(3)
    async with app.run_test(size=(40, 20)) as pilot:
        await settled(pilot)
        app.numbers.scroll_rows(5)
        assert app.numbers.top == 0
        app.numbers.go(50)
        assert app.numbers.cursor == 2
        assert "|" not in "".join(strip.text for strip in app.screen._compositor.render_strips(app.size))


async def test_a_click_goes_there() -> None:
    app = ListApp(1_000)
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.click("#numbers", offset=(2, 5))
        await settled(pilot)
        assert app.numbers.cursor == 5
