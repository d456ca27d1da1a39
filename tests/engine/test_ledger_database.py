"""The ledger's file: made privately, repaired from backups, kept when damaged, never in the way of a memory."""

import os
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from memtui.engine import Engine
from memtui.engine.ledger import creation
from memtui.engine.ledger.creation import LATEST, MIGRATIONS
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.model import Saved
from memtui.errors import MemtuiError, StorageError
from tests.conftest import Clock
from tests.faults.io_errors import small_disk
from tests.faults.world import ME, World, at, handles, in_history, ledger_of, sha

A = at("a.md")
OLD, NEW = b"old\n", b"new\n"


@pytest.fixture
def used(world: World) -> World:
    """Return a world whose ledger has a backup."""
    with world.engine() as engine:
        engine.memories.create(A, OLD, actor=ME)
    assert len(list((world.state / "backups").iterdir())) == 1
    return world


def damage(world: World) -> bytes:
    """Overwrite the ledger with bytes that are no database; return them."""
    data = b"this is no database " * 500
    (world.state / "state.db").write_bytes(data)
    return data


def test_nothing_is_made_before_it_is_needed_and_then_privately(world: World) -> None:
    with world.engine() as engine:
        (world.folder() / "a.md").write_bytes(OLD)
        engine.read(A)
        assert not world.state.exists()
        engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
    modes = {path: path.stat().st_mode & 0o777 for path in (world.state, *world.state.rglob("*"))}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def test_a_damaged_ledger_is_kept_and_its_backup_takes_its_place(used: World) -> None:
    data = damage(used)
    with used.engine() as engine:
        assert sha(OLD) in in_history(engine, A)
        (notice,) = engine.events.notices()
        assert "backup" in notice
        assert not engine.events.notices()
        engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
    (kept,) = used.state.glob("state.db.damaged-*")
    assert kept.read_bytes() == data
    assert kept.name in notice
    with used.engine() as engine:
        assert {sha(OLD), sha(NEW)} <= in_history(engine, A).keys()
        assert not engine.events.notices()


def test_without_a_good_backup_it_starts_empty_and_says_so(used: World) -> None:
    damage(used)
    for path in (used.state / "backups").iterdir():
        path.write_bytes(b"no database either")
    with used.engine() as engine:
        assert not in_history(engine, A)
        (notice,) = engine.events.notices()
        assert "empty" in notice
        assert engine.read(A).bytes == OLD
        engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
        assert sha(OLD) in in_history(engine, A)
    assert len(list((used.state / "backups").iterdir())) >= 1


def test_an_older_backup_is_taken_when_the_newest_is_bad(world: World, clock: Clock) -> None:
    text = b""
    for day in range(5):
        with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as engine:
            new = f"day {day}\n".encode()
            engine.save(A, new, expected_sha256=sha(text) if text else None, actor=ME)
            text = new
        clock.advance(days=1, seconds=1)
    backups = sorted((world.state / "backups").iterdir())
    assert len(backups) == 3
    backups[-1].write_bytes(b"bad")
    damage(world)
    with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as engine:
        assert in_history(engine, A).keys() == {sha(f"day {day}\n".encode()) for day in range(4)}


def test_a_newer_memtui_s_ledger_is_only_read(used: World) -> None:
    connection = apsw.Connection(str(used.state / "state.db"))
    connection.execute(f"PRAGMA user_version={LATEST + 1}")
    connection.execute("CREATE TABLE from_the_future (x)")
    connection.close()
    with used.engine() as engine:
        assert sha(OLD) in in_history(engine, A)
        with pytest.raises(StorageError) as caught:
            engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
        assert caught.value.code == "E_STORE"
        assert len(engine.events.notices()) == 1
    assert (used.folder() / "a.md").read_bytes() == OLD
    connection = apsw.Connection(str(used.state / "state.db"))
    assert list(connection.execute("SELECT * FROM from_the_future")) == []
    assert next(iter(connection.execute("PRAGMA user_version"))) == (LATEST + 1,)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/etc/hostname")])
def test_what_is_in_the_way_turns_changes_off_until_it_is_gone(world: World, make: object) -> None:
    (world.folder() / "a.md").write_bytes(OLD)
    world.state.mkdir()
    place = world.state / "state.db"
    make(place)  # type: ignore[operator]
    with world.engine() as engine:
        assert engine.read(A).bytes == OLD
        assert [row.address for row in engine.rows.list().items] == [A]
        for _ in range(3):
            with pytest.raises(MemtuiError) as caught:
                engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
            assert caught.value.code == "E_STORE"
        assert len(engine.events.notices()) == 1
        place.rmdir() if place.is_dir() else place.unlink()
        engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
    assert (world.folder() / "a.md").read_bytes() == NEW


