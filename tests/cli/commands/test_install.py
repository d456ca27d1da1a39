"""install, uninstall, and the list of agents."""

import json
import os
from pathlib import Path

import pytest

from memtui.clients.names import KNOWN
from tests.cli.conftest import Cli

EACH = pytest.mark.parametrize("client", KNOWN)


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
    written = b"\n".join(everything(home).values()).decode()
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
    assert rows.keys() == KNOWN.keys()
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
    settings.write_text('{"mcpServers": {"memtui": {"command": "/gone/memtui", "trust": true}}}')
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
    assert any("not found here" in note for note in notes)
    assert any("agents.enabled" in note for note in notes)
    assert any("/hooks" in note for note in notes)
    assert not any("project" in note for note in notes)


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
    (home / ".gemini" / "settings.json").write_text('{\n  // \x1b]0;owned\x07\n  "a": 1\n}\n')
    shown = cli("install", "gemini", terminal=True)
    assert b"\x1b]0" not in shown.raw
    assert "owned" in shown.out


def test_names_are_checked(cli: Cli) -> None:
    result = cli("install", "claud-code")
    assert result.status == 2
    assert "claude-code" in result.err
    assert cli("uninstall").status == 2
