"""cost."""

import json
from pathlib import Path

import pytest

from memtui.agents import reader, session_start
from memtui.agents.agent import CUT_OFF, ON_DEMAND
from memtui.agents.loaded_text import CUT, Gap
from memtui.agents.session_start import LoadedFile
from memtui.engine.model import Address
from memtui.features.cost.start_cost import Cost, CountedFile
from memtui.features.cost.verbs import cost_json, summary_json
from tests.cli.conftest import Cli


@pytest.fixture
def machine(cli: Cli, home: Path) -> Cli:
    """A home with an agent's files, one of them with commands for the terminal in its name."""
    (home / ".claude").mkdir()
    (home / ".claude" / "CLAUDE.md").write_text("Be short.\n@../private.md\n")
    (home / ".claude" / "rules").mkdir()
    (home / ".claude" / "rules" / "e\x1b[31m.md").write_text("---\npaths: x\n---\n")
    (home / ".codex").mkdir()
    (home / ".codex" / "AGENTS.md").write_text("Small commits.\n")
    return cli


def test_one_line_for_each_agent(machine: Cli) -> None:
    result = machine("cost")
    assert result.status == 0
    lines = [line.split("\t") for line in result.lines]
    assert [line[0] for line in lines] == ["claude-code", "codex", "memtui"]
    assert lines[1][1:3] == ["1", "15"]
    shown = machine("cost", terminal=True)
    assert "AGENT" in shown.out
    assert "1 for matching files" in shown.out


def test_the_list_of_one_agent(machine: Cli, home: Path) -> None:
    result = machine("cost", "--agent", "claude-code")
    assert [line.split("\t")[2:] for line in result.lines] == [
        ["user instructions", f"{home}/.claude/CLAUDE.md", ""],
        ["import", f"{home}/private.md", "missing"],
        ["user rule", f"{home}/.claude/rules/e␛[31m.md", "only when matching files are touched"],
    ]
    shown = machine("cost", "--agent", "Claude Code", terminal=True)
    assert "~/.claude/CLAUDE.md" in shown.out
    assert "\x1b[31m" not in shown.out
    assert "Claude Code starts with 1 file: 25 bytes" in shown.err.replace("\n", " ")


