"""Cline's memory bank and rules, and whose a bank is."""

import os
from pathlib import Path

import pytest

from tests.agents import homes_more
from tests.agents.listing import listed
from tests.agents.machine import NATIVE, Machine
from tests.agents.test_session_start_memories import started

SIX = ("activeContext", "productContext", "progress", "projectbrief", "systemPatterns", "techContext")


def test_what_is_found(machine: Machine, tmp_path: Path) -> None:
    homes_more.cline(machine.home, machine.app)
    roots = machine.roots()
    assert listed(roots, tmp_path / "state") == {
        "cline:global:instructions": ["style.md"],
        "cline:project:instructions": [".clinerules/01-coding.md"],
        "cline:project:bank-instructions": [".clinerules"],
        "cline:project": [f"{name}.md" for name in SIX],
    }
    assert [root.kind for root in list(roots.values())[3:]] == [*["instructions"] * 3, "memories"]
    assert roots["cline:project"].policy.is_index("activeContext.md")
    assert roots["cline:project"].in_checkout


def test_rules_in_one_file_and_in_the_other_folder_of_the_user(machine: Machine, tmp_path: Path) -> None:
    machine.write("app/.clinerules")
    machine.write("~/Cline/Rules/a.md")
    assert listed(machine.roots(), tmp_path / "state") == {
        "cline:global:instructions-home": ["a.md"],
        "cline:project:instructions": [".clinerules"],
    }


@pytest.mark.parametrize(
    ("files", "agent"),
    [
        (["activeContext.md"], "cline"),
        (["decisionLog.md"], "roo"),
        (["decisionLog.md", "projectbrief.md"], "cline"),
        (["../.roo/rules/a.md", "progress.md"], "roo"),
        (["../.roo/rules/a.md", "../.clinerules/a.md"], "cline"),
    ],
)
def test_a_bank_has_one_owner(machine: Machine, files: list[str], agent: str) -> None:
    machine.path("app/memory-bank").mkdir()
    for name in files:
        machine.write(f"app/memory-bank/{name}")
    roots = machine.roots()
    assert [root.agent for root in roots.values() if root.path.endswith("memory-bank")] == [agent]


def test_a_project_without_any_has_none(machine: Machine) -> None:
    machine.write("app/README.md")
    assert list(machine.roots()) == NATIVE


def test_the_users_agents_md_comes_between_the_projects_rules_and_the_users(machine: Machine) -> None:
    for name in ("~/.agents/AGENTS.md", "~/.agents/other.md", "~/.cline/rules/b.md", "app/.clinerules/a.md"):
        machine.write(name)
    machine.write("app/AGENTS.md")
    found = [os.path.basename(one.path) for one in started(machine, "cline")]
    assert found == ["AGENTS.md", "a.md", "AGENTS.md", "b.md"]
    shown = listed(machine.roots(), machine.folder / "state")
    assert shown["cline:global:agents-instructions"] == ["AGENTS.md"]
