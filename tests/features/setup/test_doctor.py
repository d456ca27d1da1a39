"""doctor."""

import os
from pathlib import Path

import pytest

from memtui.errors import StorageError
from memtui.features.setup import doctor as module
from tests.cli.conftest import Cli, Result


def topics(result: Result) -> "dict[object, dict[str, object]]":
    return {row["topic"]: row for row in result.items}


def test_every_finding_says_what_it_means(here: Cli) -> None:
    result = here("doctor", "--json")
    assert result.status == 0
    assert {"settings", "root notes", "ledger", "terminal", "color", "locale", "editor", "clipboard"} <= topics(
        result
    ).keys()
    assert all(row["level"] in ("ok", "note", "warning", "error") and row["text"] for row in result.items)
    assert all(row["advice"] for row in result.items if row["level"] in ("warning", "error"))


def test_the_report_is_readable_and_counts(here: Cli) -> None:
    result = here("doctor", terminal=True)
    assert "root notes" in result.out
    assert "note" in result.err
    assert here("doctor").lines[0].split("\t")[:2] == ["ok", "settings"]


def test_an_error_is_exit_7(cli: Cli, home: Path) -> None:
    (home / ".memtui-test").mkdir()
    (home / ".memtui-test" / "config.toml").write_text("calm = maybe\n")
    result = cli("doctor", "--json")
    assert result.status == 7
    assert topics(result)["settings"]["level"] == "error"


def test_the_terminal_is_described(here: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("SSH_CONNECTION", "1 2 3 4")
    monkeypatch.setenv("TMUX", "/tmp/tmux,1,0")
    rows = topics(here("doctor", "--json"))
    assert "dumb" in str(rows["terminal"]["text"]) or rows["terminal"]["level"] in ("note", "warning")
    assert "NO_COLOR" in str(rows["color"]["text"])
    assert "tmux" in str(rows["clipboard"]["text"])
    assert "calm is on (SSH_CONNECTION)" in str(rows["drawing"]["text"])


def test_a_missing_editor_is_a_warning(here: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "no-such-editor --wait")
    row = topics(here("doctor", "--json"))["editor"]
    assert row["level"] == "warning"
    assert "no-such-editor" in str(row["text"])
    monkeypatch.setenv("VISUAL", f"{os.sep}bin{os.sep}sh -c 'true'")
    assert topics(here("doctor", "--json"))["editor"]["level"] == "ok"


def test_a_low_watch_limit_is_a_warning_with_a_way_out(here: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_kernel_limit", lambda name: 5)
    monkeypatch.setattr("sys.platform", "linux")
    rows = [row for row in here("doctor", "--json").items if row["topic"] == "watching"]
    assert {row["level"] for row in rows} == {"warning"}
    assert "sysctl fs.inotify." in str(rows[0]["advice"])


def test_each_agent_has_a_finding(here: Cli, home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".qwen").mkdir()
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text("{oops")
    assert here("install", "qwen", "--write").status == 0
    rows = topics(here("doctor", "--json"))
    assert (rows["agent qwen"]["level"], rows["agent codex"]["level"]) == ("ok", "note")
    assert "memtui install codex" in str(rows["agent codex"]["advice"])
    assert rows["agent gemini"]["level"] == "warning"
    assert "agent claude-code" not in rows
    assert str(rows["agent qwen"]["text"]).endswith("(Qwen Code), with its hook; access rw.")
    (home / ".memtui-test" / "config.toml").write_text("[access.qwen]\n'*' = 'plan'\nglobal = 'off'\n")
    said = str(topics(here("doctor", "--json"))["agent qwen"]["text"])
    assert said.endswith("with its hook; access plan, off in global.")
    (home / ".memtui-test" / "config.toml").write_text("[access]\nqwen = 'off'\n")
    said = str(topics(here("doctor", "--json"))["agent qwen"]["text"])
    assert said.endswith("Access to memories is switched off for qwen [E_DISABLED].")
    settings = home / ".qwen" / "settings.json"
    settings.write_text('{"mcpServers": {"memtui": {"command": "/gone/memtui"}}}')
    row = topics(here("doctor", "--json"))["agent qwen"]
    assert row["level"] == "warning"
    assert "/gone/memtui" in str(row["text"])


def test_the_switch_and_slips_in_the_table_are_findings(here: Cli, home: Path) -> None:
    (home / ".memtui-test").mkdir()
    (home / ".memtui-test" / "config.toml").write_text("agents.enabled = false\n[access]\ncodx = 'off'\naider = 'ro'\n")
    rows = [row for row in here("doctor", "--json").items if row["topic"] == "agents"]
    assert [row["level"] for row in rows] == ["note", "warning"]
    assert "Did you mean codex?" in str(rows[1]["advice"])


@pytest.mark.parametrize("folder", [".claude", ".codex", ".gemini", ".qwen", ".config/Code/User"])
def test_a_folder_of_an_agent_that_is_a_link_to_itself_is_a_finding(here: Cli, home: Path, folder: str) -> None:
    (home / folder).parent.mkdir(parents=True, exist_ok=True)
    (home / folder).symlink_to((home / folder).name)
    result = here("doctor", "--json")
    (row,) = [row for row in result.items if str(row["text"]).startswith(f"{home / folder} ")]
    assert row["level"] == "warning"
    assert row["advice"]
    assert topics(result).keys() >= {"settings", "editor", "clipboard"}
    shown = here("install")
    assert shown.status == 0
    assert f"{home / folder} is a link that leads nowhere but to itself." in shown.err.replace("\n", " ")


def test_a_linked_folder_is_told_what_helps_with_a_link(cli: Cli, tmp_path: Path) -> None:
    inside, elsewhere = tmp_path / "work" / ".claude", tmp_path / "elsewhere"
    (tmp_path / "work" / ".git").mkdir(parents=True)
    inside.mkdir()
    elsewhere.mkdir()
    (inside / "agent-memory").symlink_to(elsewhere)
    (row,) = [row for row in cli("doctor", "--json").items if "through a link" in str(row["text"])]
    assert row["advice"] == "If it is yours, --root NAME=DIR names the folder the link leads to."


def test_memtuis_own_folder_that_is_a_link_to_itself_is_no_crash(here: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(folders: object) -> list[str]:
        raise StorageError("The folder cannot be listed.", code="E_IO", hint="Look at it.")

    monkeypatch.setattr("memtui.clients.disk.strays_in", fail)
    rows = [row for row in here("doctor", "--json").items if row["text"] == "The folder cannot be listed."]
    assert rows
    assert {row["level"] for row in rows} == {"warning"}


def test_a_damaged_ledger_is_salvaged_by_hand(here: Cli, tmp_path: Path) -> None:
    assert here("doctor", "--salvage", "--json").status == 0
    row = topics(here("doctor", "--salvage", "--json"))["salvage"]
    assert "sound" in str(row["text"])
    other = tmp_path / "other.db"
    other.write_bytes(b"no ledger")
    result = here("doctor", "--salvage", str(other), "--json")
    assert result.status == 7
    assert any("is no ledger" in str(row["text"]) for row in result.items)


def test_a_file_alone_is_not_looked_at(here: Cli) -> None:
    assert here("doctor", "some.db").status == 2
