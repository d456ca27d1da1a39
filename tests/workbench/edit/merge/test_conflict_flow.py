"""The way through a conflict: what survives leaving, a restart and a third writer, what is written, and its undo."""

from __future__ import annotations

import hashlib
import random
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Address, Draft, OpenConflict
from memtui.ui.keys import fence
from memtui.ui.widgets.scroller import LinesView
from memtui.workbench.bridge import DRAFTS
from memtui.workbench.browse.operations import step_words
from memtui.workbench.edit.merge.conflict_screen import ConflictScreen
from memtui.workbench.edit.merge.decisions import MergeSession, ScreenPosition, decode_decisions
from memtui.workbench.edit.merge.questions import QuestionScreen
from memtui.workbench.edit.open_memory import FileState
from tests.workbench.edit.merge.stage import (
    AGENT_TEXT,
    BASE,
    THREE_AGENT,
    THREE_BASE,
    THREE_YOURS,
    YOURS,
    closed,
    conflict,
    disk,
    in_conflict,
    kept,
    make,
    shown,
    text_of,
    three,
)
from tests.workbench.shown import Shown, engine_with
from tests.workbench.shown import shown as workbench
from tests.workbench.workbench import ACTOR, AGENT, Bench, address, until


async def test_a_third_writer_reopens_only_what_changed(tmp_path: Path) -> None:
    third = AGENT_TEXT.replace(b"two", b"two again")
    async with conflict(tmp_path) as (bench, pilot, screen):
        await pilot.press("y")
        bench.path("a.md").write_bytes(third)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Somebody outside memtui wrote again" in text_of(screen, "#conflict-foot"))
        assert disk(bench) == third
        assert bench.screen is screen
        await pilot.press("n")
        for _ in screen.session.open:
            await pilot.press("y")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not isinstance(bench.screen, ConflictScreen))
        assert kept(bench) >= {BASE, YOURS, AGENT_TEXT, third, disk(bench)}


async def test_both_created_the_same_path(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        bench.flow.open(address("new.md"))
        await until(pilot, lambda: bench.flow.address == address("new.md"))
        await pilot.press(*"mine")
        bench.path("new.md").write_bytes(b"theirs\n")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(bench.screen, ConflictScreen))
        assert isinstance(bench.screen, ConflictScreen)
        assert "none: both created it" in text_of(bench.screen, "#conflict-header")
        assert "AGENT outside memtui" in text_of(bench.screen, "#conflict-header")
        await pilot.press("b", "ctrl+s")
        await until(pilot, lambda: bench.path("new.md").read_bytes() == b"mine\ntheirs\n")
        assert kept(bench, address("new.md")) >= {b"mine\n", b"theirs\n", b"mine\ntheirs\n"}


async def test_a_side_that_is_not_text_can_still_be_chosen(tmp_path: Path) -> None:
    bench = make(tmp_path)
    hostile = b"\x1b[2J\xff\x00 theirs\n"
    async with bench.run_test() as pilot:
        bench.flow.open(address())
        await until(pilot, lambda: bench.flow.address == address())
        bench.editor.replace_text(YOURS)
        bench.path("a.md").write_bytes(hostile)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(bench.screen, ConflictScreen))
        assert isinstance(bench.screen, ConflictScreen)
        drawn = bench.screen.query_one("#conflict-hunk", LinesView)
        shown = "".join(part.text for y in range(40) for part in drawn.render_line(y))
        assert "␛[2J" in shown
        assert "\x1b" not in shown
        await pilot.press("e")
        assert not bench.screen.editing
        await pilot.press("a", "ctrl+s")
        await until(pilot, lambda: not isinstance(bench.screen, ConflictScreen))
        assert disk(bench) == hostile
        await until(pilot, lambda: bench.engine.drafts.all() == ())
        assert kept(bench) >= {BASE, YOURS, hostile}


