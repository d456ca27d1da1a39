"""How each client starts memtui: the files, commands and lines that are wanted, and what the pages say of them."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from memtui.agents.agent import LEVELS, PROJECT, USER, Client, Start
from memtui.agents.table import CLIENTS, canonical
from memtui.clients import entries
from memtui.clients.entries import client_named, clients, found_command, how_to_start, wanted
from memtui.config.directories import Directories
from memtui.config.read import load_settings
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from tests.house import pages
from tests.house.source import ROOT


def test_the_script_by_its_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "bin" / "memtui"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    assert found_command(str(script), "/py") == ("/py", "-P", "-m", "memtui")  # it cannot be run
    script.chmod(0o755)
    assert found_command(str(script), "/py") == (str(script),)
    monkeypatch.chdir(script.parent)
    assert found_command("memtui", "/py") == (str(script),)
    (tmp_path / "memtui").symlink_to(script)
    assert found_command(str(tmp_path / "memtui"), "/py") == (str(tmp_path / "memtui"),)


@pytest.mark.parametrize("argv0", ["", "/x/memtui/__main__.py", "/usr/bin/pytest", "/gone/memtui"])
def test_else_the_module(argv0: str) -> None:
    assert found_command(argv0, "/py") == ("/py", "-P", "-m", "memtui")


def test_the_context_can_be_left_to_a_hook() -> None:
    settings = Settings(Directories("/c", "/s", "/d", "per user"), None)
    for context in ("none", "short"):
        start = how_to_start(settings, "codex", access="ro", shared=True, context=context)
        assert start.args == ("mcp", "--access", "ro", f"--{context.replace('none', 'no')}-context")
        assert start.hook == "memtui context --format hook --client codex"


def test_one_folder_for_everything_is_carried_along(tmp_path: Path) -> None:
    home = str(tmp_path / "my memtui")
    settings = load_settings({"HOME": str(tmp_path)}, home=home)
    start = how_to_start(settings, "codex", access="plan")
    assert start.command == sys.executable
    assert start.args == ("-P", "-m", "memtui", "mcp", "--access", "plan", "--home", home)
    assert start.hook == f"{sys.executable} -P -m memtui context --format hook --client codex --home '{home}'"
    assert start.env == ()


@pytest.mark.skipif(sys.platform == "darwin", reason="memtui follows no XDG variables there")
def test_folders_that_the_environment_names_are_carried_along(tmp_path: Path) -> None:
    plain = load_settings({"HOME": str(tmp_path)})
    assert how_to_start(plain, "codex").env == ()
    settings = load_settings({"HOME": str(tmp_path), "XDG_DATA_HOME": "/data/ann"})
    start = how_to_start(settings, "codex")
    assert start.env == (("XDG_DATA_HOME", "/data/ann"),)
    assert start.server["env"] == {"XDG_DATA_HOME": "/data/ann"}


def test_what_is_shared_is_plain() -> None:
    settings = Settings(Directories("/c", "/s", "/d", "--home"), None)
    start = how_to_start(settings, "qwen", shared=True)
    assert start == Start("memtui", ("mcp",), "memtui context --format hook --client qwen", ())
    start = how_to_start(settings, "qwen", shared=True, more=("recall",))
    assert start.recall == "memtui recall --hook --client qwen"


EACH = pytest.mark.parametrize("client", clients(), ids=lambda client: client.name)


def files(
    client: Client, place: Surroundings, level: str, start: Start
) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    base = Path(place.project if level == PROJECT else str(place.home))
    return {
        Path(target.path).relative_to(base).as_posix(): [(entry.what, entry.path) for entry in target.entries]
        for target in client.files(place, level, start)
    }


SERVERS, HOOKS = ("mcpServers", "memtui"), ("hooks", "SessionStart")
WHERE = {
    ("claude-code", USER): {".claude.json": [("server", SERVERS)], ".claude/settings.json": [("hook", HOOKS)]},
    ("claude-code", PROJECT): {".mcp.json": [("server", SERVERS)], ".claude/settings.json": [("hook", HOOKS)]},
    ("codex", USER): {
        ".codex/config.toml": [("server", ("mcp_servers", "memtui"))],
        ".codex/hooks.json": [("hook", HOOKS)],
    },
    ("codex", PROJECT): {
        ".codex/config.toml": [("server", ("mcp_servers", "memtui"))],
        ".codex/hooks.json": [("hook", HOOKS)],
    },
    ("gemini", USER): {".gemini/settings.json": [("server", SERVERS), ("hook", HOOKS)]},
    ("gemini", PROJECT): {".gemini/settings.json": [("server", SERVERS), ("hook", HOOKS)]},
    ("qwen", USER): {".qwen/settings.json": [("server", SERVERS), ("hook", HOOKS)]},
    ("qwen", PROJECT): {".qwen/settings.json": [("server", SERVERS), ("hook", HOOKS)]},
    ("vscode", PROJECT): {".vscode/mcp.json": [("server", ("servers", "memtui"))]},
}


def test_there_is_a_module_for_each_name() -> None:
    assert [client.name for client in clients()] == list(CLIENTS)
    assert all(client_named(name).name == name for name in CLIENTS)


@pytest.mark.parametrize(("name", "level"), WHERE)
def test_where_each_keeps_its_configuration(place: Surroundings, start: Start, name: str, level: str) -> None:
    assert files(client_named(name), place, level, start) == WHERE[name, level]


@pytest.mark.skipif(sys.platform == "darwin", reason="the folder has another name there")
def test_where_vs_code_keeps_its_own(place: Surroundings, start: Start, home: Path) -> None:
    vscode = client_named("vscode")
    expected = {
        ".config/Code/User/mcp.json": [("server", ("servers", "memtui"))],
        ".copilot/hooks/memtui.json": [("value", ("version",)), ("hook", HOOKS)],
    }
    assert files(vscode, place, USER, start) == expected
    (home / ".config" / "VSCodium" / "User").mkdir(parents=True)
    assert ".config/VSCodium/User/mcp.json" in files(vscode, place, USER, start)


@pytest.mark.parametrize(
    ("variable", "name", "path"),
    [
        ("CLAUDE_CONFIG_DIR", "claude-code", ".claude.json"),
        ("CLAUDE_CONFIG_DIR", "claude-code", "settings.json"),
        ("CODEX_HOME", "codex", "config.toml"),
        ("GEMINI_CLI_HOME", "gemini", ".gemini/settings.json"),
        ("QWEN_HOME", "qwen", "settings.json"),
        ("COPILOT_HOME", "vscode", "hooks/memtui.json"),
        ("VSCODE_PORTABLE", "vscode", "user-data/User/mcp.json"),
    ],
)
def test_the_agents_own_variables_count(
    place: Surroundings, start: Start, tmp_path: Path, variable: str, name: str, path: str
) -> None:
    elsewhere = place._replace(variables=((variable, str(tmp_path / "else where")),))
    targets = client_named(name).files(elsewhere, USER, start)
    assert str(tmp_path / "else where" / path) in [target.path for target in targets]


@EACH
@pytest.mark.parametrize("level", LEVELS)
def test_what_stands_in_the_files(client: Client, place: Surroundings, start: Start, level: str) -> None:
    targets = client.files(place, level, start)
    assert all((target.inside == place.project) == (level == PROJECT) for target in targets)
    entries = [entry for target in targets for entry in target.entries]
    (server,) = (entry.value for entry in entries if entry.what == "server")
    assert isinstance(server, dict)
    assert (server["command"], server["args"]) == ("/opt/bin/memtui", ["mcp"])
    hooks = [entry for entry in entries if entry.what == "hook"]
    assert len(hooks) == (0 if (client.name, level) == ("vscode", PROJECT) else 1)
    for hook in hooks:
        assert start.hook in json.dumps(hook.value)
        assert "resume" not in json.dumps(hook.value)


@EACH
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("context", [None, True, False])
def test_a_server_gives_the_context_where_no_hook_does(
    client: Client, place: Surroundings, settings: Settings, level: str, *, context: bool | None
) -> None:
    entries = [
        entry
        for target in wanted(client, place, level, settings, access=None, context=context)
        for entry in target.entries
    ]
    (server,) = (entry.value for entry in entries if entry.what == "server")
    assert isinstance(server, dict)
    hooked = any(entry.what == "hook" for entry in entries)
    assert hooked is ((client.name, level) != ("vscode", PROJECT))
    gives = not hooked if context is None else context
    short = context is None and client.name in ("codex", "qwen")
    assert [word for word in server["args"] if "context" in word] == (
        [] if gives else ["--short-context" if short else "--no-context"]
    )


@EACH
def test_what_a_user_is_told_is_about_one_moment(client: Client) -> None:
    assert {note.level for note in client.notes} <= {"", *LEVELS}
    assert {note.when for note in client.notes} <= {"", "before", "after"}


GUIDE = ROOT / "docs" / "guide"


@pytest.mark.parametrize("name", CLIENTS)
def test_the_page_shows_what_is_written(place: Surroundings, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (GUIDE / f"{name}.md").read_text("utf-8")
    settings = Settings(Directories("/c", "/s", "/d", "per user"), None)
    monkeypatch.setattr("memtui.clients.entries.found_command", lambda *_: ("/home/ann/.local/bin/memtui",))
    for target in wanted(client_named(name), place, USER, settings):
        text = ""
        for entry in target.entries:
            text = entries.put(target, text, entry)
        assert f"```{target.format}\n{text}```\n" in page
        shown = Path(target.path).name if sys.platform == "darwin" else target.path.replace(str(place.home), "~")
        assert shown in page or f"`{Path(target.path).name}` of your profile" in page


def test_every_page_names_the_commands_of_its_client() -> None:
    for client in clients():
        page = (GUIDE / f"{client.name}.md").read_text("utf-8")
        for line in (f"memtui install {client.name} --write", f"memtui uninstall {client.name} --write"):
            assert line in page
        assert page.startswith(f"# Give {client.title} your memories in one minute\n")


def test_the_page_of_access_gives_each_client_the_name_it_has_in_history() -> None:
    rows = pages.table_rows((GUIDE / "access.md").read_text("utf-8"), "Per agent: the table")
    names = {name.strip("`"): actor.strip("`") for name, actor in rows if name.startswith("`")}
    assert names.keys() == CLIENTS.keys()
    for name, actor in names.items():
        assert canonical(actor) == name
        line = f"memtui log --actor {shlex.quote(actor)} "
        assert line in (GUIDE / f"{name}.md").read_text("utf-8")
