"""create, save, mv, rm, restore, undo, redo, pin, redact, workspace."""

import fcntl
import hashlib
from pathlib import Path

import pytest

from memtui.agents.layout import slug
from memtui.wire import call
from tests.cli.conftest import Cli, Person


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
        result = here("create", "notes/b.md", "-", "--json", stdin=b"b")
    assert result.error["code"] == "E_LOCKED"
    assert "cli (process" in result.err
    assert "is writing to this root; waiting for it, 0.5 s at most." in result.err


@pytest.mark.parametrize("name", ["-rf.md", "a:b.md", "con.md", ".git/x", "a\\b", " x.md", "x.md.", "a/../b"])
def test_create_refuses_names_that_break_a_rule(here: Cli, notes: Path, name: str) -> None:
    before = sorted(notes.rglob("*"))
    result = here("create", "--json", "--", f"notes/{name}", "-", stdin=b"x")
    assert result.status == 5
    assert result.error["unharmed"]
    assert sorted(notes.rglob("*")) == before


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


def test_mv_renames_and_moves_and_keeps_the_name_for_a_folder(here: Cli, notes: Path) -> None:
    assert here("mv", "notes/bare.md", "notes/renamed.md").status == 0
    assert here("mv", "notes/renamed.md", "notes/deep/").status == 0
    assert (notes / "deep" / "renamed.md").exists()
    result = here("mv", "notes/deep/renamed.md", "memtui:global", "--json")
    (item,) = result.items
    assert (item["address"], item["new_address"]) == ("notes/deep/renamed.md", "memtui:global/renamed.md")
    assert here("view", "/memories/global/renamed.md").out == "No front matter.\n"
    taken = here("mv", "notes/plain.md", "notes/deep/down.md", "--json")
    assert (taken.status, taken.error["code"]) == (3, "E_EXISTS")


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


def test_restore_takes_from_the_trash_and_from_history(here: Cli, notes: Path) -> None:
    here("rm", "notes/bare.md")
    assert here("restore", "notes/bare.md").status == 0
    assert (notes / "bare.md").read_text() == "No front matter.\n"
    old = sha("No front matter.\n")
    here("save", "notes/bare.md", "-", "--expect", old, stdin=b"new\n")
    assert here("restore", "notes/bare.md", "--version", old[:10]).status == 0
    assert (notes / "bare.md").read_text() == "No front matter.\n"


def test_undo_and_redo_several_steps(here: Cli, notes: Path) -> None:
    here("create", "notes/a.md", "-", stdin=b"1")
    here("mv", "notes/a.md", "notes/b.md")
    result = here("undo", "2", "--json")
    assert [item["operation"] for item in result.items] == ["undo", "undo"]
    assert not (notes / "a.md").exists()
    assert not (notes / "b.md").exists()
    assert here("redo", "2").status == 0
    assert (notes / "b.md").read_text() == "1"


def test_undo_past_the_beginning_says_so(here: Cli) -> None:
    for verb in ("undo", "redo"):
        nothing = here(verb, "--json")
        assert (nothing.status, nothing.error["code"]) == (4, "E_NOTHING_TO_UNDO")
        assert here(verb, "5").status == 4
    here("create", "notes/a.md", "-", stdin=b"1")
    here("create", "notes/b.md", "-", stdin=b"1")
    for verb, word in (("undo", "undone"), ("redo", "redone")):
        some = here(verb, "5")
        assert (some.status, some.lines) == (
            0,
            [f"{word}\tnotes/{name}.md" for name in ("ba" if word == "undone" else "ab")],
        )
        assert some.err == f"2 {word}; there is nothing more to {verb}.\n"
    as_json = here("undo", "5", "--json")
    assert (as_json.status, len(as_json.items)) == (0, 2)
    assert "E_NOTHING_TO_UNDO" not in as_json.err


def test_undo_tells_on_the_terminal_what_it_took_back(here: Cli, notes: Path) -> None:
    here("rm", "notes/bare.md", "notes/plain.md")
    here("pin", "notes/deep/down.md")
    assert here("undo", "2", terminal=True).lines == ["undone: pin notes/deep/down.md", "undone: delete 2 memories"]
    assert here("redo", terminal=True).lines == ["redone: delete 2 memories"]
    (notes / "bare.md").write_text("somebody else's\n")
    partly = here("undo", terminal=True)
    assert partly.lines == ["undone: delete 2 memories (1 of 2)", "undone notes/plain.md"]
    assert partly.status == 3
    assert "notes/bare.md" in partly.err