async def test_the_whole_result_in_the_users_editor(tmp_path: Path) -> None:
    script = tmp_path / "editor.py"
    script.write_text(
        "import sys; p = sys.argv[-1]; t = open(p).read(); open(sys.argv[1], 'w').write(t + '@' + p)\n"
        "open(p, 'w').write('by hand\\n')"
    )
    seen = tmp_path / "seen"
    async with conflict(tmp_path, editor_command=f"{sys.executable} {script} {seen} --wait") as (bench, pilot, screen):
        await pilot.press("E")
        await until(pilot, lambda: screen.session.open == ())
        shown, _, path = seen.read_text().rpartition("@")
        assert "<<<<<<< YOURS\n- one by me\n||||||| BASE\n- one\n=======\n- one by agent\n>>>>>>> AGENT\n" in shown
        assert not Path(path).is_relative_to(tmp_path / "root")
        await until(pilot, lambda: not Path(path).exists())
        await pilot.press("ctrl+s")
        await until(pilot, lambda: disk(bench) == b"by hand\n")
        assert kept(bench) >= {BASE, YOURS, AGENT_TEXT, b"by hand\n"}


@pytest.mark.parametrize("seed", range(6))
async def test_no_keys_lose_a_text(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    bench = make(tmp_path)
    keys = [*"yabBoxnNuU][", "enter", "tab", *"vjk", "ctrl+s", "escape", "f8"]
    async with bench.run_test() as pilot:
        await in_conflict(bench, pilot, key=chance.choice(["ctrl+s", "f8"]))
        await pilot.press(*chance.choices(keys[:-2], k=12), *chance.choices(keys, k=4))
        await pilot.pause()
        await until(pilot, lambda: kept(bench) >= {BASE, YOURS, AGENT_TEXT, disk(bench)})


async def test_ctrl_z_after_a_written_merge_never_saves_over_the_agent(tmp_path: Path) -> None:
    async with conflict(tmp_path) as (bench, pilot, _):
        await pilot.press("y", "ctrl+s")
        await until(pilot, lambda: not isinstance(bench.screen, ConflictScreen))
        result = disk(bench)
        assert b"four by agent" in result
        await pilot.press("ctrl+z")
        await until(pilot, lambda: bench.editor.data == YOURS)
        await until(pilot, lambda: bench.editor.state in (FileState.MERGEABLE, FileState.CONFLICT))
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert disk(bench) == result
        if isinstance(bench.screen, ConflictScreen):
            await pilot.press("escape")
        await pilot.press("ctrl+y")
        await until(pilot, lambda: b"four by agent" in bench.editor.data)
        assert disk(bench) == result


@pytest.mark.parametrize("key", ["f8", "ctrl+s"])
async def test_a_key_pressed_twice_opens_one_screen(tmp_path: Path, key: str) -> None:
    async with conflict(tmp_path) as (bench, pilot, _):
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(bench.screen, ConflictScreen))
        bench.editor.action_act("save") if key == "ctrl+s" else bench.editor.action_act("compare")
        bench.editor.action_act("compare")
        bench.editor.action_act("save")
        await until(pilot, lambda: isinstance(bench.screen, ConflictScreen))
        await pilot.pause(0.2)
        assert len([screen for screen in bench.screen_stack if isinstance(screen, ConflictScreen)]) == 1
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(bench.screen, ConflictScreen))


@pytest.mark.parametrize("leaves", [False, True])
async def test_the_screen_opens_at_once_and_does_not_come_back_once_it_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leaves: bool
) -> None:
    async with conflict(tmp_path) as (bench, pilot, _):
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(bench.screen, ConflictScreen))
        go_on, kept = threading.Event(), bench.engine.drafts.save_conflict

        def slow(found: OpenConflict) -> None:
            go_on.wait(20)
            kept(found)

        monkeypatch.setattr(bench.engine.drafts, "save_conflict", slow)
        bench.flow.compare_screen()
        await pilot.pause()
        screen = bench.screen
        assert isinstance(screen, ConflictScreen)
        assert screen.reading
        if leaves:
            await pilot.press("escape")
            assert not isinstance(bench.screen, ConflictScreen)
        go_on.set()
        done: list[None] = []
        bench.flow.run(lambda _: None, done.append, what="wait", lane=DRAFTS)
        await until(pilot, lambda: bool(done))
        assert isinstance(bench.screen, ConflictScreen) is not leaves
        assert bool(screen.session.open) is not leaves


