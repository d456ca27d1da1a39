"""demo."""

import os
from pathlib import Path

import pytest

from memtui.features.tasks.workspace import workspace_of
from memtui.wire.session import Session
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
