"""Projects that moved, share a folder or split over worktrees, as the health view says them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.agents.discovery import discover
from memtui.agents.layout import slug
from memtui.features.health.model import Stray
from memtui.workbench.browse.health import earlier_folders, find_strays
from tests.agents.machine import Machine


@pytest.fixture
def machine(home: Path, tmp_path: Path) -> Machine:
    return Machine(home, tmp_path)


def found(machine: Machine) -> tuple[Stray, ...]:
    roots = tuple(discover(machine.surroundings("app"), all_projects=True))
    return find_strays(roots, str(machine.home))


def test_memories_of_a_project_that_is_gone(machine: Machine) -> None:
    gone = machine.home / "code" / "harbour"
    machine.write(f"~/.claude/projects/{slug(str(gone))}/memory/MEMORY.md")
    (stray,) = found(machine)
    assert stray.kind == "orphan"
    assert stray.text.startswith("gone; ")
    assert "its memories are still here" in stray.lines[0]
    assert stray.root.startswith("claude-code:project:")


def test_only_what_stayed_of_the_project_one_stands_in_is_told(machine: Machine) -> None:
    for name in ("code/harbour", "code/other", "far/harbour"):
        gone = slug(str(machine.home / name))
        machine.write(f"~/.claude/projects/{gone}/0.jsonl", f'{{"cwd": "{machine.home / name}"}}\n')
        if not name.startswith("far"):
            machine.write(f"~/.claude/projects/{gone}/memory/MEMORY.md")
    (machine.home / ".claude/projects" / slug(str(machine.home / "far/harbour")) / "memory").mkdir()
    here = machine.home / "work" / "harbour"
    here.mkdir(parents=True)
    roots = discover(machine.surroundings("~/work/harbour"), all_projects=True)
    assert earlier_folders(roots, str(here), str(machine.home)) == ("~/code/harbour",)
    assert earlier_folders(roots, str(machine.app), str(machine.home)) == ()


def test_where_it_may_be_now_is_said(machine: Machine) -> None:
    gone = machine.home / "code" / "harbour"
    name = slug(str(gone))
    machine.write(f"~/.claude/projects/{name}/memory/MEMORY.md")
    machine.write(f"~/.claude/projects/{name}/0.jsonl", f'{{"cwd": "{gone}"}}\n')
    (machine.home / "work" / "harbour").mkdir(parents=True)
    (stray,) = found(machine)
    assert stray.path == "~/code/harbour"
    assert stray.text == "gone; perhaps ~/work/harbour"
    assert any(line.startswith("Perhaps now ~/work/harbour: ") for line in stray.lines)


def test_two_projects_in_one_folder(machine: Machine) -> None:
    for name in ("a-b", "a_b"):
        (machine.home / name).mkdir()
    machine.write(f"~/.claude/projects/{slug(str(machine.home / 'a-b'))}/memory/MEMORY.md")
    (stray,) = found(machine)
    assert (stray.kind, stray.text) == ("shared", "one folder for 2 projects")
    assert "~/a-b, ~/a_b" in stray.lines[0]
