"""OpenClaw's workspaces: where settings and variables put them, and which of their files are shown."""

from pathlib import Path

from tests.agents import homes_more
from tests.agents.listing import listed
from tests.agents.machine import NATIVE, Machine


def test_what_is_found(machine: Machine, tmp_path: Path) -> None:
    homes_more.openclaw(machine.home, machine.app)
    roots = machine.roots()
    assert [roots[name].kind for name in list(roots)[3:]] == ["memories", "instructions", "memories"]
    assert listed(roots, tmp_path / "state") == {
        "openclaw:global": ["MEMORY.md", "memory/2026-03-01.md", "memory/2026-03-02.md"],
        "openclaw:global:instructions": ["AGENTS.md", "SOUL.md", "USER.md"],
        "openclaw:global:workspace-writer": ["MEMORY.md"],
    }
    policy = roots["openclaw:global"].policy
    assert (policy.index_file, policy.index_format, policy.limit_of("MEMORY.md")) == ("MEMORY.md", "", 20_000)
    assert policy.limit_of("memory/2026-03-01.md") is None
    assert roots["openclaw:global:instructions"].policy.limit_of("USER.md") == 4_000


def test_settings_are_stronger_than_the_variable_and_the_folder(machine: Machine) -> None:
    for name in ("set", "named", "home/.openclaw/workspace"):
        machine.write(f"{name}/MEMORY.md")
    machine.write(
        "~/.openclaw/openclaw.json", f'{{ agents: {{ defaults: {{ workspace: "{machine.folder}/set" }}, }} }}'
    )
    roots = machine.moved("OPENCLAW_WORKSPACE_DIR", "named")
    assert [Path(root.path).name for root in list(roots.values())[3:]] == ["set", "named", "workspace"]
    assert [name.partition("-")[0] for name in list(roots)[3:]] == [
        "openclaw:global",
        "openclaw:global:named",
        "openclaw:global:workspace",
    ]


def test_a_profile_and_a_folder_of_its_own(machine: Machine) -> None:
    machine.write("~/.openclaw-work/workspace/MEMORY.md")
    machine.write("state/workspace/memory/2026-03-01.md")
    assert machine.roots(OPENCLAW_PROFILE="work")["openclaw:global"].path == str(
        machine.home / ".openclaw-work/workspace"
    )
    assert list(machine.roots(OPENCLAW_PROFILE="../x")) == NATIVE
    roots = machine.roots(OPENCLAW_PROFILE="work", OPENCLAW_STATE_DIR=str(machine.folder / "state"))
    assert roots["openclaw:global"].path == str(machine.folder / "state/workspace")


def test_an_older_name_of_the_file_and_a_wide_folder(machine: Machine, tmp_path: Path) -> None:
    machine.write("~/.openclaw/workspace/memory.md")
    machine.write("~/MEMORY.md")
    machine.write("~/.openclaw/openclaw.json", '{"workspace": "~", "workspace": "/"}')
    assert listed(machine.roots(), tmp_path / "state") == {"openclaw:global": ["memory.md"]}