def test_reading_only_makes_nothing_and_changes_nothing(world: World) -> None:
    (world.folder() / "a.md").write_bytes(OLD)
    with Engine.open(world.roots, state_dir=str(world.state), read_only=True) as engine:
        assert engine.rows.list().items
        assert not engine.history.of(A)
        with pytest.raises(MemtuiError) as caught:
            engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
        assert caught.value.code == "E_READ_ONLY"
        assert not engine.events.notices()
    assert not world.state.exists()


def test_a_transaction_happens_as_a_whole_or_not_at_all(used: World) -> None:
    with used.engine() as engine:
        ledger = ledger_of(engine)
        with pytest.raises(ValueError, match="in the middle"), ledger.transaction():  # noqa: PT012
            ledger.versions.keep_text(1, "a.md", NEW, actor="cli", note="")
            with ledger.transaction():
                ledger.audit.begin("save", actor="cli", label="")
            raise ValueError("in the middle")
        assert ledger.versions.blob(sha(NEW)) is None
        assert len(ledger.rows("SELECT id FROM txns")) == 1
        ledger.versions.keep_text(1, "a.md", NEW, actor="cli", note="")
        assert ledger.versions.blob(sha(NEW)) == NEW


def test_a_full_disk_at_the_end_does_not_undo_what_was_done(
    world: World, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    def full(self: Ledger) -> bool:
        raise StorageError("There is no space left.", code="E_DISK_FULL")

    monkeypatch.setattr(Ledger, "back_up", full)
    before = handles(world.base)
    engine = world.engine()
    engine.memories.create(A, OLD, actor=ME)
    engine.close()
    assert handles(world.base) == before
    assert any("E_DISK_FULL" in notice for notice in ledger_of(engine).notices)


def test_a_full_disk_at_the_start_hides_no_memory(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(database: apsw.Connection, clock: Clock) -> None:
        if database.filename:
            raise apsw.FullError("database or disk is full")
        migrate(database, clock)

    migrate = creation.migrate
    monkeypatch.setattr(creation, "migrate", full)
    (world.folder() / "a.md").write_bytes(OLD)
    with world.engine() as engine:
        listing = engine.rows.list()
        assert [row.address for row in listing.items] == [A]
        assert not any(status.problems for status in listing.roots)
        assert engine.read(A).bytes == OLD
        assert any("no space left" in notice for notice in engine.events.notices())
        with pytest.raises(StorageError):
            engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
    assert (world.folder() / "a.md").read_bytes() == OLD


def test_a_backup_that_was_interrupted_is_no_backup(used: World, clock: Clock) -> None:
    (used.state / "backups/state-000000000000001.db.part").write_bytes(b"half")
    clock.advance(days=400)
    with Engine.open(used.roots, state_dir=str(used.state), clock=clock) as engine:
        engine.memories.create(at("b.md"), NEW, actor=ME)
    assert all(path.suffix == ".db" for path in (used.state / "backups").iterdir())


def test_a_ledger_that_was_removed_while_open_is_begun_anew(used: World) -> None:
    with used.engine() as engine:
        engine.history.of(A)
        for path in (*used.state.glob("state.db*"), *used.state.glob("backups/*")):
            path.unlink()
        engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
        assert {sha(OLD), sha(NEW)} == in_history(engine, A).keys()
    with used.engine() as engine:
        assert {sha(OLD), sha(NEW)} == in_history(engine, A).keys()


def test_durable_is_said_to_the_system_and_harmless_records_are_not(used: World) -> None:
    with used.engine() as engine:
        ledger = ledger_of(engine)
        for durable, level in ((True, 2), (False, 1), (True, 2)):
            with ledger.transaction(durable=durable) as db:
                assert next(iter(db.execute("PRAGMA synchronous"))) == (level,)
        assert ledger.row("PRAGMA journal_mode") == ("wal",)


COLUMNS = "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'"


def test_an_older_memtui_finds_every_column_it_reads() -> None:
    """It opens a newer ledger for reading; a column that a step took away would leave it without a listing."""
    db, before = apsw.Connection(":memory:"), set[tuple[str, str]]()
    for step in MIGRATIONS:
        db.execute(step)
        now = set(db.execute(COLUMNS))
        assert before <= now, before - now
        before = now


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_is_called_so_and_the_next_change_goes_on_when_there_is_room(world: World) -> None:
    with small_disk(world.state, "size=1m") as mounted:
        if not mounted:
            pytest.skip("nothing may be mounted here")
        with world.engine() as engine:
            engine.memories.create(A, OLD, actor=ME)
        filler = world.state / "filler"
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(b"0" * 512):
                pass
        with world.engine() as engine:
            with pytest.raises(StorageError) as caught:
                engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
            assert caught.value.code == "E_DISK_FULL"
            assert engine.read(A).bytes == OLD
            assert any("cannot be used (there is no space left)" in notice for notice in engine.events.notices())
            filler.unlink()
            with pytest.raises(StorageError, match="can be now"):
                engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
            assert isinstance(engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME), Saved)
