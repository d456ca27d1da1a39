"""Pins and uses belong to a memory: not to whatever has its name next, and in every worktree of its repository."""

import shutil
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Conflict
from tests.conftest import Clock
from tests.engine.settling import settle
from tests.engine.worktrees import MEMORIES, git, note, repository
from tests.engine.worktrees import engine as opened
from tests.faults.world import ME, World, at, sha

AGENT = Actor("mcp:x")
A, B = at("a.md"), at("b.md")
OLD, NEW, EVIL = b"old\n", b"new\n", b"evil\n"


def marks(engine: Engine, address: Address = A) -> tuple[bool, int]:
    """Return whether a memory is pinned, and how often it was used."""
    row = engine.rows.get(address)
    assert (row.heat > 0) is (row.uses > 0)
    return row.pinned, row.uses


def mark(engine: Engine, address: Address = A, uses: int = 2) -> None:
    """Pin a memory and use it."""
    engine.pins.set([address], pinned=True, actor=ME)
    for _ in range(uses):
        engine.pins.record_use(address, actor=AGENT)


@pytest.fixture
def marked(engine: Engine) -> Engine:
    """Return an engine with one memory that had two texts, is pinned and was used twice."""
    engine.memories.create(A, OLD, actor=ME)
    mark(engine)
    engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
    return engine


def test_what_an_agent_makes_under_a_deleted_name_starts_with_none(marked: Engine) -> None:
    marked.memories.delete([A], actor=ME)
    marked.memories.create(A, EVIL, actor=AGENT)
    assert marks(marked) == (False, 0)
    marked.pins.record_use(A, actor=AGENT, wrote=True)
    assert marks(marked) == (False, 1)


@pytest.mark.parametrize("text", [OLD, NEW])
def test_a_text_the_memory_had_brings_them_back_with_it(marked: Engine, world: World, text: bytes) -> None:
    file = world.folder() / "a.md"
    for other in (EVIL, b"", EVIL):
        file.unlink()
        settle(marked, deleted=True)
        file.write_bytes(other)
        settle(marked)
        assert marks(marked) == (False, 0)
    file.unlink()
    settle(marked, deleted=True)
    file.write_bytes(text)
    settle(marked)
    assert marks(marked) == (True, 2)


def test_a_text_that_was_refused_is_none_the_memory_had(marked: Engine) -> None:
    assert isinstance(marked.save(A, EVIL, expected_sha256=sha(OLD), actor=AGENT), Conflict)
    marked.memories.delete([A], actor=ME)
    marked.memories.create(A, EVIL, actor=AGENT)
    assert marks(marked) == (False, 0)


def test_undo_and_redo_bring_them_back(marked: Engine) -> None:
    marked.memories.delete([A], actor=ME)
    marked.undo.undo(actor=ME)
    assert marks(marked) == (True, 2)
    marked.undo.redo(actor=ME)
    marked.memories.create(A, EVIL, actor=ME)
    assert marks(marked) == (False, 0)
    marked.undo.undo(actor=ME)
    marked.undo.undo(actor=ME)
    assert marks(marked) == (True, 2)


def test_restoring_brings_them_back_also_over_what_took_the_name(marked: Engine) -> None:
    marked.memories.delete([A], actor=ME)
    marked.memories.restore(A, actor=ME)
    assert marks(marked) == (True, 2)
    marked.memories.delete([A], actor=ME)
    marked.memories.create(A, EVIL, actor=AGENT)
    marked.pins.record_use(A, actor=AGENT)
    marked.memories.restore(A, version=sha(NEW), actor=ME)
    assert marks(marked) == (True, 2)
    marked.undo.undo(actor=ME)
    assert marks(marked) == (False, 1)


def test_each_memory_of_a_name_has_its_own(engine: Engine) -> None:
    """Also the first one, when it was never used before it went."""
    engine.memories.create(A, OLD, actor=ME)
    engine.memories.delete([A], actor=ME)
    engine.memories.create(A, NEW, actor=ME)
    mark(engine)
    engine.memories.delete([A], actor=ME)
    engine.memories.create(A, EVIL, actor=ME)
    engine.memories.delete([A], actor=ME)
    engine.memories.create(A, OLD, actor=ME)
    assert marks(engine) == (False, 0)
    engine.memories.delete([A], actor=ME)
    engine.memories.create(A, NEW, actor=ME)
    assert marks(engine) == (True, 2)


def test_what_had_a_name_before_a_rename_is_another_memory(engine: Engine) -> None:
    engine.memories.create(B, OLD, actor=ME)
    engine.memories.delete([B], actor=ME)
    engine.memories.create(A, NEW, actor=ME)
    engine.memories.rename(A, B, actor=ME)
    mark(engine, B)
    engine.memories.delete([B], actor=ME)
    engine.memories.create(B, OLD, actor=AGENT)
    assert marks(engine, B) == (False, 0)
    engine.memories.restore(B, version=sha(NEW), actor=ME)
    assert marks(engine, B) == (True, 2)


def test_a_file_that_is_gone_for_a_moment_keeps_them(marked: Engine, world: World) -> None:
    file = world.folder() / "a.md"
    file.unlink()
    settle(marked)
    file.write_bytes(EVIL)
    settle(marked)
    assert marks(marked) == (True, 2)


def test_a_rename_takes_them_along_and_leaves_none_under_the_old_name(marked: Engine) -> None:
    marked.memories.rename(A, B, actor=ME)
    assert marks(marked, B) == (True, 2)
    marked.memories.create(A, NEW, actor=AGENT)
    assert marks(marked) == (False, 0)
    marked.memories.delete([A], actor=ME)
    marked.memories.rename(B, A, actor=ME)
    assert marks(marked) == (True, 2)


