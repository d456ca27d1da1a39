"""Modules without a screen load no screen, and a one-shot command loads nothing it does not need."""

import re
import sys
from pathlib import Path

import pytest

from tests.house.interpreter import SCREEN, loaded_by_command, loads_a_screen
from tests.house.source import sources

SLOW = frozenset(
    {
        "asyncio",
        "dataclasses",
        "frontmatter",
        "inspect",
        "pathlib",
        "platformdirs",
        "portalocker",
        "tomllib",
        "watchfiles",
        "yaml",
    }
)
"""What a command that reads one memory has no use for; together they would cost several times its own work."""


def tops(modules: frozenset[str]) -> frozenset[str]:
    return frozenset(name.partition(".")[0] for name in modules)


def test_modules_without_a_screen_load_none() -> None:
    rooms = ("ui", "workbench", "__main__")
    views = re.compile(r"memtui\.features\.(host|\w+\.(inspector\.)?view\w*)")
    modules = (source.module for source in sources("memtui") if source.room not in rooms)
    assert not loads_a_screen(*(module for module in modules if not views.fullmatch(module)))


def test_a_deferred_screen_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "guilty.py").write_text("def act():\n    __import__('rich.text')\nact()\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert loads_a_screen("json", "guilty", "csv") == "guilty"
    assert not loads_a_screen("json", "csv")


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A folder of memories, one of them with plain front matter, and a ledger that knows them."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "plain.md").write_text("---\ndescription: How we write\n---\nText.\n")
    (folder / "bare.md").write_text("No front matter.\n")
    loaded_by_command([f"--root=notes={folder}", "--only-root", "ls"], str(tmp_path / "loaded"))
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ["view", "notes/plain.md"],
        ["ls"],
        ["ls", "notes", "--json"],
        ["roots", "--json"],
        ["history", "notes/bare.md"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_a_one_shot_command_is_light(arguments: list[str], memory: Path, tmp_path: Path) -> None:
    options = [] if arguments == ["--version"] else [f"--root=notes={memory}", "--only-root"]
    done, loaded = loaded_by_command([*options, *arguments], str(tmp_path / "loaded"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() or arguments[0] == "history"
    assert "memtui.cli" in loaded
    assert not tops(loaded) & (SLOW | SCREEN), sorted(tops(loaded) & (SLOW | SCREEN))


def test_a_command_that_asks_nothing_of_memories_loads_no_agent_and_no_engine(tmp_path: Path) -> None:
    for words in (["--version"], ["help", "ls"]):
        done, loaded = loaded_by_command(words, str(tmp_path / "loaded"))
        assert done.returncode == 0, done.stderr
        assert not {name for name in loaded if name.startswith(("memtui.agents.known", "memtui.engine.model"))}


READS = (
    *(
        "roots",
        "ls",
        "view notes/plain.md",
        "search write",
        "recall write",
        "obs",
        "obs status",
        "history notes/plain.md",
    ),
    *("blame notes/plain.md", "diff notes/plain.md", "who notes/plain.md", "entries list notes/plain.md", "trash"),
    *(
        "tasks",
        "status",
        "status --short",
        "health",
        "check",
        "rules",
        "orphans",
        "changes",
        "review",
        "log",
        "context",
    ),
    *("cost", "schedule ls", "budget", "sessions list", "config", "keys", "host ls", "doctor"),
)
"""Commands that only read. `obs search` makes the cards that are missing first, one process at a time."""


def test_no_command_that_only_reads_loads_the_library_of_locks(memory: Path, tmp_path: Path) -> None:
    for words in READS:
        command = [f"--root=notes={memory}", "--only-root", *words.split()]
        done, loaded = loaded_by_command(command, str(tmp_path / "loaded"))
        assert done.returncode != 2, (words, done.stderr)
        assert "memtui.cli" in loaded, words
        assert "portalocker" not in loaded, words


def test_the_library_of_locks_is_loaded_by_a_command_that_writes(memory: Path, tmp_path: Path) -> None:
    command = [f"--root=notes={memory}", "--only-root", "mv", "notes/bare.md", "notes/new.md"]
    done, loaded = loaded_by_command(command, str(tmp_path / "loaded"))
    assert done.returncode == 0, done.stderr
    assert "portalocker" in loaded


def test_what_python_loads_anyway_is_not_held_against_a_command(tmp_path: Path) -> None:
    _, loaded = loaded_by_command(["--version"], str(tmp_path / "loaded"))
    assert not loaded & {"sys", "os", "site"}
    assert {"sys", "os"} <= set(sys.modules)
