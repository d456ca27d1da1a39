"""Codex: one file a folder, overrides, 32 KiB, and the summary of its memories."""

import os

import pytest

from memtui.agents.layout import short_path
from tests.agents import homes
from tests.agents.listing import marked
from tests.agents.machine import Machine
from tests.agents.test_session_start_agents import started


def test_a_home_as_it_leaves_it(machine: Machine) -> None:
    homes.codex(machine.home, machine.app)
    home = os.path.relpath(machine.home, machine.folder)
    found = marked(machine, started(machine, "codex", "app/api/v2"))
    assert found[:5] == [
        f"{home}/.codex/memories/memory_summary.md",
        f"{home}/.codex/AGENTS.md",
        "app/AGENTS.md",
        "app/api/AGENTS.override.md",
        "app/api/v2/TEAM.md",
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


def test_the_summary_of_the_newer_folder_is_loaded_where_the_older_one_has_none(machine: Machine) -> None:
    machine.write("~/.codex/config.toml", ON)
    machine.write("~/.codex/memories_v2/memory_summary.md", "v1\nnew\n")
    assert [one.text for one in started(machine, "codex")] == [b"v1\nnew\n"]
    assert machine.roots()["codex:global:v2"].policy.index_file == "memory_summary.md"
    machine.write("~/.codex/memories/memory_summary.md", "v1\nold\n")
    assert [one.text for one in started(machine, "codex") if one.at_start] == [b"v1\nold\n"]


ON = "[features]\nmemories = true\n"


def test_memories_are_off_unless_they_are_switched_on(machine: Machine) -> None:
    machine.write("~/.codex/memories/memory_summary.md", "v1\n" + "x" * 12_000)
    (found,) = started(machine, "codex")
    assert (found.mark, found.text) == ("skipped", b"")
    assert found.why == "Not loaded: not switched on in ~/.codex/config.toml (features.memories)."
    machine.write("~/.codex/config.toml", ON)
    (found,) = started(machine, "codex")
    assert (found.mark, len(found.text)) == ("cut", 10_000)
    assert found.text.startswith(b"v1\n")
    machine.write("~/.codex/config.toml", "[features\n")
    assert [(one.label, one.mark) for one in started(machine, "codex")] == [
        ("memory summary", "skipped"),
        ("settings", "skipped"),
    ]


@pytest.mark.parametrize(
    ("text", "off"),
    [
        (ON, ""),
        ("[features]\nmemory_tool = true\n", ""),
        ("features = { memories = true }\n", ""),
        ("[features]\nmemories = false\n", "switched off in ~/.codex/config.toml (features.memories)."),
        ("[features]\nmemories = 1\n", "not switched on in ~/.codex/config.toml (features.memories)."),
        ("features = true\n", "not switched on in ~/.codex/config.toml (features.memories)."),
        (ON + "[memories]\nuse_memories = false\n", "switched off in ~/.codex/config.toml (memories.use_memories)."),
        (ON + "[memories]\nuse_memories = 'no'\n", ""),
        (ON + "[memories]\ngenerate_memories = false\n", ""),
        (f"profile = 'p'\n{ON}[profiles.p.features]\nmemories = false\n", "switched off in ~/.codex/config.toml"),
        (f"profile = 'q'\n{ON}[profiles.p.features]\nmemories = false\n", ""),
        ("profile = 'p'\n[profiles.p.features]\nmemories = true\n", ""),
    ],
)
def test_what_switches_memories_off(machine: Machine, text: str, off: str) -> None:
    machine.write("~/.codex/memories/memory_summary.md")
    machine.write("~/.codex/config.toml", text)
    (found,) = started(machine, "codex")
    assert found.why.startswith(f"Not loaded: {off}") if off else found.why == ""


def test_the_machines_settings_count_where_the_users_say_nothing(machine: Machine) -> None:
    machine.write("~/.codex/memories/memory_summary.md")
    machine.write("etc/codex/config.toml", ON)
    assert [one.mark for one in started(machine, "codex")] == [""]
    machine.write("~/.codex/config.toml", "[features]\nmemories = false\n")
    assert [one.mark for one in started(machine, "codex")] == ["skipped"]


def test_a_repository_switches_off_once_its_folder_is_trusted_and_never_on(machine: Machine) -> None:
    machine.write("~/.codex/memories/memory_summary.md")
    trust = f'[projects."{machine.app}"]\ntrust_level = "trusted"\n'
    brought = machine.write("app/.codex/config.toml", "[features]\nmemories = false\n")
    machine.write("~/.codex/config.toml", ON)
    assert [one.mark for one in started(machine, "codex")] == [""]
    machine.write("~/.codex/config.toml", ON + trust)
    (found,) = started(machine, "codex")
    assert short_path(str(brought), str(machine.home)) in found.why
    brought.write_text(ON)
    machine.write("~/.codex/config.toml", trust)
    assert [one.mark for one in started(machine, "codex")] == ["skipped"]


def test_without_markers_of_a_project_only_the_folder_at_hand_counts(machine: Machine) -> None:
    machine.write("app/AGENTS.md")
    machine.write("app/api/AGENTS.md")
    machine.write("~/.codex/config.toml", "project_root_markers = []\n")
    assert marked(machine, started(machine, "codex", "app/api")) == ["app/api/AGENTS.md"]
