"""Pins and uses belong to a memory: not to whatever has its name next, and in every worktree of its repository."""

import shutil
import time
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.ledger import usage
from memtui.engine.ledger.database import Database
from memtui.engine.model import Actor, Address, Conflict, Root
from memtui.errors import MemtuiError, StorageError
from memtui.features.hot_set.assemble import build
from tests.conftest import Clock
from tests.engine.settling import settle
from tests.engine.worktrees import MEMORIES, engine, git, note, repository
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


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Return a repository whose memory `note` is pinned, was used once and had two texts; `other` has no marks."""
    repository(tmp_path, note="one\n", other="other\n")
    with engine(tmp_path, "app") as opened:
        settle(opened)
        opened.pins.set([note("app")], pinned=True, actor=ME)
        opened.pins.record_use(note("app"), actor=AGENT)
        row = opened.rows.get(note("app"))
        opened.save(note("app"), b"two\n", expected_sha256=row.sha256, actor=ME)
    return tmp_path


def file(base: Path, name: str = "note") -> Path:
    return base / "fix" / MEMORIES / f"{name}.md"


def first_marks(opened: Engine, name: str = "note", checkout: str = "fix") -> tuple[bool, int]:
    row = opened.rows.get(note(checkout, name))
    assert row.unseen is False
    assert (row.heat > 0) is (row.uses > 0)
    listed = next(one for one in opened.rows.list().items if one.address == row.address)
    assert listed == row
    return row.pinned, row.uses


def both(base: Path, name: str = "note") -> tuple[bool, int]:
    """Return the marks at the first look, which must equal those after recording, and those of a read-only engine."""
    roots = [Root("memtui:fix", str(base / "fix" / MEMORIES), "memtui", "project", in_checkout=True)]
    with Engine.open(roots, state_dir=str(base / "state"), read_only=True) as opened:
        bare = first_marks(opened, name)
    with engine(base, "fix") as opened:
        first = first_marks(opened, name)
    with engine(base, "fix") as opened:
        settle(opened)
        assert bare == first == first_marks(opened, name)
    return first


@pytest.mark.parametrize("text", ["one\n", "two\n", "of another branch\n"])
def test_pins_and_uses_are_there_at_the_first_look(base: Path, text: str) -> None:
    file(base).write_text(text)
    assert both(base) == (True, 1)
    assert both(base, "other") == (False, 0)


def test_of_a_deleted_memory_only_a_text_it_had_has_them(base: Path) -> None:
    with engine(base, "app") as opened:
        opened.memories.delete([note("app")], actor=ME)
    file(base).write_text("evil\n")
    assert both(base) == (False, 0)


def test_a_text_of_a_deleted_memory_has_them(base: Path) -> None:
    with engine(base, "app") as opened:
        opened.memories.delete([note("app")], actor=ME)
        opened.memories.create(note("app"), b"evil\n", actor=AGENT)
    assert both(base) == (True, 1)


def test_what_was_reviewed_is_given_where_nothing_may_be_written(base: Path) -> None:
    with engine(base, "app") as opened:
        row = opened.rows.get(note("app"))
        opened.history.review([(row.address, row.sha256 or "")], actor=ME)
    file(base).write_text("two\n")
    roots = [Root("memtui:project", str(base / "fix" / MEMORIES), "memtui", "project", in_checkout=True)]
    for read_only in (True, False):
        with Engine.open(roots, state_dir=str(base / "state"), read_only=read_only) as opened:
            row = opened.rows.get(note("project"))
            assert (row.pinned, row.trust) == (True, "reviewed")
            assert "two" in build(opened).text


def test_a_pin_taken_off_at_the_first_look_is_off_everywhere(base: Path) -> None:
    with engine(base, "app", "fix") as opened:
        assert opened.rows.get(note("fix")).pinned
        opened.pins.set([note("fix")], pinned=False, actor=ME)
        assert [opened.rows.get(note(one)).pinned for one in ("app", "fix")] == [False, False]
        opened.undo.undo(actor=ME)
        assert [opened.rows.get(note(one)).pinned for one in ("app", "fix")] == [True, True]


def test_a_file_that_comes_later_has_them_too(base: Path) -> None:
    git(base / "fix", "rm", "-q", f"{MEMORIES}/note.md")
    with engine(base, "fix") as opened:
        settle(opened)
        file(base).write_text("one\n")
        assert opened.rows.get(note("fix")).pinned


@pytest.mark.parametrize("change", ["pin", "use", "save"])
def test_what_is_there_is_no_news_whatever_came_first(base: Path, change: str) -> None:
    with engine(base, "clone") as opened:
        if change == "pin":
            opened.pins.set([note("clone")], pinned=True, actor=ME)
        elif change == "use":
            opened.pins.record_use(note("clone"), actor=AGENT)
        else:
            opened.save(note("clone"), b"x\n", expected_sha256=opened.rows.get(note("clone")).sha256, actor=ME)
    for _ in range(2):
        with engine(base, "clone") as opened:
            assert [row.unseen for row in opened.rows.list().items] == [False, False]
            assert opened.changes.unseen() == ()
            opened.watch.reconcile()


@pytest.fixture(autouse=True)
def _slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "DELAY", 3_600.0)


def used(engine: Engine) -> list[int]:
    """Return the uses of every memory."""
    return [row.uses for row in engine.rows.list().items]


def test_this_process_sees_what_waits_at_once(engine: Engine) -> None:
    engine.memories.create(A, b"a", actor=ME)
    for _ in range(5):
        engine.pins.record_use(A, actor=AGENT, soon=True)
    assert engine.rows.get(A).uses == 5
    engine.pins.record_use(A, actor=AGENT, wrote=True, soon=True)
    row = engine.rows.get(A)
    assert (row.uses, row.last_written_at) == (6, row.last_used_at)


def test_others_see_it_with_the_next_change_or_at_the_end(engine: Engine, world: World) -> None:
    engine.memories.create(A, b"a", actor=ME)
    engine.pins.record_use(A, actor=AGENT, soon=True)
    with world.engine() as other:
        assert used(other) == [0]
        engine.memories.create(B, b"b", actor=ME)
        assert used(other) == [1, 0]
        engine.pins.record_use(B, actor=AGENT, soon=True)
        engine.close()
        assert used(other) == [1, 1]


def test_a_second_is_the_longest_wait(engine: Engine, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "DELAY", 0.01)
    engine.memories.create(A, b"a", actor=ME)
    engine.pins.record_use(A, actor=AGENT, soon=True)
    deadline = time.monotonic() + 20
    with world.engine() as other:
        while used(other) != [1] and time.monotonic() < deadline:
            time.sleep(0.005)
        assert used(other) == [1]


def test_what_could_not_be_written_goes_on_waiting(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.memories.create(A, b"a", actor=ME)
    engine.pins.record_use(A, actor=AGENT, soon=True)
    with monkeypatch.context() as patch:

        def fail(self: Database, *, durable: bool) -> object:
            raise StorageError("no")

        patch.setattr(Database, "transaction", fail)
        with pytest.raises(MemtuiError):
            engine.memories.create(B, b"b", actor=ME)
        engine._ledger.settle()
    assert engine.rows.get(A).uses == 1


def test_a_persons_look_is_no_use(engine: Engine) -> None:
    engine.memories.create(A, b"a", actor=ME)
    engine.pins.record_use(A, actor=ME, soon=True)
    assert engine.rows.get(A).uses == 0
