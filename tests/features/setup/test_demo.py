"""demo."""

import os
from pathlib import Path

import pytest

from memtui.config.read import load_settings
from memtui.config.surroundings import surroundings_from
from memtui.demo import world
from memtui.engine import now_ms
from memtui.features.approvals.decide import vote_statuses
from memtui.features.setup.demo import furnish
from memtui.features.tasks.work import workspace_of
from memtui.wire.session import Options, Session, open_in
from tests.cli.conftest import Cli, FakeWorkbench


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where throw-away folders go."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_the_demo_opens_on_samples_with_an_agent_at_work(
    cli: Cli, workbench: FakeWorkbench, temporary: Path, home: Path
) -> None:
    def look(session: Session) -> int:
        assert {row.agent for row in session.engine.rows.list().items} >= {"memtui", "claude-code", "qwen-code", "mux"}
        known = {row.address for row in session.engine.rows.list().items}
        while {row.address for row in session.engine.rows.list().items} <= known:
            pass  # until the agent has created a memory
        new = {row.address for row in session.engine.rows.list().items} - known
        assert {session.engine.history.of(address)[-1].actor for address in new} == {"mcp:claude-code"}
        assert all(root.path.startswith(str(temporary)) for root in session.roots)
        return 9

    workbench.then = look
    result = cli("demo", "--calm", terminal=True)
    assert result.status == 9, result.err
    ((session, demo),) = workbench.opened
    assert demo is True
    assert session.options.calm is True
    assert list(temporary.iterdir()) == []
    assert os.listdir(home) == []


def test_the_home_of_the_guide_has_three_agents_and_nobody_at_work(
    cli: Cli, workbench: FakeWorkbench, temporary: Path
) -> None:
    def look(session: Session) -> int:
        agents = {row.agent for row in session.engine.rows.list().items}
        assert agents >= {"claude-code", "codex", "serena"}
        assert session.surroundings.project.endswith("/src/orchard")
        assert not session.engine.tasks.all(workspace_of(session.surroundings).id)
        return 7

    workbench.then = look
    assert cli("demo", "--newcomer", terminal=True).status == 7
    ((_, demo),) = workbench.opened
    assert demo is False
    assert list(temporary.iterdir()) == []


def test_the_demo_cleans_up_after_a_failure(cli: Cli, workbench: FakeWorkbench, temporary: Path) -> None:
    def fail(session: Session) -> int:
        raise RuntimeError("no")

    workbench.then = fail
    assert cli("demo", terminal=True).status == 1
    assert list(temporary.iterdir()) == []


def test_the_demo_needs_a_terminal(cli: Cli, temporary: Path) -> None:
    assert cli("demo").status == 2
    assert list(temporary.iterdir()) == []


def test_two_people_spoke_one_vote_waits_and_a_digest_is_due(tmp_path: Path) -> None:
    made = world.build(str(tmp_path / "w"), waiting_at=now_ms())
    settings = load_settings({"HOME": made.folder, "MEMTUI_HOME": made.memtui_home})
    around = surroundings_from(settings, cwd=made.project)._replace(system_dir=made.system)
    furnish(around, settings)
    with open_in(around, settings, Options(), lock_wait=5).engine as engine:
        (room,) = [root for root in engine.roots.all() if root.scope == "channel"]
        records = engine.history.audit(limit=10)
        assert [one.who for one in records if one.address.root == room.id and one.after] == [
            "Ines · bot · harbour",
            "Marit · bot · harbour",
        ]
        assert engine.changes.unseen() == ()
        (waits,) = engine.proposals.all()
        stand = vote_statuses(engine, settings, [waits])[waits.id]
        assert (stand.short, stand.mine) == ("1 of 2: Ines yes, waits for you", True)
        assert [one.name for one in engine.schedules.all()] == ["morning"]
