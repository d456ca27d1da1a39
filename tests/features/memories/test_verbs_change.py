"""create, save, rm, workspace, and what all changes have in common."""

import fcntl
import hashlib
import os
import re
from pathlib import Path

import pytest

from memtui.wire import call
from tests.cli.conftest import Cli


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_create_takes_a_file_or_standard_input(here: Cli, notes: Path, tmp_path: Path) -> None:
    source = tmp_path / "source.txt"
    source.write_bytes(b"\xef\xbb\xbffrom a file\r\n")
    assert here("create", "notes/a.md", "--file", str(source)).status == 0
    assert (notes / "a.md").read_bytes() == source.read_bytes()
    for number, words in enumerate((["-"], ["--file", "-"], [])):
        assert here("create", f"notes/{number}.md", *words, stdin=b"piped").status == 0
        assert (notes / f"{number}.md").read_bytes() == b"piped"


def test_what_is_created_for_codex_is_a_note_that_it_takes_up(cli: Cli, home: Path) -> None:
    memories = home / ".codex/memories"
    memories.mkdir(parents=True)
    done = cli("create", "codex:global/tabs.md", "-", "--json", stdin=b"Use tabs.")
    address = str(done.json["address"])
    assert re.fullmatch(r"codex:global/extensions/ad_hoc/notes/\d{8}T\d{6}Z-tabs\.md", address)
    assert (memories / address.partition("/")[2]).read_text() == "Use tabs."
    for name in ("MEMORY.md", "memory_summary.md", "notes/a.md"):
        assert cli("create", f"codex:global/{name}", "-", stdin=b"v1").status == 0
        assert (memories / name).is_file(), (
            "a file that Codex knows, and one with a folder, are made where they are named"
        )


def test_create_never_overwrites(here: Cli, notes: Path) -> None:
    result = here("create", "notes/plain.md", "-", "--json", stdin=b"mine")
    assert (result.status, result.error["code"]) == (3, "E_EXISTS")
    assert "Use tabs." in (notes / "plain.md").read_text()


def test_create_says_so_without_a_text(here: Cli) -> None:
    result = here("create", "notes/a.md", terminal=True)
    assert result.status == 2
    assert "There is no text." in result.err
    assert here("create", "notes/a.md", "-", "--file", "x").status == 2
    assert here("create", "notes/a.md", "--file", "/nowhere/x").status == 4


