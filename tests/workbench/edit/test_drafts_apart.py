"""Unsaved texts when the ledger is lost under the open editor: what is said is true, and the next start has them."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from memtui.engine.model import Actor, Notice
from memtui.workbench.edit.merge.questions import QuestionScreen
from memtui.workbench.edit.open_memory import FileState
from tests.workbench.edit.merge.stage import text_of
from tests.workbench.workbench import Bench, address, until


def zeroed(state: Path) -> None:
    """Every page of the ledger's file is lost, but not what was written last."""
    file = state / "state.db"
    with file.open("r+b") as opened:
        opened.write(bytes(file.stat().st_size))


def aside(state: Path) -> None:
    """Something else is in its place."""
    for name in ("state.db", "state.db-wal", "state.db-shm"):
        (state / name).rename(state / f"{name}.away")
    (state / "state.db").mkdir()


async def typed(bench: Bench, pilot: Pilot[None]) -> None:
    bench.engine.watch.reconcile()
    bench.flow.open(address())
    await until(pilot, lambda: bench.flow.address == address())
    await pilot.press("x")
    await until(pilot, lambda: [draft.text for draft in bench.engine.drafts.all()] == ["xone\n"])


async def offered(tmp_path: Path) -> None:
    """At the next start the draft is there, is asked about, and comes back as an edit of what it started from."""
    bench = Bench(tmp_path)
    async with bench.run_test() as pilot:
        assert [draft.text for draft in bench.engine.drafts.all()] == ["xone\n"]
        bench.flow.open(address())
        await until(pilot, lambda: bench.editor.asking)
        await pilot.press("r")
        await until(pilot, lambda: bench.editor.data == b"xone\n")
        assert bench.editor.state is FileState.DRAFT


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "root").mkdir()
    (tmp_path / "root/a.md").write_bytes(b"one\n")
    return Bench(tmp_path)


async def test_what_is_said_to_be_kept_when_the_ledger_fails_is_offered_at_the_next_start(
    bench: Bench, tmp_path: Path
) -> None:
    async with bench.run_test() as pilot:
        await typed(bench, pilot)
        aside(tmp_path / "state")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(bench.screen, QuestionScreen))
        assert isinstance(bench.screen, QuestionScreen)
        assert "kept as a draft" in " ".join(text_of(bench.screen, "#case-words").split())
    await offered(tmp_path)


async def test_a_text_nobody_tried_to_save_outlives_the_ledger_as_well(bench: Bench, tmp_path: Path) -> None:
    async with bench.run_test() as pilot:
        await typed(bench, pilot)
        zeroed(tmp_path / "state")
        bench.bridge.keep_drafts_apart()
        bench.flow.flush()
    await offered(tmp_path)


async def test_typing_goes_on_while_the_ledger_takes_nothing(bench: Bench, tmp_path: Path) -> None:
    async with bench.run_test() as pilot:
        await typed(bench, pilot)
        aside(tmp_path / "state")
        await pilot.press("y")
        await until(pilot, lambda: [draft.text for draft in bench.engine.drafts.all()] == ["xyone\n"])
        assert bench.failures == []


async def test_typing_on_in_a_restored_draft_tells_of_no_other_window(bench: Bench, tmp_path: Path) -> None:
    async with bench.run_test() as pilot:
        await typed(bench, pilot)
    again = Bench(tmp_path)
    told: list[Notice] = []
    again.engine.events.subscribe(lambda changes: told.extend(changes.notices))
    async with again.run_test() as pilot:
        again.flow.open(address())
        await until(pilot, lambda: again.editor.asking)
        await pilot.press("r")
        await until(pilot, lambda: again.editor.data == b"xone\n")
        await pilot.press("y")
        await until(pilot, lambda: b"y" in again.editor.data)
        await until(pilot, lambda: "y" in again.engine.drafts.all()[0].text)
    assert told == []


async def test_a_restored_draft_that_is_saved_is_gone_from_its_file_too(bench: Bench, tmp_path: Path) -> None:
    async with bench.run_test() as pilot:
        await typed(bench, pilot)
        bench.bridge.keep_drafts_apart()
    again = Bench(tmp_path)
    async with again.run_test() as pilot:
        again.flow.open(address())
        await until(pilot, lambda: again.editor.asking)
        await pilot.press("r")
        await until(pilot, lambda: again.editor.data == b"xone\n")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: again.engine.drafts.all() == ())
    assert not any((tmp_path / "state/drafts").iterdir())
    assert (tmp_path / "root/a.md").read_bytes() == b"xone\n"


async def test_what_an_editor_of_ones_own_saves_is_offered_after_a_kill(tmp_path: Path) -> None:
    """The copy as it is while the editor has it, put where a killed process leaves it."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root/a.md").write_bytes(b"one\n")
    script = tmp_path / "editor.sh"
    script.write_text(f'printf "xone\\n" > "$2"; cp -r "$(dirname "$2")" "{tmp_path}/left"\n')
    bench = Bench(tmp_path, editor_command=f"sh {script} --wait")
    async with bench.run_test() as pilot:
        bench.flow.open(address())
        await until(pilot, lambda: bench.flow.address == address())
        await pilot.press("f4")
        await until(pilot, lambda: bench.path("a.md").read_bytes() == b"xone\n")
        await until(pilot, lambda: bench.engine.drafts.all() == ())
        bench.engine.undo.undo(actor=Actor("tui"))
    (tmp_path / "state/edits").mkdir()
    (tmp_path / "left").rename(tmp_path / "state/edits/edit-1")
    await offered(tmp_path)
