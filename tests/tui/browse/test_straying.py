"""Projects that moved, share a folder or split over worktrees, as the health view says them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.agents import discover
from memtui.agents.folders import slug
from memtui.tui.browse.straying import strays
from memtui.tui.views.health_rows import Stray
from tests.agents.machine import Machine


@pytest.fixture
def machine(home: Path, tmp_path: Path) -> Machine:
    return Machine(home, tmp_path)


def found(machine: Machine) -> tuple[Stray, ...]:
    roots = tuple(discover(machine.surroundings("app"), all_projects=True))
    return strays(roots, str(machine.home))


def test_memories_of_a_project_that_is_gone(machine: Machine) -> None:
    gone = machine.home / "code" / "harbour"
    machine.write(f"~/.claude/projects/{slug(str(gone))}/memory/MEMORY.md")
    (stray,) = found(machine)
    assert stray.kind == "orphan"
    assert stray.text.startswith("gone; ")
    assert "its memories are left" in stray.lines[0]
    assert stray.root.startswith("claude-code:project:")


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


def test_a_folder_without_memories_is_nothing(machine: Machine) -> None:
    machine.path(f"~/.claude/projects/{slug('/gone/for/good')}/memory").mkdir(parents=True)
    assert found(machine) == ()


def test_two_projects_in_one_folder(machine: Machine) -> None:
    for name in ("a-b", "a_b"):
        (machine.home / name).mkdir()
    machine.write(f"~/.claude/projects/{slug(str(machine.home / 'a-b'))}/memory/MEMORY.md")
    (stray,) = found(machine)
    assert (stray.kind, stray.text) == ("shared", "one folder for 2 projects")
    assert "~/a-b, ~/a_b" in stray.lines[0]
