"""Redacting: what keeps a text besides, what goes with it, and what is finished later."""

import shutil
from collections.abc import Iterator

import apsw
import pytest

from memtui.engine import Engine
from memtui.engine.ledger import database
from memtui.engine.model import Draft, OpenConflict, Write
from memtui.errors import NotFoundError, RefusedError, UsageError
from tests.conftest import Clock
from tests.faults.erasures import found
from tests.faults.world import ME, World, at, sha, stored

A, B = at("a.md"), at("b.md")
TOKEN = "sk-0123456789abcdef"
SECRET = f"hello\nthe token is {TOKEN}\n".encode()
CLEAN = b"hello\n"


@pytest.fixture
def past(world: World) -> World:
    """Return a world whose history and backup hold a secret."""
    with world.engine() as engine:
        engine.memories.create(A, SECRET, actor=ME)
        engine.save(A, CLEAN, expected_sha256=sha(SECRET), actor=ME)
    assert set(found(world.state, [TOKEN])) >= {"state.db", *(f"backups/{one}" for one in backups(world))}
    return world


@pytest.fixture
def open_past(past: World) -> Iterator[Engine]:
    """Return an engine on it."""
    with past.engine() as engine:
        yield engine


def backups(world: World) -> list[str]:
    """Return the names of the backups."""
    return sorted(path.name for path in (world.state / "backups").iterdir())


def test_no_byte_is_left_in_the_ledger_its_log_and_its_backups(past: World, open_past: Engine) -> None:
    names = backups(past)
    open_past.redaction.redact(A, sha(SECRET), reason="a key", actor=ME)
    assert not found(past.state, [TOKEN])
    assert backups(past) == names
    assert not open_past.redaction.unerased().pending


def test_a_backup_that_takes_over_does_not_have_it_either(past: World) -> None:
    with past.engine() as engine:
        engine.redaction.redact(A, sha(SECRET), reason="a key", actor=ME)
    (past.state / "state.db").write_bytes(b"no database" * 1_000)
    with past.engine() as engine:
        with pytest.raises(RefusedError) as caught:
            engine.history.read(A, sha(SECRET))
        assert caught.value.code == "E_REDACTED"
        assert "a key" in caught.value.message


def test_a_text_that_other_memories_keep_goes_only_with_one_more_yes(open_past: Engine) -> None:
    open_past.memories.create(B, SECRET, actor=ME)
    open_past.save(B, CLEAN, expected_sha256=sha(SECRET), actor=ME)
    with pytest.raises(RefusedError) as caught:
        open_past.redaction.redact(A, sha(SECRET), reason="a key", actor=ME)
    assert caught.value.code == "E_SHARED"
    assert "still kept by 1 other: notes/b.md" in caught.value.message
    assert open_past.history.read(A, sha(SECRET)) == SECRET
    open_past.redaction.redact(A, sha(SECRET), reason="a key", actor=ME, everywhere=True)
    assert [version.redacted for version in open_past.history.of(B)] == [False, True]


def test_nobody_else_keeps_it_when_all_who_do_are_redacted_at_once(past: World, open_past: Engine) -> None:
    open_past.memories.create(B, SECRET, actor=ME)
    open_past.save(B, CLEAN, expected_sha256=sha(SECRET), actor=ME)
    versions = open_past.redaction.redact_all([(A, sha(SECRET)), (B, sha(SECRET)[:8])], reason="a key", actor=ME)
    assert [version.redacted for version in versions] == [True, True]
    assert not found(past.state, [TOKEN])


def test_an_unsaved_text_that_holds_a_part_of_it_is_named_and_goes_with_the_yes(past: World, open_past: Engine) -> None:
    open_past.drafts.save(Draft(A, sha(SECRET), f"more\nthe token is {TOKEN}\n", (0, 0), 1))
    open_past.drafts.save(Draft(B, None, "hello\n", (0, 0), 1))
    with pytest.raises(RefusedError) as caught:
        open_past.redaction.redact(A, sha(SECRET), reason="a key", actor=ME)
    assert "1 other: the unsaved text of notes/a.md." in caught.value.message
    open_past.redaction.redact(A, sha(SECRET), reason="a key", actor=ME, everywhere=True)
    assert [draft.address for draft in open_past.drafts.all()] == [B]
    assert not found(past.state, [TOKEN])


