"""install, uninstall, and the list of agents."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from memtui.agents.table import CLIENTS
from tests.cli.conftest import Cli
from tests.clients.leftovers import stray
from tests.faults import children

EACH = pytest.mark.parametrize("client", CLIENTS)


def everything(home: Path) -> dict[str, bytes]:
    state = home / ".memtui-test"
    return {
        str(path): path.read_bytes() for path in home.rglob("*") if path.is_file() and not path.is_relative_to(state)
    }


def changes(document: dict[str, object]) -> list[dict[str, object]]:
    found = document["changes"]
    assert isinstance(found, list)
    return found


@EACH
def test_it_is_shown_first_and_made_when_asked(cli: Cli, home: Path, client: str) -> None:
    (home / ".claude.json").write_text('{\n  "numStartups": 3\n}\n')
    before = everything(home)
    shown = cli("install", client)
    assert shown.status == 0
    assert "+" in shown.out
    assert "@@" in shown.out
    assert f"memtui install {client} --write" in shown.err
    assert everything(home) == before
    assert not (home / ".memtui-test").exists()

    written = cli("install", client, "--write", "--json").json
    assert written["written"] is True
    assert all(change["diff"] for change in changes(written))
    after = everything(home)
    assert after != before
    again = cli("install", client, "--write", "--json").json
    assert again["written"] is False
    assert {change["action"] for change in changes(again)} == {"none"}
    assert everything(home) == after

    assert "memtui uninstall" in cli("uninstall", client).err
    assert everything(home) == after
    assert cli("uninstall", client, "--write").status == 0
    assert everything(home) == before
    assert "is not in" in cli("uninstall", client, "--write").err


@EACH
def test_the_flag_is_carried_into_the_entry(cli: Cli, home: Path, client: str) -> None:
    assert cli("install", client, "--access", "plan", "--write").status == 0
    written = " ".join(b"\n".join(everything(home).values()).decode().split())
    assert '"--access", "plan"' in written
    assert f'"--home", "{home / ".memtui-test"}"' in written or str(home / ".memtui-test") not in written
    row = next(row for row in cli("install", "--json").items if row["client"] == client)
    assert (row["state"], row["access"]) == ("installed", "plan")
    assert row["hook"] is True


@EACH
def test_a_project_shares_nothing_of_this_machine(cli: Cli, home: Path, tmp_path: Path, client: str) -> None:
    project = tmp_path / "work"
    assert cli("install", client, "--level", "project", "--write").status == 0
    written = b"\n".join(everything(project).values()).decode()
    assert '"memtui"' in written
    assert str(tmp_path) not in written
    assert everything(home) == {}
    rows = [row for row in cli("install", "--json").items if row["level"] == "project"]
    assert [(row["client"], row["state"]) for row in rows] == [(client, "installed")]
    assert cli("uninstall", client, "--level", "project", "--write").status == 0
    assert list(project.rglob("*")) == []


def test_only_the_server(cli: Cli, home: Path) -> None:
    assert cli("install", "codex", "--no-hook", "--write").status == 0
    assert [Path(path).name for path in everything(home)] == ["config.toml"]
    assert "no hook" in cli("install").out
    assert cli("install", "codex", "--write").status == 0
    assert cli("uninstall", "codex", "--write").status == 0
    assert everything(home) == {}


def test_the_list_says_who_has_memtui(cli: Cli, home: Path) -> None:
    (home / ".codex").mkdir()
    rows = {row["client"]: row for row in cli("install", "--json").items}
    assert rows.keys() == CLIENTS.keys()
    assert [name for name, row in rows.items() if row["found"]] == ["codex"]
    assert {row["state"] for row in rows.values()} == {"absent"}
    assert "codex" in cli("install", terminal=True).out
    (home / ".codex" / "config.toml").write_text("= oops")
    row = next(row for row in cli("install", "--json").items if row["client"] == "codex")
    assert row["state"] == "unreadable"
    assert str(home / ".codex" / "config.toml") in str(row["problem"])
    assert "config.toml" in cli("install").err


def test_an_entry_typed_by_hand_is_brought_up_to_date(cli: Cli, home: Path) -> None:
    (home / ".gemini").mkdir()
    settings = home / ".gemini" / "settings.json"
    settings.write_text('{"mcpServers": {"memtui": {"command": "/gone/memtui", "args": ["mcp"], "trust": true}}}')
    row = next(row for row in cli("install", "--json").items if row["client"] == "gemini")
    assert (row["state"], row["command"], row["runs"], row["hook"]) == ("outdated", "/gone/memtui", False, False)
    assert "command is gone" in cli("install").out
    assert cli("install", "gemini", "--write").status == 0
    entry = json.loads(settings.read_text())["mcpServers"]["memtui"]
    assert entry["trust"] is True
    assert entry["command"] != "/gone/memtui"


@pytest.mark.parametrize(
    ("content", "code", "status"), [("{oops", "E_CONFIG", 2), ("[]", "E_CONFIG", 2), ("\udcff", "E_TEXT", 5)]
)
def test_a_file_that_cannot_be_read_is_left_alone(cli: Cli, home: Path, content: str, code: str, status: int) -> None:
    (home / ".qwen").mkdir()
    settings = home / ".qwen" / "settings.json"
    settings.write_bytes(content.encode("utf-8", "surrogateescape"))
    result = cli("install", "qwen", "--write", "--json")
    assert (result.status, result.error["code"]) == (status, code)
    assert str(settings) in str(result.error["message"])
    assert settings.read_bytes() == content.encode("utf-8", "surrogateescape")


def test_nothing_is_written_when_one_of_two_files_cannot_be(cli: Cli, home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").write_text("{oops")
    assert cli("install", "codex", "--write").status == 2
    assert [Path(path).name for path in everything(home)] == ["hooks.json"]


def test_what_to_know_is_said(cli: Cli, home: Path) -> None:
    (home / ".memtui-test").mkdir()
    (home / ".memtui-test" / "config.toml").write_text("agents.enabled = false\n")
    notes = cli("install", "codex", "--json").json["notes"]
    assert isinstance(notes, list)
    assert any(f"There is no folder {home / '.codex'}: is Codex installed?" in note for note in notes)
    assert any("agents.enabled" in note for note in notes)
    assert any("/hooks" in note for note in notes)
    assert not any("project" in note for note in notes)


def test_what_is_said_fits_the_moment(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".claude").mkdir()
    file = home / ".claude.json"
    file.write_text("{}\n")
    shown = cli("install", "claude-code").err
    assert "Close Claude Code first" in shown
    assert "look again" not in shown
    monkeypatch.setattr("memtui.features.install.verbs.server_runs_here", lambda: False)
    for words in ((), ("--access", "ro")):
        version = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
        written = cli("install", "claude-code", *words, "--write").err
        assert "look again" in written
        assert "Close Claude Code first" not in written
        assert f"What {file} held until now (version {version}) is kept in " in written
        assert "memtui[mcp], which is not installed: python3 -m pip install 'memtui[mcp]'" in written
        assert "installed?" not in written


def test_no_agent_is_given_the_context_twice(cli: Cli, home: Path) -> None:
    file = home / ".codex" / "config.toml"

    def row() -> tuple[object, object, object]:
        found = next(row for row in cli("install", "--json").items if row["client"] == "codex")
        return found["state"], found["hook"], found["context"]

    assert cli("install", "codex", "--no-hook", "--write").status == 0
    assert "--no-context" not in file.read_text()
    assert row() == ("installed", False, True)
    assert cli("install", "codex", "--write").status == 0
    assert "--short-context" in file.read_text()  # Codex does not always run its hook
    assert row() == ("installed", True, False)
    file.write_text(file.read_text().replace("--short-context", "--no-context"))
    assert row() == ("outdated", True, False)
    assert cli("install", "codex", "--write").status == 0
    assert "as it should be" in cli("install", "codex", "--no-hook", "--write").err  # its hook is still there
    assert cli("uninstall", "codex", "--write").status == 0
    assert cli("install", "codex", "--no-hook", "--no-context", "--write").status == 0
    assert row() == ("installed", False, False)
    assert "no hook, no context" in cli("install").out
    assert "--no-hook --no-context --write" in cli("install", "gemini", "--no-hook", "--no-context").err


@pytest.mark.parametrize(
    "words",
    [
        ("install", "codex", "--write"),
        ("edit", "--new", "memtui:global/a.md"),
        ("create", "memtui:global/a.md", "-"),
    ],
)
def test_the_first_command_makes_folders_for_the_user_alone(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text("a = 1\n")
    monkeypatch.setenv("VISUAL", "sh -c 'echo x > \"$0\"'")
    before = os.umask(0o022)
    try:
        assert cli(*words, stdin=b"x", terminal=words[0] == "edit").status == 0
    finally:
        os.umask(before)
    own = home / ".memtui-test"
    modes = {str(path): path.stat().st_mode & 0o777 for path in (own, *own.rglob("*")) if path.is_dir()}
    assert set(modes.values()) == {0o700}, modes


def test_a_hostile_file_is_shown_as_text(cli: Cli, home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text('{\n  "a": "\x9b31mowned\u202e"\n}\n')
    shown = cli("install", "gemini", terminal=True)
    assert "\x9b".encode() not in shown.raw
    assert "\u202e".encode() not in shown.raw
    assert "owned" in shown.out


PLACES = {
    "claude-code": (".claude.json", ".claude/settings.json", "mcpServers"),
    "codex": (".codex/config.toml", ".codex/hooks.json", "mcp_servers"),
    "gemini": (".gemini/settings.json", ".gemini/settings.json", "mcpServers"),
    "qwen": (".qwen/settings.json", ".qwen/settings.json", "mcpServers"),
    "vscode": (".config/Code/User/mcp.json", ".copilot/hooks/memtui.json", "servers"),
}
"""Where each has its servers and its hooks, and under which name the servers."""


def lay(home: Path, name: str, text: str) -> Path:
    file = home / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@pytest.fixture
def plain_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of settings where it is without a variable."""
    monkeypatch.delenv("XDG_CONFIG_HOME")


