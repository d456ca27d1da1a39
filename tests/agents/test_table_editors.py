"""The files of the agents of editors: Cursor's, Kiro's and Roo Code's rules, Replit's memories, Roo's memory bank."""

from pathlib import Path

import pytest

from tests.agents import homes_more
from tests.agents.listing import listed
from tests.agents.machine import NATIVE, Machine

CURSOR = [".cursor/rules/api/errors.mdc", ".cursor/rules/tests.mdc", ".cursorrules"]

FOUND = {
    "cursor": {"cursor:global:instructions": ["style.mdc"], "cursor:project:instructions": CURSOR},
    "kiro": {"kiro:global:instructions": ["style.md"], "kiro:project:instructions": ["product.md", "tests.md"]},
    "replit": {"replit:project": ["MEMORY.md", "build.md"]},
    "roo": {
        "roo:global:instructions": ["rules/style.md"],
        "roo:project:instructions": [".roo/rules-code/tests.txt", ".roo/rules/01-general.md", ".roorules-ask"],
        "roo:project": ["activeContext.md", "decisionLog.md"],
    },
}


@pytest.mark.parametrize("agent", FOUND)
def test_what_is_found(machine: Machine, tmp_path: Path, agent: str) -> None:
    homes_more.HOMES_MORE[agent](machine.home, machine.app)
    roots = machine.roots()
    assert listed(roots, tmp_path / "state") == FOUND[agent]
    for root in list(roots.values())[len(NATIVE) :]:
        assert root.kind == ("instructions" if root.id.endswith(":instructions") else "memories")
        assert root.in_checkout == (root.scope == "project")


def test_cursor_reads_no_rules_of_the_user_and_rules_on_the_way_down(machine: Machine, tmp_path: Path) -> None:
    homes_more.cursor(machine.home, machine.app)
    roots = machine.roots("app/api")
    assert "loads none" in roots["cursor:global:instructions"].note, "it is no place that Cursor reads"
    assert roots["cursor:global:instructions"].switched_off
    assert not roots["cursor:project:instructions"].switched_off
    assert listed(roots, tmp_path / "s")["cursor:project:instructions"] == [*CURSOR, "api/.cursor/rules/v2.mdc"]


def test_replits_index_is_a_list_of_links(machine: Machine) -> None:
    homes_more.replit(machine.home, machine.app)
    assert machine.roots()["replit:project"].policy.index_format == "links"
