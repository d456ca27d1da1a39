"""Versions: stored once, given back checked, removed only when no promise keeps them."""

import os
import zlib
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.ledger.versions import pack, unpack
from memtui.engine.model import Conflict, Draft, Retention, Root
from memtui.errors import MemtuiError, NotFoundError, StorageError
from tests.conftest import Clock
from tests.faults.world import FIRST, ME, World, at, in_history, ledger_of, sha, stored

A = at("a.md")
FEW = Retention(versions=2, days=30)


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Iterator[Ledger]:
    """Return a ledger with one root."""
    ledger = Ledger(str(tmp_path / "state"), clock=clock)
    yield ledger
    ledger.close()


@pytest.fixture
def uid(ledger: Ledger, tmp_path: Path) -> int:
    """Return the ledger's id of that root."""
    return ledger.roots.root_uid(Root("r", str(tmp_path)), None)[0]


def text(number: int) -> bytes:
    """Return a text that is worth compressing."""
    return f"version {number}\n".encode() * 50


def write_many(engine: Engine, count: int, *, start: int = 0) -> None:
    """Save a memory repeatedly."""
    for number in range(start, start + count):
        before = sha(text(number - 1)) if number else None
        engine.save(A, text(number), expected_sha256=before, actor=ME)


@given(st.binary(max_size=5_000))
def test_packing_is_undone_exactly(data: bytes) -> None:
    packed, body = pack(data)
    assert unpack(packed, body) == data
    assert len(body) <= len(data)


def test_a_text_is_stored_once_however_often_it_is_written(ledger: Ledger, uid: int) -> None:
    with ledger.transaction():
        ids = {ledger.versions.store(text(1), sha(text(1))) for _ in range(3)}
        for path in ("a.md", "b.md"):
            ledger.versions.add_version(uid, path, ids.copy().pop(), actor="cli", at=1, operation="created")
    assert len(ids) == 1
    assert ledger.versions.blob(sha(text(1))) == text(1)
    assert ledger.versions.blob(sha(b"never stored")) is None


@pytest.mark.parametrize("body", [b"", b"\0", zlib.compress(b"another text")])
def test_a_damaged_text_is_refused_and_no_other(ledger: Ledger, uid: int, body: bytes) -> None:
    with ledger.transaction() as db:
        for number in (1, 2):
            ledger.versions.store(text(number), sha(text(number)))
        db.execute("UPDATE blobs SET data = ? WHERE sha = ?", (body, bytes.fromhex(sha(text(1)))))
    with pytest.raises(StorageError) as caught:
        ledger.versions.blob(sha(text(1)))
    assert caught.value.code == "E_STORE_DAMAGED"
    assert ledger.versions.blob(sha(text(2))) == text(2)


def test_a_damaged_text_that_is_still_on_disk_is_stored_anew_before_it_is_displaced(
    world: World, engine: Engine
) -> None:
    write_many(engine, 1)
    with ledger_of(engine).transaction() as db:
        db.execute("UPDATE blobs SET data = x'00'")
    write_many(engine, 1, start=1)
    assert engine.history.read(A, sha(text(0))) == text(0)


def test_a_version_is_found_by_the_start_of_its_sha(ledger: Ledger, uid: int) -> None:
    names = [
        ledger.versions.keep_text(uid, "a.md", text(number), actor="cli", note=str(number)) for number in range(30)
    ]
    assert ledger.versions.find_version(uid, "a.md", names[3][:6].upper()) == names[3]
    for prefix in (names[3][:5], "zzzzzz", "", "0" * 64):
        with pytest.raises(NotFoundError):
            ledger.versions.find_version(uid, "a.md", prefix)
    with pytest.raises(NotFoundError):
        ledger.versions.find_version(uid, "b.md", names[3])


def test_the_same_text_kept_for_the_same_reason_is_one_version(ledger: Ledger, uid: int) -> None:
    for note in ("one", "one", "two", "one"):
        ledger.versions.keep_text(uid, "a.md", b"text", actor="cli", note=note)
    assert [version.note for version in ledger.versions.history(uid, "a.md")] == ["one", "two", "one"]


