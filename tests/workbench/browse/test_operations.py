"""Writing keys: what the engine is asked, what is said afterwards, and what is left alone."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest

from memtui.engine import Engine, part
from memtui.engine.model import Address, Done, Outcome, Policy, Root
from memtui.errors import StorageError
from memtui.workbench.browse import operations
from memtui.workbench.browse.operations import CONFIRM_ABOVE
from tests.test_mask import GITHUB
from tests.workbench.memories import ME, Memories, failing, stalled, usual_roots
from tests.workbench.shown import Shown, engine_with, make_app, shown

PREFERENCES, AUTH, RETRY, TODO = (
    Address.parse(name)
    for name in (
        "memtui:global/preferences.md",
        "memtui:project/decisions/auth.md",
        "memtui:project/decisions/retry.md",
        "memtui:workspace/todo.md",
    )
)


def pinned(screen: Shown) -> set[Address]:
    return {address for address, row in screen.engine.rows.items() if row.pinned}


async def test_pin_and_unpin() -> None:
    async with shown() as screen:
        await screen.go(str(AUTH))
        await screen.press("p")
        await screen.until_text(f"{AUTH} pinned.")
        assert screen.browser.forest.nodes[AUTH].signs.pinned
        await screen.press("p")
        await screen.until_text(f"{AUTH} unpinned.")
        assert not pinned(screen)
        assert screen.engine.steps() == 2


async def test_marks_are_worked_on_together_and_stay_until_escape() -> None:
    async with shown() as screen:
        await screen.go(str(AUTH))
        await screen.press("space", "space", "p", "!")
        await screen.until_text("2 memories pinned.")
        assert pinned(screen) == {AUTH, RETRY}
        assert screen.engine.steps() == 1
        assert screen.browser.memories.marks == {AUTH, RETRY}
        await screen.press("escape")
        assert not screen.browser.memories.marks


async def test_pinning_more_than_one_is_asked_first_with_their_number() -> None:
    async with shown() as screen:
        screen.browser.memories.go(0)
        await screen.press("p")
        assert screen.footer.startswith("! pins 3 memories; any other key cancels")
        await screen.press("p")
        await screen.until_text("Cancelled; nothing was changed.")
        await screen.press("p", "escape")
        assert not screen.engine.steps()
        await screen.press("p", "!")
        await screen.until_text("3 memories pinned.")
        await screen.press("p")
        assert screen.footer.startswith("! unpins 3 memories")


async def test_a_partial_failure_is_told_with_the_reason() -> None:
    async with shown() as screen:
        await screen.go(str(AUTH))
        with failing(errno.EACCES, "link", "rename", "rename_noreplace", "unlink", of="retry.md"):
            await screen.press("space", "space", "d", "t")
            await screen.until_text(f"Moved 1 of 2 to the trash. Deleting {RETRY} failed: ")
        assert screen.browser.memories.marks == {RETRY}, "what failed stays marked"


async def test_ranges_arrows_and_everything() -> None:
    async with shown() as screen:
        await screen.go(str(AUTH))
        await screen.press("v", "j", "j")
        assert "3 marked" in screen.text
        await screen.press("v", "j")
        assert "3 marked" in screen.text
        await screen.press("escape")
        assert "marked" not in screen.text
        await screen.press("shift+up")
        assert "1 marked" in screen.text
        await screen.press("asterisk")
        await screen.until_text("7 marked")
        await screen.press("asterisk")
        assert "marked" not in screen.text


async def test_space_on_a_folder_marks_what_is_in_it() -> None:
    async with shown() as screen:
        await screen.press("k", "space")
        assert "2 marked" in screen.text
        await screen.press("space")
        assert "marked" not in screen.text


async def test_trash_needs_a_second_other_key_and_undo_brings_it_back() -> None:
    async with shown() as screen:
        await screen.go(str(AUTH))
        await screen.press("d")
        await screen.until_text(f"t moves {AUTH} to the trash, a to the archive; any other key cancels")
        await screen.press("d")
        await screen.until_text("Cancelled; nothing was changed.")
        assert not screen.engine.steps()
        await screen.press("d", "t")
        await screen.until_text(f"{AUTH} moved to the trash; u brings it back.")
        await screen.until(lambda: "auth.md  " not in screen.text.split("Activity")[0])
        await screen.press("u")
        await screen.until_text(f"Undid: delete {AUTH}. U does it again.")
        await screen.until_text("auth.md  ")


async def test_trash_of_a_folder_says_how_many() -> None:
    async with shown() as screen:
        await screen.press("k", "d")
        await screen.until_text("t moves 2 memories to the trash")
        await screen.press("t")
        await screen.until_text("2 memories moved to the trash")
        await screen.until(lambda: "▾ style/" not in screen.text)


async def test_new_creates_where_the_cursor_is_and_opens_it() -> None:
    async with shown() as screen:
        await screen.go("memtui:global/style/code.md")
        await screen.press("n")
        await screen.type("tone")
        await screen.until_text("creates memtui:global/style/tone.md")
        await screen.press("enter")
        await screen.until(lambda: screen.browser.editing)
        assert screen.here == "memtui:global/style/tone.md"
        await screen.press("escape")
        await screen.until(lambda: not screen.browser.editing)
        assert screen.browser.focused is screen.browser.memories


async def test_what_is_made_right_in_a_root_goes_where_its_agent_looks_for_what_a_person_adds() -> None:
    one, *rest = usual_roots()
    made = Memories({"memtui:global/a.md": "a\n"}, (one._replace(policy=Policy(new_in="notes/")), *rest))
    async with shown(made) as screen:
        await screen.go("memtui:global/a.md")
        await screen.press("n")
        await screen.type("tone")
        await screen.press("enter")
        await screen.until(lambda: screen.browser.editing)
        assert re.fullmatch(r"memtui:global/notes/\d{8}T\d{6}Z-tone\.md", screen.here or "")


async def test_the_footer_names_the_keys_of_the_editor_while_it_is_open() -> None:
    async with shown() as screen:
        await screen.go("memtui:global/style/code.md")
        await screen.press("n")
        await screen.type("tone")
        await screen.press("enter")
        await screen.until(lambda: screen.browser.editing)
        await screen.until(lambda: screen.footer.startswith("ctrl+s save"))
        assert screen.footer.endswith("f1 help  ctrl+p commands")
        await screen.press("f1")
        await screen.until_text("Nothing is written to the memory before ctrl+s")
        await screen.press("escape")
        await screen.press("escape")
        await screen.until(lambda: screen.footer.endswith("? help  : commands"))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_is_said_beside_the_editor_is_whole_and_goes_with_the_next_key(size: tuple[int, int]) -> None:
    words = "Something happened to claude-code:project:a-long-name/of_a_memory.md that you should know, and more."
    async with shown(size=size) as screen:
        await screen.go("memtui:global/style/code.md")
        await screen.press("e")
        await screen.until(lambda: screen.footer.startswith("ctrl+s save"))
        screen.browser.say(words)
        await screen.until_text("and more.")
        assert screen.footer.startswith("ctrl+s save")
        assert words.split()[-3] in screen.text
        await screen.press("x")
        await screen.until(lambda: "and more." not in screen.text)
        assert words in [text for _, text in screen.browser.chrome.said]


async def test_a_name_that_is_taken_can_be_corrected() -> None:
    async with shown() as screen:
        await screen.go(str(PREFERENCES))
        await screen.press("n")
        await screen.type("preferences")
        await screen.press("enter")
        await screen.until_text("xists already. Choose another name")
        await screen.type("2")
        await screen.until_text("creates memtui:global/preferences2.md")
        await screen.press("escape")
        assert screen.footer.startswith("enter edit")
        assert len(screen.engine.rows) == 7


async def test_rename_starts_with_the_path_and_follows() -> None:
    async with shown() as screen:
        await screen.go(str(AUTH))
        await screen.press("r")
        assert screen.footer.startswith("move decisions/auth.md")
        await screen.pilot.press("ctrl+u")
        await screen.type("login")
        await screen.press("enter")
        await screen.until(lambda: screen.here == "memtui:project/login.md")
        assert AUTH not in screen.engine.data
        assert screen.engine.data[Address("memtui:project", "login.md")] == b"Session tokens.\n"
        await screen.until_text("moved to memtui:project/login.md; u takes it back.")


async def test_moving_to_another_root() -> None:
    async with shown() as screen:
        await screen.go(str(TODO))
        await screen.press("r")
        await screen.pilot.press("home")
        await screen.type("memtui:global/")
        await screen.until_text("moves it to memtui:global/todo.md")
        await screen.press("enter")
        await screen.until(lambda: screen.here == "memtui:global/todo.md")


async def test_a_refused_rename_stays_open() -> None:
    async with shown() as screen:
        await screen.go(str(AUTH))
        await screen.press("r")
        await screen.type("x")
        screen.stop_watching()
        screen.engine.outside("memtui:project/decisions/authx.md", "Theirs.\n")
        await screen.press("enter")
        await screen.until_text("already. Choose another name")
        assert screen.browser.prompt.open


async def test_a_folder_is_renamed_with_everything_below() -> None:
    async with shown() as screen:
        await screen.press("k", "r")
        await screen.type("s")
        await screen.press("enter")
        await screen.until_text("styles/")
        names = {path for root, path in screen.engine.data if root == "memtui:global"}
        assert names == {"preferences.md", "styles/code.md", "styles/prose.md"}
        assert screen.engine.steps() == 1


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_list_shows_the_end_of_a_long_address_and_the_whole_note_of_a_version(size: tuple[int, int]) -> None:
    name = f"memtui:project/{'a-long-folder/' * 8}the-name.md"
    async with shown(engine_with({name: "Text.\n"}), size=size) as screen:
        screen.engine.engine.save(Address.parse(name), "Mine.\n", expected_sha256="0" * 64, actor=ME)
        await screen.go(name)
        await screen.press("H")
        await screen.until_text("Kept aside: ")
        assert "…" in screen.text
        await screen.press("escape")
        await screen.press("d", "t")
        await screen.until_text("moved to the trash")
        await screen.press("g", "t")
        await screen.until_text("1  Text.")
        assert "a-long-folder/the-name.md" in screen.text


async def test_saying_that_something_was_seen_is_a_step_of_undo() -> None:
    async with shown() as screen:
        screen.engine.outside(str(AUTH), "other\n")
        await screen.until_text("A1 agent edits")
        await screen.go(str(AUTH))
        await screen.press("p")
        await screen.until_text(f"{AUTH} pinned.")
        await screen.press("x")
        await screen.until_text("Seen: 1 change. u takes it back.")
        await screen.until(lambda: not screen.browser.forest.nodes[AUTH].signs.unseen)
        await screen.press("u")
        await screen.until_text("Undid: 1 change seen.")
        await screen.until(lambda: bool(screen.browser.forest.nodes[AUTH].signs.unseen))
        await screen.press("U")
        await screen.until_text("Did again: 1 change seen.")
        await screen.press("u")
        await screen.until_text("Undid: 1 change seen.")
        await screen.press("u")
        await screen.until_text("Undid: pin")
        await screen.until(lambda: not screen.browser.forest.nodes[AUTH].signs.pinned)


async def test_copying_names_the_route() -> None:
    async with shown() as screen:
        await screen.go(str(AUTH))
        await screen.press("y", "p")
        path = str(screen.engine.path(AUTH))
        await screen.until_text("Copied the path (terminal).")
        assert screen.app.clipboard == path
        await screen.press("y", "c")
        await screen.until_text("Copied the text")
        assert screen.app.clipboard == "Session tokens.\n"
        await screen.press("y", "s")
        await screen.until_text("Copied the sha-256 (terminal)")
        await screen.press("y", "d")
        await screen.until_text("There is nothing to copy: the description is empty.")


async def test_a_secret_is_copied_only_when_it_is_asked_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "COPY_AGAIN", 1_000.0)
    engine = engine_with({"memtui:project/a.md": f"key {GITHUB} is\n", "memtui:project/b.md": f"key {GITHUB}\n"})
    async with shown(engine) as screen:
        await screen.until_text("a.md")
        for name, text in (("a", f"key {GITHUB} is\n"), ("b", f"key {GITHUB}\n")):
            await screen.go(f"memtui:project/{name}.md")
            await screen.press("y", "c")
            await screen.until_text("1 secret masked; again within")
            assert screen.app.clipboard == text.replace(GITHUB, "[masked: GitHub token]")
            await screen.press("y", "c")
            await screen.until_text("Copied the text (terminal)")
            assert screen.app.clipboard == text


async def test_undo_past_a_newer_change_elsewhere_asks_first(home: Path) -> None:
    async with shown() as screen:
        await screen.go(str(AUTH))
        await screen.press("p")
        await screen.until_text(f"{AUTH} pinned.")
        there = Root("memtui:there", str(home / "there/memory"), "memtui", "global")
        (home / "there/memory").mkdir(parents=True)
        with Engine.open([there], state_dir=str(screen.engine.state), clock=screen.engine.clock) as other:
            other.memories.create(Address("memtui:there", "b.md"), "b\n", actor=ME)
        await screen.press("u")
        await screen.until_text("u again undoes: pin ")
        await screen.until_text("The newest change is in there/memory, not open here.")
        assert screen.browser.forest.nodes[AUTH].signs.pinned
        await screen.press("u")
        await screen.until_text("Undid: pin")


async def test_undo_says_whose_change_it_takes_back() -> None:
    async with shown() as screen:
        await screen.go(str(AUTH))
        await screen.press("p")
        await screen.until_text(f"{AUTH} pinned.")
        screen.engine.agent(str(AUTH), "theirs\n")
        await screen.press("u")
        await screen.until_text(f"u again undoes: save {AUTH}. The newest change is by claude.")
        await screen.press("u")
        await screen.until_text(f"Undid: save {AUTH} by claude.")
        await screen.press("u")
        await screen.until_text("Undid: pin")


async def test_undo_of_the_first_text_says_that_the_memory_is_still_there() -> None:
    async with shown() as screen:
        screen.engine.save("memtui:project/first.md", "", "text\n")
        await screen.until_text("first.md")
        await screen.press("u")
        await screen.until_text("Empty again; u takes back the step before.")
        await screen.press("u")
        await screen.until_text("Undid: create")


async def test_an_undo_that_could_not_be_done_says_what_comes_next(monkeypatch: pytest.MonkeyPatch) -> None:
    async with shown() as screen:
        failed = Outcome(AUTH, None, StorageError("It changed.", code="E_IO"))
        done = Done("7", "undo", (failed,), "save a", "It stays as it is.")
        monkeypatch.setattr(screen.engine.engine.undo, "undo", lambda *, actor: done)
        await screen.press("u")
        await screen.until_text("It changed. It stays as it is.")


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a change of a few memories followed as one of many is."""
    monkeypatch.setattr(part, "LARGE_CHANGE", 3)


