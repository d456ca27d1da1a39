"""Two workbenches with unsaved text in one memory: what one saves or lets go never costs the other its draft."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from memtui.engine import Engine
from memtui.engine.model import Draft
from memtui.workbench.bridge import DRAFTS
from memtui.workbench.edit import open_memory
from memtui.workbench.edit.merge.conflict_screen import ConflictScreen
from memtui.workbench.edit.open_memory import FileState
from tests.workbench.workbench import ACTOR, Bench, address, until

BASE = b"one\ntwo\n"
OTHERS = "AAA one\ntwo\n"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.md").write_bytes(BASE)
    return Bench(tmp_path)


@pytest.fixture
def other(bench: Bench) -> Iterator[Engine]:
    with Engine.open([bench.root], state_dir=str(bench.folder / "state")) as engine:
        yield engine


def typed_by_other(other: Engine, text: str = OTHERS) -> str:
    base = other.read(address())
    other.drafts.save(Draft(address(), base.sha256, text, (0, 4), 1, base.bytes))
    return base.sha256


def saved_by_other(other: Engine, expected: str, text: str = OTHERS) -> None:
    open_memory.write(other, address(), text.encode(), expected, actor=ACTOR)
    other.drafts.drop(address(), own=(text,), trace=False)


def drafted(bench: Bench) -> list[str]:
    return [draft.text for draft in bench.engine.drafts.all()]


async def settled(bench: Bench, pilot: Pilot[None]) -> None:
    """Wait for everything that was asked about drafts until now."""
    done: list[None] = []
    bench.flow.run(lambda _: None, done.append, what="wait for the drafts", lane=DRAFTS)
    await until(pilot, lambda: bool(done))


async def opened(bench: Bench, pilot: Pilot[None]) -> None:
    bench.flow.open(address())
    await until(pilot, lambda: bench.flow.address == address())


async def typed_here(bench: Bench, pilot: Pilot[None], keys: str = "BBB") -> None:
    await pilot.press(*keys)
    await until(pilot, lambda: drafted(bench) == [bench.editor.data.decode()])


@pytest.mark.parametrize("last", ["other", "here"])
async def test_a_save_of_another_window_leaves_the_draft_of_this_one(bench: Bench, other: Engine, last: str) -> None:
    async with bench.run_test() as pilot:
        await opened(bench, pilot)
        base = typed_by_other(other)
        await typed_here(bench, pilot)
        if last == "other":
            typed_by_other(other)
        saved_by_other(other, base)
        bench.flow.rows_changed({address()})
        await until(pilot, lambda: bench.editor.state is FileState.CONFLICT)
        await until(pilot, lambda: drafted(bench) == ["BBBone\ntwo\n"])
        assert bench.engine.drafts.all()[0].base_sha256 == base
    later = Bench(bench.folder)
    async with later.run_test() as pilot:
        later.flow.open(address())
        await until(pilot, lambda: later.editor.asking)


async def test_decisions_survive_another_save_of_the_other_window(bench: Bench, other: Engine) -> None:
    async with bench.run_test() as pilot:
        await opened(bench, pilot)
        await typed_here(bench, pilot)
        saved_by_other(other, typed_by_other(other))
        bench.flow.rows_changed({address()})
        await until(pilot, lambda: bench.editor.state is FileState.CONFLICT)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(bench.screen, ConflictScreen))
        await pilot.press("b")
        await until(pilot, lambda: bench.engine.drafts.conflict(address()) is not None)
        before = bench.engine.drafts.conflict(address())
        saved_by_other(other, typed_by_other(other, "AAA one\ntwo\nmore\n"), "AAA one\ntwo\nmore\n")
        bench.flow.rows_changed({address()})
        await until(pilot, lambda: drafted(bench) == ["BBBone\ntwo\n"])
        found = bench.engine.drafts.conflict(address())
        assert before is not None
        assert found is not None
        assert found.yours == b"BBBone\ntwo\n"


async def test_a_save_here_leaves_the_draft_of_another_window(bench: Bench, other: Engine) -> None:
    async with bench.run_test() as pilot:
        await opened(bench, pilot)
        await typed_here(bench, pilot)
        typed_by_other(other)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bench.editor.state is FileState.CLEAN)
        await settled(bench, pilot)
        assert drafted(bench) == [OTHERS]


async def test_taking_everything_back_here_leaves_the_draft_of_another_window(bench: Bench, other: Engine) -> None:
    async with bench.run_test() as pilot:
        await opened(bench, pilot)
        await typed_here(bench, pilot, "B")
        typed_by_other(other)
        await pilot.press("ctrl+z")
        await until(pilot, lambda: not bench.flow.drafts.keeper.has_stored(bench.editor))
        await settled(bench, pilot)
        assert drafted(bench) == [OTHERS]


async def test_a_draft_that_outlived_a_death_ends_with_its_save(bench: Bench, other: Engine) -> None:
    typed_by_other(other)
    async with bench.run_test() as pilot:
        bench.flow.open(address())
        await until(pilot, lambda: bench.editor.asking)
        await pilot.press("r")
        await until(pilot, lambda: bench.editor.state is FileState.DRAFT)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: drafted(bench) == [])