async def test_decisions_and_place_survive_leaving_and_a_restart(tmp_path: Path) -> None:
    async with three(tmp_path, size=(120, 40)) as (bench, pilot, screen):
        await pilot.press("a", "b", "N", "v", "w")
        before = screen.session.places, screen.session.undo_steps, screen.position
        assert screen.index == screen.session.open[0]
        await pilot.press("escape")
        await closed(bench, pilot)
        await pilot.press("f8")
        screen = await shown(bench, pilot)
        assert (screen.session.places, screen.session.undo_steps, screen.position) == before
        await pilot.press("[")
        before = screen.session.places, screen.session.undo_steps, screen.position
        await until(pilot, lambda: stored_spot(bench) == screen.position)
    bench.engine.close()
    bench = make(tmp_path)
    async with bench.run_test(size=(120, 40)) as pilot:
        bench.flow.open(address())
        screen = await shown(bench, pilot)
        assert (screen.session.places, screen.session.undo_steps, screen.position) == before
        await pilot.press("u")
        await until(pilot, lambda: len(screen.session.open) == 2)
        await pilot.press("U", "n", "y", "ctrl+s")
        await until(pilot, lambda: disk(bench) == b"a 2\n=\nb 1\nb 2\n=\nc 1\n=\nd 2\n")
        await until(pilot, lambda: bench.engine.drafts.all() == () and bench.engine.drafts.conflict(address()) is None)
        assert kept(bench) >= {THREE_BASE, THREE_YOURS, THREE_AGENT, disk(bench)}


def stored_spot(bench: Bench) -> ScreenPosition | None:
    found = bench.engine.drafts.conflict(address())
    if found is None:
        return None
    read = decode_decisions(found.decisions, MergeSession.of(THREE_BASE, found.yours, found.theirs))
    return read[1] if read else None


async def test_an_edit_in_the_small_editor_survives_a_restart(tmp_path: Path) -> None:
    async with three(tmp_path) as (bench, pilot, screen):
        await pilot.press("n", "e")
        await until(pilot, lambda: screen.editing)
        await pilot.press(*"half")
        index = screen.index
        await until(pilot, lambda: (spot := stored_spot(bench)) is not None and spot.editing == "halfb 1\n")
    bench.engine.close()
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        bench.flow.open(address())
        screen = await shown(bench, pilot)
        await until(pilot, lambda: screen.editing and screen.small.text == "halfb 1\n")
        assert screen.index == index
        await pilot.press("ctrl+s")
        await until(pilot, lambda: screen.session.choice(index) == "edited")
        assert disk(bench) == THREE_AGENT


async def test_every_text_is_in_history_before_the_screen_opens(tmp_path: Path) -> None:
    async with conflict(tmp_path, key="f8") as (bench, _pilot, _):
        texts = {bench.engine.history.read(address(), one.sha256) for one in bench.engine.history.of(address())}
        assert texts == {BASE, YOURS, AGENT_TEXT}
        assert not [one for one in bench.engine.history.audit() if one.state == "conflict"]


async def test_a_third_writer_is_noticed_while_the_screen_is_open(tmp_path: Path) -> None:
    third = THREE_AGENT.replace(b"b 2", b"b 3")
    async with three(tmp_path, size=(120, 40)) as (bench, pilot, screen):
        first, second, last = screen.session.open
        await pilot.press("a", "a")
        bench.engine.save(address(), third, expected_sha256=bench.engine.read(address()).sha256, actor=AGENT)
        bench.flow.rows_changed([address()])
        words = "claude wrote again: 1 place to decide again, 1 decision kept."
        await until(pilot, lambda: words in text_of(screen, "#conflict-foot"))
        assert screen.session.choice(first) == "theirs"
        assert screen.session.open == (second, last)
        assert screen.session.again == {second}
        await until(pilot, lambda: "OPEN again" in text_of(screen, "#conflict-title"))
        await pilot.press("a", "y", "ctrl+s")
        await until(pilot, lambda: disk(bench) == b"a 2\n=\nb 3\n=\nc 1\n=\nd 2\n")
        assert kept(bench) >= {THREE_BASE, THREE_YOURS, THREE_AGENT, third}


