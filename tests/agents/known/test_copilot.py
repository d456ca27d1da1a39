"""Copilot's folders in the editor's storage: which edition, which workspace, and what is instructions."""

import json
from pathlib import Path

import pytest

from tests.agents import homes_more
from tests.agents.listing import listed
from tests.agents.machine import NATIVE, Machine

HASH = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
USER = "~/.config/Code/User"


def storage(machine: Machine, user: str, name: str, **about: str) -> None:
    """Give a workspace one memory, and say about it what the editor says."""
    for file, text in about.items():
        machine.write(f"{user}/workspaceStorage/{name}/{file}.json", text)
    machine.write(f"{user}/globalStorage/github.copilot-chat/commandEmbeddings.json")
    machine.write(f"{user}/workspaceStorage/{name}/GitHub.copilot-chat/memory-tool/memories/repo/a.md")


def test_what_is_found(machine: Machine, tmp_path: Path) -> None:
    homes_more.copilot(machine.home, machine.app)
    roots = machine.roots()
    assert listed(roots, tmp_path / "state") == {
        "copilot:global": ["git/commits.md", "preferences.md"],
        "copilot:global:instructions": ["mine.instructions.md"],
        f"copilot:project:{HASH}": ["build.md"],
        f"copilot:workspace:{HASH}": ["c2Vzc2lvbi0x/plan.md", "c2Vzc2lvbi0y/plan.md"],
        "copilot:global:cli": ["copilot-instructions.md"],
        "copilot:project:instructions": [
            ".github/copilot-instructions.md",
            ".github/instructions/tests.instructions.md",
        ],
    }
    mine = roots[f"copilot:project:{HASH}"]
    assert (mine.scope, mine.project, mine.aliases) == ("project", str(machine.app), ("copilot:project",))
    assert not mine.in_checkout
    assert roots[f"copilot:workspace:{HASH}"].scope == "workspace"
    assert "14 days" in roots[f"copilot:workspace:{HASH}"].note


def test_all_projects(machine: Machine) -> None:
    homes_more.copilot(machine.home, machine.app)
    here, everywhere = machine.roots(), machine.roots(all_projects=True)
    (added,) = set(everywhere) - set(here)
    assert everywhere[added].project == str(machine.folder / "other")
    assert str(machine.folder / "other") in everywhere[added].label


@pytest.mark.parametrize(
    ("user", "prefix"),
    [
        ("~/.config/Code - Insiders/User", "insiders-"),
        ("~/.config/VSCodium/User", "vscodium-"),
        ("~/Library/Application Support/Code/User", ""),
        ("~/.vscode-server/data/User", "server-"),
        ("portable/user-data/User", "portable-"),
    ],
)
def test_each_edition_and_place(machine: Machine, user: str, prefix: str) -> None:
    machine.write(f"{user}/globalStorage/github.copilot-chat/memory-tool/memories/a.md")
    storage(machine, user, "abc", workspace=json.dumps({"folder": machine.app.as_uri()}))
    machine.environ["VSCODE_PORTABLE"] = str(machine.path("portable"))
    instance = f":{prefix.rstrip('-')}" if prefix else ""
    assert list(machine.roots()) == [*NATIVE, f"copilot:global{instance}", f"copilot:project:{prefix}abc"]


@pytest.mark.parametrize(
    ("about", "found"),
    [
        ({"workspace": '{"folder": "file://{app}"}'}, True),
        ({"workspace": '{"folder": "file://{app}/src"}'}, False),
        ({"workspace": '{"workspace": "file://{app}/app.code-workspace"}'}, True),
        ({"workspace": '{"folder": "vscode-remote://ssh-remote%2Bhut/srv/app"}'}, True),
        ({"workspace": '{"folder": "vscode-remote://ssh-remote%2Bhut/srv/other"}'}, False),
        ({"meta": '{"id": "abc", "name": "app"}'}, True),
        ({"meta": '{"id": "abc", "name": "other"}'}, False),
        ({"workspace": "not json", "meta": "\0"}, False),
        ({}, False),
    ],
)
def test_which_workspace_it_is(machine: Machine, about: dict[str, str], *, found: bool) -> None:
    storage(machine, USER, "abc", **{file: text.replace("{app}", str(machine.app)) for file, text in about.items()})
    roots = machine.roots()
    assert ("copilot:project:abc" in roots) is found
    assert "copilot:project:abc" in machine.roots(all_projects=True)
    if found:
        exact = "file://" in about.get("workspace", "")
        unsure = "VS Code says only the workspace's name, so it may be another one."
        assert (unsure in roots["copilot:project:abc"].note) is not exact


def test_a_project_that_two_editions_know(machine: Machine) -> None:
    for user in (USER, "~/.config/VSCodium/User"):
        storage(machine, user, "abc", workspace=json.dumps({"folder": machine.app.as_uri()}))
    aliases = {name: root.aliases for name, root in machine.roots().items() if name.startswith("copilot:project")}
    assert aliases == {"copilot:project:abc": ("copilot:project",), "copilot:project:vscodium-abc": ()}


def test_a_path_with_percent_signs(machine: Machine) -> None:
    odd = machine.folder / "a b%41é"
    (odd / ".git").mkdir(parents=True)
    storage(machine, USER, "abc", workspace=json.dumps({"folder": odd.as_uri()}))
    assert machine.roots("a b%41é")["copilot:project:abc"].project == str(odd)


def test_the_editor_without_copilot_loads_nothing_of_it(machine: Machine) -> None:
    storage(machine, USER, "abc", workspace=json.dumps({"folder": machine.app.as_uri()}))
    assert "copilot:project:abc" in machine.roots()
    (machine.path(USER) / "globalStorage/github.copilot-chat/commandEmbeddings.json").unlink()
    (machine.path(USER) / "globalStorage/github.copilot-chat").rmdir()
    assert list(machine.roots()) == NATIVE


def test_its_variable_moves_the_instructions_of_the_command_line(machine: Machine) -> None:
    machine.write("cli/copilot-instructions.md")
    assert machine.moved("COPILOT_HOME", "cli")["copilot:global:cli"].path == str(machine.folder / "cli")


def test_the_users_instructions_behind_a_link_are_a_root(machine: Machine) -> None:
    machine.write("~/kept/a.instructions.md")
    machine.write("~/.copilot/copilot-instructions.md")
    machine.path("~/.copilot/instructions").symlink_to(machine.path("~/kept"))
    assert machine.roots()["copilot:global:link-instructions"].path == str(machine.path("~/kept"))
