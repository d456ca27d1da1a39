"""orphans and repoint."""

import json
from pathlib import Path

import pytest

from memtui.agents.folders import slug
from tests.cli.conftest import Cli


@pytest.fixture
def old(home: Path) -> Path:
    """The place of a project that is gone, with memories that stayed behind, and its place now."""
    gone = home / "old/app"
    folder = home / ".claude/projects" / slug(str(gone))
    (folder / "memory").mkdir(parents=True)
    (folder / "memory/a.md").write_text("a\n", encoding="utf-8")
    (folder / "s.jsonl").write_text(json.dumps({"cwd": str(gone)}) + "\n", encoding="utf-8")
    (home / "new/app/.git").mkdir(parents=True)
    return gone


def new_file(home: Path) -> Path:
    return home / ".claude/projects" / slug(str(home / "new/app")) / "memory/a.md"


def test_orphans_say_how_sure_and_where_to(cli: Cli, home: Path, old: Path) -> None:
    result = cli("orphans")
    assert result.status == 0
    (row,) = (line.split("\t") for line in result.lines)
    assert row == ["~/old/app", "claude-code", "1", "exact", "~/new/app"]
    assert "the agent's own files name the project" in result.err
    assert f"memtui repoint claude-code:project:{slug(str(old))} ~/new/app" in result.err


def test_orphans_as_json(cli: Cli, home: Path, old: Path) -> None:
    document = cli("orphans", "--json").json
    items = document["items"]
    assert isinstance(items, list)
    (item,) = items
    assert item["projects"] == [str(old)]
    assert item["sure"] == "exact"
    assert item["files"] == 1
    assert [one["path"] for one in item["moved"]] == [str(home / "new/app")]
    assert document["collisions"] == []
    assert document["worktrees"] == []


def test_no_orphans(cli: Cli, home: Path) -> None:
    result = cli("orphans")
    assert result.status == 0
    assert result.lines == []


def test_repoint_shows_first_and_writes_when_told(cli: Cli, home: Path, old: Path) -> None:
    result = cli("repoint", str(old), str(home / "new/app"))
    assert result.status == 0
    assert [line.split("\t")[:2] for line in result.lines] == [["a.md", "moves"]]
    assert "Nothing was written; --write does it." in result.err
    assert not new_file(home).exists()
    result = cli("repoint", "~/old/app", "~/new/app", "--write", "--json")
    assert result.json["written"] is True
    assert result.json["txn"]
    assert new_file(home).read_text(encoding="utf-8") == "a\n"
    assert cli("orphans").lines == []
    assert cli("undo", "--all-projects").status == 0
    assert not new_file(home).exists()
    assert (home / ".claude/projects" / slug(str(old)) / "memory/a.md").exists()


def test_repoint_refuses_in_words(cli: Cli, home: Path, old: Path) -> None:
    assert cli("repoint", "/nowhere", str(home)).status != 0
    result = cli("repoint", str(old), str(home / "missing"))
    assert result.status != 0
    assert "There is no folder" in result.err


def test_a_hostile_project_is_printed_as_signs(cli: Cli, home: Path) -> None:
    bad = str(home / "a\x1b[2Jb")
    folder = home / ".claude/projects" / slug(bad)
    (folder / "memory").mkdir(parents=True)
    (folder / "memory/a.md").write_text("a\n", encoding="utf-8")
    (folder / "s.jsonl").write_text(json.dumps({"cwd": bad}) + "\n", encoding="utf-8")
    result = cli("orphans")
    assert result.status == 0
    assert "\x1b" not in result.out + result.err


def test_a_folder_without_memories_is_no_orphan_and_no_folder_is_registered(cli: Cli, home: Path, old: Path) -> None:
    for number in range(50):
        (home / ".claude/projects" / f"-gone-{number}" / "memory").mkdir(parents=True)
    assert len(cli("orphans").lines) == 1
    assert not list(home.parent.rglob("state.db*")), "looking opens no ledger"