async def test_a_writer_that_is_read_half_way_costs_no_decision(tmp_path: Path) -> None:
    async with three(tmp_path, size=(120, 40)) as (bench, pilot, screen):
        first, second, _ = screen.session.open
        await pilot.press("a", "b")
        for half in (b"", THREE_AGENT[:7], THREE_AGENT + b"more\n"):
            bench.path("a.md").write_bytes(half)
            bench.flow.check_disk()
            await until(pilot, partial(reads, screen, half))
        assert (screen.session.choice(first), screen.session.choice(second)) == ("theirs", "both")
        assert not screen.session.again


async def test_who_types_a_result_goes_on_when_somebody_writes_again(tmp_path: Path) -> None:
    async with three(tmp_path, size=(120, 40)) as (bench, pilot, screen):
        await pilot.press("e")
        await until(pilot, lambda: screen.editing)
        await pilot.press("f", "o")
        bench.path("a.md").write_bytes(THREE_AGENT + b"more\n")
        bench.flow.check_disk()
        await until(pilot, partial(reads, screen, THREE_AGENT + b"more\n"))
        await pilot.press("y", "a", "n", "ctrl+s")
        assert any("foyan" in str(choice) for choice in screen.session.decided.values())
        assert disk(bench) == THREE_AGENT + b"more\n"


def reads(screen: ConflictScreen, text: bytes) -> bool:
    return "".join(line for chunk in screen.session.chunks for line in chunk.theirs).encode() == text


async def test_a_third_writer_between_two_runs_reopens_only_what_it_touched(tmp_path: Path) -> None:
    async with three(tmp_path) as (bench, pilot, screen):
        await pilot.press("a", "a")
        await until(pilot, lambda: (spot := stored_spot(bench)) is not None and spot.place == screen.index)
    bench.engine.close()
    (tmp_path / "root" / "a.md").write_bytes(THREE_AGENT.replace(b"b 2", b"b 3"))
    bench = make(tmp_path)
    async with bench.run_test(size=(120, 40)) as pilot:
        bench.flow.open(address())
        screen = await shown(bench, pilot)
        await until(
            pilot,
            lambda: "Somebody outside memtui wrote again: 1 place to decide again" in text_of(screen, "#conflict-foot"),
        )
        assert len(screen.session.open) == 2
        assert len(screen.session.again) == 1


async def test_after_three_rounds_another_name_is_offered(tmp_path: Path) -> None:
    async with three(tmp_path, size=(120, 40)) as (bench, pilot, screen):
        for n in range(3):
            await pilot.press("y", "x")
            bench.path("a.md").write_bytes(THREE_AGENT + b"%d\n" % n)
            bench.flow.check_disk()
            await until(pilot, partial(reads, screen, THREE_AGENT + b"%d\n" % n))
        await until(pilot, lambda: "s keeps your text as a new memory" in text_of(screen, "#conflict-foot"))
        await pilot.press("s", "ctrl+u", *"mine.md", "enter")
        await until(pilot, lambda: bench.flow.address == address("mine.md"))
        assert bench.path("mine.md").read_bytes() == THREE_YOURS
        assert disk(bench) == THREE_AGENT + b"2\n"
        await until(pilot, lambda: bench.engine.drafts.all() == ())


async def test_the_log_names_the_four_texts_and_every_decision(tmp_path: Path) -> None:
    async with three(tmp_path) as (bench, pilot, _):
        await pilot.press("y", "b", "o", "ctrl+s")
        await closed(bench, pilot)
        (record,) = [one for one in bench.engine.history.audit() if one.note]
        texts = (("base", THREE_BASE), ("yours", THREE_YOURS), ("agent", THREE_AGENT), ("result", disk(bench)))
        for name, text in texts:
            assert f"{name} {hashlib.sha256(text).hexdigest()}" in record.note
        assert record.note.endswith("; line 1 yours, line 3 both, line 5 base, line 7 agent merged")
        assert (record.actor, record.state) == (ACTOR.name, "done")


