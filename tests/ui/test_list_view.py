"""A list with a text beside it: panes, places, the cursor that stays with its row, one line to type in."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memtui.ui import list_view
from memtui.ui.action import MOVES, shown_keys
from memtui.ui.list_view import ListView
from memtui.workbench.actions import VIEW
from memtui.workbench.main_screen import SavedPlace
from tests.workbench.shown import Shown, engine_with, resize, shown
from tests.workbench.views.filled import VIEWS as IDS
from tests.workbench.views.filled import Filled
from tests.workbench.views.real import ME, Real, World, at, real


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    with world.engine() as engine:
        for number in range(60):
            engine.memories.create(at(f"{number:02}.md"), f"# {number}\n" + "line\n" * 80, actor=ME)
        engine.memories.delete([at(f"{number:02}.md") for number in range(50)], actor=ME)
    return world


async def listed(screen: Real) -> ListView[Any]:
    await screen.press("6")
    top = screen.app.screen
    assert isinstance(top, ListView)
    await screen.until(lambda: top.list.count() > 0 and bool(top.page.page))
    return top


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_keys_move_in_the_pane_that_has_the_focus(world: World, size: tuple[int, int]) -> None:
    async with real(world, size=size) as screen:
        view = await listed(screen)
        await screen.press("j", "down", "ctrl+d")
        assert view.list.cursor > 3
        await screen.press("G")
        assert view.list.cursor == 49
        await screen.press("g", "g")
        assert view.list.cursor == 0
        await screen.until(lambda: view._shown == view.list.key(0))
        await screen.press("J")
        assert view.page.top == 3
        await screen.press("K", "tab", "j", "j")
        assert (view.list.cursor, view.page.top, view._in_page) == (0, 2, True)
        await screen.press("G")
        assert view.page.top > 40
        await screen.press("escape")
        assert not view._in_page
        await screen.press("escape")
        await screen.until(lambda: screen.app.screen is screen.browser)


async def test_the_cursor_stays_with_its_row_when_others_come(world: World) -> None:
    async with real(world) as screen:
        view = await listed(screen)
        await screen.press("j", "j", "j")
        key, offset = view.list.key(3), view.list.cursor - view.list.top
        with world.engine() as other:
            other.memories.delete([at("55.md"), at("56.md")], actor=ME)
        screen.app.bridge.reload()
        await screen.until(lambda: view.list.count() == 52)
        assert view.list.key(view.list.cursor) == key
        assert view.list.cursor == 5
        assert view.list.cursor - view.list.top == offset


async def test_a_paste_is_text_in_the_line_and_nothing_elsewhere(world: World) -> None:
    from textual import events

    async with real(world) as screen:
        view = await listed(screen)
        before = world.disk()
        view.post_message(events.Paste("rrr"))
        await screen.until_text("A paste outside text is ignored.")
        await screen.press("slash")
        view.post_message(events.Paste("47\n.md"))
        await screen.until(lambda: view.list.count() == 1)
        assert view.prompt.open
        assert view.prompt.text == "47 .md"
        assert world.disk() == before


async def test_where_nothing_is_there_a_sentence_says_so(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with real(world) as screen:
        await screen.look("6", "The trash is empty.")
        await screen.look("5", "Nothing was done yet.")


VIEWS = pytest.mark.parametrize("key", ["4", "8"])


async def opened(screen: Shown, key: str) -> ListView[Any]:
    await screen.press(key)
    view = screen.app.screen
    assert isinstance(view, ListView)
    await screen.until(lambda: view.loaded and view.due is None)
    return view


def loads_of(view: ListView[Any], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One for each time it is worked out, from now on."""
    found: list[int] = []
    monkeypatch.setattr(view, "_read_rows", lambda *, awaited: found.append(1))
    return found


