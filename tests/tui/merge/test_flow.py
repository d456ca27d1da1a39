"""The way through a conflict: what survives leaving, a restart and a third writer, what is written, and its undo."""

import random
import sys
from pathlib import Path

import pytest

from memtui.tui.draw.lines_view import LinesView
from memtui.tui.edit.file_state import FileState
from memtui.tui.merge.screen import ConflictScreen
from tests.tui.merge.stage import AGENT_TEXT, BASE, YOURS, disk, in_conflict, kept, make, text_of
from tests.tui.workbench import ACTOR, address, until


async def test_a_third_writer_reopens_only_what_changed(tmp_path: Path) -> None:
    bench = make(tmp_path)
    third = AGENT_TEXT.replace(b"two", b"two again")
    async with bench.run_test() as pilot:
        screen = await in_conflict(bench, pilot)
        await pilot.press("y")
        bench.path("a.md").write_bytes(third)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Somebody wrote again" in text_of(screen, "#conflict-foot"))
        assert disk(bench) == third
        assert bench.screen is screen
        await pilot.press("n")
        for _ in screen.session.open:
            await pilot.press("y")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not isinstance(bench.screen, ConflictScreen))
        assert kept(bench) >= {BASE, YOURS, AGENT_TEXT, third, disk(bench)}


async def test_undo_of_a_merge_brings_back_what_the_agent_wrote(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        await in_conflict(bench, pilot)
        await pilot.press("y", "ctrl+s")
        await until(pilot, lambda: not isinstance(bench.screen, ConflictScreen))
        bench.engine.undo(actor=ACTOR)
        assert disk(bench) == AGENT_TEXT


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
        assert "DISK" in text_of(bench.screen, "#conflict-header")
        await pilot.press("b", "ctrl+s")
        await until(pilot, lambda: bench.path("new.md").read_bytes() == b"mine\ntheirs\n")
        assert kept(bench, address("new.md")) >= {b"mine", b"theirs\n", b"mine\ntheirs\n"}


async def test_a_side_that_is_not_text_can_still_be_chosen(tmp_path: Path) -> None:
    bench = make(tmp_path)
    hostile = b"\x1b[2J\xff\x00 theirs\n"
    async with bench.run_test() as pilot:
        bench.flow.open(address())
        await until(pilot, lambda: bench.flow.address == address())
        bench.editor.put(YOURS)
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
        await until(pilot, lambda: bench.engine.drafts() == ())
        assert kept(bench) >= {BASE, YOURS, hostile}


async def test_the_whole_result_in_the_users_editor(tmp_path: Path) -> None:
    script = tmp_path / "editor.py"
    script.write_text(
        "import sys; p = sys.argv[-1]; t = open(p).read(); open(sys.argv[1], 'w').write(t + '@' + p)\n"
        "open(p, 'w').write('by hand\\n')"
    )
    seen = tmp_path / "seen"
    bench = make(tmp_path, editor_command=f"{sys.executable} {script} {seen} --wait")
    async with bench.run_test() as pilot:
        screen = await in_conflict(bench, pilot)
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
    keys = [
        "y",
        "a",
        "b",
        "B",
        "o",
        "x",
        "n",
        "N",
        "u",
        "U",
        "]",
        "[",
        "enter",
        "tab",
        "v",
        "j",
        "k",
        "ctrl+s",
        "escape",
        "f8",
    ]
    async with bench.run_test() as pilot:
        await in_conflict(bench, pilot, key=chance.choice(["ctrl+s", "f8"]))
        await pilot.press(*chance.choices(keys[:-2], k=12), *chance.choices(keys, k=4))
        await pilot.pause()
        await until(pilot, lambda: kept(bench) >= {BASE, YOURS, AGENT_TEXT, disk(bench)})


async def test_ctrl_z_after_a_written_merge_never_saves_over_the_agent(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        await in_conflict(bench, pilot)
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
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        await in_conflict(bench, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(bench.screen, ConflictScreen))
        bench.editor.action_save() if key == "ctrl+s" else bench.editor.action_compare()
        bench.editor.action_compare()
        bench.editor.action_save()
        await until(pilot, lambda: isinstance(bench.screen, ConflictScreen))
        await pilot.pause(0.2)
        assert len([screen for screen in bench.screen_stack if isinstance(screen, ConflictScreen)]) == 1
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(bench.screen, ConflictScreen))


async def test_esc_keeps_draft_and_decisions_and_f8_comes_back_to_them(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        await in_conflict(bench, pilot)
        await pilot.press("b", "escape")
        await until(pilot, lambda: not isinstance(bench.screen, ConflictScreen))
        assert disk(bench) == AGENT_TEXT
        assert bench.editor.data == YOURS
        assert bench.editor.state is FileState.CONFLICT
        await pilot.press("f8")
        await until(pilot, lambda: isinstance(bench.screen, ConflictScreen))
        assert isinstance(bench.screen, ConflictScreen)
        assert bench.screen.session.open == ()
        assert kept(bench) >= {BASE, YOURS, AGENT_TEXT}
