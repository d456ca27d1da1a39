"""A worktree that nobody looked at yet has the pins and uses of its repository, and what is in it is no news."""

from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Actor, Root
from memtui.features.hot_set.assemble import build
from tests.engine.settling import settle
from tests.engine.worktrees import MEMORIES, engine, git, note, repository
from tests.faults.world import ME

AGENT = Actor("mcp:x")


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


def marks(opened: Engine, name: str = "note", checkout: str = "fix") -> tuple[bool, int]:
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
        bare = marks(opened, name)
    with engine(base, "fix") as opened:
        first = marks(opened, name)
    with engine(base, "fix") as opened:
        settle(opened)
        assert bare == first == marks(opened, name)
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
