"""Goose's folders: categories of the user and of the project, and hints on the way down to the user."""

from pathlib import Path

from tests.agents import homes_more
from tests.agents.listing import listed
from tests.agents.machine import NATIVE, Machine


def test_what_is_found(machine: Machine, tmp_path: Path) -> None:
    homes_more.goose(machine.home, machine.app)
    machine.write("app/api/.goosehints")
    machine.write("app/api/.goose/memory/api.txt")
    machine.write("app/web/.goose/memory/web.txt")
    roots = machine.roots("app/api")
    assert list(roots) == [
        *NATIVE,
        "goose:global",
        "goose:global:instructions",
        "goose:project",
        "goose:project:below-api",
        "goose:project:instructions",
    ]
    assert [roots[name].kind for name in list(roots)[3:]] == [
        "memories",
        "instructions",
        "memories",
        "memories",
        "instructions",
    ]
    assert [roots[name].in_checkout for name in list(roots)[3:]] == [False, False, True, True, True]
    assert listed(roots, tmp_path / "state") == {
        "goose:global": ["commands.txt", "personal.txt"],
        "goose:global:instructions": [".goosehints"],
        "goose:project": ["development.txt"],
        "goose:project:below-api": ["api.txt"],
        "goose:project:instructions": [".goosehints", "api/.goosehints"],
    }


def test_text_files_hold_entries_and_others_are_shown_plainly(machine: Machine, tmp_path: Path) -> None:
    machine.write("app/.goose/memory/notes.md")
    machine.write("app/.goose/memory/notes.txt")
    roots = machine.roots()
    policy = roots["goose:project"].policy
    assert (policy.format_of("notes.txt"), policy.format_of("notes.md")) == ("goose", None)
    assert listed(roots, tmp_path / "state") == {"goose:project": ["notes.md", "notes.txt"]}


def test_the_folder_of_settings_moves_the_users(machine: Machine) -> None:
    machine.write("conf/goose/memory/a.txt")
    assert machine.moved("XDG_CONFIG_HOME", "conf")["goose:global"].path == str(machine.folder / "conf/goose/memory")
