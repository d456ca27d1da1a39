"""The main screen as a user drives it: keys in, what is on the screen and what the engine was asked out."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path

import pytest
from textual import events

from memtui.engine.look import detect
from memtui.engine.model import Address, Health, Listing, Root
from memtui.workbench.browse import side
from memtui.workbench.edit.memory_text import MemoryText
from tests.workbench.memories import Memories, failing, stalled, usual_roots
from tests.workbench.shown import TEXTS, Shown, engine_with, make_app, resize, shown

PREFERENCES, AUTH, RETRY, TODO = (
    "memtui:global/preferences.md",
    "memtui:project/decisions/auth.md",
    "memtui:project/decisions/retry.md",
    "memtui:workspace/todo.md",
)


# What is there at the start


async def test_the_first_frame_needs_no_folder() -> None:
    engine = engine_with()
    app = make_app(engine)
    async with app.run_test(size=(120, 40)) as pilot:
        with stalled("open_root", "open_file", "read_all", "list_dir") as asked:
            running = Shown(app, pilot, engine)
            await running.until_text("preferences.md")
            await running.until(asked.is_set)
            await running.press("k")
            assert running.here == "folder/memtui:global/style"
    app.bridge.close()


async def test_an_empty_machine_is_told_what_to_do() -> None:
    async with shown(engine_with({})) as screen:
        await screen.until_text("No memories yet.")
        assert "~/memory/global" in screen.text
        assert "n creates the first one" in screen.text
        assert "memtui demo" in screen.text


@pytest.mark.parametrize(("size", "there", "not_there"), [
    ((80, 24), ["── memtui:global/style/code.md", "1  No tricks."], ["── Activity", "── Info"]),
    ((120, 40), ["── Activity", "nothing yet", "▏"], ["── Info"]),
    ((200, 60), ["── Activity", "── Info", "i hides"], []),
    ((40, 10), ["preferences.md"], ["── Activity", "── Info", "No tricks."]),
])  # fmt: skip
async def test_every_size_has_its_panes(size: tuple[int, int], there: list[str], not_there: list[str]) -> None:
    async with shown(size=size) as screen:
        for words in there:
            await screen.until_text(words)
        assert not [words for words in not_there if words in screen.text]
        assert all(len(line) <= size[0] for line in screen.text.split("\n"))


# Moving


async def test_moving_with_letters_and_arrows() -> None:
    async with shown() as screen:
        assert screen.here == "memtui:global/style/code.md"
        await screen.press("j", "down", "k", "k", "j")
        assert screen.here == "memtui:global/style/prose.md"
        await screen.press("h")
        assert screen.here == "folder/memtui:global/style"
        await screen.press("up", "h")
        assert screen.here == "scope/global"
        assert "style" not in screen.text
        await screen.press("l", "l")
        assert screen.here == "folder/memtui:global/style"
        await screen.press("G")
        assert screen.here == TODO
        await screen.press("g", "g")
        assert screen.here == "scope/global"
        await screen.press("}", "}")
        assert screen.here == "scope/project"
        await screen.press("{")
        assert screen.here == "folder/memtui:global/style"


async def test_opening_and_closing_everything_below() -> None:
    async with shown() as screen:
        await screen.press("g", "g", "t")
        assert "prose.md" not in screen.text
        await screen.press("t")
        assert "prose.md" in screen.text


async def test_a_resize_keeps_the_cursor() -> None:
    async with shown(size=(120, 40)) as screen:
        await screen.go(RETRY)
        await resize(screen.pilot, 80, 24)
        await screen.until_text("with jitter")
        assert screen.here == RETRY
        await resize(screen.pilot, 200, 60)
        await screen.until_text("── Info")
        assert screen.here == RETRY


@pytest.mark.parametrize("size", [(99, 30), (60, 12), (20, 5), (10, 3), (1, 1)])
async def test_a_terminal_made_smaller_keeps_what_is_typed_into(size: tuple[int, int]) -> None:
    async with shown(size=(120, 40)) as screen:
        await screen.go(RETRY)
        await screen.press("e")
        await screen.until(lambda: isinstance(screen.browser.focused, MemoryText))
        await resize(screen.pilot, *size)
        await screen.type("dt")
        await resize(screen.pilot, 120, 40)
        await screen.until_text("dt# Retry")
        assert not screen.engine.steps()


# The text beside the tree


async def test_the_text_below_the_tree_scrolls_as_far_after_it_had_the_whole_screen() -> None:
    text = "".join(f"line {number}\n" for number in range(12))
    async with shown(engine_with({"memtui:global/style/code.md": text}), size=(80, 24)) as screen:
        await screen.until(lambda: "line 0" in screen.text)
        await screen.press("tab")
        await screen.until_text("line 11")
        await screen.press("tab")
        await screen.until(lambda: "line 11" not in screen.text)
        await screen.press("J", "J", "J", "J")
        await screen.until_text("line 11")


async def test_the_text_below_the_tree_scrolls_and_opens_to_be_unmasked() -> None:
    lines = [f"line {number}" for number in range(40)] + ["password: hunter-2-Battery9"]
    async with shown(engine_with({"memtui:global/style/code.md": "\n".join(lines)}), size=(80, 24)) as screen:
        await screen.until(lambda: "line 0" in screen.text)
        await screen.press("J", "J")
        await screen.until(lambda: "line 6" in screen.text and "line 0" not in screen.text)
        await screen.press("K")
        await screen.until(lambda: "line 3" in screen.text)
        await screen.press(*["J"] * 13)
        await screen.until(lambda: "password: " in screen.text)
        assert "Battery9" not in screen.text
        await screen.press("V")
        await screen.until(lambda: "Battery9" in screen.text)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_all_that_is_known_about_a_folder_or_root_is_shown(size: tuple[int, int]) -> None:
    note = " ".join(f"word{n}" for n in range(24))
    engine = Memories(TEXTS, tuple(root._replace(note=note) for root in usual_roots()))
    async with shown(engine, size=size) as screen:
        await screen.press("k")
        assert screen.here == "folder/memtui:global/style"
        await screen.until_text("~/memory/global/style")
        await screen.press("k")
        await screen.until_text("word23")
        assert "~/memory/global/style" not in screen.text


async def test_a_root_that_waits_to_be_accepted_says_how() -> None:
    engine = Memories({}, checkout=True)
    engine.outside(AUTH, "Somebody put it there.\n")
    async with shown(engine, size=(80, 24)) as screen:
        await screen.go(AUTH)
        await screen.press("h", "h")
        await screen.until_text("1 memory waits for your review")
        assert "g a shows what waits." in " ".join(screen.text.split())


async def reading_ends(screen: Shown) -> None:
    """Wait for what was asked for already."""
    read: list[None] = []
    screen.app.bridge.run(lambda _: None, read.append, what="read nothing")
    await screen.until(lambda: bool(read))


@pytest.mark.parametrize("size", [(120, 40), (200, 60)])
async def test_the_text_is_folded_to_its_pane_after_each_visit_to_the_editor(size: tuple[int, int]) -> None:
    async with shown(engine_with({AUTH: "word " * 200}), size=size) as screen:
        await screen.go(AUTH)
        for _ in range(3):
            await screen.press("e")
            await screen.until(lambda: screen.browser.editing and screen.settled)
            await screen.press("escape")
            await screen.until(lambda: not screen.browser.editing)
            await reading_ends(screen)
        page = screen.browser.page_view
        await screen.until(lambda: max(len("".join(text for text, _ in row.runs)) for row in page.page) <= page.room)


async def test_tab_and_scrolling_reach_the_text() -> None:
    engine = engine_with({"memtui:global/long.md": "".join(f"line {n}\n" for n in range(200))})
    async with shown(engine) as screen:
        await screen.go("memtui:global/long.md")
        await screen.until_text("line 0")
        await screen.press("J")
        await screen.until_text("line 3")
        assert "line 0\n" not in screen.text
        await screen.press("tab", "G")
        await screen.until_text("line 199")
        assert ">memtui:global/long.md" in screen.text
        await screen.press("escape")
        assert screen.browser.focused is screen.browser.memories


async def test_info_at_every_width() -> None:
    async with shown(size=(120, 40)) as screen:
        await screen.go(RETRY)
        await screen.press("i")
        await screen.until_text("Info: memtui:project/decisions/retry.md")
        await screen.until_text("sha-256")
        assert "~/api/.memtui/memory/decisions/retry.md" in screen.text
        await screen.press("i")
        await screen.until_text("three times")
        await resize(screen.pilot, 200, 60)
        await screen.until_text("sha-256")
        await screen.press("i")
        await screen.until(lambda: "sha-256" not in screen.text)


# What others do


async def test_a_write_outside_shows_at_once_and_stays_until_looked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side, "LOOKED", 0.05)
    async with shown() as screen:
        await screen.go(AUTH)
        screen.engine.outside(RETRY, "# Retry\n\n- four times\n")
        await screen.until_text("A1 agent edits")
        assert screen.browser.forest.nodes[Address.parse(RETRY)].signs.unseen
        assert screen.here == AUTH
        await screen.press("j")
        assert screen.here == RETRY
        await screen.until_text("A  3  - four times")
        await screen.until(lambda: "agent edit" not in screen.text)
        assert not screen.engine.unseen


async def test_a_write_under_the_resting_cursor_is_not_taken_as_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side, "LOOKED", 0.01)
    async with shown() as screen:
        await screen.go(RETRY)
        await screen.until_text("three times")
        screen.engine.outside(RETRY, "other")
        await screen.until_text("other")
        await screen.until_text("A1 agent edits")
        assert screen.engine.unseen


async def test_a_key_on_the_row_says_that_the_user_sees_what_is_shown_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side, "LOOKED", 0.01)
    async with shown() as screen:
        await screen.go(RETRY)
        await screen.until_text("three times")
        screen.engine.outside(RETRY, "other")
        await screen.until_text("A1 agent edits")
        await screen.until_text("other")
        await screen.press("i", "i")
        await screen.until(lambda: "agent edit" not in screen.text)
        assert not screen.engine.unseen


async def test_a_change_that_is_told_after_its_text_was_shown_is_seen_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side, "LOOKED", 0.01)
    async with shown() as screen:
        monkeypatch.setattr(detect, "QUIET_MS", 1_000_000)
        monkeypatch.setattr(detect, "PATIENCE_MS", 1_000_000)
        screen.engine.outside(RETRY, "other")
        await screen.go(RETRY)
        await screen.until_text("other")
        assert len(screen.engine.versions(RETRY)) == 1
        monkeypatch.setattr(detect, "QUIET_MS", 0)
        screen.app.bridge.reload()
        await screen.until(lambda: len(screen.engine.versions(RETRY)) == 2)
        await screen.until(lambda: not screen.engine.unseen and "agent edit" not in screen.text)


async def test_what_is_covered_by_a_list_is_seen_once_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side, "LOOKED", 0.3)
    async with shown() as screen:
        screen.engine.outside(RETRY, "other")
        await screen.go(RETRY)
        await screen.press("?")
        await screen.until(lambda: screen.app.screen is not screen.browser)
        await screen.until(lambda: screen.browser.side._looking is None)
        assert screen.engine.unseen
        await screen.press("escape")
        await screen.until(lambda: "agent edit" not in screen.text)


async def test_what_changed_and_seen() -> None:
    async with shown() as screen:
        screen.engine.outside(RETRY, "# Retry\n\n- four times\n- with jitter\n")
        await screen.go(RETRY)
        await screen.press("w")
        await screen.until_text("+1 -1 since you last looked")
        await screen.until_text("3 - - {three} times")
        assert "3 + - {four} times" in screen.text
        await screen.until(lambda: not screen.browser.forest.top.signs.unseen)
        assert "3 + - {four} times" in screen.text
        await screen.press("escape")
        await screen.until(lambda: "since you last" not in screen.text)


async def test_seen_for_a_whole_folder() -> None:
    async with shown() as screen:
        screen.engine.outside(RETRY, "x")
        screen.engine.outside(AUTH, "y")
        await screen.until_text("A2 agent edits")
        await screen.go(AUTH)
        await screen.press("h", "x")
        await screen.until_text("Seen: 2 changes.")
        assert not screen.browser.forest.top.signs.unseen


async def test_new_memories_appear_and_deleted_ones_go_without_moving_the_cursor() -> None:
    async with shown() as screen:
        await screen.go(RETRY)
        row = screen.browser.memories.cursor - screen.browser.memories.top
        screen.engine.outside("memtui:global/aaa.md", "new")
        await screen.until_text("aaa.md")
        assert screen.here == RETRY
        assert screen.browser.memories.cursor - screen.browser.memories.top == row + 1
        screen.engine.delete(AUTH)
        await screen.until(lambda: Address.parse(AUTH) not in screen.browser.forest.nodes)
        assert screen.here == RETRY


async def test_changes_below_a_folder_are_listed_deletions_included() -> None:
    async with shown() as screen:
        screen.engine.outside(RETRY, "# Retry\n\n- four times\n")
        screen.engine.delete(AUTH)
        await screen.until_text("A2 agent edits")
        await screen.until_text("A1 D1")
        await screen.go("memtui:project/notes.md")
        await screen.press("h")
        await screen.until_text("1 deleted by others since you looked")
        await screen.press("w")
        await screen.until_text("Changes in")
        await screen.until(lambda: any("deleted" in row and "/auth.md" in row for row in screen.text.split("\n")))


async def test_a_root_whose_folder_is_gone_is_named_in_the_tree() -> None:
    async with shown(engine_with({**TEXTS, "memtui:workspace/more.md": "More.\n"})) as screen:
        shutil.rmtree(screen.engine.path(Address.parse(TODO)).parent)
        await screen.until_text("folder gone")
        await screen.press("G")
        await screen.until_text("it held 2 memories")


async def test_a_watcher_that_is_down_is_said_in_words() -> None:
    async with shown() as screen:
        bridge = screen.app.bridge
        await screen.until(lambda: bridge._watch is not None and bridge._watch._health is not None)
        bridge._on_health(Health("polling", "no more watches"))
        await screen.until_text("polling: no more watches")
        await screen.until_text("Not following changes as they happen: no more watches.")
        bridge._on_health(Health("watching"))
        await screen.until(lambda: "polling" not in screen.text.split("\n")[0])


async def test_rows_of_the_last_run_give_way_to_what_is_there() -> None:
    engine = engine_with()
    old = engine.engine.rows.list()
    engine.delete(AUTH)
    engine.put("memtui:project/decisions/brand-new.md", "x")
    async with shown(engine, listing=Listing(old.items, truncated=False, roots=old.roots)) as screen:
        await screen.until_text("brand-new.md")
        assert Address.parse(AUTH) not in screen.browser.forest.nodes


# Safety of keys


async def test_the_next_keys_are_shown_after_a_while() -> None:
    async with shown() as screen:
        await screen.press("y")
        await screen.until_text("p path   c contents   d description   s sha")
        await screen.press("escape")
        await screen.until_text("enter edit")


async def test_off_keys_say_why() -> None:
    async with shown() as screen:
        await screen.press("g", "g", "H")
        await screen.until_text("versions: put the cursor on a memory first.")
        await screen.go(RETRY)
        await screen.press("c")
        await screen.until_text("There is no conflict.")


async def test_a_background_error_is_shown_and_the_app_lives() -> None:
    async with shown() as screen:
        with failing(errno.EIO, "open_file", of="retry.md"):
            await screen.go(RETRY)
            await screen.until_text("Could not read memtui:pr…/retry.md: ")
        await screen.press("k", "j")
        await screen.until_text("three times")
        await screen.press("M")
        await screen.until_text("(E_IO)")


async def test_hostile_names_and_texts_change_nothing_outside_their_cells() -> None:
    bad = "\x1b[2J\x1b]0;x\x07[/] [bold]\u202e\x9b31m"
    text = f"---\ndescription: {json.dumps(bad)}\n---\n{bad}"
    engine = engine_with({**TEXTS, f"memtui:global/{bad.replace('/', '')}.md": text})
    (address,) = [address for address, row in engine.rows.items() if "[bold]" in row.description]
    async with shown(engine) as screen:
        await screen.go(str(address))
        await screen.until(lambda: screen.browser.side.shown is not None)
        await screen.press("i")
        await screen.press("H")
        assert not {letter for letter in screen.text if ord(letter) < 32 or 0x7F <= ord(letter) < 0xA0} - {"\n"}
        assert "[bold]" in screen.text


async def test_words_of_before_are_gone_when_the_user_comes_back_from_the_editor_or_a_view() -> None:
    async with shown() as screen:
        screen.browser.say("Undid something long ago.")
        await screen.until_text("Undid something long ago.")
        screen.browser.show_view("trash")
        await screen.press("1")
        await screen.until_text("enter edit")
        assert "Undid something long ago." not in screen.text


@pytest.mark.parametrize("width", [100, 101, 102, 120])
async def test_a_long_path_is_drawn_once_whatever_the_width(width: int, home: Path) -> None:
    path = f"{home}/srv/" + "/".join(f"folder{number:02}" for number in range(16))
    engine = Memories({"notes/a.md": "a"}, (Root("notes", path, "notes", "global"),))
    async with shown(engine, size=(width, 30)) as screen:
        await screen.go("notes/a.md")
        await screen.press("h")
        await screen.until_text("folder00")
        drawn = "".join(line.partition("▏")[2].strip() for line in screen.text.split("\n"))
        assert path.replace(str(home), "~") in drawn
        assert drawn.count("folder05") == 1


async def test_a_text_that_comes_when_the_workbench_is_left_is_in_front_of_nobody() -> None:
    async with shown() as screen:
        await screen.go("memtui:project/notes.md")
        await screen.until(lambda: screen.browser.page_is_read)
        stack = screen.app._screen_stack[:]
        screen.app._screen_stack.clear()
        try:
            assert not screen.browser.page_is_read
        finally:
            screen.app._screen_stack.extend(stack)


async def test_pastes_and_bursts_are_ignored_and_said() -> None:
    async with shown() as screen:
        await screen.go(RETRY)
        screen.app.post_message(events.Paste("please undo"))
        await screen.until_text("A paste outside text is ignored.")
        screen.forget_haste()
        screen.burst(*"pundtrx", "enter")
        await screen.until_text("That looked like a paste")
        assert not screen.browser.editing
        assert not screen.engine.steps()


async def test_at_80_columns_the_text_opens_over_the_tree() -> None:
    async with shown(size=(80, 24)) as screen:
        await screen.go(RETRY)
        await screen.press("tab")
        await screen.until(lambda: "preferences.md" not in screen.text)
        await screen.until_text("with jitter")
        await screen.press("escape")
        await screen.until_text("preferences.md")


async def test_the_footer_begins_with_what_can_be_done_here() -> None:
    async with shown(size=(80, 24)) as screen:
        await screen.go(AUTH)
        assert screen.footer.startswith("enter edit")
        await screen.press("h")
        await screen.until(lambda: screen.footer.startswith("enter open"))
        await screen.press("asterisk")
        assert screen.footer.startswith("d t trash")
        assert "u undo" in screen.footer
        await screen.press("escape")
        await screen.until(lambda: screen.footer.startswith("enter"))
