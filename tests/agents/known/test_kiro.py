"""Kiro's steering files, of the user and of the project."""

from pathlib import Path

from tests.agents import homes_more
from tests.agents.listing import listed
from tests.agents.machine import Machine


def test_what_is_found(machine: Machine, tmp_path: Path) -> None:
    homes_more.kiro(machine.home, machine.app)
    roots = machine.roots()
    assert listed(roots, tmp_path / "state") == {
        "kiro:global:instructions": ["style.md"],
        "kiro:project:instructions": ["product.md", "tests.md"],
    }
    assert [(root.kind, root.scope, root.in_checkout) for root in list(roots.values())[3:]] == [
        ("instructions", "global", False),
        ("instructions", "project", True),
    ]
