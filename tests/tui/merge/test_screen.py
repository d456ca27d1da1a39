"""Conflicts on real files: whatever is pressed, every text is in history, and only ctrl+s writes."""

import random
import sys
from pathlib import Path

import pytest
from textual.pilot import Pilot

from memtui.engine.model import Address
from memtui.tui.draw.lines import Lines
from memtui.tui.draw.lines_view import LinesView
from memtui.tui.edit.file_state import FileState
from memtui.tui.merge.gone import GoneScreen
from memtui.tui.merge.screen import ConflictScreen
from memtui.tui.views.picker import PickScreen
from tests.tui.workbench import ACTOR, AGENT, Bench, address, until

BASE = b"# Retry\n\n- one\n- two\n- three\n- four\n"
AGENT_TEXT = b"# Retry\n\n- one by agent\n- two\n- three\n- four by agent\n"
YOURS = b"# Retry\n\n- one by me\n- two\n- three\n- four\n"


def make(tmp_path: Path, editor_command: str = "true") -> Bench:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.md").write_bytes(BASE)
    return Bench(tmp_path, editor_command=editor_command)


async def in_conflict(bench: Bench, pilot: Pilot[None], *, key: str = "ctrl+s") -> ConflictScreen:
    """Open, type, let an agent save, and press the key that leads to the conflict screen."""
    bench.flow.open(address())
    await until(pilot, lambda: bench.flow.address == address())
    bench.editor.put(YOURS)
    bench.engine.save(address(), AGENT_TEXT, expected_sha256=bench.engine.read(address()).sha256, actor=AGENT)
    bench.flow.look()
    await until(pilot, lambda: bench.editor.state is FileState.CONFLICT)
    await pilot.press(key)
    await until(pilot, lambda: isinstance(bench.screen, ConflictScreen))
    assert isinstance(bench.screen, ConflictScreen)
    return bench.screen


def disk(bench: Bench) -> bytes:
    return bench.path("a.md").read_bytes()


def kept(bench: Bench, where: Address | None = None) -> set[bytes]:
    """Every text that can be read again: history, and the drafts."""
    name = where or address()
    versions = {bench.engine.read_version(name, version.sha256) for version in bench.engine.history(name)}
    return versions | {draft.text.encode() for draft in bench.engine.drafts()}


def text_of(screen: ConflictScreen | GoneScreen, name: str) -> str:
    widget = screen.query_one(name)
    assert isinstance(widget, Lines | LinesView)
    return widget.text


@pytest.mark.parametrize("key", ["ctrl+s", "f8"])
async def test_both_sides_are_shown_as_changes_from_base_with_the_writer(tmp_path: Path, key: str) -> None:
    bench = make(tmp_path)
    async with bench.run_test(size=(80, 24)) as pilot:
        screen = await in_conflict(bench, pilot, key=key)
        header = text_of(screen, "#conflict-header")
        assert "CONFLICT notes/a.md" in header
        assert "1 open, 1 merged" in header
        assert "BASE as you opened it" in header
        assert "YOURS your unsaved draft" in header
        assert "AGENT claude" in header
        hunk = text_of(screen, "#conflict-hunk")
        assert "+    3  - one{ by me}" in hunk
        assert "+    3  - one{ by agent}" in hunk
        assert "ours" not in header.lower().replace("yours", "")
        assert "ctrl+s is off: 1 conflict is still open" in text_of(screen, "#conflict-foot")
        assert "<open conflict>" in text_of(screen, "#conflict-file")
        assert disk(bench) == AGENT_TEXT


@pytest.mark.parametrize(
    ("key", "line"),
    [
        *[(key, "- one by me") for key in "y1"], *[(key, "- one by agent") for key in "a2"],
        *[(key, "- one") for key in "o0"], *[(key, "- one by me\n- one by agent") for key in "b3"],
        *[(key, "- one by agent\n- one by me") for key in "B4"],
    ],
)  # fmt: skip
async def test_one_key_decides_and_ctrl_s_writes(tmp_path: Path, key: str, line: str) -> None:
    bench = make(tmp_path)
    result = f"# Retry\n\n{line}\n- two\n- three\n- four by agent\n".encode()
    async with bench.run_test() as pilot:
        screen = await in_conflict(bench, pilot)
        await pilot.press("ctrl+s", "enter", "space")
        assert disk(bench) == AGENT_TEXT
        await pilot.press(key)
        await until(pilot, lambda: "ctrl+s writes" in text_of(screen, "#conflict-foot"))
        assert disk(bench) == AGENT_TEXT
        await pilot.press("ctrl+s")
        await until(pilot, lambda: disk(bench) == result)
        await until(pilot, lambda: not isinstance(bench.screen, ConflictScreen))
        assert bench.editor.text_area.text == result.decode()
        assert bench.editor.state is FileState.CLEAN
        await until(pilot, lambda: bench.engine.drafts() == ())
        assert kept(bench) >= {BASE, YOURS, AGENT_TEXT, result}


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


