"""What holds in every view alike: keys, footer, help, going back, sizes, --read-only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from textual import events

from memtui.engine.ledger.cursors import SessionCursor
from memtui.engine.ledger.touches import SessionFile, Touch
from memtui.engine.model import Address, Draft
from memtui.features.observations.derive import catch_up
from memtui.safe_text import cell_width
from memtui.ui.action import COMMON, Action, in_room, keymap_of, shown_key, shown_keys
from memtui.ui.keys.keyed import KeyedScreen
from memtui.ui.view_screen import ViewScreen
from memtui.ui.widgets.rowlist import RowList
from memtui.ui.widgets.scroller import Scroller
from memtui.workbench.actions import ACTIONS, BROWSER_ROOMS, BY_ID, VIEW
from memtui.workbench.views.help import HelpScreen
from tests.features.cost.test_view import Start
from tests.workbench.memories import Memories
from tests.workbench.shown import Shown, engine_with, shown
from tests.workbench.views.real import World, at, real, write

NOTES = "memtui:project/notes.md"
ENTRIES = Address("hermes:global", "MEMORY.md")
BLAMED = Address("memtui:project", "blamed.md")
SIZES = [(80, 24), (100, 30), (120, 40), (200, 60)]
MANY = {f"memtui:project/f{number % 5}/n{number:03}.md": f"note {number}\n" * 60 for number in range(120)}


def busy() -> Memories:
    """An engine with something in every view: changes, uses, a trash, an audit."""
    engine = engine_with(MANY)
    for number in range(3, 40):
        engine.outside(f"memtui:project/f{number % 5}/n{number:03}.md", f"agent {number}\n" * 50)
    return engine


class Full(Start):
    """Real files, for the views that read them: an index that names what is not there, agents, entries, tasks."""

    def __init__(self, base: Path, home: Path) -> None:
        super().__init__(base, home)
        entries = "\n§\n".join(f"Entry {number}.\n" + "More.\n" * 60 for number in range(30))
        self.machine.write("~/.hermes/memories/MEMORY.md", entries)
        with self.engine() as engine:
            for number in range(60):
                asked = {"content": f"Text {number}.\n" * 60}
                engine.tasks.enqueue("remember", "lane", "cli", asked, trigger="manual", most=99)
            write(engine, ["".join(f"Line {line}.\n" * 3 for line in range(number)) for number in range(1, 41)], BLAMED)
            at_ = engine.touches.clock()
            uid = next(uid for uid, root in engine.roots.names().items() if root == BLAMED.root)
            for number in range(60):
                file = SessionFile(f"/s/{number}.jsonl", "claude-code", f"session-{number}", "/s", at_, at_)
                read = Touch("call", "opened", uid, BLAMED.path, at_ - number, agent=file.agent, session=file.session)
                engine.touches.keep(file, [read], (), ("a test", SessionCursor(0, 0, 0, b"", b"", 0, "")), whole=True)
            catch_up(engine, seconds=None)


FROM_FILES = frozenset({"observed", "health", "cost", "entries", "tasks", "blame", "sessions"})
"""The views that show something only where there are real files."""


class Opened:
    """The workbench with something in a view."""

    def __init__(self, base: Path, home: Path) -> None:
        self._base, self._home = base, home
        self.data: Callable[[], object] = dict
        """What is on disk now."""

    @asynccontextmanager
    async def at(
        self, view: str, *, read_only: bool = False, size: tuple[int, int] = (120, 40)
    ) -> AsyncIterator[Shown]:
        """Run it."""
        if view in FROM_FILES:
            world = Full(self._base, self._home)
            folders = (world.machine.home, world.machine.app)
            self.data = lambda: {
                file: file.read_bytes() for folder in folders for file in folder.rglob("*") if file.is_file()
            }
            around = world.machine.surroundings()
            async with real(world, size=size, read_only=read_only, surroundings=around) as screen:
                yield screen
        else:
            engine = busy()
            self.data = lambda: engine.data
            async with shown(engine, size=size, read_only=read_only) as screen:
                yield screen


@pytest.fixture
def opened(tmp_path: Path, home: Path) -> Opened:
    """The workbench, for a view."""
    return Opened(tmp_path / "world", home)


async def fill(screen: Shown, view: str = "") -> None:
    """Do something that stands in the activity and in the trash."""
    if view in FROM_FILES:
        return
    await screen.press("space", "space", "space", "d", "t")
    await screen.until_text("moved to the trash")


async def enter(screen: Shown, view: str) -> None:
    """Go to a view as a user does; the search with hits, and the keys in its list."""
    if view == "history":
        await screen.press("1", "H")
    elif view == "entries":
        await screen.press("1")
        assert screen.browser.memories.reveal(ENTRIES)
        await screen.press("E")
    elif view == "blame":
        await screen.press("1")
        assert screen.browser.memories.reveal(BLAMED)
        await screen.press("B")
    elif view == "sessions":
        await screen.press("5")
        await screen.until(lambda: screen.browser.views.current == "activity")
        await screen.press("s")
    else:
        await screen.press(VIEW[view].key)
    await screen.until(lambda: screen.browser.views.current == view)
    if view == "search":
        await screen.type("note")
        rows = screen.app.screen.query_one(RowList)
        await screen.until(lambda: rows.count() > 3)
        await screen.press("tab")
    elif view == "changes":
        rows = screen.app.screen.query_one(RowList)
        await screen.until(lambda: rows.count() > 0)
        await screen.press("l")
    elif view in FROM_FILES:
        rows = screen.app.screen.query_one(RowList)
        await screen.until(lambda: rows.count() > 1)


def row_list(screen: KeyedScreen[None]) -> RowList | None:
    """The list that keys move in."""
    if isinstance(screen.focused, RowList):
        return screen.focused
    return next((rows for rows in screen.query(RowList) if rows.is_on_screen and rows.can_focus), None)


def top(screen: Shown) -> KeyedScreen[None]:
    found = screen.app.screen
    assert isinstance(found, KeyedScreen)
    return found


def actions_here(screen: Shown) -> tuple[Action, ...]:
    here = top(screen)
    return here.actions if isinstance(here, ViewScreen) else in_room(*BROWSER_ROOMS, actions=here.table)


# 12, 39: nothing destroys by accident, nothing writes when it may not


@pytest.mark.parametrize("view", VIEW)
async def test_read_only_disables_every_writing_key_with_the_reason(view: str, opened: Opened) -> None:
    async with opened.at(view, read_only=True) as screen:
        await enter(screen, view)
        before = opened.data()
        for action in actions_here(screen):
            if action.writes:
                assert "--read-only" in top(screen).unavailable(action), action.id
        writing = [action for action in actions_here(screen) if action.writes]
        assert writing
        for key in writing[0].keys[0].split(" "):
            await screen.press("space" if key == " " else key)
        assert "--read-only" in screen.footer
        assert opened.data() == before
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


@pytest.mark.parametrize("view", VIEW)
async def test_a_pasted_sentence_in_a_list_changes_nothing(view: str, opened: Opened) -> None:
    async with opened.at(view) as screen:
        await fill(screen, view)
        await enter(screen, view)
        before, here = opened.data(), top(screen)
        screen.burst(*"dtdcxXpuUrndsdh", "enter")
        await screen.until_text("That looked like a paste")
        screen.app.post_message(events.Paste("dt dc x X d s"))
        await screen.until_text("A paste outside text is ignored")
        assert opened.data() == before
        assert top(screen) is here


# 23, 25, 26: every action has a key, is in palette and footer, and is explained


@pytest.mark.parametrize("view", VIEW)
async def test_every_action_has_a_key_and_is_in_palette_footer_and_help(view: str, opened: Opened) -> None:
    async with opened.at(view) as screen:
        await enter(screen, view)
        here = top(screen)
        lines = here.palette_commands() if isinstance(here, ViewScreen) else screen.browser.commands.palette_commands()
        listed = {line.words: line for line in lines}
        keys = keymap_of(actions_here(screen))
        for action in actions_here(screen):
            assert any(keys[key] is action for key in action.keys), f"{action.id} has no key of its own here"
            if action.id in ("palette", "back", "down", "up", "left", "right"):
                continue
            line = listed[action.help.rstrip(".")]
            assert line.keys == shown_keys(action)
            assert line.off == here.unavailable(action)
        for size in SIZES:
            await screen.pilot.resize_terminal(*size)
            await screen.pilot.pause()
            footer = screen.text.split("\n")[-1]
            assert cell_width(footer) <= size[0]
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


# 24: letters and arrows, everywhere


@pytest.mark.parametrize("view", VIEW)
async def test_letters_and_arrows_both_move_in_every_list_and_beside_it(view: str, opened: Opened) -> None:
    async with opened.at(view, size=(120, 24)) as screen:
        await fill(screen, view)
        await enter(screen, view)
        pairs = [("j", "k"), ("down", "up"), ("G", "g g"), ("end", "home"), ("ctrl+d", "ctrl+u")]
        if view != "hot":
            rows = row_list(top(screen))
            assert rows is not None
            await screen.until(lambda: rows.count() > 1)
            await screen.press("g", "g")
            first = rows.cursor
            for forth, back in [*pairs, ("pagedown", "pageup")]:
                await screen.press(*forth.split(" "))
                assert rows.cursor > first, forth
                await screen.press(*back.split(" "))
                assert rows.cursor == first, back
        await screen.press("tab")
        page = top(screen).focused
        assert page is not None
        if not hasattr(page, "page") or page.length() <= page.size.height:  # type: ignore[attr-defined]
            return  # there is nothing to scroll beside this list
        for forth, back in pairs:
            await screen.press(*forth.split(" "))
            assert page.top > 0, forth  # type: ignore[attr-defined]
            await screen.press(*back.split(" "))
            assert page.top == 0, back  # type: ignore[attr-defined]


# 27: sizes


@pytest.mark.parametrize("view", VIEW)
async def test_resizing_keeps_the_place_in_every_view(view: str, opened: Opened) -> None:
    async with opened.at(view, size=(120, 40)) as screen:
        await fill(screen, view)
        await enter(screen, view)
        rows = row_list(top(screen))
        assert rows is not None
        if view != "hot":
            await screen.until(lambda: rows.count() > 1)
            await screen.press("j")
        cursor, here = rows.cursor, screen.here
        for size in ((80, 24), (200, 60), (40, 10), (30, 8), (120, 40)):
            await screen.pilot.resize_terminal(*size)
            await screen.pilot.pause()
            assert rows.cursor == cursor
            lines = screen.text.split("\n")
            assert len(lines) == size[1]
            assert all(cell_width(line) <= size[0] for line in lines)
            if rows.is_on_screen and rows.size.height:
                assert rows.top <= cursor < rows.top + rows.size.height
        await screen.press("1")
        assert screen.here == here
        assert screen.browser.size == (120, 40)


@pytest.mark.parametrize(
    ("view", "size"),
    [("memories", (40, 10)), ("changes", (30, 8)), ("activity", (59, 40)), ("memories", (120, 14))],
)
async def test_a_small_terminal_says_which_size_it_needs(view: str, size: tuple[int, int]) -> None:
    async with shown(busy(), size=size) as screen:
        await enter(screen, view)
        assert "needs 60x15" in screen.text.split("\n")[0]
        await screen.pilot.resize_terminal(60, 15)
        await screen.pilot.pause()
        assert "needs" not in screen.text.split("\n")[0]


# 28: going back


@pytest.mark.parametrize("view", [view for view in VIEW if VIEW[view].screen])
async def test_esc_goes_back_one_step_and_never_quits(view: str, opened: Opened) -> None:
    async with opened.at(view) as screen:
        await enter(screen, view)
        await screen.press("tab" if view != "search" else "shift+tab", "z")
        steps = 0
        while screen.app.screen is not screen.browser:
            await screen.press("escape")
            steps += 1
            assert steps < 8
        for _ in range(12):
            await screen.press("escape")
        assert screen.app.is_running
        assert screen.app.screen is screen.browser


async def test_esc_takes_back_one_thing_at_a_time_on_the_main_screen() -> None:
    async with shown(busy()) as screen:
        browser = screen.browser
        await screen.press("/")
        await screen.type("n1")
        await screen.press("enter", "space", "z", "tab", "w")
        steps = []
        for _ in range(8):
            await screen.press("escape")
            steps.append((bool(browser.memories.marks), browser.forest.filtered, bool(browser.panes.zoomed)))
        changes = [one for one, other in zip(steps, [None, *steps], strict=False) if one != other]
        assert all(sum(a != b for a, b in zip(one, other, strict=True)) <= 1 for one, other in pairwise(changes))
        assert steps[-1] == (False, False, False)
        assert screen.app.is_running


async def test_q_leaves_a_view_and_at_the_top_the_program() -> None:
    async with shown(busy()) as screen:
        await enter(screen, "activity")
        await screen.press("q")
        assert screen.app.screen is screen.browser
        assert screen.app.is_running
        await screen.press("q")
        await screen.until(lambda: not screen.app.is_running)


# 38: panes


@pytest.mark.parametrize("view", [view for view in VIEW if view not in ("memories", "hot")])
async def test_any_pane_can_have_the_whole_screen_and_gives_it_back(view: str, opened: Opened) -> None:
    async with opened.at(view) as screen:
        await fill(screen, view)
        await enter(screen, view)
        here = top(screen)
        for size in ((80, 24), (120, 40), (200, 60)):
            await screen.pilot.resize_terminal(*size)
            await screen.pilot.pause()
            for _ in range(2):
                before, pane = regions(here), here.focused
                assert isinstance(pane, Scroller)
                await screen.press("z")
                await screen.until(partial(is_alone, here, pane, size[0]))
                await screen.press("escape")
                assert screen.app.screen is here
                await screen.until(partial(looks, here, before))
                await screen.press("tab")
            if view == "search":
                await screen.press("tab")  # out of the line of words


def is_alone(screen: KeyedScreen[None], pane: Scroller, width: int) -> bool:
    others = [one for one in screen.query(Scroller) if one is not pane and one.is_on_screen]
    return pane.size.width == width and not others


def regions(screen: KeyedScreen[None]) -> list[object]:
    return [one.region for one in screen.query(Scroller) if one.is_on_screen]


def looks(screen: KeyedScreen[None], before: list[object]) -> bool:
    return regions(screen) == before


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
        assert screen.browser.forest.totals.unseen == 1
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
        assert screen.browser.forest.totals.unseen == 1
        assert not [words for _, words in screen.browser.chrome.said if words.startswith("Could not")]