@pytest.fixture
def later(world: World, clock: Clock) -> Iterator[Engine]:
    """Return an engine whose clock a test moves."""
    with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as engine:
        yield engine


def live_on(engine: Engine, clock: Clock, days: int = 31) -> None:
    """Let days pass, with a write on each."""
    for _ in range(days):
        clock.advance(days=1)
        with ledger_of(engine).transaction():
            pass


def prune(engine: Engine, retention: Retention = FEW) -> int:
    """Remove what no rule keeps."""
    return ledger_of(engine).versions.prune(retention)


def test_the_newest_versions_and_the_young_ones_stay(later: Engine, clock: Clock) -> None:
    write_many(later, 6)
    assert prune(later) == 0
    live_on(later, clock)
    write_many(later, 1, start=6)
    assert prune(later) > 0
    kept = [version.sha256 for version in later.history.of(A)]
    assert kept[:2] == [sha(text(6)), sha(text(5))]
    assert sha(text(0)) not in stored(later)
    assert later.rows.get(A).version == len(kept)


def test_a_text_that_was_displaced_lately_stays_however_old_its_file_was(
    world: World, later: Engine, clock: Clock
) -> None:
    path = world.folder() / "a.md"
    path.write_bytes(text(-1))
    os.utime(path, (1, 1))
    later.save(A, text(0), expected_sha256=sha(text(-1)), actor=ME)
    write_many(later, 5, start=1)
    prune(later)
    assert later.history.read(A, sha(text(-1))) == text(-1)
    live_on(later, clock)
    prune(later)
    assert sha(text(-1)) not in stored(later)


def test_what_the_user_last_saw_stays(later: Engine, clock: Clock) -> None:
    write_many(later, 1)
    ledger = ledger_of(later)
    uid = later.roots.uid(later.roots.find(FIRST))
    for number in range(1, 5):
        with ledger.transaction():
            ledger.versions.keep_found(uid, "a.md", text(number), sha(text(number)), at=1)
    live_on(later, clock)
    prune(later)
    assert {sha(text(0)), sha(text(4))} <= stored(later).keys()
    assert sha(text(1)) not in stored(later)


def refused(engine: Engine) -> Conflict:
    """Make a conflict that nobody has settled."""
    result = engine.save(A, b"mine\n", expected_sha256=sha(b"stale"), actor=ME)
    assert isinstance(result, Conflict)
    return result


def settle(engine: Engine) -> None:
    """Save something after the conflict."""
    engine.save(A, b"settled\n", expected_sha256=engine.read(A).sha256, actor=ME)


def bury(engine: Engine, clock: Clock, path: str = "a.md") -> None:
    """Let others write many versions, long ago."""
    ledger, uid = ledger_of(engine), engine.roots.uid(engine.roots.find(FIRST))
    for number in range(100, 105):
        with ledger.transaction():
            blob = ledger.versions.store(text(number), sha(text(number)))
            ledger.versions.add_version(uid, path, blob, actor="outside", at=1, operation="modified")
    live_on(engine, clock)
    prune(engine)


def test_both_sides_of_an_open_conflict_stay_and_a_pin_settles_none(later: Engine, clock: Clock) -> None:
    write_many(later, 2)
    refused(later)
    later.pins.set([A], pinned=True, actor=ME)
    bury(later, clock)
    assert {sha(b"mine\n"), sha(text(1))} <= stored(later).keys()
    settle(later)
    bury(later, clock)
    assert sha(b"mine\n") not in stored(later)


def test_a_conflict_goes_with_its_memory_to_another_name(later: Engine, clock: Clock) -> None:
    write_many(later, 2)
    refused(later)
    later.memories.rename(A, at("b.md"), actor=ME)
    bury(later, clock, "b.md")
    assert later.history.read(at("b.md"), sha(b"mine\n")) == b"mine\n"


def test_the_base_of_a_draft_stays(later: Engine, clock: Clock) -> None:
    write_many(later, 1)
    later.drafts.save(Draft(A, sha(text(0)), "unsaved", (0, 0), clock()))
    write_many(later, 2, start=1)
    bury(later, clock)
    assert later.history.read(A, sha(text(0))) == text(0)
    later.drafts.drop(A)
    bury(later, clock)
    assert sha(text(0)) not in stored(later)