def test_a_worktree_shows_the_pins_and_uses_of_its_repository_and_a_clone_does_not(tmp_path: Path) -> None:
    repository(tmp_path, note="text\n")
    with opened(tmp_path, "app") as engine:
        settle(engine)
        mark(engine, note("app"))
    with opened(tmp_path, "app", "fix", "clone") as engine:
        settle(engine)
        engine.rows.list()
        assert [marks(engine, note(one)) for one in ("app", "fix", "clone")] == [(True, 2), (True, 2), (False, 0)]
        engine.pins.set([note("fix")], pinned=False, actor=ME)
        engine.pins.record_use(note("fix"), actor=AGENT)
        mark(engine, note("clone"), 1)
        found = {row.address: (row.pinned, row.uses) for row in engine.rows.list().items}
        assert found == {note("app"): (False, 3), note("fix"): (False, 3), note("clone"): (True, 1)}
    with opened(tmp_path, "app") as engine:
        assert marks(engine, note("app")) == (False, 3)


def test_folders_known_before_are_joined(tmp_path: Path, clock: Clock) -> None:
    """Pinned if pinned in one, uses added, heat as of the later one; as when memtui did not know of repositories."""
    for name in ("app", "fix"):
        folder = tmp_path / name / MEMORIES
        folder.mkdir(parents=True)
        (folder / "note.md").write_text("text\n")
        (folder / "cold.md").write_text("text\n")
    with opened(tmp_path, "app", "fix", clock=clock) as engine:
        settle(engine)
        engine.pins.record_use(note("app"), actor=AGENT)
        clock.advance(days=7)
        mark(engine, note("fix"))
        engine.pins.record_use(note("app", "cold"), actor=AGENT)
        assert marks(engine, note("app")) == (False, 1)
    (tmp_path / "app/.git/worktrees/fix").mkdir(parents=True)
    (tmp_path / "app/.git/worktrees/fix/commondir").write_text("../..\n")
    (tmp_path / "app/.git/worktrees/fix/gitdir").write_text(f"{tmp_path}/fix/.git\n")
    (tmp_path / "fix/.git").write_text(f"gitdir: {tmp_path}/app/.git/worktrees/fix\n")
    for _ in range(2):
        with opened(tmp_path, "app", "fix", clock=clock) as engine:
            engine.rows.list()
            assert marks(engine, note("app")) == marks(engine, note("fix")) == (True, 3)
            assert marks(engine, note("app", "cold")) == marks(engine, note("fix", "cold")) == (False, 1)
            assert engine.rows.get(note("fix")).heat == pytest.approx(2.5)


def test_a_branch_switch_brings_back_what_another_worktree_has(tmp_path: Path) -> None:
    repository(tmp_path, note="one\n")
    note_of_fix = tmp_path / "fix" / MEMORIES / "note.md"
    with opened(tmp_path, "app", "fix") as engine:
        settle(engine)
        mark(engine, note("app"))
        note_of_fix.unlink()
        settle(engine, deleted=True)
        engine.save(note("app"), b"two\n", expected_sha256=sha(b"one\n"), actor=ME)
        note_of_fix.write_text("two\n")
        settle(engine)
        assert marks(engine, note("fix")) == (True, 2)
        engine.memories.delete([note("fix")], actor=ME)
        engine.memories.create(note("fix"), EVIL, actor=AGENT)
        assert marks(engine, note("fix")) == (False, 0)
        assert marks(engine, note("app")) == (True, 2)


def test_a_rename_in_one_worktree_leaves_the_other_as_it_was(tmp_path: Path) -> None:
    repository(tmp_path, note="text\n")
    with opened(tmp_path, "app", "fix") as engine:
        settle(engine)
        mark(engine, note("app"))
        engine.memories.rename(note("app"), note("app", "new"), actor=ME)
        assert marks(engine, note("app", "new")) == marks(engine, note("fix")) == (True, 2)
        git(tmp_path / "fix", "mv", f"{MEMORIES}/note.md", f"{MEMORIES}/new.md")
        settle(engine)
        assert marks(engine, note("fix", "new")) == (True, 2)


def test_history_seen_marks_and_undo_stay_with_the_folder(tmp_path: Path) -> None:
    repository(tmp_path, note="text\n")
    with opened(tmp_path, "app", "fix") as engine:
        settle(engine)
        engine.save(note("fix"), b"mine\n", expected_sha256=sha(b"text\n"), actor=AGENT)
        assert [one.sha256 for one in engine.history.of(note("app"))] == [sha(b"text\n")]
        assert [row.unseen for row in engine.rows.list().items] == [False, True]
        engine.memories.delete([note("fix")], actor=ME)
        assert [entry.address for entry in engine.undo.trash.entries()] == [note("fix")]
    with opened(tmp_path, "app") as engine:
        assert engine.undo.next() is None


def test_a_folder_that_is_another_repository_now_shares_no_more(tmp_path: Path) -> None:
    repository(tmp_path, note="text\n")
    with opened(tmp_path, "app", "fix") as engine:
        settle(engine)
        mark(engine, note("app"))
    shutil.rmtree(tmp_path / "fix")
    (tmp_path / "clone").rename(tmp_path / "fix")
    with opened(tmp_path, "app", "fix") as engine:
        assert marks(engine, note("fix")) == (False, 0)
        engine.pins.record_use(note("fix"), actor=AGENT)
        assert marks(engine, note("app")) == (True, 2)
    shutil.rmtree(tmp_path / "app/.git")
    git(tmp_path / "app", "init", "-q")
    with opened(tmp_path, "app") as engine:
        assert marks(engine, note("app")) == (True, 2)