async def test_undo_brings_the_agents_text_and_the_draft_back(tmp_path: Path) -> None:
    async with conflict(tmp_path, size=(120, 40)) as (bench, pilot, _):
        await pilot.press("y", "ctrl+s")
        await until(pilot, lambda: "Saved, merged with what was saved by claude" in bench.editor.said_line.text)
        assert "u in the tree takes it back" in bench.editor.said_line.text
        result = disk(bench)
        await until(pilot, lambda: bench.engine.drafts.all() == ())
        await pilot.press("escape")
        await until(pilot, lambda: bench.left == 1)
        bench.flow.put_away()
        bench.engine.undo.undo(actor=ACTOR)
        assert disk(bench) == AGENT_TEXT
        bench.flow.open(address())
        await until(pilot, lambda: bench.editor.data == YOURS)
        await until(pilot, lambda: bench.editor.state is FileState.CONFLICT)
        assert not bench.editor.asking
        await pilot.press("escape")
        bench.engine.undo.redo(actor=ACTOR)
        assert disk(bench) == result
        assert bench.engine.drafts.all() == ()
        assert kept(bench) >= {BASE, YOURS, AGENT_TEXT, result}


async def test_a_result_that_is_on_disk_already_promises_no_undo(tmp_path: Path) -> None:
    async with conflict(tmp_path, size=(120, 40)) as (bench, pilot, _):
        newest = bench.engine.undo.next()
        await pilot.press("a", "ctrl+s")
        await until(pilot, lambda: "Nothing to write: it is what is on disk now." in bench.editor.said_line.text)
        assert "takes it back" not in bench.editor.said_line.text
        await until(pilot, lambda: bench.engine.drafts.all() == ())
        assert bench.engine.undo.next() == newest
        assert disk(bench) == AGENT_TEXT
        assert kept(bench) >= {BASE, YOURS, AGENT_TEXT}


async def test_undo_of_a_merge_somebody_wrote_over_becomes_a_merge_itself(tmp_path: Path) -> None:
    async with conflict(tmp_path, size=(120, 40)) as (bench, pilot, _):
        await pilot.press("y", "ctrl+s")
        await closed(bench, pilot)
        await until(pilot, lambda: bench.engine.drafts.all() == ())
        await pilot.press("escape")
        await until(pilot, lambda: bench.left == 1)
        bench.flow.put_away()
        later = disk(bench).replace(b"one by me", b"one by a third")
        bench.path("a.md").write_bytes(later)
        words, _ = step_words(bench.engine.undo.undo(actor=ACTOR), "Undid")
        assert words == f"Not undone: {address()} changed since. c merges the draft of it."
        assert disk(bench) == later
        bench.flow.open(address(), then="compare")
        screen = await shown(bench, pilot)
        assert "- one by agent" in "".join(line for chunk in screen.session.chunks for line in chunk.yours)
        assert "- one by a third\n" in {line for chunk in screen.session.chunks for line in chunk.theirs}


async def test_markers_left_in_the_users_editor_leave_that_place_open(tmp_path: Path) -> None:
    script = tmp_path / "editor.py"
    script.write_text(
        "import sys; p = sys.argv[-1]; t = open(p).read()\n"
        "start, end = t.index('<<<<<<<'), t.index('>>>>>>> AGENT\\n') + len('>>>>>>> AGENT\\n')\n"
        "open(p, 'w').write(t[:start] + 'a by hand\\n' + t[end:])\n"
    )
    async with conflict(
        tmp_path,
        f"{sys.executable} {script} --wait",
        base=THREE_BASE,
        yours=THREE_YOURS,
        agent=THREE_AGENT,
        size=(120, 40),
    ) as (bench, pilot, screen):
        first, *others = screen.session.open
        await pilot.press("E")
        await until(pilot, lambda: "2 conflicts are still open" in text_of(screen, "#conflict-foot"))
        assert screen.session.lines(first) == ("a by hand\n",)
        assert list(screen.session.open) == others
        await pilot.press("u")
        await until(pilot, lambda: len(screen.session.open) == 3)
        assert disk(bench) == THREE_AGENT


