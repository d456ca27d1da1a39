"""The entries of a memory in the workbench: listed, read, filtered, edited, written and removed, each alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Actor, Policy, Root
from memtui.features.entries.model import parse, usage
from memtui.features.entries.view import EntriesRead, EntriesView, entry_runs, heading, page, place, row_key, rows_of
from memtui.safe_text import cell_width
from memtui.ui.draw.pages import revealed
from memtui.ui.widgets.scroller import RowList
from memtui.workbench.edit.entry_screen import EntryScreen
from tests.workbench.views.real import Real, World, at, real

TEXT = "Ann uses zsh.\n§\nTests run with pytest -q.\nSlow ones are marked.\n§\nReleases are on Fridays.\n"
POLICY = Policy(entries=(("*.md", "hermes"), ("*.txt", "goose")), shown_chars=(("a.md", 200),))


class Entered(World):
    """A folder whose layout says that its files hold entries."""

    def engine(self, *, read_only: bool = False) -> Engine:
        """An engine as a new process opens it."""
        roots = [Root("notes", str(self.folder), policy=POLICY)]
        state = str(self.base / "state")
        return Engine.open(roots, state_dir=state, clock=self.clock, read_only=read_only)

    def theirs(self, change: Callable[[str], str], name: str = "a.md") -> None:
        """Let an agent change a file."""
        with self.engine() as engine:
            text = engine.read(at(name)).text
            engine.memories.edit(at(name), lambda _: change(text), actor=Actor("agent:hermes"))


@pytest.fixture
def world(tmp_path: Path) -> Entered:
    world = Entered(tmp_path)
    (world.folder / "a.md").write_text(TEXT)
    (world.folder / "b.txt").write_text("# api style\nStreams.\n\nNo tags.\n\n")
    (world.folder / "plain.rst").write_text("One memory.\n")
    return world


async def entries(screen: Real, name: str = "a.md") -> EntriesView:
    """Open the entries of a memory, and wait for the first text."""
    assert screen.browser.memories.reveal(at(name))
    await screen.press("E")
    await screen.until_text(f"Entries of notes/{name}")
    top = screen.app.screen
    assert isinstance(top, EntriesView)
    await screen.until(lambda: top.loaded and bool(top.page.page))
    return top


async def editing(screen: Real) -> EntryScreen:
    """Wait for the text of one entry."""
    await screen.until(lambda: isinstance(screen.app.screen, EntryScreen) and not screen.app.screen.reading)
    top = screen.app.screen
    assert isinstance(top, EntryScreen)
    return top


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_list_says_what_there_is_and_how_full_the_file_is(world: Entered, size: tuple[int, int]) -> None:
    async with real(world, size=size) as screen:
        await entries(screen)
        for words in ("Entries of notes/a.md", "3 | 90/200 chars", "Ann uses zsh.", "Releases are on Fridays."):
            assert words in screen.text
        await screen.press("j")
        await screen.until_text("Entry 2 of 3, 2 lines from line 3 on")
        await screen.until_text("Slow ones are marked.")
        assert screen.footer.startswith("enter edit")


async def test_tags_stand_in_a_column_of_their_own(world: Entered) -> None:
    async with real(world) as screen:
        await entries(screen, "b.txt")
        assert "api style" in screen.text
        await screen.until_text("Tags: api, style.")
        assert "Entries of notes/b.txt" in screen.text


async def test_what_holds_no_entries_says_so(world: Entered) -> None:
    async with real(world) as screen:
        assert screen.browser.memories.reveal(at("plain.rst"))
        await screen.press("E")
        await screen.until_text("This is one memory, not a file of many entries")


async def test_an_entry_is_edited_and_no_other_byte(world: Entered) -> None:
    async with real(world) as screen:
        await entries(screen)
        await screen.press("j", "j", "enter")
        text = await editing(screen)
        await screen.until_text("Entry 3 of notes/a.md")
        assert text.text_area.text == "Releases are on Fridays."
        await screen.press("end")
        await screen.type(" Not in May.")
        await screen.until_text("102 of 200 characters")
        await screen.press("ctrl+s")
        await screen.until_text("Saved entry 3 of notes/a.md. u takes it back.")
        assert world.disk()["a.md"].decode() == TEXT.replace("Fridays.", "Fridays. Not in May.")
        await screen.until_text("3 | 102/200 chars")
        view = screen.app.screen
        assert isinstance(view, EntriesView)
        await screen.until(lambda: view.item is not None and view.item.entry.number == 3)
        assert not screen.real.drafts.all()
        await screen.press("u")
        await screen.until(lambda: world.disk()["a.md"].decode() == TEXT)


async def test_a_new_entry_goes_behind_the_last_one(world: Entered) -> None:
    async with real(world) as screen:
        await entries(screen)
        await screen.press("n")
        await editing(screen)
        await screen.type("One more.")
        await screen.press("ctrl+s")
        await screen.until_text("Saved a new entry of notes/a.md.")
        assert world.disk()["a.md"].decode() == TEXT[:-1] + "\n§\nOne more.\n"
        view = screen.app.screen
        assert isinstance(view, EntriesView)
        await screen.until(lambda: view.item is not None and view.item.entry.number == 4)


async def test_an_entry_is_removed_with_two_keys_and_comes_back_with_u(world: Entered) -> None:
    async with real(world) as screen:
        await entries(screen)
        await screen.press("j", "d")
        await screen.until_text("t takes entry 2 out: Tests run with pytest -q.")
        await screen.press("x")
        await screen.until_text("Cancelled; nothing was changed.")
        await screen.press("d", "t")
        await screen.until_text("Removed entry 2 of notes/a.md. u brings it back.")
        assert world.disk()["a.md"].decode() == "Ann uses zsh.\n§\nReleases are on Fridays.\n"
        await screen.until_text("2 | 40/200")
        await screen.press("u")
        await screen.until(lambda: world.disk()["a.md"].decode() == TEXT)
        await screen.until_text("3 | 90/200")


async def test_the_list_follows_the_file_and_the_cursor_its_entry(world: Entered) -> None:
    async with real(world) as screen:
        view = await entries(screen)
        await screen.press("j")
        world.theirs(lambda text: "New.\n§\n" + text)
        screen.browser.bridge.reload()
        await screen.until_text("4 | 97/200")
        await screen.until(lambda: view.item is not None and view.item.entry.number == 3)
        assert view.item is not None
        assert view.item.entry.title == "Tests run with pytest -q."


async def test_an_entry_that_somebody_changed_is_not_removed(world: Entered) -> None:
    async with real(world) as screen:
        await entries(screen)
        theirs = TEXT.replace("zsh", "fish")
        await screen.press("d")
        await screen.until_text("t takes entry 1 out")
        (world.folder / "a.md").write_text(theirs)
        screen.browser.bridge.reload()
        await screen.until_text("Ann uses fish.")
        await screen.press("t")
        await screen.until_text("Not removed. The entry you asked about was changed since")
        assert world.disk()["a.md"].decode() == theirs
        await screen.press("d", "t")
        await screen.until_text("Removed entry 1")


async def test_what_is_copied_is_the_entry(world: Entered) -> None:
    async with real(world) as screen:
        view = await entries(screen)
        await screen.press("j", "y", "c")
        await screen.until_text("Copied entry 2")
        assert screen.app.clipboard == "Tests run with pytest -q.\nSlow ones are marked."
        await screen.press("y", "s")
        await screen.until_text("Copied the sha-256 of the entry")
        assert view.item is not None
        assert screen.app.clipboard == view.item.entry.sha256


async def test_a_file_that_is_gone_or_empty_says_so(world: Entered) -> None:
    async with real(world) as screen:
        await entries(screen)
        (world.folder / "a.md").unlink()
        screen.browser.bridge.reload()
        await screen.until_text("There is no memory")
        await screen.press("enter")
        await screen.until_text("There is no memory")
        (world.folder / "a.md").write_text("\n")
        screen.browser.bridge.reload()
        await screen.until_text("There are no entries; n writes one")


async def test_read_only_shows_and_changes_nothing(world: Entered) -> None:
    async with real(world, read_only=True) as screen:
        await entries(screen)
        await screen.press("d", "t")
        await screen.until_text("--read-only")
        await screen.press("n")
        await screen.until_text("--read-only")
        await screen.press("enter")
        text = await editing(screen)
        assert text.text_area.read_only
        await screen.press("escape")
        await screen.until(lambda: isinstance(screen.app.screen, EntriesView))
        assert world.disk()["a.md"].decode() == TEXT


async def test_hostile_text_stays_inert(world: Entered) -> None:
    (world.folder / "a.md").write_bytes(b"\x1b]0;x\x07[red]bad[/]\n\xc2\xa7\n\xff\xfe\n")
    async with real(world) as screen:
        await entries(screen)
        assert "[red]bad[/]" in screen.text
        assert "\x1b" not in screen.text
        await screen.press("enter")
        await screen.until_text("It cannot be edited here: hidden or control characters")


async def test_the_preview_says_how_many_entries_there_are_and_how_full_the_file_is(world: Entered) -> None:
    async with real(world) as screen:
        assert screen.browser.memories.reveal(at("a.md"))
        await screen.until_text("E 3 entries, 45 %")
        assert screen.browser.memories.reveal(at("b.txt"))
        await screen.until_text("E 2 entries")
        assert screen.browser.memories.reveal(at("plain.rst"))
        await screen.until_text("One memory.")
        await screen.until(lambda: "entries" not in screen.text)


async def test_at_80_columns_the_lines_below_the_tree_say_it(world: Entered) -> None:
    (world.folder / "a.md").write_text("x" * 230)
    async with real(world, size=(80, 24)) as screen:
        assert screen.browser.memories.reveal(at("a.md"))
        await screen.until_text("1 entry, 230 of 200 characters (115 %)  E lists them")
        assert "It has 230 characters; the agent's limit is 200." in screen.text


async def test_the_info_says_it_with_what_is_over(world: Entered) -> None:
    (world.folder / "a.md").write_text("x" * 230)
    async with real(world) as screen:
        assert screen.browser.memories.reveal(at("a.md"))
        await screen.until_text("E 1 entry, 115 %")
        await screen.press("i")
        await screen.until_text("230 of 200 characters (115 %): 30")
        await screen.until_text("E lists them")


async def test_a_second_click_on_a_row_edits_its_entry(world: Entered) -> None:
    async with real(world) as screen:
        view = await entries(screen)
        view.list.post_message(RowList.Opened())
        text = await editing(screen)
        assert text.text_area.text == "Ann uses zsh."


async def test_help_in_the_text_of_an_entry_says_what_its_keys_do(world: Entered) -> None:
    async with real(world) as screen:
        await entries(screen)
        await screen.press("enter")
        await editing(screen)
        await screen.press("f1")
        await screen.until_text("Save the entry: no other byte changes.")
        await screen.press("escape")
        await editing(screen)


def contents(data: bytes, limit: int | None = None) -> EntriesRead:
    """What is read of a file of Goose."""
    file = parse(data, "goose")
    return EntriesRead(file, usage(file, limit))


def drawn(width: int, text: bytes, *, tagged: bool = True, plain: bool = False) -> str:
    """The first row of a file."""
    entry = contents(text).file.entries[0]
    return "".join(part for part, _ in entry_runs(entry, width, digits=2, plain=plain, tagged=tagged))


def test_equal_entries_are_told_apart_across_reloads() -> None:
    keys = [row_key(row) for row in rows_of(parse(b"a\n\nb\n\na\n\n", "goose"))]
    assert len(set(keys)) == 3
    assert [row_key(row) for row in rows_of(parse(b"new\n\na\n\nb\n\na\n\n", "goose"))][1:] == keys


def test_a_row_is_found_by_number_or_the_nearest_one() -> None:
    found = rows_of(parse(b"a\n\nb\n\nc\n\n", "goose"))
    assert [place(found, number) for number in (0, 1, 3, 9)] == [0, 0, 2, 2]
    assert place(found[2:], 1) == place(found[2:], 3) == place((), 2) == 0


@pytest.mark.parametrize("width", [12, 30, 58, 90, 160])
def test_a_row_keeps_to_its_width_and_says_tags_where_there_is_room(width: int) -> None:
    row = drawn(width, "# ünï code\nSome words 漢字 and more of them\x1b[0m".encode())
    assert cell_width(row) <= max(width, 13)
    assert ("ünï code" in row) == (width >= 58)
    assert "\x1b" not in row


def test_a_row_without_words_says_that() -> None:
    assert drawn(60, b"  ", tagged=False).endswith("(blank)")


def test_entries_in_the_middle_of_a_key_are_masked_and_revealed() -> None:
    key = ["-----BEGIN PRIVATE KEY-----", *(f"{n}" + "Qx9z" * 15 for n in range(4)), "-----END PRIVATE KEY-----"]
    found = contents(("\n\n".join(key) + "\n\nplain words\n").encode())
    entries = found.file.entries
    assert [entry.title for entry in entries] == ["[masked: private key]"] * 6 + ["plain words"]
    shown = page(found, entries[2], 100, plain=False)
    assert "Qx9z" not in str([line.runs for line in shown])
    assert "Qx9z" in str([line.runs for line in revealed(shown)[0]])


def test_the_heading_says_where_the_entry_stands_and_how_full_the_file_is() -> None:
    full = contents(b"# t\na\nb\n\nc\n\n", 4)
    assert heading(full, full.file.entries[0]) == [
        "2 entries, 12 of 4 characters (300 %): 8 over what the agent takes.",
        f"Entry 1 of 2, 3 lines from line 1 on, 7 characters, check {full.file.entries[0].sha256[:8]}.",
        "Tags: t.",
    ]
    plain = contents(b"x\n\n")
    assert heading(plain, plain.file.entries[0])[0].startswith("Entry 1 of 1, a line from line 1 on, 1 characters")
