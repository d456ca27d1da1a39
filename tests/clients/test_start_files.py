"""What every client's module says: files below the right folders, entries the agents know, nothing of this machine in
what a project shares."""

import json
import sys
from pathlib import Path

import pytest

from memtui.agents.agent import LEVELS, PROJECT, USER, Client, Start
from memtui.agents.table import CLIENTS
from memtui.clients.start import client_named, clients, wanted
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings

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
