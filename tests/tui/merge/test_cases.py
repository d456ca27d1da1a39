"""Conflicts that are questions: deleted, renamed, only line ends, not saved; no answer loses a text."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from memtui.tui.edit.file_state import FileState
from memtui.tui.merge.cases import CaseScreen
from memtui.tui.views.picker import PickScreen
from tests.tui.merge.stage import BASE, YOURS, case_shown, closed, disk, kept, make, shown_text, text_of
from tests.tui.workbench import AGENT, Bench, address, until


async def gone(bench: Bench, pilot: Pilot[None]) -> CaseScreen:
    bench.flow.open(address())
    await until(pilot, lambda: bench.flow.address == address())
    bench.editor.put(YOURS)
    bench.engine.delete([address()], actor=AGENT)
    bench.flow.look()
    await until(pilot, lambda: bench.editor.state is FileState.GONE)
    await pilot.press("ctrl+s")
    await until(pilot, lambda: isinstance(bench.screen, CaseScreen))
    assert isinstance(bench.screen, CaseScreen)
    assert not bench.path("a.md").exists()
    return bench.screen


async def test_a_deleted_memory_can_be_kept(tmp_path: Path) -> None:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        screen = await gone(bench, pilot)
        assert "DELETED notes/a.md" in text_of(screen, "#case-header")
        assert "- one by me" in text_of(screen, "#case-text")
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


CRLF = YOURS.replace(b"\n", b"\r\n")


async def only_line_ends(bench: Bench, pilot: Pilot[None]) -> CaseScreen:
    bench.flow.open(address())
    await until(pilot, lambda: bench.flow.address == address())
    bench.editor.put(YOURS)
    bench.path("a.md").write_bytes(CRLF)
    bench.flow.look()
    await until(pilot, lambda: bench.editor.state is FileState.CONFLICT)
    await pilot.press("f8")
    return await case_shown(bench, pilot, "line_ends")


@pytest.mark.parametrize(("key", "left"), [("y", YOURS), ("a", CRLF), ("escape", CRLF)])
async def test_only_line_ends_differ_is_a_question(tmp_path: Path, key: str, left: bytes) -> None:
    bench = make(tmp_path)
    async with bench.run_test() as pilot:
        screen = await only_line_ends(bench, pilot)
        assert "ONLY LINE ENDS DIFFER notes/a.md" in text_of(screen, "#case-header")
        assert "YOURS  6 LF" in text_of(screen, "#case-words")
        assert "6 CRLF" in text_of(screen, "#case-words")
        await pilot.press("enter", "space", key)
        await closed(bench, pilot)
        await until(pilot, lambda: disk(bench) == left)
        assert kept(bench) >= {BASE, YOURS, CRLF}
        if key == "escape":
            assert bench.editor.data == YOURS
        else:
            await until(pilot, lambda: bench.engine.drafts() == ())
            assert bench.editor.data == left


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
        await until(pilot, lambda: isinstance(bench.screen, CaseScreen))
        await pilot.press("s", "f1")
        await until(pilot, lambda: isinstance(bench.screen, PickScreen))
        await until(pilot, lambda: "Write your text again" in shown_text(bench))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(bench.screen, CaseScreen))
