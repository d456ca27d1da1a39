"""tool --profile sdk: one folder, in the words of Anthropic's SDK."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.features.tools.test_verbs import START, ask


def calls(*fields: dict[str, object]) -> bytes:
    """A call a line."""
    return b"".join(json.dumps(call).encode() + b"\n" for call in fields)


def answers(out: bytes) -> list[dict[str, object]]:
    """The answers, one a line."""
    return [json.loads(line) for line in out.splitlines()]


CREATE: dict[str, object] = {"command": "create", "path": "/memories/a.md", "file_text": "one\n"}
VIEW: dict[str, object] = {"command": "view", "path": "/memories/a.md"}


def test_it_serves_one_folder_in_the_sdks_words(cli: Cli, tmp_path: Path) -> None:
    base = tmp_path / "memory"
    result = cli("tool", "--profile", "sdk", "--base", str(base), stdin=calls(CREATE, VIEW, {"command": "nonsense"}))
    assert answers(result.raw) == [
        {"ok": True, "output": "File created successfully at: /memories/a.md"},
        {
            "ok": True,
            "output": "Here's the content of /memories/a.md with line numbers:\n     1\tone\n     2\t",
        },
        {"ok": False, "error": "Unknown command: nonsense"},
    ]
    assert (result.status, result.err) == (0, "")
    assert (base / "memories/a.md").read_text() == "one\n"
    assert os.listdir(base) == ["memories"]


def test_history_has_it_for_a_root_given_by_hand(cli: Cli, tmp_path: Path) -> None:
    base = tmp_path / "memory"
    cli("tool", "--profile", "sdk", "--base", str(base), "--client", "probe", stdin=calls(CREATE, VIEW))
    rows = json.loads(cli("--root", f"notes={base}/memories", "ls", "notes", "--json").raw)["items"]
    assert [(row["path"], row["actor"], row["uses"]) for row in rows] == [("a.md", "tool:probe", 2)]


@pytest.mark.parametrize("flag", [("--access", "ro"), ("--client", "probe")])
def test_who_may_only_read_makes_nothing(cli: Cli, tmp_path: Path, flag: tuple[str, str]) -> None:
    config = Path(os.environ["MEMTUI_HOME"]) / "config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text("[access]\nprobe = 'ro'\n")
    base = tmp_path / "memory"
    words = ("tool", "--profile", "sdk", "--base", str(base), *flag)
    view, made = answers(cli(*words, stdin=calls(VIEW, CREATE)).raw)
    assert view["error"] == "The path /memories/a.md does not exist. Please provide a valid path."
    assert "E_ACCESS" in str(made["error"])
    assert not base.exists()


@pytest.mark.parametrize("words", [("--profile", "sdk"), ("--base", "x"), ("--profile", "memtui", "--base", "x")])
def test_the_profile_and_its_folder_belong_together(cli: Cli, words: tuple[str, ...]) -> None:
    result = cli("tool", *words, stdin=calls(VIEW))
    assert result.status == 2
    assert "--profile sdk and --base DIR belong together" in result.err


def test_the_switch_counts_at_the_next_call_of_a_running_tool(tmp_path: Path) -> None:
    command = [sys.executable, "-c", START, "tool", "--profile", "sdk", "--base", str(tmp_path / "memory")]
    config = Path(os.environ["MEMTUI_HOME"]) / "config.toml"
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert ask(process, calls(CREATE))["ok"] is True
        config.write_text("[agents]\nenabled = false\n")
        assert str(ask(process, calls(VIEW))["error"]).startswith("E_DISABLED")
        config.write_text("[access]\nanthropic-sdk = 'ro'\n")
        assert ask(process, calls(VIEW))["ok"] is True
        assert "E_ACCESS" in str(ask(process, calls({**CREATE, "path": "/memories/b.md"}))["error"])
        config.unlink()
        assert ask(process, calls({**CREATE, "path": "/memories/b.md"}))["ok"] is True
        process.kill()
