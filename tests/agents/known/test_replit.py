"""Replit Agent's memories, which lie in the checkout."""

from pathlib import Path

from tests.agents import homes_more
from tests.agents.listing import listed
from tests.agents.machine import Machine


def test_what_is_found(machine: Machine, tmp_path: Path) -> None:
    homes_more.replit(machine.home, machine.app)
    roots = machine.roots()
    assert listed(roots, tmp_path / "state") == {"replit:project": ["MEMORY.md", "build.md"]}
    root = roots["replit:project"]
    assert (root.in_checkout, root.kind, root.policy.index_format) == (True, "memories", "links")
