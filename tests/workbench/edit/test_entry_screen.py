"""Editing one entry: drafts, saves beside an agent, and where it goes when the entry is not there any more."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memtui.engine.model import Draft
from memtui.features.entries.model import exact, parse
from memtui.features.entries.view import EntriesView
from memtui.workbench.edit.entry_screen import EntryScreen, form_of
from memtui.workbench.edit.open_memory import FileState
from tests.features.entries.test_view import TEXT, Entered, editing, entries
from tests.workbench.views.real import Real, at, real


@pytest.fixture
def world(tmp_path: Path) -> Entered:
    world = Entered(tmp_path)
    (world.folder / "a.md").write_text(TEXT)
    return world


async def typed(screen: Real, words: str = "I ") -> EntryScreen:
    """Open the first entry and type something at its start."""
    await entries(screen)
    await screen.press("enter")
    text = await editing(screen)
    await screen.type(words)
    await screen.until(lambda: text.changed)
    return text


@asynccontextmanager
async def typing(world: Entered, words: str = "I ") -> AsyncIterator[tuple[Real, EntryScreen]]:
    async with real(world) as screen:
        yield screen, await typed(screen, words)


def draft(screen: Real) -> str | None:
    """The draft of the memory."""
    return next((one.text for one in screen.real.drafts.all() if one.address == at("a.md")), None)


async def test_what_is_typed_is_a_draft_of_the_whole_memory_until_it_is_saved(world: Entered) -> None:
    async with typing(world) as (screen, _):
        await screen.until(lambda: draft(screen) == "I " + TEXT)
        await screen.press("ctrl+s")
        await screen.until_text("Saved entry 1")
        await screen.until(lambda: "1 draft" not in screen.text and "conflict" not in screen.text)
        await screen.until(lambda: draft(screen) is None)
        assert world.disk()["a.md"].decode() == "I " + TEXT
        history = screen.real.history.of(at("a.md"))
        assert not any(version.note for version in history)


async def test_a_dying_process_writes_the_last_words(world: Entered) -> None:
    async with typing(world, "Last words. ") as (screen, _):
        flow = screen.browser.host._entry
        assert flow is not None
        flow.keep()  # on its way, and perhaps not there in time
        assert screen.app.flush_drafts() == 1
        assert draft(screen) == "Last words. " + TEXT
        await screen.until(lambda: flow._stored is flow._kept)
        assert screen.app.flush_drafts() == 0


async def test_escape_asks_once_and_what_was_typed_stays_in_history(world: Entered) -> None:
    async with typing(world) as (screen, _):
        await screen.until(lambda: draft(screen) is not None)
        await screen.press("escape")
        await screen.until_text("Not saved: ctrl+s saves it, esc again drops it")
        await screen.press("escape")
        await screen.until(lambda: isinstance(screen.app.screen, EntriesView))
        await screen.until(lambda: draft(screen) is None)
        assert world.disk()["a.md"].decode() == TEXT
        kept = [
            screen.real.history.read(at("a.md"), one.sha256) for one in screen.real.history.of(at("a.md")) if one.note
        ]
        assert ("I " + TEXT).encode() in kept


async def test_what_an_agent_wrote_elsewhere_in_the_file_stays(world: Entered) -> None:
    async with typing(world) as (screen, _):
        theirs = "New.\n§\n" + TEXT.replace("Fridays", "Mondays")
        (world.folder / "a.md").write_text(theirs)
        await screen.press("ctrl+s")
        await screen.until_text("Saved entry 1")
        assert world.disk()["a.md"].decode() == theirs.replace("Ann", "I Ann")


async def test_an_entry_that_an_agent_changed_too_is_the_ordinary_conflict(world: Entered) -> None:
    async with typing(world) as (screen, _):
        theirs = TEXT.replace("zsh", "fish")
        (world.folder / "a.md").write_text(theirs)
        await screen.press("ctrl+s")
        await screen.until_text("CONFLICT notes/a.md")
        await screen.until_text("Ann uses {fish}.")
        assert world.disk()["a.md"].decode() == theirs
        assert draft(screen) == "I " + TEXT
        await screen.press("y", "ctrl+s")
        await screen.until(lambda: world.disk()["a.md"].decode() == "I " + TEXT)


async def test_a_file_that_is_gone_is_the_ordinary_question(world: Entered) -> None:
    async with typing(world) as (screen, _):
        (world.folder / "a.md").unlink()
        await screen.press("ctrl+s")
        await screen.until(
            lambda: screen.app.screen is not screen.browser and not isinstance(screen.app.screen, EntryScreen)
        )
        await screen.until_text("keep mine")
        assert draft(screen) == "I " + TEXT
        assert not (world.folder / "a.md").exists()


async def test_f9_goes_on_in_the_whole_file(world: Entered) -> None:
    async with typing(world) as (screen, _):
        await screen.press("f9")
        await screen.until(lambda: screen.app.screen is screen.browser and screen.browser.host.address == at("a.md"))
        editor = screen.browser.host.editing
        assert editor is not None
        await screen.until(lambda: editor.editor.data.decode() == "I " + TEXT or editor.editor.asking)


async def test_a_memory_with_a_draft_opens_whole(world: Entered) -> None:
    async with real(world) as screen:
        await entries(screen)
        await screen.press("j")
        found = screen.real.read(at("a.md"))
        screen.real.drafts.save(Draft(at("a.md"), found.sha256, "mine", (0, 0), world.clock(), found.bytes))
        await screen.press("enter")
        await screen.until(lambda: screen.app.screen is screen.browser and screen.browser.host.address == at("a.md"))
        assert draft(screen) == "mine"


async def test_an_entry_that_went_before_it_was_opened_shows_the_list_again(world: Entered) -> None:
    async with real(world) as screen:
        view = await entries(screen)
        item = view.item
        assert item is not None
        (world.folder / "a.md").write_text(TEXT.replace("zsh", "fish"))
        screen.browser.host.edit_entry(at("a.md"), exact(item.entry))
        await screen.until_text("This entry was changed meanwhile outside memtui.")
        await screen.until_text("Ann uses fish.")


async def test_a_text_that_is_not_one_entry_stays_open_with_the_reason(world: Entered) -> None:
    async with typing(world, "x") as (screen, text):
        text.text_area.open_text("one\n§\ntwo", read_only=False)
        await screen.press("ctrl+s")
        await screen.until_text("would not be one entry: a line `§` begins another entry for Hermes")
        assert screen.app.screen is text
        text.text_area.open_text("\n\n", read_only=False)
        await screen.press("ctrl+s")
        await screen.until_text("An entry cannot be empty.")
        assert world.disk()["a.md"].decode() == TEXT
        text.text_area.open_text("one", read_only=False)
        await screen.press("ctrl+s")
        await screen.until_text("Saved entry 1")


async def test_nothing_typed_is_nothing_to_save(world: Entered) -> None:
    async with real(world) as screen:
        await entries(screen)
        await screen.press("enter")
        text = await editing(screen)
        await screen.press("ctrl+s")
        await screen.until_text("Nothing to save.")
        await screen.type("x")
        await screen.press("ctrl+z")
        await screen.until(lambda: not text.changed)
        await screen.press("escape")
        await screen.until(lambda: isinstance(screen.app.screen, EntriesView))
        assert screen.real.read(at("a.md")).text == TEXT


async def test_the_open_file_is_gone_on_with_where_it_is_open(world: Entered) -> None:
    async with real(world) as screen:
        screen.browser.open_editor(at("a.md"))
        await screen.until(lambda: screen.browser.host.address == at("a.md") and screen.browser.editing)
        editing_ = screen.browser.host.editing
        assert editing_ is not None
        await screen.until(lambda: editing_.editor.subject is not None and editing_.editor.state is FileState.CLEAN)
        screen.browser.host.edit_entry(at("a.md"), None)
        await screen.pilot.pause()
        assert screen.app.screen is screen.browser


@pytest.mark.parametrize(("ends", "kind"), [(b"\n", "\n"), (b"\r\n", "\r\n")])
def test_what_is_typed_gets_the_line_ends_of_the_file(ends: bytes, kind: str) -> None:
    file = parse(TEXT.encode().replace(b"\n", ends), "hermes")
    assert form_of(file, file.entries[0], 10_000).newline == kind
    assert form_of(file, None, 10_000).newline == kind
    assert form_of(file, file.entries[1], 10_000).text == "Tests run with pytest -q.\nSlow ones are marked."


def test_a_file_that_is_not_text_is_not_edited_here() -> None:
    file = parse(b"good\n\xc2\xa7\n\xff", "hermes")
    assert form_of(file, file.entries[0], 10_000).reason == "the file is not UTF-8 at byte 8"
    assert form_of(file, None, 10_000).reason
