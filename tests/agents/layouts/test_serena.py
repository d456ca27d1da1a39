"""Serena's folders: the user's, the project's, and where settings move the latter."""

from pathlib import Path

import pytest

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
