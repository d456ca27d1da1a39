"""The search from key to key: what is typed is found at once, and leaving gives back what was there."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from textual import events

from memtui.engine.model import Hit, Root, SearchQuery, SearchResult
from memtui.errors import StorageError
from memtui.features.search.view import FORGET_AFTER, SearchView
from memtui.features.search.view_rows import HitGroup, More
from memtui.workbench.browse.place import as_json, read_place
from memtui.workbench.edit.bars import FindBar
from tests.workbench.memories import Memories
from tests.workbench.shown import Shown, engine_with, shown

TEXTS = {
    "memtui:global/tabs.md": "nothing of note\n",
    "memtui:global/style/code.md": "no tricks\nindent with tabs\n\tmore tabs\n",
    "memtui:project/decisions/retry.md": "# Retry\n\n- three times\n- tabs, never spaces\n",
    "memtui:project/notes.md": "Notes.\n",
    "memtui:workspace/todo.md": "- ends\n",
}
SIZES = [(80, 24), (120, 40), (200, 60)]


def screen(running: Shown) -> SearchView:
    found = running.app.screen
    assert isinstance(found, SearchView)
    return found


async def search(running: Shown, words: str) -> SearchView:
    """Open the search and type."""
    await running.press("ctrl+f")
    await running.until(lambda: isinstance(running.app.screen, SearchView))
    await running.type(words)
    found = screen(running)
    await running.until(lambda: settled(found))
    return found


def settled(found: SearchView) -> bool:
    """Whether nothing is looked for any more, nor about to be."""
    return found.due is None and not found._searching and found._found is not None


def rows(found: SearchView) -> list[str]:
    return [str(item.memory.address) for item in found.rows.shown if isinstance(item, Hit)]


@pytest.mark.parametrize("size", SIZES)
async def test_what_is_typed_is_found_grouped_and_marked_with_its_text_beside_it(size: tuple[int, int]) -> None:
    async with shown(engine_with(TEXTS), size=size) as running:
        found = await search(running, "tabs")
        assert rows(found) == [
            "memtui:global/tabs.md",
            "memtui:global/style/code.md",
            "memtui:project/decisions/retry.md",
        ]
        assert [item.label for item in found.rows.shown if isinstance(item, HitGroup)] == [
            "GLOBAL memtui",
            "PROJECT acme-api",
        ]
        assert "3 hits" in running.text
        assert "indent with tabs" in running.text
        await running.press("down")
        await running.until(lambda: "no tricks" in found.page.text)
        assert "2 places" in running.text
        await running.press("down")
        await running.until(lambda: "three times" in found.page.text)


async def test_esc_gives_back_exactly_what_was_there_and_the_words_are_kept() -> None:
    async with shown(engine_with(TEXTS)) as running:
        await running.go("memtui:project/notes.md")
        await running.until(lambda: "Notes." in running.browser.page_view.text)
        before = running.text
        found = await search(running, "tabs")
        await running.press("escape")  # from the line to the hits
        assert not found.letters_are_text
        assert running.app.screen is found
        await running.press("escape")
        await running.until(lambda: running.app.screen is running.browser)
        assert running.text == before
        await running.press("2")
        await running.until_text("3 hits")
        found = screen(running)
        assert found.line.text == "tabs"
        await running.type("n")  # the old words are selected, so a letter begins anew
        assert found.line.text == "n"


async def test_letters_and_digits_are_text_until_tab_leaves_the_line() -> None:
    async with shown(engine_with(TEXTS)) as running:
        found = await search(running, "jq1?/ ")
        assert found.line.text == "jq1?/ "
        assert running.app.screen is found
        await running.press("ctrl+u")
        await running.type("tabs")
        await running.until_text("3 hits")
        await running.press("tab")
        await running.press("j")
        assert found.line.text == "tabs"
        assert isinstance(found.item, Hit)
        assert found.item.memory.address.name == "code.md"
        await running.press("slash")
        await running.type("x")
        assert found.line.text == "tabsx"
        await running.press("tab", "tab")
        assert found.focused is found.page
        await running.press("1")
        await running.until(lambda: running.app.screen is running.browser)


async def test_enter_opens_at_the_hit_with_the_find_primed() -> None:
    async with shown(engine_with(TEXTS)) as running:
        await search(running, "indent tabs")
        await running.press("enter")
        await running.until(lambda: running.browser.editing and running.app.screen is running.browser)
        editor = running.browser.query_one("MemoryEditor")
        area = running.browser.host.editing.editor.text_area  # type: ignore[union-attr]
        await running.until(lambda: editor.query_one(FindBar).display)
        assert running.here == "memtui:global/style/code.md"
        assert area.cursor_location == (1, 0)
        assert area.has_focus
        await running.press("f3")
        await running.until(lambda: area.selected_text == "tabs")


async def test_the_line_of_a_hit_is_copied() -> None:
    async with shown(engine_with(TEXTS)) as running:
        found = await search(running, "tabs")
        await running.press("tab", "j")
        hit = found.item
        assert isinstance(hit, Hit)
        await running.press("y", "l")
        await running.until_text("Copied the line (")
        copied = running.browser.copied[0]
        assert "tabs" in copied
        assert "\n" not in copied
        await running.press("y", "p")
        await running.until_text("Copied the path")
        assert running.browser.copied[0].endswith(hit.memory.address.path)


async def test_who_comes_back_from_a_hit_lands_on_it_and_types_no_words() -> None:
    async with shown(engine_with(TEXTS)) as running:
        found = await search(running, "tabs")
        await running.press("down", "enter")
        await running.until(lambda: running.browser.editing and running.app.screen is running.browser)
        await running.press("escape")  # nobody opened the line that marks the words: one step leads back
        await running.until(lambda: running.app.screen is found)
        await running.press("J", "n")
        assert found.line.text == "tabs"
        assert isinstance(found.item, Hit)
        assert found.item.memory.address.name == "code.md"
        await running.press("ctrl+f")
        assert found.letters_are_text
        await running.press("escape", "escape", "2")
        await running.until(lambda: running.app.screen is found)
        assert found.letters_are_text


async def test_a_hit_behind_a_filter_is_opened_and_the_filter_goes() -> None:
    async with shown(engine_with(TEXTS)) as running:
        await running.press("slash")
        await running.type("todo")
        await running.press("enter")
        await search(running, "never spaces")
        await running.press("enter")
        await running.until(lambda: running.browser.editing)
        await running.until(lambda: running.here == "memtui:project/decisions/retry.md")


class Gate:
    """Stands before an engine's search: notes what is asked, and holds it after the hits in names while it is shut."""

    def __init__(self, engine: Memories, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = threading.Event()
        self.open.set()
        self.asked: list[SearchQuery] = []
        self.outdated = 0
        self._find = engine.engine.search.find
        monkeypatch.setattr(engine.engine.search, "find", self.find)

    def find(
        self, wanted: SearchQuery, *, stop: Callable[[], bool], tell: Callable[[SearchResult], None]
    ) -> SearchResult:
        self.asked.append(wanted)
        if not self.open.is_set():
            names = wanted._replace(bodies=False, versions=False)
            tell(self._find(names, stop=stop, tell=lambda _: None)._replace(complete=False))
            while not self.open.wait(0.005):
                if stop():
                    self.outdated += 1
                    return SearchResult((), 0, complete=False)
        return self._find(wanted, stop=stop, tell=tell)


async def test_an_outdated_search_is_stopped_and_the_first_hits_come_before_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = engine_with(TEXTS)
    gate = Gate(engine, monkeypatch)
    async with shown(engine) as running:
        gate.open.clear()
        await running.press("ctrl+f")
        await running.type("tabs")
        found = screen(running)
        await running.until(lambda: rows(found) == ["memtui:global/tabs.md"])
        assert "searching..." in running.text
        await running.type(".md")
        await running.until(lambda: gate.asked[-1].query == "tabs.md")
        gate.open.set()
        await running.until(lambda: not found._searching)
        assert rows(found) == ["memtui:global/tabs.md"]
        # Slowly typed letters are searches of their own; each but the last was stopped.
        assert gate.outdated == len(gate.asked) - 1 >= 1


async def test_nothing_is_said_to_be_missing_before_everything_was_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_with(TEXTS)
    gate = Gate(engine, monkeypatch)
    async with shown(engine) as running:
        gate.open.clear()
        await running.press("ctrl+f")
        await running.type("zzz")
        await running.until(lambda: screen(running)._searching and screen(running)._found is not None)
        await running.until_text("Searching...")
        assert "Nothing holds these words" not in running.text
        gate.open.set()
        await running.until_text("Nothing holds these words")


async def test_a_search_that_fails_says_why_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_with(TEXTS)
    async with shown(engine) as running:
        found = await search(running, "tabs")

        def fail(*_: object, **__: object) -> None:
            raise StorageError("The ledger is damaged.", code="E_STORE_DAMAGED")

        monkeypatch.setattr(engine.engine.search, "find", fail)
        await running.press("f7")
        await running.until_text("The ledger is damaged.")
        assert not found._searching
        assert len(rows(found)) == 3


async def test_toggles_look_elsewhere_and_are_said() -> None:
    engine = engine_with(TEXTS)
    engine.save("memtui:project/notes.md", "Notes with zebras.\n", "Notes.\n")
    async with shown(engine) as running:
        found = await search(running, "tabs")
        await running.press("f6")
        await running.until(lambda: rows(found) == ["memtui:global/tabs.md"])
        assert "[ ] texts" in running.text
        await running.press("ctrl+r")
        await running.until(lambda: len(rows(found)) == 3)
        await running.press("ctrl+u")
        await running.type("zebras")
        await running.until_text("Nothing holds these words")
        assert "f7 looks into old versions" in running.text
        await running.press("f7")
        await running.until(lambda: rows(found) == ["memtui:project/notes.md"])
        assert "[x] old versions" in running.text
        assert "Notes with zebras." in running.text


async def test_an_old_version_opens_the_history_at_it_and_is_never_edited() -> None:
    engine = engine_with(TEXTS)
    engine.save("memtui:project/notes.md", "one\n", "two zebras\n", "three\n")
    async with shown(engine) as running:
        found = await search(running, "zebras")
        await running.press("f7")
        await running.until(lambda: len(rows(found)) == 1)
        await running.press("enter")
        await running.until(lambda: running.app.screen is not found)
        await running.until_text("two zebras")
        assert not running.browser.editing
        await running.press("escape")
        await running.until(lambda: running.app.screen is found)
        assert found.line.text == "zebras"


async def test_every_project_on_request(home: Path) -> None:
    other = Root("memtui:project:other", str(home / "other"), "memtui", "project", "other")
    Memories({"memtui:project:other/far.md": "tabs far away\n"}, (other,))
    engine = engine_with(TEXTS)

    def more() -> tuple[Root, ...]:
        engine.engine.roots.add([other])
        return (*engine.roots, other)

    async with shown(engine, more_roots=more) as running:
        found = await search(running, "far away")
        assert rows(found) == []
        await running.press("f8")
        await running.until(lambda: rows(found) == ["memtui:project:other/far.md"])
        assert "every project" in running.text
        await running.press("enter")
        await running.until(lambda: running.browser.editing)
        await running.until(lambda: running.here == "memtui:project:other/far.md")


async def test_more_hits_than_are_shown_are_counted_and_shown_on_request() -> None:
    engine = Memories({f"memtui:global/n{number:03}.md": "the tabs\n" for number in range(450)})
    async with shown(engine) as running:
        found = await search(running, "tabs")
        assert "200 of 450 hits" in running.text
        group = found.rows.shown[0]
        assert isinstance(group, HitGroup)
        assert (group.shown, group.total) == (200, 450)
        await running.press("tab", "G")
        assert found.item == More(250)
        await running.press("enter")
        await running.until(lambda: len(rows(found)) == 450)
        current = found.item
        assert isinstance(current, Hit)


async def test_changes_on_disk_are_followed_and_the_cursor_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_with(TEXTS)
    gate = Gate(engine, monkeypatch)
    async with shown(engine) as running:
        found = await search(running, "tabs")
        await running.press("down", "down")
        assert isinstance(found.item, Hit)
        engine.outside("memtui:workspace/todo.md", "tabs here too\n")
        await running.until(lambda: "memtui:workspace/todo.md" in rows(found))
        assert isinstance(found.item, Hit)
        assert found.item.memory.address.name == "retry.md"
        assert not gate.asked[-1].fresh


async def test_what_changes_while_the_first_search_is_under_way_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_with(TEXTS)
    find, news = engine.engine.search.find, SearchView._news
    looked, heard = threading.Event(), threading.Event()

    def late(wanted: SearchQuery, *, stop: Callable[[], bool], tell: Callable[[SearchResult], None]) -> SearchResult:
        found = find(wanted, stop=stop, tell=lambda _: None)
        looked.set()
        while not (heard.wait(0.005) or stop()):
            pass
        return found

    monkeypatch.setattr(engine.engine.search, "find", late)
    async with shown(engine) as running:

        def hear(view: SearchView) -> None:
            news(view)
            recent = running.browser.chrome.recent
            if recent is not None and any("todo.md" in str(record.address) for record in recent.records):
                heard.set()

        monkeypatch.setattr(SearchView, "_news", hear)
        await running.press("ctrl+f", "z")
        await running.until(looked.is_set)
        engine.outside("memtui:workspace/todo.md", "a zebra\n")
        await running.until(lambda: "memtui:workspace/todo.md" in rows(screen(running)))


async def test_the_cursor_is_on_its_row_again_after_a_part_of_the_hits_that_lacks_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = engine_with(TEXTS)
    gate = Gate(engine, monkeypatch)
    async with shown(engine) as running:
        found = await search(running, "tabs")
        await running.press("down", "down")
        gate.open.clear()
        engine.outside("memtui:workspace/todo.md", "tabs here too\n")
        await running.until(lambda: rows(found) == ["memtui:global/tabs.md"])
        gate.open.set()
        await running.until(lambda: "memtui:workspace/todo.md" in rows(found))
        assert isinstance(found.item, Hit)
        assert found.item.memory.address.name == "retry.md"


async def test_hostile_text_is_drawn_as_text() -> None:
    texts = {
        "memtui:global/[bold]needle[-x].md": "[/bold] needle [link=x]\n",
        "memtui:global/esc.md": "\x1b[31mneedle\x1b[0m \u202eneedle \u200bneedle\n",
        "memtui:global/wide.md": "日本語needle👩\u200d👩\u200d👧" * 40 + "\n",
    }
    async with shown(engine_with(texts), size=(80, 24)) as running:
        found = await search(running, "needle")
        assert len(rows(found)) == 3
        assert "\x1b" not in running.text
        assert "[bold]needle[-x].md" in running.text
        for _ in range(3):
            await running.press("down")
        await running.press("ctrl+u")
        for letter in '["-\\(':
            await running.type(letter)
        await running.until(lambda: found.due is None and not found._searching)


async def test_a_paste_goes_into_the_line() -> None:
    async with shown(engine_with(TEXTS)) as running:
        await running.press("ctrl+f")
        found = screen(running)
        running.app.post_message(events.Paste("in\x1bdent\ntabs\n"))
        await running.until(lambda: found.line.text == "indent tabs")
        await running.until(lambda: len(rows(found)) == 1)
        assert "ignored" not in running.text


async def test_an_empty_line_says_what_can_be_typed() -> None:
    async with shown(engine_with(TEXTS), size=(80, 24)) as running:
        await running.press("ctrl+f")
        await running.until_text("side by side")
        found = await search(running, "x")
        await running.press("backspace")
        await running.until(lambda: found._found is None)
        assert "side by side" in running.text


async def test_what_was_read_is_given_back_when_the_search_is_left_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_with(TEXTS)
    forgotten: list[int] = []
    forget = engine.engine.search.forget

    def count() -> None:
        forgotten.append(1)
        forget()

    monkeypatch.setattr(engine.engine.search, "forget", count)
    async with shown(engine) as running:
        found = await search(running, "tabs")
        await running.press("escape", "escape")
        assert found._idle is not None
        assert found._idle._interval == FORGET_AFTER
        found._forget()
        await running.until(lambda: len(forgotten) == 1)
        await running.press("ctrl+f")
        found._forget()  # it is being looked at
        await running.press("escape", "escape")
        assert len(forgotten) == 1


@pytest.mark.parametrize("words", ["tabs", ""])
async def test_after_a_restart_no_line_has_the_keyboard(words: str) -> None:
    engine = engine_with(TEXTS)
    async with shown(engine) as running:
        found = await search(running, words) if words else None
        if found is None:
            await running.press("ctrl+f")
            await running.until(lambda: isinstance(running.app.screen, SearchView))
        place = running.browser.returning.now()
    async with shown(engine, place=read_place(json.loads(json.dumps(as_json(place))))) as running:
        await running.until(lambda: isinstance(running.app.screen, SearchView))
        found = screen(running)
        await running.until(lambda: not words or settled(found))
        await running.press("z", "J")
        assert (found.line.text, found.letters_are_text) == (words, False)
        await running.press("slash")
        await running.type("x")
        assert found.line.text == "x"