@VIEWS
async def test_a_storm_of_news_is_worked_out_once_it_is_quiet(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with shown(engine_with()) as screen:
        view = await opened(screen, key)
        loads = loads_of(view, monkeypatch)
        for _ in range(20):
            view._news()
        assert not loads
        await screen.until(lambda: bool(loads))
        assert len(loads) == 1
        assert view.due is None


@VIEWS
async def test_a_storm_without_end_is_worked_out_all_the_same(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_view, "MAX_WAIT", 0.2)
    async with shown(engine_with()) as screen:
        view = await opened(screen, key)
        monkeypatch.setattr(type(view), "QUIET", 30)
        loads = loads_of(view, monkeypatch)

        def more() -> bool:
            view._news()
            return bool(loads)

        await screen.until(more)


@VIEWS
async def test_news_wait_until_somebody_looks(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with shown(engine_with()) as screen:
        view = await opened(screen, key)
        await screen.press("1")
        loads = loads_of(view, monkeypatch)
        view._news()
        assert view.due is None
        await screen.press(key)
        await screen.until(lambda: bool(loads))
        assert len(loads) == 1


# --- what every view does

ALL = pytest.mark.parametrize("id_", IDS)
KEPT = [id_ for id_ in IDS if VIEW[id_].key and id_ != "search"]
"""Views that come back with their rows after a restart, without a word typed."""
WORDS = {
    "changes": "n4",
    "activity": "n4",
    "trash": "t4",
    "health": "g4",
    "entries": "entry 4",
    "tasks": "dream",
    "observed": "n4",
}
"""What leaves few rows, where there is a filter."""


@pytest.fixture
def filled(tmp_path: Path, home: Path) -> Filled:
    return Filled(tmp_path / "filled", home)


@ALL
async def test_every_action_of_its_entry_is_done_and_what_writes_is_off_when_nothing_may(
    filled: Filled, id_: str
) -> None:
    before = filled.disk()
    async with real(filled, read_only=True, surroundings=filled.machine.surroundings()) as screen:
        view = await filled.opened(screen, id_)
        assert set(VIEW[id_].actions) == set(view.does) | set(MOVES)
        assert "read-only" in screen.text.split("\n")[0]
        for action in view.actions:
            if action.writes:
                assert "--read-only" in view.unavailable(action), action.id
                assert f" {shown_keys(action).split(', ')[0]} {action.label} " not in screen.footer
        for action in view.own_actions:
            if action.writes:
                view.show_hint(None)
                await screen.press(*action.keys[0].split())
                await screen.until_text("started with --read-only, so nothing can be written.")
        assert filled.disk() == before


@ALL
async def test_keys_move_and_esc_goes_back_step_by_step(filled: Filled, id_: str) -> None:
    async with real(filled, surroundings=filled.machine.surroundings()) as screen:
        view = await filled.opened(screen, id_)
        await screen.press("G")
        assert view.list.cursor == view.list.count() - 1
        await screen.press("g", "g")
        stood = [view.list.cursor]
        for pressed in ("j", "j", "k"):
            await screen.press(pressed)
            stood.append(view.list.cursor)
        assert stood[0] < stood[1] == stood[3] < stood[2]
        key, rows = view.list.key(stood[3]), view.list.count()
        for size in ((60, 16), (200, 60), (120, 40)):
            await resize(screen.pilot, *size)
            await screen.until(lambda: bool(view.page.page))
            assert view.list.key(view.list.cursor) == key
        if "mark" in VIEW[id_].actions:
            await screen.press("space")
            assert view.rows.marks
        if id_ in WORDS:
            await screen.press("slash")
            await screen.type("zzz")
            await screen.until_text(" matches")
            await screen.press("ctrl+u")
            await screen.type(WORDS[id_])
            await screen.until(lambda: 0 < view.list.count() < rows)
            await screen.press("enter")
        await screen.press("tab")
        assert view._in_page
        await screen.press("escape")
        assert screen.app.focused is view.list
        if id_ in WORDS:
            await screen.press("escape")
            await screen.until(lambda: view.list.count() == rows)
        if "mark" in VIEW[id_].actions:
            await screen.press("escape")
            assert not view.rows.marks
        await screen.press("escape")
        if id_ == "sessions":
            await screen.until(lambda: screen.browser.views.current == "activity")
            await screen.press("escape")
        await screen.until(lambda: screen.app.screen is screen.browser)
        await screen.press(*["escape"] * 4)
        assert screen.app.is_running


def is_drawn(screen: Shown, size: tuple[int, int]) -> bool:
    return screen.app.screen.size == size and screen.text.count("\n") == size[1] - 1


@ALL
async def test_it_fits_and_draws_ascii_alone_where_that_is_asked_for(filled: Filled, id_: str) -> None:
    async with real(filled, size=(60, 16), ascii=True, surroundings=filled.machine.surroundings()) as screen:
        view = await filled.opened(screen, id_)
        for size in ((60, 16), (120, 40)):
            await screen.pilot.resize_terminal(*size)
            await screen.until(partial(is_drawn, screen, size))
            for number in range(view.list.count()):
                view.list.go(number)
                await screen.pilot.pause()
                lines = screen.text.split("\n")
                assert len(lines) == size[1]
                assert max(map(len, lines)) <= size[0]
                assert all(line.isascii() and line.isprintable() for line in lines)


async def test_news_that_come_while_a_view_is_being_put_up_are_taken_in(monkeypatch: pytest.MonkeyPatch) -> None:
    async with shown(engine_with()) as screen:
        for id_ in KEPT:
            view = screen.browser.views.show(id_)
            assert isinstance(view, ListView)
            assert not view.is_mounted
            loads = loads_of(view, monkeypatch)
            screen.browser.views.news()
            await screen.until(partial(getattr, view, "is_mounted"))
            assert loads


async def test_after_a_restart_the_cursor_goes_to_its_row_far_down_once(world: World) -> None:
    async with real(world) as screen:
        view = await listed(screen)
        await screen.press("G", "k")
        key, row, at_row = view.list.key(view.list.cursor), view.list.row_now, view.list.cursor
    async with real(world, place=SavedPlace(view=view.ID, row=row)) as screen:
        await screen.until(lambda: screen.browser.views.current == view.ID)
        again = screen.app.screen
        assert isinstance(again, ListView)
        await screen.until(lambda: again.list.cursor == at_row)
        assert again.list.key(at_row) == key
        assert again.list.top > 0
        await screen.press("g", "g")
        screen.app.bridge.reload()
        again.entered(None)
        await screen.until(lambda: not screen.app.bridge._queued)
        assert again.list.cursor == 0


@pytest.mark.parametrize("id_", KEPT)
async def test_after_a_restart_the_cursor_is_at_its_row_again(filled: Filled, id_: str) -> None:
    around = filled.machine.surroundings()
    async with real(filled, surroundings=around) as screen:
        view = await filled.opened(screen, id_)
        await screen.press("g", "g", "j", "j")
        key, row, at_row = view.list.key(view.list.cursor), view.list.row_now, view.list.cursor
    async with real(filled, surroundings=around, place=SavedPlace(view=id_, row=row)) as screen:
        await screen.until(lambda: screen.browser.views.current == id_)
        again = screen.app.screen
        assert isinstance(again, ListView)
        await screen.until(lambda: again.list.count() > 0 and not again.shell.row_left(id_))
        assert (again.list.key(again.list.cursor), again.list.cursor) == (key, at_row)
