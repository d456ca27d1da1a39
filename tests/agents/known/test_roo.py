"""Roo Code's rules, general and by mode, and its memory bank."""

from pathlib import Path

from tests.agents import homes_more
from tests.agents.listing import listed
from tests.agents.machine import Machine


def test_what_is_found(machine: Machine, tmp_path: Path) -> None:
    homes_more.roo(machine.home, machine.app)
    roots = machine.roots()
    assert listed(roots, tmp_path / "state") == {
        "roo:global:instructions": ["rules/style.md"],
        "roo:project:instructions": [".roo/rules-code/tests.txt", ".roo/rules/01-general.md", ".roorules-ask"],
        "roo:project": ["activeContext.md", "decisionLog.md"],
    }
    assert [root.kind for root in list(roots.values())[3:]] == ["instructions", "instructions", "memories"]
    assert roots["roo:project"].in_checkout
