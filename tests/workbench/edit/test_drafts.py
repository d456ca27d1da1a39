"""Drafts: due when they differ from what is stored, kept when storing fails, asked about only if they say something."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from memtui.engine.model import Actor, Address, Draft, Notice
from memtui.errors import StorageError
from memtui.workbench.edit.drafts import DraftKeeper
from memtui.workbench.edit.host import offer_words
from memtui.workbench.edit.merge.questions import QuestionScreen
from memtui.workbench.edit.open_memory import FileState, draft_words
from tests.workbench.edit.merge.stage import text_of
from tests.workbench.workbench import Bench, address, until

WHERE = Address("notes", "a.md")


def draft(text: str, *, at: int = 1, base: str | None = "b" * 64) -> Draft:
    return Draft(WHERE, base, text, (0, 0), at)


class Store:
    """Remembers drafts, or refuses."""

    def __init__(self) -> None:
        self.kept: list[Draft] = []
        self.broken = False

    def __call__(self, kept: Draft) -> None:
        if self.broken:
            raise StorageError("no space")
        self.kept.append(kept)


def test_only_a_new_text_is_due() -> None:
    store = Store()
    keeper = DraftKeeper(store)
    now: list[Draft | None] = [None]
    keeper.open("editor", lambda: now[0])
    assert keeper.due() == ()
    now[0] = draft("x")
    assert keeper.flush() == 1
    now[0] = draft("x", at=2)
    assert keeper.flush() == 0
    now[0] = draft("xy", at=3)
    assert keeper.flush() == 1
    assert [kept.text for kept in store.kept] == ["x", "xy"]


def test_the_same_text_of_another_base_is_due_again() -> None:
    store = Store()
    keeper = DraftKeeper(store)
    keeper.open("editor", lambda: draft("x", base="c" * 64), stored=draft("x"))
    assert keeper.flush() == 1


def test_a_draft_that_could_not_be_stored_stays_due() -> None:
    store = Store()
    keeper = DraftKeeper(store)
    keeper.open("editor", lambda: draft("x"))
    store.broken = True
    with pytest.raises(StorageError):
        keeper.flush()
    store.broken = False
    assert keeper.flush() == 1


def test_nothing_is_stored_for_a_closed_editor() -> None:
    store = Store()
    keeper = DraftKeeper(store)
    keeper.open("editor", lambda: draft("x"))
    keeper.close("editor")
    assert keeper.flush() == 0
    keeper.write(("editor", draft("late")))
    assert not keeper.has_stored("editor")


def test_a_draft_that_says_what_the_disk_says_is_no_question() -> None:
    assert not draft_words(draft("same\n"), "same\n", "d" * 64, "11:40")
    assert draft_words(draft("same\n"), "same\n", None, "11:40")


def test_the_question_counts_your_lines_and_tells_of_a_change_since() -> None:
    assert draft_words(draft("one\nmine\n"), "one\ntheirs\n", "d" * 64, "11:40") == (
        "A draft from 11:40 was never saved: 1 line of yours, and the memory changed since."
        " The history keeps it either way."
    )
    fresh = draft_words(draft("one\nmine\n"), "one\n", "b" * 64, "11:40")
    assert fresh.startswith("A draft from 11:40 was never saved: 1 line of yours. ")


def test_what_an_earlier_run_left_is_named() -> None:
    assert offer_words([draft("x")]) == "A draft was never saved: a.md. Open it to restore or discard it."
    assert offer_words([draft("x")] * 5).startswith("5 drafts were never saved: a.md, a.md, a.md, .... ")


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
