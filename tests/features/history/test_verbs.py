"""history and diff."""

import hashlib
from pathlib import Path

import apsw
import pytest

from tests.cli.conftest import Cli


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
