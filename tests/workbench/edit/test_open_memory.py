"""The state of an open memory, and its title line at every width."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Draft, MergeOf, Root
from memtui.safe_text import cell_width
from memtui.workbench.bridge import DRAFTS
from memtui.workbench.edit import open_memory
from memtui.workbench.edit.merge.conflict_screen import ConflictScreen
from memtui.workbench.edit.open_memory import Comparison, FileState, state_of, title_note, title_runs
from tests.workbench.workbench import ACTOR, Bench, address, until


def drawn(width: int, who: str = "mcp:claude-code") -> str:
    note = title_note(FileState.GONE, who=who)
    runs = title_runs("memtui:project/deploy.md", note, FileState.GONE, width, focused=True)
    return "".join(text for text, _ in runs)


@pytest.mark.parametrize("width", range(40, 120))
def test_the_key_stays_at_every_width(width: int) -> None:
    line = drawn(width)
    assert "deploy" in line
    assert line.endswith("  f8")
    assert cell_width(line) <= width


def test_the_whole_is_said_where_there_is_room() -> None:
    assert drawn(100) == ">memtui:project/deploy.md  !d mcp:claude-code deleted, your text is kept  f8"


def test_a_long_writer_is_shortened() -> None:
    line = drawn(62, who="mcp:" + "x" * 80)
    assert line.endswith("…  f8")
    assert cell_width(line) <= 62


A, B = "a" * 64, "b" * 64


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        ({"base": A, "disk": A, "dirty": False}, FileState.CLEAN),
        ({"base": None, "disk": None, "dirty": False}, FileState.CLEAN),
        ({"base": A, "disk": A, "dirty": True}, FileState.DRAFT),
        ({"base": None, "disk": None, "dirty": True}, FileState.DRAFT),
        ({"base": A, "disk": B, "dirty": False}, FileState.FOLLOW),
        ({"base": B, "disk": B, "dirty": False, "unseen": True}, FileState.FOLLOW),
        ({"base": A, "disk": B, "dirty": True, "overlaps": 0}, FileState.MERGEABLE),
        ({"base": A, "disk": B, "dirty": True, "overlaps": 2}, FileState.CONFLICT),
        ({"base": A, "disk": B, "dirty": True, "overlaps": None}, FileState.CONFLICT),
        ({"base": None, "disk": B, "dirty": True}, FileState.CONFLICT),
        ({"base": A, "disk": None, "dirty": True}, FileState.GONE),
        ({"base": A, "disk": None, "dirty": False}, FileState.GONE),
        ({"base": A, "disk": None, "dirty": True, "moved": True}, FileState.MOVED),
        ({"base": A, "disk": None, "dirty": False, "moved": True}, FileState.MOVED),
        ({"base": A, "disk": A, "dirty": False, "editable": False}, FileState.RAW),
        ({"base": A, "disk": B, "dirty": False, "editable": False}, FileState.RAW),
    ],
)
def test_every_row_of_the_table(facts: dict[str, Any], state: FileState) -> None:
    assert state_of(**facts) is state


def test_the_title_says_the_counts_in_words() -> None:
    note = title_note(FileState.CONFLICT, Comparison(2, 1, {}), who="claude")
    assert note == "! claude saved: 2 hunks, 1 overlap  f8"
    assert title_note(FileState.MERGEABLE, Comparison(1, 0, {})) == "~A saved outside memtui: 1 hunk, no overlap  f8"
    assert title_note(FileState.CONFLICT) == "! saved outside memtui: both sides changed  f8"


@pytest.mark.parametrize("state", [state for state in FileState if state is not FileState.CLEAN])
def test_every_state_but_clean_says_something_that_starts_with_its_sign(state: FileState) -> None:
    assert title_note(state, reason="mixed line ends").startswith(state.value)


ME = Actor("tui")
CLAUDE = "claude-code:project"
BASE, AGENT, RESULT = b"base\n", b"agent\n", b"agent\nmine\n"


def sha(data: bytes) -> str:
    return sha256(data).hexdigest()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    for name in ("claude", "notes"):
        (tmp_path / name).mkdir()
    roots = [Root(CLAUDE, str(tmp_path / "claude"), "claude-code"), Root("notes", str(tmp_path / "notes"))]
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as opened:
        yield opened


@pytest.mark.parametrize(
    ("root", "actor", "who"),
    [
        (CLAUDE, None, "Claude Code?"),
        ("notes", None, "outside memtui"),
        (CLAUDE, "mcp:codex-mcp-client", "Codex"),
        ("notes", "tui", "another window of yours"),
    ],
)
def test_the_other_side_is_named_also_after_its_merge_was_undone(
    engine: Engine, root: str, actor: str | None, who: str
) -> None:
    address = Address(root, "a.md")
    engine.memories.create(address, BASE, actor=ME)
    engine.watch.reconcile()
    if actor is None:
        (Path(engine.roots.find(root).path) / "a.md").write_bytes(AGENT)
        engine.watch.reconcile()
    else:
        engine.save(address, AGENT, expected_sha256=sha(BASE), actor=Actor(actor))
    assert open_memory.read_disk(engine, address, None).who == who
    merge = MergeOf(sha(BASE), sha(b"mine\n"), sha(AGENT))
    engine.save(address, RESULT, expected_sha256=sha(AGENT), actor=ME, merge=merge)
    assert open_memory.read_disk(engine, address, None).who == "another window of yours"
    engine.undo.undo(actor=ME)
    assert open_memory.read_disk(engine, address, None).who == who


def test_a_save_says_what_came_in_with_it_and_is_never_refused(engine: Engine) -> None:
    address, key = Address("notes", "a.md"), b"gh" + b"p_" + b"a1B2" * 9
    engine.memories.create(address, BASE, actor=ME)
    texts = [BASE, BASE + b"use " + key + b"\n", BASE + b"\n\nuse " + key + b"\n", BASE + b"Whenever you can, push.\n"]
    warned = []
    for before, after in pairwise(texts):
        written = open_memory.write(engine, address, after, sha(before), actor=ME)
        assert engine.read(address).bytes == after
        warned.append(written.warning)
    assert warned == ["Line 2 holds a GitHub token: 7 shows it.", "", ""]


WINDOW_BASE = b"one\ntwo\n"
OTHERS = "AAA one\ntwo\n"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.md").write_bytes(WINDOW_BASE)
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
