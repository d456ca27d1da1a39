"""`memtui view`."""

import base64
import hashlib
from pathlib import Path

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