def test_a_stopped_holder_of_the_lock_is_named_before_the_wait_is_over(
    here: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call.LOCK_WAIT == 5.0
    monkeypatch.setattr(call, "LOCK_WAIT", 0.5)
    here("create", "notes/a.md", "-", stdin=b"a")
    (lock,) = home.rglob("root-*.lock")
    with lock.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        os.pwrite(held.fileno(), f"{os.getpid()} cli".encode(), 0)
        result = here("create", "notes/b.md", "-", "--json", stdin=b"b")
    assert result.error["code"] == "E_LOCKED"
    assert "cli (process" in result.err
    assert "is writing to this root; waiting for it, 0.5 s at most." in result.err


def test_save_is_compare_and_set(here: Cli, notes: Path) -> None:
    old = (notes / "bare.md").read_text()
    result = here("save", "notes/bare.md", "-", "--expect", sha(old), "--json", stdin=b"new\n")
    assert result.status == 0
    assert {key: result.json[key] for key in ("result", "address", "sha256", "before")} == {
        "result": "saved",
        "address": "notes/bare.md",
        "sha256": sha("new\n"),
        "before": sha(old),
    }
    again = here("save", "notes/bare.md", "-", "--expect", sha(old), "--json", stdin=b"new\n")
    assert (again.status, again.json["result"]) == (0, "unchanged")


def test_a_conflict_keeps_both_texts(here: Cli, notes: Path) -> None:
    old = (notes / "bare.md").read_text()
    (notes / "bare.md").write_text("theirs\n")
    result = here("save", "notes/bare.md", "-", "--expect", sha(old), "--json", stdin=b"mine\n")
    assert result.status == 3
    error = result.error
    assert (error["code"], error["current_sha256"], error["expected_sha256"], error["yours_sha256"]) == (
        "E_CONFLICT",
        sha("theirs\n"),
        sha(old),
        sha("mine\n"),
    )
    assert (notes / "bare.md").read_text() == "theirs\n"
    assert here("view", f"notes/bare.md@{sha('mine' + chr(10))}").out == "mine\n"
    plain = here("save", "notes/bare.md", "-", "--expect", sha(old), stdin=b"mine\n")
    assert f"--expect {sha('theirs' + chr(10))}" in plain.err


def test_read_only_refuses_every_change(here: Cli, notes: Path) -> None:
    before = {path: path.read_bytes() for path in notes.rglob("*.md")}
    for words in (
        ("create", "notes/a.md", "-"),
        ("save", "notes/bare.md", "-", "--expect", "absent"),
        ("mv", "notes/bare.md", "notes/b.md"),
        ("rm", "notes/bare.md"),
        ("pin", "notes/bare.md"),
        ("edit", "notes/bare.md"),
    ):
        result = here("--read-only", *words, "--json", stdin=b"x")
        assert (result.status, result.error["code"]) == (5, "E_READ_ONLY"), words
    assert {path: path.read_bytes() for path in notes.rglob("*.md")} == before


def test_rm_reports_each_memory(here: Cli, notes: Path) -> None:
    result = here("rm", "notes/bare.md", "notes/gone.md", "notes/plain.md", "--json")
    assert result.status == 4
    assert [item["ok"] for item in result.items] == [True, False, True]
    assert sorted(path.name for path in notes.rglob("*.md")) == ["down.md"]
    undone = here("undo")
    assert undone.status == 0
    assert sorted(path.name for path in notes.rglob("*.md")) == ["bare.md", "down.md", "plain.md"]


def test_what_cannot_be_done_at_all_is_an_error(here: Cli) -> None:
    result = here("rm", "notes/gone.md", "--json")
    assert (result.status, result.error["code"]) == (4, "E_NOT_FOUND")
    mixed = here("rm", "notes/bare.md", "notes/gone.md")
    assert mixed.status == 4
    assert mixed.lines == ["deleted\tnotes/bare.md"]
    assert "E_NOT_FOUND" in mixed.err


def test_the_workspace_can_be_emptied_and_brought_back(here: Cli) -> None:
    assert here("workspace", "--json").items == []
    assert here("workspace", "rm").status == 4
    here("create", "memtui:workspace/a.md", "-", stdin=b"1")
    here("create", "memtui:workspace/b/c.md", "-", stdin=b"2")
    assert [row["path"] for row in here("workspace", "--json").items] == ["a.md", "b/c.md"]
    assert here("workspace", "rm").status == 0
    assert here("workspace", "--json").items == []
    assert here("undo").status == 0
    assert len(here("workspace", "--json").items) == 2


def test_the_actor_is_recorded(here: Cli) -> None:
    here("create", "notes/a.md", "-", "--actor", "agent:reviewer", stdin=b"1")
    (row,) = here("log", "--address", "notes/a.md", "--json").items
    assert row["actor"] == "agent:reviewer"
    for name in ("", "outside", "a\x1bb", "x" * 101):
        assert here("create", "notes/b.md", "-", f"--actor={name}", stdin=b"1").status == 2


def test_mv_and_rm_carry_what_names_the_memory_along(here: Cli, notes: Path) -> None:
    (notes / "links.md").write_bytes(b"See [bare](bare.md) and [[bare]].\r\n")
    result = here("mv", "notes/bare.md", "notes/deep/new.md", "--json")
    assert result.json["also"] == "2 links updated"
    assert (notes / "links.md").read_bytes() == b"See [new](deep/new.md) and [[deep/new]].\r\n"
    assert here("undo").status == 0
    assert (notes / "links.md").read_bytes() == b"See [bare](bare.md) and [[bare]].\r\n"
    said = here("rm", "notes/bare.md", terminal=True)
    assert "Still named in links.md" in said.err
    assert here("undo").status == 0
    alone = here("mv", "notes/bare.md", "notes/other.md", "--alone", "--json")
    assert alone.json["also"] == ""
    assert here("rm", "notes/other.md", "--alone").err == ""
    assert (notes / "links.md").read_bytes() == b"See [bare](bare.md) and [[bare]].\r\n"
