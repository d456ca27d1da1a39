"""Serena's folders: the user's, the project's, and where settings move the latter."""

from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.disk.paths import matches
from memtui.engine.model import Actor, Address
from memtui.errors import RefusedError
from tests.agents import homes_more
from tests.agents.listing import listed
from tests.agents.machine import NATIVE, Machine


def test_what_is_found(machine: Machine, tmp_path: Path) -> None:
    homes_more.serena(machine.home, machine.app)
    roots = machine.roots()
    assert list(roots) == [*NATIVE, "serena:global", "serena:project"]
    root = roots["serena:project"]
    assert (root.scope, root.kind, root.in_checkout) == ("project", "memories", True)
    assert root.policy.whole == ("*",), "front matter is text to it"
    assert listed(roots, tmp_path / "state") == {
        "serena:global": ["java/style_guide.md"],
        "serena:project": ["modules/store.md", "project_overview.md", "suggested_commands.md"],
    }


def test_its_variable_moves_the_users(machine: Machine) -> None:
    machine.write("srv/memories/global/a.md")
    assert machine.moved("SERENA_HOME", "srv")["serena:global"].path == str(machine.folder / "srv/memories/global")


@pytest.mark.parametrize(
    ("setting", "place"),
    [
        ('"{folder}/all/$projectFolderName/.serena"', "all/app/.serena/memories"),
        ("'$projectDir/.mine' # here", "app/.mine/memories"),
    ],
)
def test_settings_move_a_projects(machine: Machine, setting: str, place: str) -> None:
    machine.write("app/.serena/memories/old.md")
    moved = machine.write(f"{place}/a.md").parent
    text = setting.replace("{folder}", str(machine.folder))
    machine.write("~/.serena/serena_config.yml", f"projects: []\nproject_serena_folder_location: {text}\n")
    roots = machine.roots()
    assert roots["serena:project"].path == str(moved)
    assert "project_serena_folder_location" in roots["serena:project"].note
    assert roots["serena:project:checkout"].path == str(machine.app / ".serena/memories")


def test_a_setting_that_would_take_in_everything_is_not_believed(machine: Machine) -> None:
    machine.write("~/memories/private.md")
    machine.write("app/.serena/memories/a.md")
    for text in ("~", str(machine.folder), "/"):
        machine.write("~/.serena/serena_config.yml", f"project_serena_folder_location: {text}\n")
        assert machine.roots()["serena:project"].path == str(machine.app / ".serena/memories")


def test_a_repository_cannot_move_them(machine: Machine) -> None:
    machine.write("elsewhere/memories/a.md")
    machine.write("app/.serena/serena_config.yml", f"project_serena_folder_location: {machine.folder}/elsewhere\n")
    assert list(machine.roots()) == NATIVE


def test_what_its_tools_may_not_write_is_protected(machine: Machine) -> None:
    homes_more.serena(machine.home, machine.app)
    text = "read_only_memory_patterns:\n- global/java/.*\n- 'core'\n- '.*/store'\n"
    machine.write("~/.serena/serena_config.yml", text)
    roots = machine.roots()
    assert roots["serena:global"].policy.protected == ("java/*", "*/store.md")
    assert roots["serena:project"].policy.protected == ("core.md", "*/store.md")
    assert "read_only_memory_patterns" in roots["serena:project"].note
    assert [name for name in ("core.md", "modules/store.md", "x.md") if matches(name, ("core.md", "*/store.md"))] == [
        "core.md",
        "modules/store.md",
    ]
    machine.write("~/.serena/serena_config.yml", "edit_global_memories: False\n")
    roots = machine.roots()
    assert (roots["serena:global"].policy.protected, roots["serena:project"].policy.protected) == (("*",), ())


def test_what_the_project_protects_no_agent_writes(machine: Machine, tmp_path: Path) -> None:
    """docs/02-usage/045_memories.md of oraios/serena: the lists of both files add up."""
    homes_more.serena(machine.home, machine.app)
    machine.write("~/.serena/serena_config.yml", "read_only_memory_patterns: ['suggested_commands']\n")
    machine.write("app/.serena/project.yml", "read_only_memory_patterns:\n- modules/.*\n- global/java/.*\n")
    machine.write("app/.serena/project.local.yml", "read_only_memory_patterns: ['project_overview']\n")
    machine.write("app/web/.serena/memories/a.md")
    machine.write("app/web/.serena/project.yml", "read_only_memory_patterns: ['(a)+']\n")
    roots = machine.roots("app/web")
    assert roots["serena:global"].policy.protected == ("java/*",)
    assert roots["serena:project:below-web"].policy.protected == ("suggested_commands.md", "*")
    assert "memtui does not understand (a)+ there" in roots["serena:project:below-web"].note
    with Engine.open([roots["serena:project"]], state_dir=str(tmp_path / "state")) as engine:
        for name in ("modules/store.md", "project_overview.md", "suggested_commands.md"):
            address = Address("serena:project", name)
            before = engine.read(address)
            with pytest.raises(RefusedError, match="protected"):
                engine.save(address, b"new\n", expected_sha256=before.sha256, actor=Actor("mcp:codex"))
            assert engine.read(address).bytes == before.bytes
    (machine.app / ".serena/project.yml").unlink()
    (machine.app / ".serena/project.yml").symlink_to(machine.write("out.yml", "read_only_memory_patterns: ['x']\n"))
    assert "x.md" not in machine.roots()["serena:project"].policy.protected, "it leads out of the checkout"


@pytest.mark.parametrize("text", ["enable_memory_tools: False\n", "base_modes:\n- no-memories\n"])
def test_tools_that_are_switched_off_are_said(machine: Machine, text: str) -> None:
    homes_more.serena(machine.home, machine.app)
    assert "switched off" not in machine.roots()["serena:project"].note
    machine.write("~/.serena/serena_config.yml", text)
    for name in ("serena:global", "serena:project"):
        assert "switched off in ~/.serena/serena_config.yml" in machine.roots()[name].note
        assert machine.roots()[name].switched_off == "in ~/.serena/serena_config.yml"
