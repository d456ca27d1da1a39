"""Codex's folders: the memories, what is generated in them, and AGENTS.md from the checkout down to the user."""

import json
import os
from pathlib import Path

import pytest

from memtui.agents.layout import short_path
from memtui.engine.disk.paths import Patterns
from memtui.engine.look.roots import included
from tests.agents import homes
from tests.agents.listing import marked
from tests.agents.machine import NATIVE, Machine
from tests.agents.test_session_start_memories import started


def files(root_path: str) -> set[str]:
    """Every file below a folder, as a root names them."""
    return {path.relative_to(root_path).as_posix() for path in Path(root_path).rglob("*") if path.is_file()}


def test_what_is_found(machine: Machine) -> None:
    homes.codex(machine.home, machine.app)
    roots = machine.roots("app/api")
    assert list(roots) == [*NATIVE, "codex:global", "codex:global:instructions", "codex:project:instructions"]
    memories = roots["codex:global"]
    assert (memories.path, memories.kind) == (str(machine.home / ".codex" / "memories"), "memories")
    assert [roots[name].kind for name in list(roots)[4:]] == ["instructions"] * 2
    assert [root.in_checkout for root in list(roots.values())[3:]] == [False, False, True]


def test_generated_files_are_marked(machine: Machine) -> None:
    homes.codex(machine.home, machine.app)
    policy = machine.roots()["codex:global"].policy
    generated = {
        name for name in files(str(machine.home / ".codex/memories")) if Patterns(policy.generated).match(name)
    }
    assert generated == {
        "raw_memories.md",
        "phase2_workspace_diff.md",
        "rollout_summaries/2026-03-01T10-00-00-abcd-fix_release.md",
        "extensions/ad_hoc/instructions.md",
    }
    assert policy.format_of("MEMORY.md") == "codex"
    assert policy.format_of("memory_summary.md") is None


@pytest.mark.parametrize(
    ("cwd", "folders"), [("app", [""]), ("app/api", ["", "api/"]), ("app/api/v2", ["", "api/", "api/v2/"])]
)
def test_instructions_from_the_checkout_down_to_the_user(machine: Machine, cwd: str, folders: list[str]) -> None:
    homes.codex(machine.home, machine.app)
    names = ("AGENTS.override.md", "AGENTS.md", "TEAM.md")
    root = machine.roots(cwd)["codex:project:instructions"]
    assert root.path == str(machine.app)
    assert root.policy.include == tuple(folder + name for folder in folders for name in names)
    assert included(root, "api/v2/TEAM.md") is ("api/v2/" in folders)


def test_the_chain_begins_at_the_checkout_not_at_the_project(machine: Machine) -> None:
    homes.codex(machine.home, machine.app)
    found = machine.surroundings("app/api/v2", project=str(machine.app / "api"))
    assert (found.project, found.checkout) == (str(machine.app / "api"), str(machine.app))
    root = machine.roots("app/api/v2")["codex:project:instructions"]
    assert root.path == str(machine.app)


def test_without_a_checkout_only_the_folder_at_hand_counts(machine: Machine) -> None:
    machine.path("~/.codex").mkdir()
    machine.write("notes/AGENTS.md")
    machine.write("notes/deep/AGENTS.md")
    root = machine.roots("notes/deep")["codex:project:instructions"]
    assert (root.path, root.policy.include) == (
        str(machine.folder / "notes" / "deep"),
        ("AGENTS.override.md", "AGENTS.md"),
    )


def test_the_folder_can_be_elsewhere(machine: Machine) -> None:
    homes.codex(machine.home, machine.app)
    machine.write("other/memories/MEMORY.md")
    roots = machine.roots(CODEX_HOME=str(machine.folder / "other"))
    assert roots["codex:global"].path == str(machine.folder / "other" / "memories")
    assert "codex:global:instructions" not in roots
    assert roots["codex:project:instructions"].policy.include == ("AGENTS.override.md", "AGENTS.md")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["A.md", "docs/B.md", "AGENTS.md", "A.md"], ("A.md", "docs/B.md")),
        (["../A.md", "/etc/passwd", "a/../../b", "", "a\\b", "./c", 3], ()),
        ("A.md", ()),
    ],
)
def test_only_names_within_a_folder_are_further_names(
    machine: Machine, value: object, expected: tuple[str, ...]
) -> None:
    machine.write("app/AGENTS.md")
    machine.write("~/.codex/config.toml", f"project_doc_fallback_filenames = {json.dumps(value)}\n")
    include = machine.roots()["codex:project:instructions"].policy.include
    assert include == ("AGENTS.override.md", "AGENTS.md", *expected)


@pytest.mark.parametrize("text", ["project_doc_fallback_filenames = [", "\ufffe", "project_doc_fallback_filenames = 1"])
def test_any_settings_file_is_survived(machine: Machine, text: str) -> None:
    machine.write("app/AGENTS.md")
    machine.write("~/.codex/config.toml", text)
    assert "codex:project:instructions" in machine.roots()


def test_a_repositorys_settings_are_not_believed(machine: Machine) -> None:
    machine.path("~/.codex").mkdir()
    machine.write("app/AGENTS.md")
    machine.write("app/.codex/config.toml", 'project_doc_fallback_filenames = ["SECRETS.md"]\n')
    assert machine.roots()["codex:project:instructions"].policy.include == ("AGENTS.override.md", "AGENTS.md")


def test_agents_md_alone_is_not_its(machine: Machine) -> None:
    machine.write("app/AGENTS.md")
    assert list(machine.roots()) == [*NATIVE, "agents-md:project:instructions"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "switched off in ~/.codex/config.toml"),
        ("model = 'o'\n", "switched off in"),
        ("[features]\nmemories = false\n", "switched off in"),
        ("[features]\nmemories = true\n", ""),
        ("[features]\nmemory_tool = true\n", ""),
        ("features = { memories = true }\n", ""),
        ("[features]\nmemories = true\n[memories]\nuse_memories = false\n", "does not load them"),
        ("[features]\nmemories = true\n[memories]\ngenerate_memories = false\n", "adds nothing to them"),
        ("[features]\nmemories = false\n[profiles.a.features]\nmemories = true\n", ""),
    ],
)
def test_memories_that_are_switched_off_say_so(machine: Machine, text: str | None, said: str) -> None:
    machine.write("~/.codex/memories/memory_summary.md")
    if text is not None:
        machine.write("~/.codex/config.toml", text)
    root = machine.roots()["codex:global"]
    note = root.note
    assert said in note
    assert bool(root.switched_off) is (bool(said) and said != "adds nothing to them")
    assert ("switched off" in note) is bool(said)


def test_settings_that_are_no_file_are_not_waited_for(machine: Machine) -> None:
    machine.write("~/.codex/memories/memory_summary.md")
    os.mkfifo(machine.home / ".codex/config.toml")
    assert "codex:global" in machine.roots()


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
