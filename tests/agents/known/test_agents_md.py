"""AGENTS.md where nobody else has it: in the project, on the way down, and of agents that keep nothing else."""

from pathlib import Path

from tests.agents import homes_more
from tests.agents.listing import listed
from tests.agents.machine import NATIVE, Machine

MINE = "agents-md:project:instructions"


def test_what_is_found(machine: Machine, tmp_path: Path) -> None:
    homes_more.agents_md(machine.home, machine.app)
    roots = machine.roots("app/api")
    assert listed(roots, tmp_path / "state") == {
        "agents-md:global:opencode": ["AGENTS.md"],
        "agents-md:global:amp": ["AGENTS.md"],
        MINE: ["AGENTS.md", "WARP.md", "api/AGENTS.md"],
        "agents-md:project:junie-instructions": [".junie/guidelines.md"],
        "agents-md:project:spec-kit-instructions": [".specify/memory/constitution.md"],
    }
    assert {root.kind for root in list(roots.values())[3:]} == {"instructions"}
    assert roots[MINE].in_checkout


def test_a_file_that_another_agent_has_is_not_shown_again(machine: Machine) -> None:
    machine.write("app/AGENTS.md")
    machine.path("~/.qwen").mkdir()
    roots = machine.roots()
    assert list(roots) == [*NATIVE, "qwen-code:global:instructions", "qwen-code:project:instructions"]
    machine.write("app/AGENT.md")
    assert machine.roots()[MINE].policy.include == ("AGENT.md",)