@EACH
@pytest.mark.usefixtures("plain_home")
def test_what_a_file_held_is_never_written_over(cli: Cli, home: Path, client: str) -> None:
    key = PLACES[client][2]
    text = f"[{key}.other]\ncommand = 'x'\n" if client == "codex" else json.dumps({key: {"other": {"command": "x"}}})
    file = lay(home, PLACES[client][0], text)
    held = set()
    for words in (("install",), ("install", "--access", "ro"), ("uninstall",), ("install",), ("uninstall",)):
        held.add(file.read_bytes())
        assert cli(words[0], client, *words[1:], "--write").status == 0
        kept = {path.read_bytes() for path in (home / ".memtui-test").rglob("*.backup")}
        assert held <= kept
    assert file.read_text() == text


@EACH
@pytest.mark.usefixtures("plain_home")
def test_what_a_killed_memtui_left_is_named_and_removed(cli: Cli, home: Path, client: str) -> None:
    for name, other in (("install", "uninstall"), ("uninstall", "install")):
        left = [stray((home / place).parent, b"{}") for place in set(PLACES[client][:2])]
        left.append(stray(home / ".memtui-test" / "clients", b"{}"))
        assert cli("doctor").status == 0
        rows = [row for row in cli("doctor", "--json").items if "was killed" in str(row["text"])]
        assert {row["level"] for row in rows} == {"warning"}
        assert all(sum(str(path) in str(row["text"]) for row in rows) == 1 for path in left)
        assert cli(name, client).status == 0
        assert all(path.exists() for path in left)
        advice = {str(row["advice"]) for row in rows if client in str(row["topic"])}
        assert advice == {f"memtui {other} {client} --write removes it."}
        removed = cli(name, client, "--write", "--json").json["removed"]
        assert isinstance(removed, list)
        assert sorted(removed) == sorted(map(str, left))
        assert not any(path.exists() for path in left)
        assert "was killed" not in cli("doctor").out
    stray((home / PLACES[client][0]).parent)
    assert "killed" in cli("uninstall", client, "--write").err