def test_a_deleted_memory_stays_in_the_trash(later: Engine, clock: Clock) -> None:
    write_many(later, 4)
    later.memories.delete([A], actor=ME)
    live_on(later, clock, 40)
    prune(later, Retention(versions=1, days=1))
    (entry,) = later.undo.trash.entries()
    later.memories.restore(A, actor=ME)
    assert later.read(A).sha256 == entry.sha256 == sha(text(3))


def test_pruning_never_touches_what_is_current(later: Engine, clock: Clock) -> None:
    write_many(later, 3)
    later.memories.restore(A, version=sha(text(0)), actor=ME)
    later.save(A, text(9), expected_sha256=sha(text(0)), actor=ME)
    later.memories.restore(A, version=sha(text(0)), actor=ME)
    live_on(later, clock, 40)
    prune(later, Retention(versions=0, days=0))
    assert in_history(later, A)
    assert ledger_of(later).versions.blob(later.read(A).sha256) == text(0)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE blobs SET sha = id",
        "UPDATE versions SET actor = CAST(x'ff' AS TEXT)",
        "UPDATE audit SET path = 'text', before = 7",
        "UPDATE audit SET path = 7",
        "UPDATE memories SET path = 7",
    ],
)
def test_a_record_that_makes_no_sense_is_said_to_be_damaged(world: World, damage: str) -> None:
    with world.engine() as engine:
        write_many(engine, 2)
        engine.memories.delete([A], actor=ME)
        with ledger_of(engine).transaction() as db:
            db.execute(damage)
    (world.folder() / "b.md").write_bytes(b"b\n")
    with world.engine() as engine:
        for read in (
            lambda: engine.history.of(A),
            engine.history.audit,
            engine.undo.trash.entries,
            engine.changes.unseen,
            lambda: engine.undo.undo(actor=ME),
        ):
            try:
                read()
            except MemtuiError as error:
                assert error.code in ("E_STORE_DAMAGED", "E_STORE", "E_NOTHING_TO_UNDO")  # noqa: PT017
        assert engine.read(at("b.md")).bytes == b"b\n"


def test_old_texts_are_listed_once_each_and_read_a_few_at_a_time(ledger: Ledger, uid: int) -> None:
    with ledger.transaction() as db:
        ids = [ledger.versions.store(text(number), sha(text(number))) for number in range(4)]
        for path, number in (("a.md", 0), ("a.md", 1), ("a.md", 0), ("b.md", 2), ("b.md", 3)):
            ledger.versions.add_version(uid, path, ids[number], actor="cli", at=number, operation="modified")
    found = ledger.versions.old_texts(uid)
    assert [(one.path, one.blob, one.version.sha256) for one in found] == [
        (path, ids[number], sha(text(number))) for path, number in (("b.md", 3), ("b.md", 2), ("a.md", 0), ("a.md", 1))
    ]
    assert ledger.versions.old_texts(uid + 1) == ()
    assert ledger.versions.stored(ids) == {ids[number]: text(number) for number in range(4)}
    ledger.erasure.redact([sha(text(1))], "a key")
    with ledger.transaction() as db:
        db.execute("UPDATE blobs SET packed = 1, data = ? WHERE id = ?", (b"junk", ids[2]))
    assert ledger.versions.stored(ids).keys() == {ids[0], ids[3]}
    assert [one.blob for one in ledger.versions.old_texts(uid)] == [ids[3], ids[2], ids[0]]


def test_a_text_is_found_when_its_entry_in_the_index_is_damaged(world: World) -> None:
    with world.engine() as engine:
        write_many(engine, 3)
    path = world.state / "state.db"
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    ((page,),) = connection.execute("SELECT pageno FROM dbstat WHERE name = 'sqlite_autoindex_blobs_1'")
    connection.close()
    data = bytearray(path.read_bytes())
    at_ = data.index(bytes.fromhex(sha(text(1))), (page - 1) * 4_096, page * 4_096)
    data[at_] ^= 1
    path.write_bytes(data)
    with world.engine() as engine:
        assert engine.history.read(A, sha(text(1))) == text(1)