@pytest.mark.usefixtures("few_are_many")
async def test_how_far_a_change_of_many_is_and_what_waits_for_its_end() -> None:
    async with shown() as screen:
        with stalled("rename", "rename_noreplace", "link", "unlink", of="notes.md") as begun:
            await screen.press("*", "d", "t")
            await screen.until(begun.is_set)
            how_far = f"Moving 7 memories to the trash: {screen.app.bridge.underway.split(': ')[1]}"
            await screen.press("p")
            await screen.until_text(f"{how_far}. Keys that change")
            at = screen.here
            await screen.press("j")
            assert screen.here != at
            assert screen.footer.startswith("Moving 7 memories to the trash: ")
            await screen.press("3")
            await screen.until(lambda: screen.app.screen is not screen.browser)
            assert screen.footer.startswith("Moving 7 memories to the trash: ")
            await screen.press("escape")
        await screen.until_text("7 memories moved to the trash")
        assert screen.engine.steps() == 1


@pytest.mark.usefixtures("few_are_many")
async def test_leaving_during_a_change_of_many_ends_it_first(capsys: pytest.CaptureFixture[str]) -> None:
    engine = engine_with()
    app = make_app(engine)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = Shown(app, pilot, engine)
        await screen.until(lambda: not app.browser.chrome.loading)
        with stalled("rename", "rename_noreplace", "link", "unlink", of="notes.md") as begun:
            await screen.press("*", "d", "t")
            await screen.until(begun.is_set)
            await screen.press("ctrl+q")
            await screen.until_text("Leaving: this stops after the current memory.")
            assert not app._exit
        await screen.until(lambda: app._exit)
    app.bridge.close()
    assert app.return_value == 0
    left = len(engine.data)
    assert 0 < left < 7
    assert f"memtui: Stopped: {7 - left} of 7 memories moved to the trash" in capsys.readouterr().err