def test_the_same_text_as_a_draft_goes_unasked(open_past: Engine) -> None:
    open_past.drafts.save(Draft(A, sha(SECRET), SECRET.decode(), (0, 0), 1))
    open_past.redaction.redact(A, sha(SECRET), reason="a key", actor=ME)
    assert not open_past.drafts.all()


def test_a_conflict_ends_when_a_side_of_it_goes(past: World, open_past: Engine) -> None:
    open_past.drafts.save_conflict(OpenConflict(A, None, CLEAN, SECRET, f'["the token is {TOKEN}"]', 1))
    open_past.redaction.redact(A, sha(SECRET), reason="a key", actor=ME)
    assert open_past.drafts.conflict(A) is None
    assert not found(past.state, [TOKEN])


def test_labels_and_reasons_that_quote_it_are_cleared_and_others_stay(past: World, open_past: Engine) -> None:
    open_past.redaction.redact(A, sha(SECRET), reason="why not", actor=ME)
    open_past.together.do([Write(A, SECRET, sha(CLEAN))], actor=ME, label="add 'the token is sk-01...'")
    open_past.together.do([Write(A, CLEAN, sha(SECRET))], actor=ME, label=f"take {TOKEN} out")
    open_past.memories.create(B, b"1\n", actor=ME)
    open_past.save(B, b"2\n", expected_sha256=sha(b"1\n"), actor=ME)
    open_past.redaction.redact(B, sha(b"1\n"), reason=f"stood beside {TOKEN}", actor=ME)
    open_past.redaction.redact(A, sha(SECRET), reason="a key", actor=ME)
    said = [one.label for one in open_past.history.operations("1", "99")]
    assert said.count("[redacted]") == 2
    assert "create notes/b.md" in said
    assert [one.note for one in open_past.history.audit(address=B, limit=1)] == ["[redacted]"]
    assert not found(past.state, [TOKEN])


def test_a_reason_that_holds_a_part_of_the_text_is_refused(open_past: Engine) -> None:
    with pytest.raises(UsageError):
        open_past.redaction.redact(A, sha(SECRET), reason=f"held {TOKEN}", actor=ME)
    assert open_past.history.read(A, sha(SECRET)) == SECRET


def test_what_editors_left_and_what_screens_keep_goes_too(past: World, open_past: Engine) -> None:
    copy = past.state / "edits" / "edit-1" / "a.md"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"started\n" + SECRET)
    (past.state / "rows").mkdir(exist_ok=True)
    (past.state / "rows" / "x").write_text(TOKEN)
    open_past.places.keep("here", {"words": TOKEN})
    open_past.places.keep("there", {"words": "hello"})
    with pytest.raises(RefusedError) as caught:
        open_past.redaction.redact(A, sha(SECRET), reason="a key", actor=ME)
    assert f"an editor's copy, {copy}" in caught.value.message
    open_past.redaction.redact(A, sha(SECRET), reason="a key", actor=ME, everywhere=True)
    assert not found(past.state, [TOKEN])
    assert open_past.places.load("there").value == {"words": "hello"}