def test_memories_that_are_switched_off_are_told_together_with_the_file_that_says_so(machine: Cli, home: Path) -> None:
    (home / ".codex" / "memories").mkdir()
    for name in ("memory_summary.md", "MEMORY.md", "a.md", "b.md"):
        (home / ".codex" / "memories" / name).write_text("v1\n")
    (home / ".codex" / "config.toml").write_text("[features]\nmemories = false\n")
    shown = machine("cost", "--agent", "codex", terminal=True).err.replace("\n", " ")
    why = "Not loaded: switched off in ~/.codex/config.toml (features.memories)."
    assert f"4 files, the first is ~/.codex/memories/memory_summary.md: {why}" in shown
    assert shown.count("switched off") == 1
    assert "Codex starts with 1 file: 15 bytes" in shown
    (home / ".codex" / "memories" / "b.md").unlink()
    shown = machine("cost", "--agent", "codex", terminal=True).err.replace("\n", " ")
    assert [f"/{name}: {why}" in shown for name in ("memory_summary.md", "MEMORY.md", "a.md")] == [True] * 3
    items: list[dict[str, object]] = machine("cost", "--agent", "codex", "--json").json["items"]  # type: ignore[assignment]
    assert [one["why"] for one in items if one["mark"] == "skipped"] == [why] * 3


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few files of a folder are looked at, and so few are listed of a source that is not loaded."""
    monkeypatch.setattr(reader, "NAMES", 30)
    monkeypatch.setattr(session_start, "LISTED", 20)


def test_many_that_are_switched_off_are_all_counted(machine: Cli, home: Path, few: None) -> None:
    folder = home / ".codex" / "memories"
    folder.mkdir()
    count = session_start.LISTED + 4
    for number in range(count):
        (folder / f"{number:03}.md").write_text("v1\n")
    (home / ".codex" / "config.toml").write_text("[features]\nmemories = false\n")
    shown = machine("cost", "--agent", "codex", terminal=True)
    assert f"{count} files, the first is" in shown.err.replace("\n", " ")
    assert "they are not listed" not in shown.err.replace("\n", " ")
    line = next(line for line in machine("cost").lines if line.startswith("codex"))
    assert f"{count} skipped" in line
    assert sum("skipped" in line for line in machine("cost", "--agent", "codex").lines) == session_start.LISTED + 1


def test_json(machine: Cli) -> None:
    document = machine("cost", "--json").json
    items: list[dict[str, object]] = document["items"]  # type: ignore[assignment]
    assert [one["agent"] for one in items] == ["claude-code", "codex", "memtui"]
    one = machine("cost", "--agent", "codex", "--json").json
    assert (one["agent"], one["bytes"], one["files"]) == ("codex", 15, 1)
    assert "items" in one


def test_an_unknown_agent_is_refused(machine: Cli) -> None:
    result = machine("cost", "--agent", "claude-kode")
    assert result.status == 4
    assert "Did you mean claude-code?" in result.err


def test_an_agent_that_is_not_in_use_starts_with_what_is_there(machine: Cli) -> None:
    assert machine("cost", "--agent", "openclaw").out == ""


def test_a_bomb_in_one_rule_ends_nothing(machine: Cli, home: Path) -> None:
    deep = "---\npaths: " + "[" * 600 + "]" * 600 + "\n---\nx"
    (home / ".claude" / "rules" / "deep.md").write_text(deep)
    rows = [line.split("\t") for line in machine("cost", "--agent", "claude-code").lines]
    assert [row[1] for row in rows if row[3].endswith("deep.md")] == [str(len(deep))]
    assert [line.split("\t")[0] for line in machine("cost").lines] == ["claude-code", "codex", "memtui"]


def test_what_is_left_out_is_a_row_everywhere(machine: Cli, home: Path, few: None) -> None:
    for number in range(45):
        (home / ".claude" / "rules" / f"{number:04}.txt").touch()
        (home / ".claude" / "rules" / f"{number:04}.md").write_text("x")
    piped = machine("cost", "--agent", "claude-code")
    assert [line.split("\t")[2:] for line in piped.lines][-1] == ["user rule", "and 16 more, not counted", "skipped"]
    items: list[dict[str, object]] = machine("cost", "--agent", "claude-code", "--json").json["items"]  # type: ignore[assignment]
    assert str(items[-1]["why"]).startswith("and 16 more, not counted")
    shown = machine("cost", "--agent", "claude-code", terminal=True)
    assert "and 16 more, not counted" in shown.out


ITEMS = (
    CountedFile(
        LoadedFile("index", "/a/MEMORY.md", CUT_OFF, "Why.", 20, b"one\ntwo\nthree\n", (Gap(8, 20, CUT),)),
        8,
        2,
        Address("r", "m"),
    ),
    CountedFile(LoadedFile("memories", "/a/b.md", ON_DEMAND, "", 5), 0, 0),
    CountedFile(LoadedFile("hot set", "hot set", raw=b"x", made=True), 1, 1),
)
COST = Cost("x", "X", "/p", ITEMS, "estimate", "Estimated.", "Note.")


def test_sums_and_items() -> None:
    document = cost_json(COST)
    assert document["files"] == 2
    assert (document["bytes"], document["tokens"], document["tokens_by"]) == (9, 3, "estimate")
    assert document["below_limits"] == 12
    assert document["marks"] == {"cut": 1, "on demand": 1}
    items = document["items"]
    assert isinstance(items, list)
    index, memory, made = items
    assert index == {
        "what": "index",
        "path": "/a/MEMORY.md",
        "address": "r/m",
        "mark": "cut",
        "why": "Why.",
        "size": 20,
        "bytes": 8,
        "tokens": 2,
        "below_limits": 12,
        "cut_line": 3,
        "depth": 0,
        "files": 1,
    }
    assert (memory["address"], memory["cut_line"], made["path"]) == (None, None, None)
    assert json.dumps(document)


def test_the_summary_is_the_same_without_items() -> None:
    document = cost_json(COST)
    assert summary_json(COST) == {key: value for key, value in document.items() if key not in ("items", "note")}