@pytest.mark.usefixtures("few_are_many")
async def test_what_was_stopped_is_told_with_what_was_done() -> None:
    async with shown() as screen:
        with stalled("rename", "rename_noreplace", "link", "unlink", of="notes.md") as begun:
            await screen.press("*", "d", "t")
            await screen.until(begun.is_set)
            assert screen.app.bridge.stop_soon()
        await screen.until_text(" of 7 memories moved to the trash; u takes that back.")
        assert f"Stopped: {7 - len(screen.engine.data)} of 7" in screen.text


async def test_a_pin_outside_of_memtuis_folders_says_that_agents_are_not_given_it(home: Path) -> None:
    engine = Memories({"notes/a.md": "a"}, (*usual_roots(), Root("notes", str(home / "notes"))))
    async with shown(engine) as screen:
        await screen.go("notes/a.md")
        await screen.press("p")
        await screen.until_text("Pinned, not given: it lies in no folder of an agent that memtui knows.")
        await screen.press("p")
        await screen.until_text("a.md unpinned.")


async def test_a_pin_of_what_nobody_reviewed_says_that_its_text_is_not_given_yet() -> None:
    engine = Memories({}, checkout=True)
    engine.outside(str(RETRY), "a")
    async with shown(engine) as screen:
        await screen.go(str(RETRY))
        await screen.press("p")
        await screen.until_text("Pinned, not given: nobody reviewed it yet; g a reviews it.")


async def test_more_than_a_screenful_goes_away_only_after_a_question() -> None:
    engine = engine_with({f"memtui:project/n{number:02}.md": "old\n" for number in range(CONFIRM_ABOVE + 1)})
    async with shown(engine) as screen:
        await screen.press("*", "d", "t")
        await screen.until_text(f"Move {CONFIRM_ABOVE + 1} memories to the trash?")
        await screen.press("escape")
        await screen.until(lambda: not screen.browser.prompt.open)
        assert len(engine.data) == CONFIRM_ABOVE + 1
        await screen.press("d", "a")
        await screen.until_text(f"Archive {CONFIRM_ABOVE + 1} memories?")
        await screen.press("enter")
        await screen.until_text(f"{CONFIRM_ABOVE + 1} memories archived")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (("U",), "There is nothing to redo in the open folders."),
        (("g", "g", "r"), "A scope or root keeps its name; mark memories to move them."),
    ],
)
async def test_what_there_is_nothing_for_is_said(keys: tuple[str, ...], said: str) -> None:
    async with shown() as screen:
        await screen.press(*keys)
        await screen.until_text(said)
        assert not screen.engine.steps()
