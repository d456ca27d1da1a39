"""view, history, diff."""

import base64
import hashlib
from pathlib import Path

import apsw
import pytest

from tests.cli.conftest import Cli

RAW = b"\xef\xbb\xbfone\r\n\x1b]0;title\x07\xff no newline"


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def save(here: Cli, address: str, before: bytes | None, after: bytes) -> None:
    expected = "absent" if before is None else sha(before)
    assert here("save", address, "-", "--expect", expected, stdin=after).status == 0


def test_view_piped_is_the_bytes(here: Cli, notes: Path) -> None:
    (notes / "raw.md").write_bytes(RAW)
    result = here("view", "notes/raw.md")
    assert (result.status, result.raw) == (0, RAW)


def test_view_on_a_terminal_is_safe(here: Cli, notes: Path) -> None:
    (notes / "raw.md").write_bytes(RAW)
    out = here("view", "notes/raw.md", terminal=True).out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "␛]0;title␇\\xff no newline\n" in out
    assert out.count("\n") == 2


def test_view_as_json_holds_every_byte(here: Cli, notes: Path) -> None:
    (notes / "raw.md").write_bytes(RAW)
    answer = here("view", "notes/raw.md", "--json").json
    assert (answer["sha256"], answer["bytes"], answer["text"]) == (sha(RAW), len(RAW), None)
    assert base64.b64decode(str(answer["base64"])) == RAW
    assert here("view", "notes/plain.md", "--json").json["text"] == (notes / "plain.md").read_text()


@pytest.mark.parametrize("address", ["notes/gone.md", "nothing/a.md", "/memories/global/gone.md"])
def test_view_of_nothing_is_exit_4(here: Cli, address: str) -> None:
    result = here("view", address)
    assert (result.status, result.raw) == (4, b"")
    assert result.err


@pytest.mark.parametrize("address", ["notes/../../x", "notes//a", "notes/a\x00", "notes/~/x.md"])
def test_view_outside_is_refused(here: Cli, address: str) -> None:
    result = here("view", address, "--json")
    assert result.status in (4, 5)
    assert str(result.error["code"]).startswith("E_")


def test_an_old_version_can_be_read(here: Cli) -> None:
    save(here, "notes/a.md", None, b"one\n")
    save(here, "notes/a.md", b"one\n", b"two\n")
    old = sha(b"one\n")
    assert here("view", f"notes/a.md@{old}").raw == b"one\n"
    assert here("view", f"notes/a.md@{old[:8].upper()}").raw == b"one\n"
    answer = here("view", f"notes/a.md@{old[:8]}", "--json").json
    assert (answer["sha256"], answer["text"]) == (old, "one\n")
    assert here("view", "notes/a.md@000000").status == 4


def test_a_memory_whose_name_ends_like_a_version_can_be_read(here: Cli, notes: Path) -> None:
    (notes / "note@deadbeef").write_bytes(b"me\n")
    assert here("view", "notes/note@deadbeef").raw == b"me\n"


def test_only_an_agents_look_is_a_use(here: Cli) -> None:
    here("view", "notes/plain.md")
    here("view", "notes/plain.md", "--actor", "me")
    rows = {row["path"]: row["uses"] for row in here("ls", "--json").items}
    assert rows["plain.md"] == 0
    here("view", "notes/plain.md", "--actor", "agent:reviewer")
    rows = {row["path"]: row["uses"] for row in here("ls", "--json").items}
    assert rows["plain.md"] == 1


def test_history_is_newest_first(here: Cli) -> None:
    save(here, "notes/a.md", None, b"one\n")
    save(here, "notes/a.md", b"one\n", b"two\n")
    rows = here("history", "notes/a.md", "--json").items
    assert [row["sha256"] for row in rows] == [sha(b"two\n"), sha(b"one\n")]
    assert [row["operation"] for row in rows] == ["modified", "created"]
    assert here("history", "notes/a.md").lines[0].split("\t")[:3] == [sha(b"two\n"), "modified", "cli"]
    assert here("history", "notes/plain.md", terminal=True).status == 0


@pytest.mark.parametrize("column", ["at", "operation", "note", "actor"])
@pytest.mark.parametrize("options", [("--json",), ()])
def test_history_says_that_a_record_is_damaged(here: Cli, home: Path, column: str, options: tuple[str, ...]) -> None:
    save(here, "notes/a.md", None, b"one\n")
    (path,) = home.rglob("state.db")
    ledger = apsw.Connection(str(path))
    ledger.execute(f"UPDATE versions SET {column} = x'ff'")
    ledger.close()
    for terminal in (False, True):
        result = here("history", "notes/a.md", *options, terminal=terminal)
        assert result.status == 7
        assert "E_STORE_DAMAGED" in result.out + result.err


def test_diff_compares_with_the_version_before(here: Cli) -> None:
    save(here, "notes/a.md", None, b"one\nsame\n")
    save(here, "notes/a.md", b"one\nsame\n", b"two\nsame\nno newline")
    answer = here("diff", "notes/a.md", "--json").json
    assert (answer["from"], answer["to"]) == (sha(b"one\nsame\n"), sha(b"two\nsame\nno newline"))
    assert answer["same"] is False
    assert here("diff", "notes/a.md").lines[2:] == [
        "@@ -1,2 +1,3 @@",
        "-one",
        "+two",
        " same",
        "+no newline",
        "\\ No newline at end of file",
    ]


def test_diff_of_two_versions_and_of_none(here: Cli) -> None:
    save(here, "notes/a.md", None, b"one\n")
    save(here, "notes/a.md", b"one\n", b"two\n")
    one, two = sha(b"one\n"), sha(b"two\n")
    assert "-two" in here("diff", "notes/a.md", two[:8], one[:8]).lines
    same = here("diff", "notes/a.md", two, two, "--json").json
    assert (same["same"], same["diff"]) == (True, "")
    fresh = here("diff", "notes/plain.md", "--json").json
    assert fresh["to"] == sha(b"---\ndescription: How we write\n---\nUse tabs.\n")


def test_diff_shows_line_ends_and_controls(here: Cli) -> None:
    save(here, "notes/a.md", None, b"one\n")
    save(here, "notes/a.md", b"one\n", b"one\r\n\x1b[2J\n")
    lines = here("diff", "notes/a.md", terminal=True).out
    assert "one␍" in lines
    assert "\x1b[2J" not in lines


def test_diff_starts_from_what_the_user_last_saw(here: Cli, notes: Path) -> None:
    here("seen", "--all")
    (notes / "plain.md").write_text("first change\n")
    here("changes")
    (notes / "plain.md").write_text("second change\n")
    out = here("diff", "notes/plain.md").out
    assert "-Use tabs." in out
    assert "+second change" in out
    assert "first change" not in out