def test_two_processes_write_one_after_the_other(cli: Cli, home: Path) -> None:
    folder = lay(home, ".qwen/settings.json", '{\n  "theme": 1\n}\n').parent
    before = everything(home)

    def begin(access: str) -> tuple[int, int]:
        return children.start(lambda: cli("install", "qwen", "--access", access, "--write").status)

    for _ in range(3):
        ends = [children.finish(*begun) for begun in list(map(begin, ("rw", "plan", "ro", "rw")))]
        assert {end.value for end in ends} <= {0, 3}, ends
        assert 0 in [end.value for end in ends]
        row = next(row for row in cli("install", "--json").items if row["client"] == "qwen")
        assert row["hook"] is True
        assert row["access"] in ("rw", "plan", "ro")
        assert os.listdir(folder) == ["settings.json"]
        assert cli("uninstall", "qwen", "--write").status == 0
        assert everything(home) == before


def test_a_read_only_file_is_left_alone(cli: Cli, home: Path) -> None:
    file = lay(home, ".qwen/settings.json", "{}\n")
    file.chmod(0o444)
    for words in (("install", "qwen"), ("install", "qwen", "--write")):
        result = cli(*words, "--json")
        assert (result.status, result.error["code"]) == (5, "E_PERMISSION")
        assert str(file) in str(result.error["message"])
    assert cli("uninstall", "qwen", "--write").status == 0
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("{}\n", 0o444)


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("qwen", '{"mcpServers": {"memtui": {"command": "a"}, "memtui": {"command": "memtui", "args": ["mcp"]}}}'),
        ("qwen", '{"hooks": {}, "hooks": {"SessionStart": []}}'),
        ("qwen", '{"a": 1} trailing'),
        ("qwen", '{"a": 1}\n{"b": 2}\n'),
        ("qwen", '{"a": 1}\0'),
        ("qwen", "\0"),
        ("qwen", '{"mcpServers": []}'),
        ("qwen", '{"hooks": "x"}'),
        ("qwen", '{"hooks": {"SessionStart": {"a": 1}}}'),
        ("codex", "a = 1\na = 2\n"),
        ("codex", "a = 1 trailing\n"),
        ("codex", "a = 1\n\0"),
        ("codex", "mcp_servers = []\n"),
        ("codex", "[[mcp_servers]]\nname = 'x'\n"),
        ("codex", "[[mcp_servers.memtui]]\ncommand = 'x'\n"),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_left_alone(cli: Cli, home: Path, client: str, text: str) -> None:
    file = lay(home, PLACES[client][0], text)
    before = everything(home)
    for words, statuses in (("install", (2, 3)), ("install --write", (2, 3)), ("uninstall --write", (0, 2, 3))):
        result = cli(*words.split(), client)
        assert result.status in statuses, result.err
        assert everything(home) == before
        assert result.status == 0 or str(file) in result.err


