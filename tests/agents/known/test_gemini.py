"""Gemini CLI's folders: private memories by the project's short name, and GEMINI.md at every level."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from memtui.engine import Engine
from tests.agents import homes
from tests.agents.listing import marked
from tests.agents.machine import NATIVE, Machine
from tests.agents.test_session_start_memories import started


def test_what_is_found(machine: Machine) -> None:
    homes.gemini(machine.home, machine.app)
    roots = machine.roots("app/api")
    assert list(roots) == [*NATIVE, "gemini:global:instructions", "gemini:project:app", "gemini:project:instructions"]
    mine = roots["gemini:project:app"]
    assert (mine.aliases, mine.project) == (("gemini:project",), str(machine.app))
    assert (mine.policy.index_file, mine.policy.index_format, mine.kind) == ("MEMORY.md", "links", "memories")
    assert roots["gemini:project:instructions"].policy.include == (
        "GEMINI.md",
        "TEAM.md",
        "api/GEMINI.md",
        "api/TEAM.md",
    )


def test_the_inbox_is_no_memory(machine: Machine) -> None:
    homes.gemini(machine.home, machine.app)
    machine.write("~/.gemini/tmp/app/memory/inbox/private/extraction.patch")
    with Engine.open(machine.roots().values(), state_dir=str(machine.folder / "state")) as engine:
        listed = {row.address.path for row in engine.rows.list().items if row.address.root == "gemini:project:app"}
    assert listed == {"MEMORY.md", "deploy.md"}


def test_a_folder_that_is_marked_as_anothers_is_not_mine(machine: Machine) -> None:
    homes.gemini(machine.home, machine.app)
    machine.write("~/.gemini/tmp/app/.project_root", str(machine.folder / "other"))
    assert "gemini:project:app" not in machine.roots()
    machine.path("~/.gemini/tmp/app/.project_root").unlink()
    assert "gemini:project:app" in machine.roots()


def test_a_folder_from_before_projects_had_names(machine: Machine) -> None:
    name = hashlib.sha256(str(machine.app).encode()).hexdigest()
    machine.write(f"~/.gemini/tmp/{name}/memory/GEMINI.md")
    root = machine.roots()[f"gemini:project:{name}"]
    assert (root.aliases, root.project) == (("gemini:project",), str(machine.app))


def test_a_project_may_be_called_like_another_root(machine: Machine) -> None:
    machine.write("~/.gemini/projects.json", json.dumps({"projects": {str(machine.app): "instructions"}}))
    machine.write("~/.gemini/tmp/instructions/memory/MEMORY.md")
    machine.write("app/GEMINI.md")
    roots = machine.roots()
    assert roots["gemini:project:instructions_"].aliases == ("gemini:project",)
    assert roots["gemini:project:instructions"].path == str(machine.app)


def test_all_projects(machine: Machine) -> None:
    homes.gemini(machine.home, machine.app)
    machine.path("~/.gemini/tmp/empty/chats").mkdir(parents=True)
    (machine.folder / "there").mkdir()
    machine.write("~/.gemini/tmp/there/memory/MEMORY.md")
    machine.write("~/.gemini/tmp/there/.project_root", str(machine.folder / "there"))
    here, roots = machine.roots(), machine.roots(all_projects=True)
    added = {name: (roots[name].project, "gone" in roots[name].note) for name in roots if name not in here}
    old = hashlib.sha256(b"/elsewhere").hexdigest()
    assert added == {
        "gemini:project:moved-away": (str(machine.folder / "moved-away"), True),
        "gemini:project:there": (str(machine.folder / "there"), False),
        f"gemini:project:{old}": (None, False),
    }


def test_the_folder_can_be_elsewhere(machine: Machine) -> None:
    homes.gemini(machine.home, machine.app)
    machine.write("else/.gemini/GEMINI.md")
    root = machine.moved("GEMINI_CLI_HOME", "else")["gemini:global:instructions"]
    assert root.path == str(machine.folder / "else" / ".gemini")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ("GEMINI.md",)),
        ({"context": {"fileName": " TEAM.md "}}, ("TEAM.md",)),
        ({"context": {"fileName": ["A.md", "../B.md", 1]}}, ("A.md",)),
        ({"contextFileName": "OLD.md"}, ("OLD.md",)),
        ({"context": {"fileName": "../../etc/passwd"}}, ("GEMINI.md",)),
        ({"context": 3}, ("GEMINI.md",)),
    ],
)
def test_the_users_settings_name_the_files(machine: Machine, settings: object, expected: tuple[str, ...]) -> None:
    machine.write("~/.gemini/settings.json", json.dumps(settings))
    for name in ("GEMINI.md", "TEAM.md", "A.md", "OLD.md"):
        machine.write(f"app/{name}")
    assert machine.roots()["gemini:project:instructions"].policy.include == expected


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"projects": 1}', '{"projects": {"x": 1, "/a": "../..", "": "x", "/b": "\\u0000", "/c": "a/b"}}', "{"],
)
def test_any_list_of_its_own_is_survived(machine: Machine, text: str) -> None:
    machine.write("~/.gemini/projects.json", text)
    machine.write("~/.gemini/tmp/x/memory/MEMORY.md")
    assert machine.roots(all_projects=True)["gemini:project:x"].project is None


@pytest.mark.parametrize("content", [b"", b"relative", b"\0", b"\xff" * 9000])
def test_any_mark_is_survived(machine: Machine, content: bytes) -> None:
    machine.write("~/.gemini/tmp/x/memory/MEMORY.md")
    Path(machine.path("~/.gemini/tmp/x/.project_root")).write_bytes(content)
    assert machine.roots(all_projects=True)["gemini:project:x"].project is None


def test_a_list_that_leads_out_is_not_followed(machine: Machine) -> None:
    machine.write("~/secret/memory/MEMORY.md")
    machine.path("~/.gemini/tmp").mkdir(parents=True)
    machine.write("~/.gemini/projects.json", json.dumps({"projects": {str(machine.app): "../../secret"}}))
    assert list(machine.roots()) == NATIVE
    machine.write("~/.gemini/projects.json", json.dumps({"projects": {str(machine.app): ".."}}))
    machine.write("~/.gemini/memory/MEMORY.md")
    assert list(machine.roots()) == NATIVE


@pytest.mark.parametrize(("value", "said"), [("true", True), ("false", False), ('"true"', False)])
def test_auto_memory_that_is_switched_on_says_so(machine: Machine, value: str, said: bool) -> None:
    homes.gemini(machine.home, machine.app)
    machine.write("~/.gemini/settings.json", '// mine\n{"experimental": {"autoMemory": ' + value + "}}\n")
    note = machine.roots()["gemini:project:app"].note
    assert ("Auto Memory is switched on in ~/.gemini/settings.json" in note) is said


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