@pytest.mark.parametrize("wish", ["ask", "save"])
async def test_texts_that_do_not_overlap_are_merged_as_the_setting_says(tmp_path: Path, wish: str) -> None:
    bench = make(tmp_path)
    both = YOURS.replace(b"- four", b"- four by agent")
    async with bench.run_test(size=(120, 40)) as pilot:
        settings = bench.flow.options.settings._replace(merge_when_mergeable=wish)
        bench.flow.options = bench.flow.options._replace(settings=settings)
        bench.flow.open(address())
        await until(pilot, lambda: bench.flow.address == address())
        bench.editor.replace_text(YOURS)
        agent = BASE.replace(b"- four", b"- four by agent")
        bench.engine.save(address(), agent, expected_sha256=bench.engine.read(address()).sha256, actor=AGENT)
        bench.flow.check_disk()
        await until(pilot, lambda: bench.editor.state is FileState.MERGEABLE)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bench.editor.data == both)
        if wish == "ask":
            assert disk(bench) == agent
            assert "Merged +1 -1 saved by claude; ctrl+s again writes it" in bench.editor.said_line.text
            await pilot.press("f8")
            screen = await shown(bench, pilot)
            assert "0 open, 2 merged" in text_of(screen, "#conflict-header")
            await pilot.press("escape")
            await closed(bench, pilot)
            await pilot.press("ctrl+s")
        await until(pilot, lambda: disk(bench) == both)
        await until(pilot, lambda: bench.engine.drafts.all() == ())
        assert kept(bench) >= {BASE, YOURS, agent, both}


