"""Where a reader of session files stopped is kept for each reader and file, together with what it made of them."""

from pathlib import Path

import pytest

from memtui.engine.ledger.ledger import Ledger
from memtui.transcripts.follow import follow
from memtui.transcripts.sessions import READERS


def test_a_cursor_comes_back_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "s\udcff.jsonl"
    file.write_bytes(b'{"type": "user", "uuid": "u1", "message": {"content": "x"}}\n')
    found = follow(str(file), READERS["claude-code"]).cursor
    assert found is not None
    with_place = found._replace(device=2**63 - 1)
    ledger = Ledger(str(tmp_path / "state"), clock=lambda: 1)
    for consumer, cursor in (("extract", found), ("observe", with_place), ("extract", with_place), ("extract", found)):
        ledger.cursors.move(consumer, str(file), cursor)
    ledger.close()
    ledger = Ledger(str(tmp_path / "state"), clock=lambda: 1)
    assert ledger.cursors.get("extract", str(file)) == found
    assert ledger.cursors.get("observe", str(file)) == with_place
    assert ledger.cursors.get("extract", "other") is None
    ledger.close()


def test_a_cursor_moves_only_with_what_was_made_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_bytes(b"{}\n")
    cursor = follow(str(file), READERS["codex"]).cursor
    assert cursor is not None
    ledger = Ledger(str(tmp_path / "state"), clock=lambda: 1)

    def fail() -> None:
        with ledger.transaction():
            ledger.cursors.move("extract", str(file), cursor)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert ledger.cursors.get("extract", str(file)) is None
    ledger.close()
