"""Back where the user was at the next start: everything but the marks, whatever was kept, and nothing while idle."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.disk.state_file import KeptPlaces
from memtui.engine.model import Address
from memtui.features.changes.view import ChangesView
from memtui.features.search.view import SearchView
from memtui.workbench.browse import place as place_file
from memtui.workbench.browse.place import as_json, read_place
from memtui.workbench.edit.bars import QuestionBar
from memtui.workbench.edit.editor import MemoryEditor
from memtui.workbench.edit.merge.questions import QuestionScreen
from memtui.workbench.main_screen import NO_PLACE, SavedPlace
from tests.workbench.memories import CLAUDE, Memories
from tests.workbench.shown import Shown, engine_with, make_app, shown

MANY = {f"memtui:project/f{number % 9}/n{number:03}.md": f"note {number}\n" * 90 for number in range(120)}
NAME = "/home/ann/api"

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the place soon after something changed."""
    monkeypatch.setattr(place_file, "REST", 0.15)


def kept(engine: Memories) -> SavedPlace:
    return read_place(engine.engine.places.load(NAME).value)


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of places that were kept, as often as that was."""
    found: list[str] = []
    keep = KeptPlaces.keep

    def counted(self: KeptPlaces, name: str, value: object) -> bool:
        found.append(name)
        return keep(self, name, value)

    monkeypatch.setattr(KeptPlaces, "keep", counted)
    return found


def again(engine: Memories, **options: Any) -> Any:
    """Start where the last run ended."""
    return shown(engine, place_name=NAME, place=kept(engine), listing=engine.engine.cached(), **options)


@asynccontextmanager
async def run(engine: Memories, **options: Any) -> AsyncIterator[Shown]:
    """Run the workbench, and leave it as a person does: the place is kept before the views are closed."""
    async with shown(engine, place_name=NAME, **options) as screen:
        yield screen
        screen.browser.returning.flush()


@given(st.dictionaries(st.sampled_from(SavedPlace._fields), JSON))
def test_whatever_was_kept_makes_a_place(value: dict[str, object]) -> None:
    place = read_place(value)
    assert read_place(json.loads(json.dumps(as_json(place)))) == place


@pytest.mark.parametrize("value", [None, [], "x", 3, {"words": "a\x1b[31mb"}, {"sort": "worst"}, {"view": "history"}])
def test_nonsense_is_nowhere(value: object) -> None:
    assert read_place(value) == NO_PLACE


async def change_everything(screen: Shown) -> str:
    """Fold, filter, sort, show only, mark, move; returns the row."""
    await screen.go("memtui:project/f3/n012.md")
    await screen.press("s", "s", "/")
    await screen.type("n")
    await screen.press("enter", "j", "j", "space")
    return screen.here


async def test_view_cursor_folds_filter_sort_and_scroll_come_back_and_marks_do_not() -> None:
    engine = engine_with(MANY)
    async with run(engine) as screen:
        here = await change_everything(screen)
        tree = screen.browser.memories
        assert tree.marks
        above, opened = tree.cursor - tree.top, screen.browser.forest.folds.chosen[0]
        await screen.press("5")
        await screen.until(lambda: kept(engine).view == "activity")
    async with again(engine) as screen:
        await screen.until(lambda: screen.browser.views.current == "activity")
        await screen.press("1")
        tree = screen.browser.memories
        assert screen.here == here
        assert tree.cursor - tree.top == above
        forest = screen.browser.forest
        assert (forest.filter.words, forest.sort, forest.folds.chosen[0]) == (("n",), "size", opened)
        assert not tree.marks


async def test_it_is_there_with_the_first_frame() -> None:
    engine = engine_with(MANY)
    async with run(engine) as screen:
        here = await change_everything(screen)
        await screen.until(lambda: kept(engine).cursor[-1:] == (here.partition("/")[2],))
    app = make_app(engine, place_name=NAME, place=kept(engine), listing=engine.engine.cached())
    async with app.run_test(size=(120, 40)):
        node = app.browser.memories.current
        assert node is not None
        assert node.memory is not None
        assert str(node.memory.address) == here
    app.bridge.close()


async def test_a_key_in_another_view_does_not_lose_the_row_that_is_still_being_read() -> None:
    engine = engine_with(MANY)
    async with run(engine) as screen:
        here = await change_everything(screen)
        await screen.press("6")
        await screen.until(lambda: kept(engine).view == "trash")
        place = kept(engine)
    async with run(engine, place=place) as screen:
        screen.browser.returning._awaited = place.cursor  # its rows have not come yet
        screen.browser.memories.go(0)
        await screen.until(lambda: screen.browser.views.current == "trash")
        await screen.press("1")
        screen.browser.returning.find_row()
        assert screen.here == here


async def test_zoom_info_pane_and_the_text_in_focus_come_back() -> None:
    engine = engine_with(MANY)
    async with run(engine, size=(200, 60)) as screen:
        await screen.go("memtui:project/f3/n012.md")
        await screen.until_text("note 12")
        await screen.press("f", "s")
        await screen.until_text("The newest activity is hidden; 5 shows all of it.")
        assert not screen.browser.panes.layout.activity
        await screen.press("i", "tab", "ctrl+d", "z")
        top = screen.browser.page_view.top
        assert top > 0
        await screen.until(lambda: kept(engine)[-5:-2] == ("right", False, False) and kept(engine).page == top)
    async with again(engine, size=(200, 60)) as screen:
        browser = screen.browser
        await screen.until(lambda: browser.page_view.top == top)
        assert browser.panes.zoomed == "right"
        assert browser.focused is browser.page_view
        assert not browser.panes.info_wanted
        assert not browser.panes.strip_wanted
        await screen.press("escape")
        assert browser.panes.zoomed == ""


async def test_the_editor_opens_again() -> None:
    engine = engine_with(MANY)
    async with run(engine) as screen:
        await screen.go("memtui:project/f3/n012.md")
        await screen.press("enter")
        await screen.until(lambda: kept(engine).editing != ())
    async with again(engine) as screen:
        await screen.until(lambda: screen.browser.editing)
        assert screen.browser.host.address == Address.parse("memtui:project/f3/n012.md")


@pytest.mark.parametrize("typed", ["", "mine "])
async def test_an_open_memory_that_was_deleted_meanwhile_is_said_to_be_deleted(typed: str) -> None:
    name = "memtui:project/f3/n012.md"
    engine = engine_with(MANY)
    async with run(engine) as screen:
        await screen.go(name)
        await screen.press("enter")
        await screen.until(lambda: screen.browser.host.address == Address.parse(name))
        await screen.type(typed)
        screen.browser.host.flush()
        await screen.until(lambda: kept(engine).editing != ())
    listing = engine.engine.cached()
    engine.delete(name, by=CLAUDE)
    async with shown(engine, place_name=NAME, place=kept(engine), listing=listing) as screen:
        await screen.until(lambda: screen.browser.host.address == Address.parse(name))
        editor = screen.browser.query_one(MemoryEditor)
        await screen.until(lambda: "claude deleted" in editor.title_line.text)
        assert editor.asking is bool(typed)
        if typed:
            await screen.until(lambda: "memory was deleted since" in editor.query_one(QuestionBar).text)
            await screen.until(lambda: screen.browser.drafts_read)
            assert "Open it to restore" not in screen.text, "the question stands beside the text"
            await screen.press("r")
            await screen.until(lambda: editor.text_area.text == typed + MANY[name])
        await screen.press("f8")
        await screen.until(lambda: isinstance(screen.app.screen, QuestionScreen))
        await screen.press("k")
        await screen.until(lambda: engine.data.get(Address.parse(name)) == (typed + MANY[name]).encode())


async def test_a_session_of_an_older_version_comes_back_without_its_bookmarks(writes: list[str]) -> None:
    engine = engine_with()
    row = ["memory", "memtui:workspace", "todo.md"]
    engine.engine.places.keep(NAME, {"cursor": row, "view": "memories", "bookmarks": {"a": [*row, 1_700_000_000_000]}})
    async with again(engine) as screen:
        assert screen.here == "memtui:workspace/todo.md"
        await screen.press("k")
        await screen.until(lambda: len(writes) == 2)
    written_now = engine.engine.places.load(NAME).value
    assert isinstance(written_now, dict)
    assert "bookmarks" not in written_now


async def test_only_and_what_changed_come_back() -> None:
    engine = engine_with()
    engine.outside("memtui:project/notes.md", "Other notes.\n")
    async with run(engine) as screen:
        await screen.press("f", "a")
        await screen.until(lambda: kept(engine).only == frozenset({"unseen"}))
    async with again(engine) as screen:
        assert screen.browser.forest.filter.only == {"unseen"}
        assert screen.here == "memtui:project/notes.md"


async def test_nothing_is_written_while_idle_nor_when_nothing_differs(writes: list[str]) -> None:
    engine = engine_with()
    async with run(engine) as screen:
        await screen.press("j")
        await screen.until(lambda: len(writes) == 1)
        for _ in range(3):
            engine.outside("memtui:project/notes.md", f"{screen}\n")
            await asyncio.sleep(0.1)
        assert len(writes) == 1
        await screen.press("j", "k", "M", "escape")
        returning = screen.browser.returning
        await screen.until(lambda: returning._timer is None and kept(engine) == returning.now())
        before = len(writes)
        await screen.press("M", "escape")
        await screen.until(lambda: returning._timer is None)
    assert len(writes) == before


async def test_a_user_who_went_on_is_not_pulled_back() -> None:
    engine = engine_with()
    place = SavedPlace(cursor=("memory", "memtui:project", "late.md"))
    async with run(engine, place=place) as screen:
        await screen.press("j")
        here = screen.here
        engine.outside("memtui:project/late.md", "late\n")
        await screen.until(lambda: Address.parse("memtui:project/late.md") in screen.browser.forest.nodes)
        assert screen.here == here


async def test_a_row_that_comes_late_is_found_while_nobody_touched_anything() -> None:
    engine = engine_with()
    place = SavedPlace(cursor=("memory", "memtui:project", "late.md"))
    async with run(engine, place=place) as screen:
        engine.outside("memtui:project/late.md", "late\n")
        await screen.until(lambda: screen.here == "memtui:project/late.md")


async def test_a_setting_that_is_gone_is_named_at_the_start() -> None:
    said = "config.toml, line 2: memtui has no setting 'digits' any more and ignores it."
    async with shown(settings={"removed": (said,)}) as screen:
        await screen.until_text("has no setting 'digits' any more")


async def test_the_row_of_a_view_is_kept_when_the_cursor_moves_in_it() -> None:
    engine = engine_with(MANY)
    async with run(engine) as screen:
        nodes = screen.browser.forest.nodes
        for left, name in ((119, "f3/n012.md"), (118, "f4/n013.md")):
            await screen.go(f"memtui:project/{name}")
            await screen.press("d", "t")
            await screen.until(partial(lambda wanted: len(nodes) == wanted, left))
        await screen.press("5")
        await screen.until(lambda: kept(engine).view == "activity" and kept(engine).row != "")
        first = kept(engine).row
        await screen.press("j")
        await screen.until(lambda: kept(engine).row not in ("", first))
        await screen.press("1")
        await screen.until(lambda: kept(engine).view == "memories")
        assert kept(engine).row == ""


async def test_a_key_in_a_view_ends_the_search_for_its_row() -> None:
    engine = engine_with(MANY)
    place = SavedPlace(view="trash", row="gone")
    async with run(engine, place=place) as screen:
        returning = screen.browser.returning
        await screen.until(lambda: screen.browser.views.current == "trash")
        assert returning.row_in("trash") == place.row
        assert returning.row_in("activity") == ""
        await screen.press("j")
        assert returning.row_in("trash") == ""


async def test_the_changes_come_back_at_their_row_until_the_user_goes_on() -> None:
    engine = engine_with()
    for name in ("decisions/auth.md", "decisions/retry.md", "notes.md"):
        engine.outside(f"memtui:project/{name}", "changed\n")
    async with run(engine) as screen:
        await screen.press("3")
        await screen.until_text("3 in 1 group")
        await screen.press("j", "j")
        await screen.until(lambda: kept(engine).row != "")
        view = screen.app.screen
        assert isinstance(view, ChangesView)
        await screen.until(lambda: kept(engine).row == view.list.row_now)
        item = view.item
    async with run(engine, place=kept(engine)) as screen:
        await screen.until(lambda: screen.browser.views.current == "changes")
        again = screen.app.screen
        assert isinstance(again, ChangesView)
        await screen.until(lambda: again.loaded and bool(again.page.page))
        assert again.item is not None
        assert item is not None
        assert again.item.key == item.key
        await screen.press("k")
        again.load()
        await screen.pilot.pause()
        assert again.list.cursor == 1


async def test_the_search_comes_back_with_its_words_at_its_hit_and_typing_replaces_them() -> None:
    engine = engine_with()
    async with run(engine) as screen:
        await screen.press("ctrl+f")
        await screen.type("o")
        view = screen.app.screen
        assert isinstance(view, SearchView)
        await screen.until(lambda: len(view.rows.shown) > 3)
        await screen.press("down", "down")
        hit = view.list.row_now
        await screen.until(lambda: kept(engine).row == hit)
    async with run(engine, place=kept(engine)) as screen:
        await screen.until(lambda: screen.browser.views.current == "search")
        again = screen.app.screen
        assert isinstance(again, SearchView)
        await screen.until(lambda: bool(again.rows.shown) and bool(again.page.page))
        assert (again.line.text, again.list.row_now) == ("o", hit)
        await screen.press("slash")
        await screen.type("t")
        assert again.line.text == "t"


async def test_a_search_without_words_comes_back_without() -> None:
    engine = engine_with()
    async with run(engine) as screen:
        await screen.press("ctrl+f")
        await screen.until(lambda: kept(engine).view == "search")
    assert not kept(engine).row.strip()
    async with run(engine, place=kept(engine)) as screen:
        await screen.until(lambda: screen.browser.views.current == "search")
        await screen.until_text("search")


async def test_a_row_that_is_gone_is_no_harm() -> None:
    engine = engine_with(MANY)
    async with run(engine) as screen:
        await screen.go("memtui:project/f3/n012.md")
        await screen.press("enter")
        await screen.until(lambda: kept(engine).editing != ())
    engine.delete("memtui:project/f3/n012.md")
    async with run(engine, place=kept(engine)) as screen:
        assert not screen.browser.editing
        assert screen.here.startswith("memtui:")


async def test_leaving_keeps_the_place_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place_file, "REST", 60)
    engine = engine_with()
    async with shown(engine, place_name=NAME) as screen:
        await screen.go("memtui:workspace/todo.md")
        await screen.press("q")
        await screen.until(lambda: kept(engine).cursor == ("memory", "memtui:workspace", "todo.md"))
