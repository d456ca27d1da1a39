"""`memtui redact`."""

import hashlib
from pathlib import Path

from tests.cli.conftest import Cli, Person


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


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