def test_a_folder_in_the_place_of_the_file(cli: Cli, home: Path) -> None:
    (home / ".qwen" / "settings.json").mkdir(parents=True)
    (home / ".qwen" / "settings.json" / "mine").write_text("x")
    for verb in ("install", "uninstall"):
        result = cli(verb, "qwen", "--write", "--json")
        assert (result.status, result.error["code"]) == (5, "E_NOT_REGULAR")
    assert (home / ".qwen" / "settings.json" / "mine").read_text() == "x"


def test_names_are_checked(cli: Cli) -> None:
    result = cli("install", "claud-code")
    assert result.status == 2
    assert "claude-code" in result.err
    assert cli("uninstall").status == 2


@pytest.mark.parametrize("level", ["user", "project"])
@pytest.mark.parametrize("client", [client for client in CLIENTS if client != "vscode"])
def test_a_hook_of_prompts_comes_when_asked_for_and_goes_with_the_rest(
    cli: Cli, home: Path, tmp_path: Path, client: str, level: str
) -> None:
    kept = str(home / ".memtui-test")

    def here() -> dict[str, bytes]:
        return {path: data for path, data in everything(tmp_path).items() if not path.startswith(kept)}

    before = here()
    assert cli("install", client, "--level", level, "--write").status == 0
    assert b"--hook" not in b"".join(here().values())
    shown = cli("install", client, "--level", level, "--recall", "--extract").err
    assert f"memtui install {client} --level {level} --recall --extract --write" in shown
    assert 'extract = "auto"' in shown
    assert cli("install", client, "--level", level, "--recall", "--extract", "--write").status == 0
    installed = here()
    event = "BeforeAgent" if client == "gemini" else "UserPromptSubmit"
    (settings,) = (json.loads(data) for data in installed.values() if b"--hook" in data)
    (group,) = settings["hooks"][event]
    (hook,) = group["hooks"]
    assert f"recall --hook --client {client}" in hook["command"]
    assert "matcher" not in group
    (ending,) = settings["hooks"]["Stop" if client == "codex" else "SessionEnd"]
    assert f"extract --hook --client {client}" in ending["hooks"][0]["command"]
    assert len(settings["hooks"]["SessionStart"]) == 1
    for words in ((), ("--recall",), ("--extract",)):
        assert cli("install", client, "--level", level, "--write", *words).status == 0
        assert here() == installed
    row = next(row for row in cli("install", "--json").items if (row["client"], row["level"]) == (client, level))
    assert (row["state"], row["recall"], row["extract"], row["hook"]) == ("installed", True, True, True)
    assert cli("uninstall", client, "--level", level, "--write").status == 0
    assert here() == before


def test_an_agent_without_such_a_hook_is_not_given_one(cli: Cli) -> None:
    assert "memory_recall" in str(cli("install", "vscode", "--recall", "--json").error["hint"])


@pytest.mark.parametrize("client", [client for client in CLIENTS if client != "vscode"])
def test_the_hook_of_prompts_goes_from_a_file_that_was_edited_since(cli: Cli, home: Path, client: str) -> None:
    assert cli("install", client, "--recall", "--extract", "--write").status == 0
    path = next(path for path, data in everything(home).items() if b"--hook" in data)
    settings = json.loads(Path(path).read_bytes())
    Path(path).write_text(json.dumps({"theirs": 1, **settings}, indent=2))
    assert cli("uninstall", client, "--write").status == 0
    assert b"memtui" not in Path(path).read_bytes()
    assert json.loads(Path(path).read_bytes())["theirs"] == 1