def test_it_is_pending_while_another_process_reads_and_done_at_the_next_opening(
    past: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_MS", 100)
    monkeypatch.setattr("memtui.engine.ledger.erasure.BUSY_MS", 100)
    reader = apsw.Connection(str(past.state / "state.db"))
    with past.engine() as engine:
        engine.history.of(A)
        reader.execute("BEGIN")
        list(reader.execute("SELECT count(*) FROM blobs"))
        assert engine.redaction.redact(A, sha(SECRET), reason="a key", actor=ME).redacted
        assert engine.redaction.unerased().pending
        assert any("freed bytes" in finding.text for finding in engine.doctor.findings())
    assert "state.db" in found(past.state, [TOKEN])
    reader.execute("COMMIT")
    reader.close()
    with past.engine() as engine:
        assert not engine.redaction.unerased().pending
        assert not any("freed bytes" in finding.text for finding in engine.doctor.findings())
    assert not found(past.state, [TOKEN])


def test_a_damaged_ledger_is_named_and_deleted_by_name_only(past: World) -> None:
    shutil.copy(past.state / "state.db", past.state / "state.db.damaged-1")
    shutil.copy(past.state / "state.db", past.state / "state.db.damaged-1-wal")
    bad = past.state / "backups" / "state-000000000000001.db"
    bad.write_bytes(b"no database " + SECRET)
    with past.engine() as engine:
        engine.redaction.redact(A, sha(SECRET), reason="a key", actor=ME)
        left = engine.redaction.unerased().damaged
        assert left == (str(past.state / "state.db.damaged-1"), str(bad))
        with pytest.raises(NotFoundError):
            engine.redaction.drop_damaged(str(past.state / "state.db"))
        for path in left:
            engine.redaction.drop_damaged(path)
        assert not engine.redaction.unerased().damaged
    assert not found(past.state, [TOKEN])


def test_a_redacted_text_that_is_on_disk_again_is_kept_again_and_said(past: World, open_past: Engine) -> None:
    open_past.redaction.redact(A, sha(SECRET), reason="a key", actor=ME)
    (past.folder() / "a.md").write_bytes(SECRET)
    open_past.save(A, b"new\n", expected_sha256=sha(SECRET), actor=ME)
    assert sha(SECRET) in stored(open_past)
    assert any("redacted is there again" in notice for notice in open_past.events.notices())


def test_many_are_redacted_with_the_ledger_written_anew_once(world: World, clock: Clock) -> None:
    texts = [f"version {number} of {number * 7_919}\n".encode() for number in range(40)]
    with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as engine:
        engine.memories.create(A, texts[0], actor=ME)
        for number, text in enumerate(texts[1:]):
            engine.save(A, text, expected_sha256=sha(texts[number]), actor=ME)
        versions = engine.redaction.redact_all([(A, sha(text)) for text in texts[:-1]], reason="all of it", actor=ME)
        assert len(versions) == 39
        assert engine.undo.next() is not None
        (record, *_) = engine.history.audit(limit=1)
        assert len(engine.history.audit(txn=record.txn, limit=100)) == 39


def test_files_that_are_no_copies_of_memtui_stay(past: World, open_past: Engine) -> None:
    state = past.base / "state"
    for name in ("memory/global/outside.md", "mystuff/thesis.txt"):
        (state / name).parent.mkdir(parents=True)
        (state / name).write_bytes(SECRET)
    (state / "edits").mkdir(exist_ok=True)
    (state / "edits/left.md").write_bytes(SECRET)
    open_past.redaction.redact(A, sha(SECRET), reason="a key", actor=ME, everywhere=True)
    assert (state / "memory/global/outside.md").read_bytes() == (state / "mystuff/thesis.txt").read_bytes() == SECRET
    assert not (state / "edits/left.md").exists()


def test_a_version_stays_redacted_when_its_text_is_kept_again_for_another_memory(open_past: Engine) -> None:
    open_past.redaction.redact(A, sha(SECRET), reason="a key", actor=ME)
    open_past.memories.create(B, SECRET, actor=ME)
    assert [version.redacted for version in open_past.history.of(A)] == [False, True]
    assert open_past.history.read(B, sha(SECRET)) == SECRET
    with pytest.raises(RefusedError) as caught:
        open_past.history.read(A, sha(SECRET))
    assert caught.value.code == "E_REDACTED"
    with pytest.raises(RefusedError):
        open_past.memories.restore(A, version=sha(SECRET), actor=ME)
