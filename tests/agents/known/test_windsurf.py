"""Windsurf's memories and rules: the user's, the administrators', the project's, with their limits."""

from pathlib import Path

from tests.agents import homes_more
from tests.agents.listing import listed
from tests.agents.machine import Machine


def test_what_is_found(machine: Machine, tmp_path: Path) -> None:
    homes_more.windsurf(machine.home, machine.app)
    machine.write("etc/windsurf/rules/all.md")
    machine.write("etc/devin/rules/all.md")
    roots = machine.roots()
    assert listed(roots, tmp_path / "state") == {
        "windsurf:global:instructions": ["global_rules.md"],
        "windsurf:global": ["5f0c.pb"],
        "windsurf:global:managed": ["all.md"],
        "windsurf:global:managed-devin": ["all.md"],
        "windsurf:project:instructions": [".devin/rules/api.md", ".windsurf/rules/tests.md", ".windsurfrules"],
    }
    assert [root.read_only for root in list(roots.values())[3:]] == [False, False, True, True, False]
    kinds = {name for name, root in roots.items() if root.kind == "instructions"}
    assert kinds == set(roots) - {"windsurf:global", *list(roots)[:3]}
    assert roots["windsurf:global:instructions"].policy.limit_of("global_rules.md") == 6_000
    assert roots["windsurf:project:instructions"].policy.limit_of(".windsurf/rules/a.md") == 12_000
