"""Who is here, who has memtui, and whether it would start."""

import json
import sys
from pathlib import Path

import pytest

from memtui.agents.agent import PROJECT, USER
from memtui.agents.table import CLIENTS
from memtui.clients.install import (
    ABSENT,
    INSTALLED,
    OUTDATED,
    TAKEN,
    UNREADABLE,
    ClientState,
    carry_out,
    look_at,
    plan_install,
    server_runs_here,
    survey,
)
from memtui.clients.start import client_named, clients, wanted
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from memtui.errors import RefusedError
from tests.clients.leftovers import stray

EACH = pytest.mark.parametrize("client", clients(), ids=lambda client: client.name)


def install(
    name: str,
    level: str,
    place: Surroundings,
    settings: Settings,
    access: str | None,
    *,
    hook: bool = True,
    context: bool | None = None,
) -> None:
    for target in wanted(client_named(name), place, level, settings, access=access, context=context):
        kept = tuple(entry for entry in target.entries if hook or entry.what == "server")
        if kept:
            carry_out(plan_install(target._replace(entries=kept)), settings.state_dir, installing=True)


def user(name: str, place: Surroundings, settings: Settings) -> ClientState:
    return look_at(client_named(name), USER, place, settings)


def test_nobody_is_here(place: Surroundings, settings: Settings) -> None:
    found = survey(place, settings)
    assert [each.client.name for each in found] == list(CLIENTS)
    assert {(each.level, each.present, each.state, each.command) for each in found} == {(USER, False, ABSENT, None)}


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("access", [None, "plan", "ro"])
def test_what_was_installed_is_found(place: Surroundings, settings: Settings, name: str, access: str | None) -> None:
    install(name, USER, place, settings, access)
    found = user(name, place, settings)
    assert (found.state, found.access, found.command) == (INSTALLED, access, sys.executable)
    assert found.present
    assert found.hook
    assert found.runs


@pytest.mark.parametrize("name", CLIENTS)
def test_the_context_comes_from_one_side(place: Surroundings, settings: Settings, name: str) -> None:
    install(name, USER, place, settings, None)
    found = user(name, place, settings)
    assert (found.state, found.hook, found.context) == (INSTALLED, True, False)
    install(name, USER, place, settings, None, hook=False, context=True)
    found = user(name, place, settings)
    assert (found.state, found.hook, found.context) == (OUTDATED, True, True)


@pytest.mark.parametrize("context", [True, False])
@pytest.mark.parametrize("name", CLIENTS)
def test_without_a_hook_the_user_chooses(place: Surroundings, settings: Settings, name: str, *, context: bool) -> None:
    install(name, USER, place, settings, "ro", hook=False, context=context)
    found = user(name, place, settings)
    assert (found.state, found.hook, found.context, found.access) == (INSTALLED, False, context, "ro")


def test_a_project_is_told_only_where_something_is(place: Surroundings, settings: Settings) -> None:
    install("codex", PROJECT, place, settings, None)
    assert [(each.client.name, each.state) for each in survey(place, settings) if each.level == PROJECT] == [
        ("codex", INSTALLED)
    ]


@pytest.mark.parametrize(
    ("entry", "state", "command", "access", "runs"),
    [
        ({"command": "/gone/memtui", "args": ["mcp"]}, OUTDATED, "/gone/memtui", None, False),
        (
            {"command": sys.executable, "args": ["-m", "memtui", "mcp", "--access", "ro"]},
            OUTDATED,
            sys.executable,
            "ro",
            True,
        ),
        ({"command": "memtui", "args": ["mcp", "--access=ro"]}, TAKEN, None, None, False),
        ({"command": "sh", "args": "mcp"}, TAKEN, None, None, False),
        ({"url": "http://localhost"}, TAKEN, None, None, False),
        ("memtui", TAKEN, None, None, False),
        (None, ABSENT, None, None, False),
    ],
)
def test_entries_of_other_hands(
    place: Surroundings,
    settings: Settings,
    home: Path,
    entry: object,
    state: str,
    command: str | None,
    access: str | None,
    runs: bool,
) -> None:
    (home / ".qwen").mkdir()
    (home / ".qwen" / "settings.json").write_text(json.dumps({"mcpServers": {"memtui": entry}}))
    found = user("qwen", place, settings)
    assert (found.state, found.command, found.access, found.runs) == (state, command, access, runs)
    assert not found.hook
    assert (found.problem is not None) == (state == TAKEN)


def test_one_broken_file_hides_nobody(place: Surroundings, settings: Settings, home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text("{oops")
    install("qwen", USER, place, settings, None)
    states = {found.client.name: found.state for found in survey(place, settings)}
    assert (states["gemini"], states["qwen"]) == (UNREADABLE, INSTALLED)
    problem = user("gemini", place, settings).problem
    assert problem is not None
    assert "line 1" in problem.message


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("claude-code", ".claude"),
        ("codex", ".codex"),
        ("gemini", ".gemini"),
        ("qwen", ".qwen"),
        ("vscode", ".config/Code/User"),
    ],
)
def test_a_folder_that_is_a_link_to_itself_hides_nobody(
    place: Surroundings, settings: Settings, home: Path, name: str, folder: str
) -> None:
    other = "qwen" if name != "qwen" else "codex"
    install(other, USER, place, settings, None)
    (home / folder).parent.mkdir(parents=True, exist_ok=True)
    (home / folder).symlink_to((home / folder).name)
    states = {found.client.name: found.state for found in survey(place, settings)}
    assert (states[name], states[other]) == (UNREADABLE, INSTALLED)
    found = user(name, place, settings)
    assert found.present
    assert found.problem is not None
    assert (found.problem.code, found.problem.message) == (
        "E_SYMLINK",
        f"{home / folder} is a link that leads nowhere but to itself.",
    )
    assert found.problem.hint
    with pytest.raises(RefusedError):
        install(name, USER, place, settings, None)


def test_what_was_left_is_told_once(place: Surroundings, settings: Settings, home: Path) -> None:
    left = stray(home / ".qwen")
    at_home = place._replace(project=str(home))
    assert [found.strays for found in survey(at_home, settings) if found.strays] == [(str(left),)]
    inside = stray(Path(place.project) / ".qwen")
    told = [(found.level, found.strays) for found in survey(place, settings) if found.strays]
    assert told == [(USER, (str(left),)), (PROJECT, (str(inside),))]


def test_looking_writes_nothing(place: Surroundings, settings: Settings, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    survey(place, settings)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_servers_package_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert server_runs_here()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert not server_runs_here()
