"""history and diff."""

from __future__ import annotations

import hashlib
from pathlib import Path

import apsw
import pytest

from tests.cli.conftest import Cli, Person


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def save(here: Cli, address: str, before: bytes | None, after: bytes) -> None:
    expected = "absent" if before is None else sha(before)
    assert here("save", address, "-", "--expect", expected, stdin=after).status == 0


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


def test_diff_masks_the_middle_of_a_key_and_a_pipe_has_it(here: Cli) -> None:
    key = ["-----BEGIN PRIVATE KEY-----", *(f"{n}" + "Qx9z" * 15 for n in range(12)), "-----END PRIVATE KEY-----", ""]
    before, after = "\n".join(key).encode(), "\n".join([*key[:8], "Changed" * 9, *key[9:]]).encode()
    save(here, "notes/a.md", None, before)
    save(here, "notes/a.md", before, after)
    save(here, "notes/b.md", None, before + b"one\n")
    save(here, "notes/b.md", before + b"one\n", after + b"two\n")
    told = here("diff", "notes/a.md", "--json", "--show-secrets").json
    assert (told["same"], told["masked"]) == (False, 8)
    assert "-[masked: secret]\n+[masked: secret]" in str(told["diff"])
    for options, terminal in ((("--json",), False), ((), True)):
        out = here("diff", "notes/b.md", *options, terminal=terminal).out
        assert "two" in out
        assert "Qx9z" not in out
        assert "Changed" not in out
    assert "Changed" in here("diff", "notes/b.md").out
    assert "Changed" in here("diff", "notes/b.md", "--show-secrets", terminal=True).out


def test_redact_clears_an_old_version_and_refuses_the_current_one(here: Cli, person: Person) -> None:
    person("yes\nyes\n")
    old, new = sha(b"token: 123\n"), sha(b"clean\n")
    here("create", "notes/a.md", "-", stdin=b"token: 123\n")
    here("save", "notes/a.md", "-", "--expect", old, stdin=b"clean\n")
    assert here("redact", f"notes/a.md@{new}", "--reason", "x", "--json").error["code"] == "E_CURRENT_VERSION"
    result = here("redact", f"notes/a.md@{old[:8]}", "--reason", "held a token", "--json")
    assert (result.status, result.json["redacted"], result.json["sha256"]) == (0, True, old)
    assert here("view", f"notes/a.md@{old}", "--json").error["code"] == "E_REDACTED"
    assert here("redact", "notes/a.md", "--reason", "x").status == 2


def shared(here: Cli) -> str:
    """Two memories that once had the same text; returns it."""
    old = sha(b"token: 123\n")
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
    old = sha(b"other: 456\n")
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
