"""What `textual_private.py` uses of Textual is still there and does what it is used for."""

from __future__ import annotations

import pytest
from rich.console import RenderableType
from textual import events
from textual.app import App, ComposeResult
from textual.document._wrapped_document import WrappedDocument
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen
from textual.widgets import Input, Static, TextArea

from memtui.ui.terminal import GuardedParser, forgiving
from memtui.ui.textual_private import (
    DrawnInput,
    KeyParser,
    PrivateApp,
    WrappedOnce,
    name_of_character,
    read_keys_with,
)


class Area(WrappedOnce, TextArea):
    """A text area of ours."""


class Stars(DrawnInput, Input):
    """An input that shows stars."""

    def drawn(self) -> str:
        return "*" * len(self.value)


class Counted(Static):
    """Counts how often it is drawn."""

    count = 0

    def render(self) -> str:
        self.count += 1
        return str(self.count)


class Own(PrivateApp[None]):
    """An app with one widget of each."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[BaseException | str] = []

    def compose(self) -> ComposeResult:
        self.area, self.stars, self.below = Area(soft_wrap=True), Stars("secret"), Counted()
        yield from (self.area, self.stars, self.below)

    def before_fault(self) -> None:
        self.told.append("before")

    def print_fault(self, error: BaseException) -> None:
        self.told.append(error)

    def panic(self, *renderables: RenderableType) -> None:
        raise AssertionError(renderables)


def test_a_character_has_the_name_that_its_key_has() -> None:
    assert [name_of_character(one) for one in "!?/"] == ["exclamation_mark", "question_mark", "slash"]


def test_the_reader_of_keys_is_replaced_where_textual_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    names = LinuxDriver.run_input_thread.__code__.co_names
    assert {"XTermParser", "getincrementaldecoder"} <= set(names)
    for name in ("XTermParser", "getincrementaldecoder"):
        monkeypatch.setattr(linux_driver, name, None)
    read_keys_with(GuardedParser, forgiving)
    assert vars(linux_driver)["XTermParser"] is GuardedParser
    assert vars(linux_driver)["getincrementaldecoder"] is forgiving


def test_the_reader_of_keys_makes_events_of_what_a_terminal_sends() -> None:
    found = list(KeyParser().feed("j\x1b[A"))
    assert [one.key for one in found if isinstance(one, events.Key)] == ["j", "up"]


async def test_a_text_is_wrapped_once_for_a_width(monkeypatch: pytest.MonkeyPatch) -> None:
    widths: list[int] = []
    wrap = WrappedDocument.wrap

    def counted(self: WrappedDocument, width: int, tab_width: int | None = None) -> None:
        widths.append(width)
        wrap(self, width, tab_width)

    monkeypatch.setattr(WrappedDocument, "wrap", counted)
    app = Own()
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        widths.clear()
        app.area.load_text("x" * 105)
        await pilot.pause()
        assert [width for width in widths if width] == [app.area.wrap_width]
        widths.clear()
        await pilot.resize_terminal(30, 20)
        await pilot.pause()
        assert [width for width in widths if width] == [app.area.wrap_width]
        assert app.area.wrapped_document.height == 105 // app.area.wrap_width + 1


async def test_an_input_is_drawn_as_its_subclass_says() -> None:
    app = Own()
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        shown = "\n".join(strip.text for strip in app.screen._compositor.render_strips(app.size))
        assert "******" in shown
        assert "secret" not in shown


@pytest.mark.parametrize(("background", "hidden"), [("black", True), ("black 40%", False)])
async def test_nothing_is_drawn_behind_an_opaque_screen(background: str, hidden: bool) -> None:
    app = Own()
    async with app.run_test(size=(40, 20)) as pilot:
        top: Screen[None] = Screen()
        await app.push_screen(top)
        top.styles.background = background
        await pilot.pause()
        before = app.below.count
        app.below.refresh()
        await pilot.pause(3 / 60)  # three frames
        assert (app.below.count == before) is hidden


class Failing(Own):
    """An app whose first turn fails."""

    def on_mount(self) -> None:
        raise ValueError("broken")


async def test_an_exception_that_reaches_nobody_is_told_before_the_end() -> None:
    app = Failing()

    async def run() -> None:
        async with app.run_test():
            pass

    with pytest.raises(ValueError, match="broken"):
        await run()
    assert [str(one) for one in app.told] == ["before", "broken"]


def test_textual_asks_the_same_of_an_app() -> None:
    assert all(name in vars(App) for name in ("_background_screens", "_handle_exception", "_fatal_error"))
