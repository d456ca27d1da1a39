"""Deep Agents' folders: one for each agent of the user's, and a project's file."""

from pathlib import Path

from tests.agents import homes_more
from tests.agents.listing import listed
from tests.agents.machine import NATIVE, Machine


def test_what_is_found(machine: Machine, tmp_path: Path) -> None:
    homes_more.deepagents(machine.home, machine.app)
    machine.write("~/.deepagents/AGENTS.md")
    machine.write("~/.deepagents/.trash/AGENTS.md")
    roots = machine.roots()
    assert list(roots) == [*NATIVE, "deepagents:global:agent", "deepagents:global", "deepagents:project"]
    assert listed(roots, tmp_path / "state") == {
        "deepagents:global:agent": ["AGENTS.md", "memories/api-conventions.md"],
        "deepagents:global": ["AGENTS.md"],
        "deepagents:project": ["AGENTS.md"],
    }
    assert {root.kind for root in list(roots.values())[3:]} == {"memories"}, "the agent writes them"
    assert "onboarding-name" in roots["deepagents:global:agent"].note
    assert roots["deepagents:project"].in_checkout
