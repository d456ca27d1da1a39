"""The samples' past."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.config.read import load_settings
from memtui.config.surroundings import surroundings_from
from memtui.demo import world
from memtui.demo import world as past
from memtui.engine import now_ms
from memtui.engine.model import BROUGHT
from memtui.wire.session import Options, Session, open_in


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = world.build()
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
