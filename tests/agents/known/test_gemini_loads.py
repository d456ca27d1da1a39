"""Gemini CLI: names from its settings, its own rule for imports, and its private index."""

import json
import os

import pytest

from tests.agents import homes
from tests.agents.listing import marked
from tests.agents.machine import Machine
from tests.agents.test_session_start_agents import started


def test_a_home_as_it_leaves_it(machine: Machine) -> None:
    homes.gemini(machine.home, machine.app)
    home = os.path.relpath(machine.home, machine.folder)
    found = marked(machine, started(machine, "gemini"))
    assert found[0] == f"{home}/.gemini/GEMINI.md"
    assert found[1:3] == [f"{home}/.gemini/tmp/app/memory/MEMORY.md", "app/GEMINI.md"]
    assert f"{home}/.gemini/tmp/app/memory/deploy.md: on demand" in found


def test_imports_out_of_the_project_are_refused_and_chains_end(machine: Machine) -> None:
    machine.write("secret.md", "SECRET")
    machine.write("app/GEMINI.md", "@../secret.md @1.md `@code.md`\n")
    for number in range(1, 8):
        machine.write(f"app/{number}.md", f"@{number + 1}.md\n")
    machine.write("app/a1.md", "@a2.md")
    found = started(machine, "gemini")
    assert marked(machine, found)[:2] == ["app/GEMINI.md", "secret.md: skipped"]
    machine.write("app/GEMINI.md", "@a1.md\n")
    for number in range(1, 8):
        machine.write(f"app/a{number}.md", f"@a{number + 1}.md\n")
    found = started(machine, "gemini")
    assert [one.mark for one in found] == ["", "", "", "", "", "", "skipped"]


def test_the_index_brings_what_it_imports(machine: Machine) -> None:
    homes.gemini(machine.home, machine.app)
    memory = machine.home / ".gemini/tmp/app/memory"
    (memory / "MEMORY.md").write_text("- @deploy.md\n- @gone.md,\n")
    found = {one.path.rpartition("/")[2]: one.mark for one in started(machine, "gemini") if str(memory) in one.path}
    assert found["deploy.md"] == ""
    assert found["gone.md,"] == "missing"


def test_further_folders_bring_instructions_once_that_is_switched_on(machine: Machine) -> None:
    machine.write("other/.git/HEAD")
    machine.write("other/GEMINI.md")
    machine.write("other/deep/GEMINI.md", "@../secret.md @../../secret.md\n")
    machine.write("other/secret.md", "inside\n")
    machine.write("secret.md", "SECRET")
    context: dict[str, object] = {"includeDirectories": [str(machine.folder / "other/deep"), "~/missing", 3, "a\0"]}
    machine.write("~/.gemini/settings.json", json.dumps({"context": context}))
    found = started(machine, "gemini")
    assert marked(machine, found) == ["other/GEMINI.md: skipped", "other/deep/GEMINI.md: skipped"]
    why = "Not loaded: not switched on in ~/.gemini/settings.json (context.loadMemoryFromIncludeDirectories)."
    assert {one.why for one in found} == {why}
    context["loadMemoryFromIncludeDirectories"] = True
    machine.write("~/.gemini/settings.json", json.dumps({"context": context}))
    assert marked(machine, started(machine, "gemini")) == [
        "other/GEMINI.md",
        "other/deep/GEMINI.md",
        "other/secret.md",
        "secret.md: skipped",
    ]


def test_a_repository_adds_no_folder(machine: Machine) -> None:
    machine.write("other/GEMINI.md")
    context = {"includeDirectories": ["../other"], "loadMemoryFromIncludeDirectories": True}
    machine.write("app/.gemini/settings.json", json.dumps({"context": context}))
    assert started(machine, "gemini") == []


@pytest.mark.parametrize(
    ("levels", "enabled", "is_loaded"),
    [
        ({"app": "DO_NOT_TRUST"}, None, False),
        ({"app": "DO_NOT_TRUST"}, False, True),
        ({"": "DO_NOT_TRUST"}, True, False),
        ({"": "DO_NOT_TRUST", "app": "TRUST_FOLDER"}, None, True),
        ({"": "TRUST_FOLDER", "app": "DO_NOT_TRUST"}, None, False),
        ({"app": "DO_NOT_TRUST", "app/deep": "TRUST_PARENT"}, None, True),
        ({"ap": "DO_NOT_TRUST"}, None, True),
        ({"app": 3}, None, True),
        ({}, None, True),
    ],
)
def test_a_folder_that_is_not_trusted_brings_nothing(
    machine: Machine, levels: dict[str, object], enabled: object, is_loaded: bool
) -> None:
    machine.write("~/.gemini/GEMINI.md")
    machine.write("app/GEMINI.md")
    machine.write("~/.gemini/settings.json", json.dumps({"security": {"folderTrust": {"enabled": enabled}}}))
    listed = {str(machine.folder / name): level for name, level in levels.items()}
    machine.write("~/.gemini/trustedFolders.json", json.dumps({"": "DO_NOT_TRUST", **listed}))
    own, brought = started(machine, "gemini")
    assert own.mark == ""
    why = "" if is_loaded else "Not loaded: its folder is not trusted in ~/.gemini/trustedFolders.json."
    assert (brought.mark, brought.why) == ("" if is_loaded else "skipped", why)


def test_what_the_folder_it_starts_in_and_older_files_are_called(machine: Machine) -> None:
    homes.gemini(machine.home, machine.app)
    (machine.home / ".gemini/tmp/app/memory/MEMORY.md").rename(machine.home / ".gemini/tmp/app/memory/GEMINI.md")
    settings = '// mine\n{"contextFileName": "GEMINI.md", "context": {"memoryBoundaryMarkers": []}}\n'
    machine.write("~/.gemini/settings.json", settings)
    found = [os.path.relpath(one.path, machine.home) for one in started(machine, "gemini", "app/api") if not one.mark]
    app = os.path.relpath(machine.app, machine.home)
    assert found == [".gemini/GEMINI.md", ".gemini/tmp/app/memory/GEMINI.md", f"{app}/api/GEMINI.md"]


def test_the_machines_settings_are_the_weakest_and_the_strongest(machine: Machine) -> None:
    for name in ("A.md", "B.md", "C.md"):
        machine.write(f"app/{name}")
    machine.write("etc/gemini-cli/system-defaults.json", json.dumps({"context": {"fileName": "A.md"}}))
    assert marked(machine, started(machine, "gemini")) == ["app/A.md"]
    machine.write("~/.gemini/settings.json", json.dumps({"context": {"fileName": "B.md"}}))
    assert marked(machine, started(machine, "gemini")) == ["app/B.md"]
    machine.write("etc/gemini-cli/settings.json", json.dumps({"context": {"fileName": "C.md"}}))
    assert marked(machine, started(machine, "gemini")) == ["app/C.md"]
