"""Cursor's rules: of the user, of the project, and in folders on the way down to the user."""

from pathlib import Path

from tests.agents import homes_more
from tests.agents.listing import listed
from tests.agents.machine import Machine


def test_what_is_found(machine: Machine, tmp_path: Path) -> None:
    homes_more.cursor(machine.home, machine.app)
    roots = machine.roots()
    mine = [".cursor/rules/api/errors.mdc", ".cursor/rules/tests.mdc", ".cursorrules"]
    assert listed(roots, tmp_path / "state") == {
        "cursor:global:instructions": ["style.mdc"],
        "cursor:project:instructions": mine,
    }
    assert {root.kind for root in list(roots.values())[3:]} == {"instructions"}
    assert "loads none" in roots["cursor:global:instructions"].note, "it is no place that Cursor reads"
    assert [bool(root.switched_off) for root in list(roots.values())[3:]] == [True, False]
    below = machine.roots("app/api")
    assert listed(below, tmp_path / "below")["cursor:project:instructions"] == [*mine, "api/.cursor/rules/v2.mdc"]