def test_a_pin_is_no_part_of_the_file(here: Cli, notes: Path) -> None:
    before = (notes / "bare.md").stat()
    assert here("pin", "notes/bare.md", "notes/plain.md").status == 0
    assert [row["pinned"] for row in here("ls", "--json").items] == [True, False, True]
    assert here("unpin", "notes/plain.md").status == 0
    assert [row["pinned"] for row in here("ls", "--json").items] == [True, False, False]
    assert (notes / "bare.md").stat().st_mtime_ns == before.st_mtime_ns


def test_what_is_not_there_cannot_be_pinned(here: Cli) -> None:
    result = here("pin", "notes/plain.md", "notes/nowhere.md", "--json")
    assert (result.status, result.error["code"]) == (4, "E_NOT_FOUND")
    assert not [row for row in here("ls", "--json").items if row["pinned"]]
    assert here("unpin", "notes/nowhere.md", "--json").error["code"] == "E_NOT_FOUND"


def test_redact_clears_an_old_version_and_refuses_the_current_one(here: Cli, person: Person) -> None:
    person("yes\nyes\n")
    old, new = sha("token: 123\n"), sha("clean\n")
    here("create", "notes/a.md", "-", stdin=b"token: 123\n")
    here("save", "notes/a.md", "-", "--expect", old, stdin=b"clean\n")
    assert here("redact", f"notes/a.md@{new}", "--reason", "x", "--json").error["code"] == "E_CURRENT_VERSION"
    result = here("redact", f"notes/a.md@{old[:8]}", "--reason", "held a token", "--json")
    assert (result.status, result.json["redacted"], result.json["sha256"]) == (0, True, old)
    assert here("view", f"notes/a.md@{old}", "--json").error["code"] == "E_REDACTED"
    assert here("redact", "notes/a.md", "--reason", "x").status == 2


def shared(here: Cli) -> str:
    """Two memories that once had the same text; returns it."""
    old = sha("token: 123\n")
    for name in ("a", "b"):
        here("create", f"notes/{name}.md", "-", stdin=b"token: 123\n")
        here("save", f"notes/{name}.md", "-", "--expect", old, stdin=b"clean\n")
    return old


def test_redact_asks_before_it_takes_a_text_from_another_memory(here: Cli, person: Person) -> None:
    old = shared(here)
    words = ("redact", f"notes/a.md@{old}", "--reason", "held a token")
    person("yes\nno\n")
    refused = here(*words, "--json").error
    assert refused["code"] == "E_SHARED"
    assert "still kept by 1 other: notes/b.md" in str(refused["message"])
    assert here("view", f"notes/b.md@{old}").raw == b"token: 123\n"
    person("yes\nyes\n")
    assert here(*words).status == 0
    assert here("view", f"notes/b.md@{old}", "--json").error["code"] == "E_REDACTED"


def test_redact_takes_many_and_everywhere(here: Cli, person: Person) -> None:
    person("yes\n" + "yes\nno\n" + "yes\n")
    old = shared(here)
    both = [f"notes/{name}.md@{old}" for name in ("a", "b")]
    assert [row["redacted"] for row in here("redact", *both, "--reason", "x", "--json").items] == [True, True]
    old = sha("other: 456\n")
    here("create", "notes/c.md", "-", stdin=b"other: 456\n")
    here("create", "notes/d.md", "-", stdin=b"other: 456\n")
    here("rm", "notes/c.md")
    assert here("redact", f"notes/c.md@{old}", "--reason", "x").status == 5
    assert here("redact", f"notes/c.md@{old}", "--reason", "x", "--everywhere").status == 0


def test_redact_deletes_a_damaged_ledger_when_told_by_name(here: Cli, home: Path, person: Person) -> None:
    person("yes\nno\n" + "yes\nyes\n" * 3)
    old = shared(here)
    (ledger,) = home.rglob("state.db")
    damaged = ledger.with_name("state.db.damaged-1")
    damaged.write_bytes(b"token: 123")
    words = ("redact", f"notes/a.md@{old}", f"notes/b.md@{old}", "--reason", "x")
    assert "state.db.damaged-1 is damaged, stays, and may hold the text" in here(*words).err
    assert "Deleted state.db.damaged-1." in here(*words).err
    assert not damaged.exists()
    damaged.write_bytes(b"token: 123")
    assert "Deleted state.db.damaged-1." in here(*words, "--damaged").err
    assert not damaged.exists()


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
    assert result.json["also"] == "2 pointers carried along"
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
