"""The throw-away world."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.agents.discovery import discover
from memtui.config.read import load_settings
from memtui.config.surroundings import surroundings_from
from memtui.demo import world as past
from memtui.demo.world import SAMPLES, World, build, remove
from memtui.engine import now_ms
from memtui.engine.model import BROUGHT, Root
from memtui.features.blame.lines import blame
from memtui.features.claims.find import finder
from memtui.features.tasks.work import Workspace
from memtui.wire.session import Options, Session, open_in
from tests.demo.test_life_cycle import lane


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    made = build()
    yield made
    remove(made)
    assert list(folder.iterdir()) == []


def roots(world: World) -> tuple[Root, ...]:
    settings = load_settings({"HOME": world.folder, "MEMTUI_HOME": world.memtui_home})
    around = surroundings_from(settings, cwd=world.project)._replace(system_dir=world.system)
    return discover(around, all_projects=True)


def test_everything_is_below_one_folder(world: World) -> None:
    assert {os.path.commonpath([world.folder, root.path]) for root in roots(world)} == {world.folder}


def test_it_can_be_put_where_nothing_is_yet(tmp_path: Path) -> None:
    made = build(str(tmp_path / "here"))
    assert made.folder == str((tmp_path / "here").resolve())
    with pytest.raises(FileExistsError):
        build(str(tmp_path / "here"))


def test_the_whole_tree_shows(world: World) -> None:
    found = roots(world)
    assert {root.agent for root in found} == {"memtui", "claude-code", "qwen-code", "mux"}
    assert {root.scope for root in found} == {"global", "project", "workspace"}
    assert any("lighthouse" in root.path for root in found)
    named = {name: root for root in found for name in (root.id, *root.aliases)}
    assert all(Path(named[name].path).is_dir() for name in world.worked_in)


def test_every_sample_is_somewhere_and_a_readable_memory(world: World) -> None:
    samples = sorted(path.read_bytes() for path in Path(SAMPLES).rglob("*.md"))
    written = [path.read_bytes() for path in Path(world.folder).rglob("*.md") if path.name != "pasted-review.md"]
    assert sorted(written) == samples
    assert all(b"\r" not in text and text.endswith(b"\n") and text.decode() for text in samples)


def test_the_attack_is_really_in_there(world: World) -> None:
    (attack,) = Path(world.folder).rglob("pasted-review.md")
    text = attack.read_text("utf-8")
    assert "\u202e" in text
    assert any(0xE0020 <= ord(char) <= 0xE007F for char in text)


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = build()
    settings = load_settings({"HOME": made.folder, "MEMTUI_HOME": made.memtui_home})
    around = surroundings_from(settings, cwd=made.project)._replace(system_dir=made.system)
    past.live(around, settings.state_dir, now=now_ms())
    opened = open_in(around, settings, Options(), lock_wait=5)
    yield opened
    opened.engine.close()


def test_there_are_versions_uses_pins_and_ages(session: Session) -> None:
    rows = session.engine.rows.list().items
    assert sum(row.pinned for row in rows) == 2
    assert sum(row.uses > 0 for row in rows) >= 5
    assert len({row.modified_at // past.DAY for row in rows}) > 5
    history = session.engine.history.of(session.engine.roots.resolve("memtui:project/decisions.md"))
    assert len({version.sha256 for version in history}) == 3
    assert {version.actor for version in history} >= {"tui", "agent:claude-code"}
    assert history[-1].at < now_ms() - 10 * past.DAY


def test_only_what_nobody_saw_is_unseen(session: Session) -> None:
    session.engine.watch.reconcile()
    unseen = {change.address.path for change in session.engine.changes.unseen()}
    assert unseen == {"project_payments.md", "domain/sailings.md"}


def test_only_what_nobody_has_seen_waits_for_a_review(session: Session) -> None:
    waiting = [row for row in session.engine.rows.list().items if row.trust == BROUGHT]
    assert [(str(row.address), row.unseen) for row in waiting] == [("memtui:project/domain/sailings.md", True)]


__all__ = ["lane"]


def test_a_commit_moved_what_a_memory_names_and_git_names_who_wrote_another(lane: tuple[Session, Workspace]) -> None:
    engine = lane[0].engine
    rows = engine.rows.list().items
    find = finder(engine, rows, now_ms())
    found = [(row.address.path, one) for row in rows for one in find(row, engine.read_bytes(row.address))]
    (moved,) = [(path, one.text) for path, one in found if one.rule.severity == "W"]
    assert moved[0] == "load-test.md"
    assert "bench/august.py" in moved[1]
    file = f"{lane[0].surroundings.project}/CLAUDE.md"
    (own,) = [row.address for row in rows if engine.roots.file_path(row.address) == file]
    assert {(run.level, run.actor) for run in blame(engine, own).runs} == {("git", "Marit Okonkwo")}