async def test_a_second_window_is_another_writer(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test(size=(120, 40)) as pilot:
        bench.flow.open(address())
        await until(pilot, lambda: bench.flow.address == address())
        bench.editor.replace_text(YOURS)
        with Engine.open([bench.root], state_dir=str(tmp_path / "state")) as other:
            other.save(address(), AGENT_TEXT, expected_sha256=other.read(address()).sha256, actor=ACTOR)
        await pilot.press("ctrl+s")
        screen = await shown(bench, pilot)
        assert disk(bench) == AGENT_TEXT
        assert "AGENT another window of yours" in text_of(screen, "#conflict-header")
        await pilot.press("y", "ctrl+s")
        await closed(bench, pilot)
        assert kept(bench) >= {BASE, YOURS, AGENT_TEXT, disk(bench)}


RETRY = Address.parse("memtui:project/decisions/retry.md")
TEXT = "# Retry\n\n- three times\n- with jitter\n"


async def overlapping(screen: Shown) -> None:
    """Type in a memory, and let an agent change the same line."""
    await screen.go(str(RETRY))
    await screen.press("enter")
    await screen.until_text("ctrl+s save")
    await screen.press("down", "down", "m", "y", "space")
    await screen.until_text("my - three times")
    screen.engine.outside(str(RETRY), TEXT.replace("three", "five"))


async def test_the_change_is_announced_while_typing_without_stealing_focus_or_cursor() -> None:
    async with workbench() as screen:
        await overlapping(screen)
        await screen.until_text("saved outside memtui: 1 hunk, 1 overlap  f8")
        editor = screen.browser.host.editing
        assert editor is not None
        area = editor.editor.text_area
        assert screen.app.focused is area
        assert area.cursor_location == (2, 3)
        await screen.press("o", "w", "n", "space")
        await screen.until_text("my own - three times")
        assert not isinstance(screen.app.screen, ConflictScreen)


async def test_a_conflict_that_was_left_is_marked_in_tree_and_header_and_goes_on_where_it_was() -> None:
    async with workbench() as screen:
        await overlapping(screen)
        await screen.until_text("1 overlap  f8")
        await screen.press("f8")
        await screen.until(lambda: isinstance(screen.app.screen, ConflictScreen))
        await screen.press("b", "w")
        await screen.until_text("ctrl+s writes 5 lines: 2 both")
        await screen.press("escape")
        await screen.until(lambda: not isinstance(screen.app.screen, ConflictScreen))
        await screen.press("escape")
        await screen.until_text("!1 conflict")
        await screen.until(lambda: screen.browser.forest.nodes[RETRY].signs.conflict == 1)
        for key in ("enter", "c"):
            await screen.press(key)
            await screen.until(lambda: isinstance(screen.app.screen, ConflictScreen))
            await screen.until_text("ctrl+s writes 5 lines: 2 both")
            await screen.until_text("words: YOURS with")
            await screen.press("escape")  # back where it was opened, which is the tree
            await screen.until(lambda: not screen.browser.editing)
            assert screen.app.focused is screen.browser.memories
        assert screen.engine.data[RETRY] == TEXT.replace("three", "five").encode()


@pytest.mark.parametrize("in_tree", [True, False])
async def test_a_conflict_that_is_answered_goes_back_to_where_it_was_opened(in_tree: bool) -> None:
    async with workbench() as screen:
        await overlapping(screen)
        await screen.until_text("1 overlap  f8")
        if in_tree:
            await screen.press("escape")
            await screen.until(lambda: screen.browser.forest.nodes[RETRY].signs.conflict == 1)
        await screen.press("c" if in_tree else "f8")
        await screen.until(lambda: isinstance(screen.app.screen, ConflictScreen))
        await screen.press("b")
        await screen.until_text("ctrl+s writes 5 lines")
        await screen.press("ctrl+s")
        await screen.until_text("Saved, merged with what was saved")
        assert screen.browser.editing is not in_tree
        assert screen.text.count("u takes it back.") == in_tree
        await screen.until(lambda: not screen.browser.forest.top.signs.draft)
        if in_tree:
            assert screen.app.focused is screen.browser.memories
            await screen.press("u")
            await screen.until(lambda: screen.engine.data[RETRY] == TEXT.replace("three", "five").encode())


async def test_c_on_another_row_goes_to_the_next_conflict_and_opens_it() -> None:
    notes, prose = (Address.parse(name) for name in ("memtui:project/notes.md", "memtui:global/style/prose.md"))
    engine = engine_with()
    for name in (notes, prose):
        engine.engine.drafts.save(Draft(name, None, "mine\n", (0, 0), 1))
    async with workbench(engine) as screen:
        await screen.until(lambda: screen.browser.forest.top.signs.conflict == 2)
        await screen.press("g", "g")
        for expected in (prose, notes, prose):
            await screen.press("c")
            await screen.until(lambda: screen.browser.host.address == expected)  # noqa: B023
            await screen.until(lambda: isinstance(screen.app.screen, ConflictScreen))
            await screen.until_text("1 conflict is still open")
            await screen.press("escape")
            await screen.until(lambda: not screen.browser.editing)
            assert screen.here == str(expected)
            await screen.press("j")
        await screen.press("slash")
        await screen.type("retry")
        await screen.press("enter", "c")
        await screen.until(lambda: isinstance(screen.app.screen, ConflictScreen))


@pytest.mark.parametrize(("text", "then"), [(TEXT, None), ("# Retry\n\n- never\n", ConflictScreen)])
async def test_the_answer_to_a_question_that_a_file_made_moot_by_coming_back_is_no_text(
    text: str, then: type | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with workbench() as screen:
        await overlapping(screen)
        await screen.until_text("1 overlap  f8")
        screen.engine.delete(str(RETRY))
        await screen.until(lambda: "1 overlap  f8" not in screen.text)
        await screen.press("ctrl+s")
        await screen.until(lambda: isinstance(screen.app.screen, QuestionScreen))
        editing = screen.browser.host.editing
        assert editing is not None
        typed = editing.editor.data
        monkeypatch.setattr(fence, "AFTER_REFUSAL", 1_000.0)
        screen.engine.outside(str(RETRY), text)
        await screen.until(lambda: not isinstance(screen.app.screen, QuestionScreen))
        await screen.pilot.press("k")
        await screen.until_text("ignored")
        assert isinstance(screen.app.screen, then or type(screen.browser))
        assert editing.editor.data == typed
