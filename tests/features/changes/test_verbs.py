"""changes, seen, watch."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Person


def test_changes_are_there_until_they_are_seen(here: Cli, notes: Path, person: Person) -> None:
    person("yes\nyes\n")
    here("seen", "--all")
    (notes / "plain.md").write_text("changed\n")
    (notes / "new.md").write_text("new\n")
    (notes / "bare.md").unlink()
    rows = {row["address"]: row["kind"] for row in here("changes", "--json").items}
    assert rows["notes/plain.md"] == "modified"
    assert rows["notes/new.md"] == "created"
    assert "notes/plain.md" in here("ls", "--unseen", "--names").lines
    assert here("seen", "notes/plain.md", "--json").json == {"seen": 1}
    assert "notes/plain.md" not in here("changes").out
    assert here("changes", "--scope", "project", "--json").items == []
    here("seen", "--all")
    assert here("changes", terminal=True).err == "Nothing that you have not seen.\n"


def test_who_made_a_memory_is_not_who_wrote_it_last(here: Cli) -> None:
    call = {"command": "create", "path": "/memories/global/a.md", "file_text": "one\n"}
    here("tool", "--actor", "mcp:claude-code", stdin=json.dumps(call).encode())
    call = {"command": "str_replace", "path": "/memories/global/a.md", "old_str": "one", "new_str": "two"}
    here("tool", "--actor", "mcp:gemini", stdin=json.dumps(call).encode())
    (row,) = [row for row in here("changes", "--json").items if row["address"] == "memtui:global/a.md"]
    assert (row["kind"], row["actor"], row["writers"]) == ("created", "mcp:gemini", ["mcp:claude-code", "mcp:gemini"])
    assert "Claude Code, then Gemini CLI" in here("changes", terminal=True).out
    (piped,) = [line.split("\t") for line in here("changes").lines if "global/a.md" in line]
    assert piped[:3] == ["created", "memtui:global/a.md", "mcp:gemini"]


def test_seen_wants_to_know_what(here: Cli) -> None:
    assert here("seen").status == 2
    assert here("seen", "notes/bare.md", "--all").status == 2


@pytest.fixture
def watcher(notes: Path) -> Iterator["subprocess.Popen[str]"]:
    """`memtui watch --json` on the notes, past its first line."""
    words = [sys.executable, "-m", "memtui", "--root", f"notes={notes}", "--only-root", "watch", "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["health"] is not None:
            assert json.loads(line)["health"]["state"] in ("watching", "polling")
            break
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate(timeout=100)


def test_watch_prints_each_batch_at_once(watcher: "subprocess.Popen[str]", notes: Path) -> None:
    assert watcher.stdout is not None
    (notes / "new.md").write_text("hello\n")
    found = []
    for line in watcher.stdout:
        found = [change for change in json.loads(line)["changes"] if change["address"] == "notes/new.md"]
        if found:
            break
    assert (found[0]["kind"], found[0]["actor"]) == ("created", "outside")
    watcher.send_signal(signal.SIGINT)
    out, err = watcher.communicate(timeout=100)
    assert watcher.returncode == 130
    assert err == ""
    assert all(json.loads(line) for line in out.splitlines())


def test_watch_ends_quietly_when_its_reader_goes_away(watcher: "subprocess.Popen[str]", notes: Path) -> None:
    assert watcher.stdout is not None
    watcher.stdout.close()
    watcher.stdout = None
    os.utime(notes)
    (notes / "new.md").write_text("hello\n")
    assert watcher.wait(timeout=100) == 141
    assert watcher.stderr is not None
    assert watcher.stderr.read() == ""
