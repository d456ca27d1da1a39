"""`memtui trash` and `memtui restore`."""

from hashlib import sha256
from pathlib import Path

from memtui.agents.layout import slug
from tests.cli.conftest import Cli


def test_the_trash_lists_what_was_deleted(here: Cli) -> None:
    assert here("trash", "--json").items == []
    assert here("rm", "notes/bare.md").status == 0
    (row,) = here("trash", "--json").items
    assert (row["address"], row["actor"]) == ("notes/bare.md", "cli")
    assert "notes/bare.md" in here("trash").out


def test_restore_takes_from_the_trash_and_from_history(here: Cli, notes: Path) -> None:
    here("rm", "notes/bare.md")
    assert here("restore", "notes/bare.md").status == 0
    assert (notes / "bare.md").read_text() == "No front matter.\n"
    old = sha256(b"No front matter.\n").hexdigest()
    here("save", "notes/bare.md", "-", "--expect", old, stdin=b"new\n")
    assert here("restore", "notes/bare.md", "--version", old[:10]).status == 0
    assert (notes / "bare.md").read_text() == "No front matter.\n"


def test_restore_brings_the_line_of_an_index_back(cli: Cli, home: Path) -> None:
    folder = home / ".claude/projects" / slug(str(Path.cwd())) / "memory"
    folder.mkdir(parents=True)
    index = b"- [A](a.md) - one\n- [B](b.md)\n"
    (folder / "MEMORY.md").write_bytes(index)
    (folder / "a.md").write_bytes(b"a\n")
    (folder / "b.md").write_bytes(b"b\n")
    assert cli("rm", "claude-code:project/a.md").status == 0
    assert cli("restore", "claude-code:project/a.md", terminal=True).err.strip() == "1 pointer brought back."
    assert (folder / "MEMORY.md").read_bytes() == index
    assert cli("undo").status == 0
    assert (folder / "MEMORY.md").read_bytes() == b"- [B](b.md)\n"
    assert not (folder / "a.md").exists()
    assert cli("restore", "claude-code:project/a.md", "--alone").err == ""
    assert (folder / "MEMORY.md").read_bytes() == b"- [B](b.md)\n"