async def test_undo_and_redo_of_decisions(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        screen = await in_conflict(bench, pilot)
        await pilot.press("y", "u")
        await until(pilot, lambda: "still open" in text_of(screen, "#conflict-foot"))
        await pilot.press("U")
        await until(pilot, lambda: "ctrl+s writes" in text_of(screen, "#conflict-foot"))
        await pilot.press("x")
        await until(pilot, lambda: "still open" in text_of(screen, "#conflict-foot"))


async def test_the_result_of_one_place_can_be_edited(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        screen = await in_conflict(bench, pilot)
        await pilot.press("e")
        await until(pilot, lambda: screen.editing)
        await pilot.press("ctrl+end", "y", "a")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not screen.editing)
        assert disk(bench) == AGENT_TEXT
        assert screen.session.open == ()
        await pilot.press("ctrl+s")
        await until(pilot, lambda: b"ya" in disk(bench))
        assert kept(bench) >= {BASE, YOURS, AGENT_TEXT}


async def test_esc_in_the_small_editor_drops_only_that_edit(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        screen = await in_conflict(bench, pilot)
        await pilot.press("e")
        await until(pilot, lambda: screen.editing)
        await pilot.press("q", "escape")
        await until(pilot, lambda: not screen.editing)
        assert bench.screen is screen
        assert len(screen.session.open) == 1


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


async def gone(bench: Bench, pilot: Pilot[None]) -> GoneScreen:
    bench.flow.open(address())
    await until(pilot, lambda: bench.flow.address == address())
    bench.editor.put(YOURS)
    bench.engine.delete([address()], actor=AGENT)
    bench.flow.look()
    await until(pilot, lambda: bench.editor.state is FileState.GONE)
    await pilot.press("ctrl+s")
    await until(pilot, lambda: isinstance(bench.screen, GoneScreen))
    assert isinstance(bench.screen, GoneScreen)
    assert not bench.path("a.md").exists()
    return bench.screen


async def test_a_deleted_memory_can_be_kept(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        screen = await gone(bench, pilot)
        assert "DELETED notes/a.md" in text_of(screen, "#gone-header")
        assert "- one by me" in text_of(screen, "#gone-text")
        await pilot.press("enter")
        assert not bench.path("a.md").exists()
        await pilot.press("k")
        await until(pilot, lambda: bench.path("a.md").exists())
        assert disk(bench) == YOURS
        await until(pilot, lambda: bench.editor.state is FileState.CLEAN)
        assert kept(bench) >= {BASE, YOURS}


async def test_a_deletion_can_be_accepted_and_the_draft_is_in_history(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        await gone(bench, pilot)
        await pilot.press("d")
        await until(pilot, lambda: bench.left == 1)
        await until(pilot, lambda: bench.engine.drafts() == ())
        assert not bench.path("a.md").exists()
        assert kept(bench) >= {BASE, YOURS}


async def test_a_deleted_memory_can_be_kept_under_another_name(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        await gone(bench, pilot)
        await pilot.press("s")
        await pilot.press("ctrl+u", *"notes/b.md", "enter")
        await until(pilot, lambda: bench.path("b.md").exists())
        assert bench.path("b.md").read_bytes() == YOURS
        await until(pilot, lambda: bench.flow.address == address("b.md"))
        assert not bench.path("a.md").exists()
        assert kept(bench) >= {BASE, YOURS}


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


async def test_only_line_ends_differ_is_said(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        bench.flow.open(address())
        await until(pilot, lambda: bench.flow.address == address())
        bench.editor.put(YOURS)
        bench.path("a.md").write_bytes(YOURS.replace(b"\n", b"\r\n"))
        bench.flow.look()
        await until(pilot, lambda: bench.editor.state is FileState.CONFLICT)
        await pilot.press("f8")
        await until(pilot, lambda: isinstance(bench.screen, ConflictScreen))
        assert isinstance(bench.screen, ConflictScreen)
        assert "Only line ends or the byte-order mark differ" in text_of(bench.screen, "#conflict-foot")
        await pilot.press("a", "ctrl+s")
        await until(pilot, lambda: not isinstance(bench.screen, ConflictScreen))
        assert disk(bench) == YOURS.replace(b"\n", b"\r\n")


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


async def test_undo_of_a_merge_brings_back_what_the_agent_wrote(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        await in_conflict(bench, pilot)
        await pilot.press("y", "ctrl+s")
        await until(pilot, lambda: not isinstance(bench.screen, ConflictScreen))
        bench.engine.undo(actor=ACTOR)
        assert disk(bench) == AGENT_TEXT


@pytest.mark.parametrize("size", [(1, 1), (10, 4), (40, 10), (80, 24), (120, 40), (200, 60)])
async def test_any_size_is_survived_and_decisions_stay(tmp_path: Path, size: tuple[int, int]) -> None:
    bench = make(tmp_path)
    async with bench.run_test(size=(100, 30)) as pilot:
        screen = await in_conflict(bench, pilot)
        await pilot.press("b")
        await pilot.resize_terminal(*size)
        await pilot.pause()
        await pilot.press("e")
        await until(pilot, lambda: screen.editing)
        await pilot.press("escape", "v", "]", "[")
        await pilot.resize_terminal(100, 30)
        await until(pilot, lambda: "both, YOURS first" in text_of(screen, "#conflict-title"))
        assert screen.session.open == ()


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


@pytest.mark.parametrize("inside", [False, True], ids=["deciding", "editing the result"])
@pytest.mark.parametrize("key", ["f1", "ctrl+p", "question_mark", "q", "M"])
async def test_keys_that_work_everywhere_are_no_fault_here(tmp_path: Path, key: str, inside: bool) -> None:
    bench = make(tmp_path)
    async with bench.run_test(size=(100, 40)) as pilot:
        screen = await in_conflict(bench, pilot)
        if inside:
            await pilot.press("e")
            await until(pilot, lambda: screen.editing)
        await pilot.press(key)
        if key == "f1" or (key == "question_mark" and not inside):
            await until(pilot, lambda: bench.screen is not screen)
            assert isinstance(bench.screen, PickScreen)
            await until(pilot, lambda: "Take YOURS" in shown_text(bench))
            await pilot.press("escape")
        elif key == "q" and not inside:
            await until(pilot, lambda: bench.screen is not screen)
            assert bench.editor.state is FileState.CONFLICT
            return
        elif key in ("ctrl+p", "M") and not (key == "M" and inside):
            await until(pilot, lambda: "does not work here" in text_of(screen, "#conflict-foot"))
        await until(pilot, lambda: bench.screen is screen)
        assert screen.editing is inside
        assert disk(bench) == AGENT_TEXT


async def test_the_question_about_a_deleted_memory_has_help_too(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test(size=(80, 24)) as pilot:
        bench.flow.open(address())
        await until(pilot, lambda: bench.flow.address == address())
        bench.editor.put(YOURS)
        bench.engine.delete([address()], actor=AGENT)
        bench.flow.look()
        await until(pilot, lambda: bench.editor.state is FileState.GONE)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(bench.screen, GoneScreen))
        await pilot.press("s", "f1")
        await until(pilot, lambda: isinstance(bench.screen, PickScreen))
        await until(pilot, lambda: "Write your text again" in shown_text(bench))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(bench.screen, GoneScreen))


@pytest.mark.parametrize(("columns", "all_keys"), [(80, False), (120, True)])
async def test_counts_and_the_keys_that_save_and_leave_are_seen_at_every_width(
    tmp_path: Path, columns: int, all_keys: bool
) -> None:
    bench = make(tmp_path)
    async with bench.run_test(size=(columns, 40)) as pilot:
        screen = await in_conflict(bench, pilot)
        screen.parties = screen.parties._replace(address=f"notes/{'a-long-folder/' * 9}a.md", agent_name="DISK")
        screen.draw()
        await pilot.press("a")
        await until(pilot, lambda: "-> DISK" in text_of(screen, "#conflict-title"))
        header, foot = text_of(screen, "#conflict-header"), text_of(screen, "#conflict-foot")
        assert "a-long-folder/a.md " in header
        assert "0 open, 1 merged" in header
        assert all(words in foot for words in ("ctrl+s write", "? help", "esc later"))
        assert ("n next" in foot) is all_keys


def shown_text(bench: Bench) -> str:
    strips = bench.screen._compositor.render_strips(bench.size)
    return " ".join(" ".join(strip.text for strip in strips).split())
