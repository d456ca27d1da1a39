"""orphans and repoint."""

import json
from pathlib import Path

import pytest

from memtui.agents.layout import slug
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


def test_repoint_shows_first_and_writes_when_told_and_undo_takes_it_back(cli: Cli, home: Path, old: Path) -> None:
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
    for _ in range(2):
        assert cli("undo").status == 0
        assert not new_file(home).exists()
        assert (home / ".claude/projects" / slug(str(old)) / "memory/a.md").exists()
        assert cli("redo").status == 0
        assert new_file(home).read_text(encoding="utf-8") == "a\n"


def test_undo_after_repoint_says_what_it_took_back_though_the_old_folder_is_gone(
    cli: Cli, home: Path, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / ".claude/projects" / slug(str(old))
    monkeypatch.chdir(home / "new/app")
    result = cli("repoint", str(old), ".", "--write")
    assert "memtui undo takes it back." in result.err
    assert not list((folder / "memory").iterdir())
    (folder / "memory").rmdir()
    done = cli("undo", terminal=True)
    assert done.lines == [f"undone: re-point 1 memory to {home / 'new/app'}"]
    assert (folder / "memory/a.md").read_text(encoding="utf-8") == "a\n"


def test_undo_reaches_it_also_after_something_was_done_in_another_project(
    cli: Cli, home: Path, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blog = home / "blog"
    (blog / ".git").mkdir(parents=True)
    (home / ".claude/projects" / slug(str(blog)) / "memory").mkdir(parents=True)
    assert cli("repoint", str(old), str(home / "new/app"), "--write").status == 0
    monkeypatch.chdir(blog)
    assert cli("create", "claude-code:project/mine.md", "-", stdin=b"mine\n").status == 0
    monkeypatch.chdir(home / "new/app")
    result = cli("undo")
    assert result.status == 0
    assert not new_file(home).exists()
    assert "Skipped a newer change (create claude-code:project" in result.err
    assert cli("redo").status == 0
    assert new_file(home).exists()


def test_undo_leaves_changes_of_another_project_and_of_strange_folders_alone(
    cli: Cli, home: Path, old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = new_file(home).parent
    memory.mkdir(parents=True)
    monkeypatch.chdir(home / "new/app")
    assert cli("create", "claude-code:project/mine.md", "-", stdin=b"mine\n").status == 0
    monkeypatch.chdir(tmp_path)
    result = cli("undo")
    assert result.status == 4
    assert "create claude-code:project" in result.err
    assert (memory / "mine.md").exists()
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
    (tmp_path / "x/a.md").write_text("a\n", encoding="utf-8")
    strange = [word for name in ("x", "y") for word in ("--root", f"{name}={tmp_path / name}")]
    assert cli(*strange, "mv", "x/a.md", "y/").status == 0
    assert cli("undo").status == 4
    assert (tmp_path / "y/a.md").exists()


def test_undo_opens_no_other_project_where_only_the_named_roots_are_wanted(cli: Cli, home: Path, old: Path) -> None:
    assert cli("repoint", str(old), str(home / "new/app"), "--write").status == 0
    for words in (("--only-root", "undo"), ("--read-only", "undo")):
        assert cli(*words).status != 0
        assert new_file(home).exists()


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
