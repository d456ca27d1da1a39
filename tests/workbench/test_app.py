"""What holds in every view alike: keys, footer, help, going back, sizes, --read-only."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segments
from textual import events

from memtui.engine.model import Address, Draft
from memtui.errors import NotFoundError
from memtui.safe_text import cell_width
from memtui.ui.action import COMMON, Action, in_room, keymap_of, shown_key, shown_keys
from memtui.ui.keys.keyed import KeyedScreen
from memtui.ui.view_screen import ViewScreen
from memtui.ui.widgets.scroller import PageView, RowList, Scroller
from memtui.workbench.actions import ACTIONS, BROWSER_ROOMS, BY_ID, VIEW
from memtui.workbench.app import PlainBars
from memtui.workbench.bridge import Failed, Finished
from memtui.workbench.help import HelpScreen
from tests.workbench.memories import Memories
from tests.workbench.shown import Shown, engine_with, shown
from tests.workbench.views.filled import Filled
from tests.workbench.views.real import World, at, real

NOTES = "memtui:project/notes.md"
SIZES = [(80, 24), (200, 60), (40, 10), (30, 8), (100, 30), (120, 40)]
MANY = {f"memtui:project/f{number % 5}/n{number:03}.md": f"note {number}\n" * 60 for number in range(40)}


def busy() -> Memories:
    """An engine with changes of others."""
    engine = engine_with(MANY)
    for number in range(3, 10):
        engine.outside(f"memtui:project/f{number % 5}/n{number:03}.md", f"agent {number}\n" * 50)
    return engine


@asynccontextmanager
async def opened(base: Path, home: Path, view: str) -> AsyncIterator[Shown]:
    """Run the workbench with something in every view, and go to one of them."""
    world = Filled(base / "world", home)
    async with real(world, surroundings=world.machine.surroundings()) as screen:
        if VIEW[view].screen:
            await world.opened(screen, view)
        before = world.disk()
        yield screen
        assert world.disk() == before


def row_list(screen: KeyedScreen[None]) -> RowList:
    """The list that keys move in."""
    assert isinstance(screen.focused, RowList)
    return screen.focused


def top(screen: Shown) -> KeyedScreen[None]:
    found = screen.app.screen
    assert isinstance(found, KeyedScreen)
    return found


def actions_here(screen: Shown) -> tuple[Action, ...]:
    here = top(screen)
    return here.actions if isinstance(here, ViewScreen) else in_room(*BROWSER_ROOMS, actions=here.table)


# 12, 39: nothing destroys by accident, nothing writes when it may not


async def test_read_only_disables_every_writing_key_with_the_reason() -> None:
    """On the main screen; `test_list_view.py` asks every view."""
    async with shown(busy(), read_only=True) as screen:
        before = screen.engine.data
        writing = [action for action in actions_here(screen) if action.writes]
        for action in writing:
            assert "--read-only" in top(screen).unavailable(action), action.id
        await screen.press(*("space" if key == " " else key for key in writing[0].keys[0].split(" ")))
        assert "--read-only" in screen.footer
        assert screen.engine.data == before
        words = {shown_keys(action).split(", ")[0] + " " + action.label for action in writing}
        assert not [one for one in words if f" {one} " in screen.footer]
        assert "read-only" in screen.text.split("\n")[0]


async def test_the_editor_opens_read_only_and_takes_no_letter() -> None:
    async with shown(read_only=True) as screen:
        await screen.go(NOTES)
        await screen.press("enter")
        await screen.until(lambda: screen.browser.editing and "Notes." in screen.text)
        await screen.pilot.press("x", "y", "enter", "ctrl+s")
        await screen.until_text("--read-only")
        assert screen.engine.data[Address.parse(NOTES)] == b"Notes.\n"
        assert not screen.engine.drafts


def test_no_single_key_destroys_in_any_room() -> None:
    """What takes a memory, a version or a change away has two different keys, or asks for a typed word."""
    for id_ in ("trash", "take_back", "take_back_hunk", "undo_step"):
        for key in BY_ID[id_].keys:
            first, _, second = key.partition(" ")
            assert second
            assert first != second
    assert "typed word" in BY_ID["redact"].help


# 23, 25, 26: every action has a key, is in palette and footer, and is explained


@pytest.mark.parametrize("view", VIEW)
async def test_every_action_has_a_key_and_is_in_palette_footer_and_help_at_any_size(
    view: str, tmp_path: Path, home: Path
) -> None:
    async with opened(tmp_path, home, view) as screen:
        here = top(screen)
        lines = here._palette_commands() if isinstance(here, ViewScreen) else screen.browser.commands.palette_commands()
        listed = {line.words: line for line in lines}
        keys = keymap_of(actions_here(screen))
        for action in actions_here(screen):
            assert any(keys[key] is action for key in action.keys), f"{action.id} has no key of its own here"
            if action.id in ("palette", "back", "down", "up", "left", "right"):
                continue
            line = listed[action.help.rstrip(".")]
            assert line.keys == shown_keys(action)
            assert line.off == here.unavailable(action)
        await screen.press("j")
        rows = row_list(here)
        cursor = rows.cursor
        for size in SIZES:
            await screen.pilot.resize_terminal(*size)
            await screen.until(partial(fits, screen, size))
            assert rows.cursor == cursor
            if rows.is_on_screen and rows.size.height:
                assert rows.top <= cursor < rows.top + rows.size.height
            footer = screen.text.split("\n")[-1]
            if size >= (60, 15):
                assert "? help" in footer or "f1 help" in footer
                assert footer.rstrip().endswith("commands" if view == "memories" else "back")
            for action in actions_here(screen):
                if f" {shown_key(action.keys[0])} {action.label} " in footer:
                    assert not here.unavailable(action), action.id
        await screen.press("?")
        await screen.until_text("This pane")
        help_ = screen.app.screen
        assert isinstance(help_, HelpScreen)
        there = {row.action: row.lead for row in help_._rows}
        for action in [BY_ID[id_] for id_ in VIEW[view].actions] or list(in_room("memory", actions=ACTIONS)):
            assert there[action] == shown_keys(action), action.id
        await screen.press("G")
        await screen.until_text("in a conflict: a place that is not decided yet")


async def test_the_palette_of_the_main_screen_leads_to_what_only_a_view_can_do(tmp_path: Path, home: Path) -> None:
    async with opened(tmp_path, home, "memories") as screen:
        listed = {line.words for line in screen.browser.commands.palette_commands()}
        for view in (view for view in VIEW.values() if view.key and view.screen):
            of_it = [action for action in map(BY_ID.__getitem__, view.own) if action.room not in BROWSER_ROOMS]
            assert all(any(action.help.rstrip(".") in words for words in listed) for action in of_it), view.id
        await screen.press(":")
        await screen.type("review: reject")
        await screen.press("enter")
        await screen.until(lambda: screen.browser.views.current == "changes")


def fits(screen: Shown, size: tuple[int, int]) -> bool:
    lines = screen.text.split("\n")
    laid_out = screen.app.screen.size == size and len(lines) == size[1]
    return laid_out and all(cell_width(line) <= size[0] for line in lines)


# 12, 24, 38: letters and arrows, panes, pastes


@pytest.mark.parametrize("view", VIEW)
async def test_letters_and_arrows_move_a_pane_is_zoomed_and_a_paste_does_nothing(
    view: str, tmp_path: Path, home: Path
) -> None:
    async with opened(tmp_path, home, view) as screen:
        here = top(screen)
        rows, pairs = row_list(here), [("j", "k"), ("down", "up"), ("G", "g g"), ("end", "home"), ("ctrl+d", "ctrl+u")]
        await screen.press("g", "g")
        first = rows.cursor
        for forth, back in [*pairs, ("pagedown", "pageup")]:
            await screen.press(*forth.split(" "))
            assert rows.cursor > first, forth
            await screen.press(*back.split(" "))
            assert rows.cursor == first, back
        await screen.press("tab")
        page = here.focused
        assert isinstance(page, Scroller)
        assert page is not rows
        if isinstance(page, PageView) and page.length() > page.size.height:
            for forth, back in pairs:
                await screen.press(*forth.split(" "))
                assert page.top > 0, forth
                await screen.press(*back.split(" "))
                assert page.top == 0, back
        for pane in (page, rows) if view != "hot" else ():  # its panes show one thing
            pane.focus()
            before = regions(here)
            await screen.press("z")
            await screen.until(partial(is_alone, here, pane, 120))
            await screen.press("escape")
            assert screen.app.screen is here
            await screen.until(partial(looks, here, before))
        screen.burst(*"dtdcxXpuUrndsdh", "enter")
        await screen.until_text("That looked like a paste")
        screen.app.post_message(events.Paste("dt dc x X d s"))
        await screen.until_text("A paste outside text is ignored")
        assert top(screen) is here


def is_alone(screen: KeyedScreen[None], pane: Scroller, width: int) -> bool:
    others = [one for one in screen.query(Scroller) if one is not pane and one.is_on_screen]
    return pane.size.width == width and not others


def regions(screen: KeyedScreen[None]) -> list[object]:
    return [one.region for one in screen.query(Scroller) if one.is_on_screen]


def looks(screen: KeyedScreen[None], before: list[object]) -> bool:
    return regions(screen) == before


# 27: sizes


@pytest.mark.parametrize(
    ("view", "size"),
    [("memories", (40, 10)), ("changes", (30, 8)), ("activity", (59, 40)), ("memories", (120, 14))],
)
async def test_a_small_terminal_says_which_size_it_needs(view: str, size: tuple[int, int]) -> None:
    async with shown(busy(), size=size) as screen:
        await screen.press(VIEW[view].key)
        await screen.until(lambda: screen.browser.views.current == view)
        assert "needs 60x15" in screen.text.split("\n")[0]
        await screen.pilot.resize_terminal(60, 15)
        await screen.pilot.pause()
        assert "needs" not in screen.text.split("\n")[0]


# 28: going back


async def test_esc_takes_back_one_thing_at_a_time_on_the_main_screen() -> None:
    async with shown(busy()) as screen:
        browser = screen.browser
        await screen.press("/")
        await screen.type("n1")
        await screen.press("enter", "space", "z", "tab", "w")
        steps = []
        for _ in range(8):
            await screen.press("escape")
            steps.append((bool(browser.memories.marks), browser.forest.filter.active, bool(browser.panes.zoomed)))
        changes = [one for one, other in zip(steps, [None, *steps], strict=False) if one != other]
        assert all(sum(a != b for a, b in zip(one, other, strict=True)) <= 1 for one, other in pairwise(changes))
        assert steps[-1] == (False, False, False)
        assert screen.app.is_running


async def test_q_leaves_a_view_and_at_the_top_the_program() -> None:
    async with shown(busy()) as screen:
        await screen.press(VIEW["activity"].key)
        await screen.until(lambda: screen.browser.views.current == "activity")
        await screen.press("q")
        assert screen.app.screen is screen.browser
        assert screen.app.is_running
        await screen.press("q")
        await screen.until(lambda: not screen.app.is_running)


def test_what_is_common_works_in_every_view() -> None:
    assert {"zoom", "themes", "help", "palette", "undo"} <= set(COMMON)


async def test_looking_marks_nothing_as_seen_and_a_draft_waits_when_nothing_may_be_written(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("one\n", "two\n")
    with world.engine() as engine:
        base = engine.read(at("a.md")).sha256
        engine.drafts.save(Draft(at("a.md"), base, "mine\n", (0, 0), world.clock()))
    (world.folder / "a.md").write_text("three\n")
    async with real(world, read_only=True) as screen:
        assert screen.browser.forest.top.signs.unseen == 1
        side = screen.browser.side
        await screen.press("k", "j")
        await screen.until(lambda: side.shown is not None)
        await screen.press("w")
        await screen.until_text("What changed")
        screen.browser.verbs.mark_seen((at("a.md"),), quiet=True)
        await screen.press("escape", "x")
        assert "--read-only" in screen.footer
        await screen.press("c")
        assert "--read-only" in screen.footer
        await screen.press("enter")
        await screen.until_text("Your unsaved draft of this memory waits")
        await screen.press("escape")
        assert screen.browser.forest.top.signs.unseen == 1
        assert not [words for _, words in screen.browser.chrome.said if words.startswith("Could not")]


async def test_what_is_told_when_the_screens_are_gone_is_dropped() -> None:
    told: list[object] = []
    async with shown() as screen:
        app = screen.app
    app.on_finished(Finished(told.append, "late"))
    for otherwise in (told.append, None):
        app.on_failed(Failed("read a.md", NotFoundError("It is gone."), otherwise))
    assert told == []


@given(st.integers(1, 60), st.integers(1, 500), st.integers(1, 60), st.floats(0, 500), st.booleans())
def test_a_bar_is_blanks(size: int, more: int, window: int, position: float, vertical: bool) -> None:
    bar = PlainBars.render_bar(
        size=size, virtual_size=window + more, window_size=window, position=position, vertical=vertical
    )
    assert isinstance(bar, Segments)
    assert not "".join(segment.text for segment in bar.segments).strip()
