"""A list draws only what is seen, and a cursor key sends little, whatever its length."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from memtui.ui.draw.paint import THEMES, Paint
from memtui.ui.draw.text import Run
from memtui.ui.widgets.scroller import RowList


class Numbers(RowList):
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


class ListApp(App[None]):
    """Only a list."""

    plain = True

    def __init__(self, count: int) -> None:
        super().__init__()
        self.register_theme(THEMES[0])
        self.theme = THEMES[0].name
        self.paint = Paint(self.get_css_variables())
        self.numbers = Numbers(count)

    def compose(self) -> ComposeResult:
        yield self.numbers

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
