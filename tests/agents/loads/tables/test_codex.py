"""Codex: one file a folder, overrides, 32 KiB, and the summary of its memories."""

import os

from tests.agents import homes
from tests.agents.loads.test_tables import started, told
from tests.agents.machine import Machine


def test_a_home_as_it_leaves_it(machine: Machine) -> None:
    homes.codex(machine.home, machine.app)
    home = os.path.relpath(machine.home, machine.folder)
    found = told(machine, started(machine, "codex", "app/api/v2"))
    assert found[:5] == [
        f"{home}/.codex/AGENTS.md",
        "app/AGENTS.md",
        "app/api/AGENTS.override.md",
        "app/api/v2/TEAM.md",
        f"{home}/.codex/memories/memory_summary.md",
    ]
    assert found[5] == f"{home}/.codex/memories/MEMORY.md: on demand"
    assert not [path for path in found if ".git" in path]


def test_32_kib_for_the_project_and_not_for_the_users_own(machine: Machine) -> None:
    machine.write("~/.codex/AGENTS.md", "u" * 40_000)
    machine.write("app/AGENTS.md", "a" * 30_000)
    machine.write("app/b/AGENTS.md", "b" * 5_000)
    machine.write("app/b/c/AGENTS.md", "c" * 10)
    found = started(machine, "codex", "app/b/c")
    assert [len(one.text) for one in found] == [40_000, 30_000, 2_768, 0]
    assert [one.mark for one in found] == ["", "", "cut", "cut"]
    machine.write("~/.codex/config.toml", "project_doc_max_bytes = 100\n")
    assert [len(one.text) for one in started(machine, "codex", "app/b/c")] == [40_000, 100, 0, 0]


def test_memories_are_off_unless_they_are_switched_on(machine: Machine) -> None:
    machine.write("~/.codex/memories/memory_summary.md", "v1\n" + "x" * 12_000)
    (found,) = started(machine, "codex")
    assert (found.mark, found.text) == ("skipped", b"")
    machine.write("~/.codex/config.toml", "[features]\nmemories = true\n")
    (found,) = started(machine, "codex")
    assert (found.mark, len(found.text)) == ("cut", 10_000)
    assert found.text.startswith(b"v1\n")
    machine.write("~/.codex/config.toml", "[features\n")
    assert [one.mark for one in started(machine, "codex")] == ["skipped"]
