"""What a pin says: every sentence with a real hook, a real index, and what the agent is then given."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from memtui.agents.layout import slug
from tests.agents import homes
from tests.cli.conftest import Cli

TOPIC = "claude-code:project/testing.md"


@pytest.fixture
def memory(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Claude Code's memories of a checkout, one of them named below the cut, and the user in it."""
    app = tmp_path / "app"
    (app / ".git").mkdir(parents=True)
    folder = home / ".claude" / "projects" / slug(str(app)) / "memory"
    lines = [f"- [Note {number}](n{number}.md) — a note\n" for number in range(210)]
    files = {f"n{number}.md": "A note.\n" for number in range(210)}
    lines.append("- [Testing](testing.md) — how we test\n")
    homes.lay(folder, files | {"MEMORY.md": "".join(lines), "testing.md": "Show the failing test first.\n"})
    for path in folder.iterdir():
        os.utime(path, (1_750_000_000, 1_750_000_000))
    (home / ".claude" / "CLAUDE.md").write_text("Short sentences.\n")
    monkeypatch.chdir(app)
    return folder


def hook(home: Path) -> str:
    """Run what stands in Claude Code's settings, as Claude Code would."""
    settings = json.loads((home / ".claude" / "settings.json").read_text())
    (group,) = settings["hooks"]["SessionStart"]
    words = shlex.split(group["hooks"][0]["command"])
    done = subprocess.run(words, capture_output=True, check=True, text=True)
    return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])


def test_without_the_hook_it_is_not_given_and_the_command_that_helps_is_named(cli: Cli, memory: Path) -> None:
    said = cli("pin", TOPIC).err
    assert f"{TOPIC} is not given: no hook in Claude Code. memtui install claude-code --write" in said


def test_with_the_hook_it_is_given_as_said(cli: Cli, memory: Path, home: Path) -> None:
    assert cli("install", "claude-code", "--write").status == 0
    assert "Show the failing test" not in hook(home)
    assert f"{TOPIC}: Claude Code is given it from its next session on." in cli("pin", TOPIC).err
    assert "Show the failing test first." in hook(home)


def test_the_line_below_the_cut_is_named_and_moved_up_by_the_command_that_is_said(cli: Cli, memory: Path) -> None:
    said = cli("pin", TOPIC).err
    assert "The line for it in MEMORY.md is not loaded." in said
    words = said.partition("To move it up: memtui ")[2].split()
    before = (memory / "MEMORY.md").read_bytes()
    assert cli(*words, "--yes").status == 0
    assert (memory / "MEMORY.md").read_text().startswith("- [Testing](testing.md)")
    cli("unpin", TOPIC)
    assert (memory / "MEMORY.md").read_text().startswith("- [Testing](testing.md)")
    assert "not loaded" not in cli("pin", TOPIC).err
    for _ in range(3):
        cli("undo")
    assert cli("undo").status == 0
    assert (memory / "MEMORY.md").read_bytes() == before


def test_what_the_agent_loads_itself_is_given_without_memtui(cli: Cli, memory: Path) -> None:
    assert "Claude Code loads it by itself." in cli("pin", "claude-code:global/CLAUDE.md").err


def test_an_agent_without_a_place_for_memtui_says_so(cli: Cli, home: Path, tmp_path: Path) -> None:
    homes.mux(home, tmp_path)
    assert "is not given: memtui cannot be installed in Mux." in cli("pin", "mux:global/preferences.md").err


def test_what_is_in_no_agents_folder_is_given_to_nobody(cli: Cli, notes: Path) -> None:
    said = cli("--root", f"notes={notes}", "pin", "notes/bare.md").err
    assert "is not given: it lies in no folder of an agent that memtui knows." in said


def test_agents_that_are_switched_off_are_given_nothing(cli: Cli, memory: Path, config: Path) -> None:
    assert cli("install", "claude-code", "--write").status == 0
    config.write_text("agents.enabled = false\n")
    assert f"{TOPIC} is not given: it is switched off for the agent." in cli("pin", TOPIC).err


def test_too_many_pins_say_why_one_of_them_is_left_out(cli: Cli, memory: Path) -> None:
    assert cli("install", "claude-code", "--write").status == 0
    said = cli("pin", *(f"claude-code:project/n{number}.md" for number in range(10))).err
    assert said.count("is given it from its next session on") == 8
    assert said.count("is not given: all slots of the hot set are taken.") == 2
