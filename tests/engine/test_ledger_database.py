"""The ledger's file is private, repaired from backups and never in the way; an odd cell is an error with a code."""

import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import apsw
import pytest

from memtui.engine import Engine
from memtui.engine.ledger import creation, memories
from memtui.engine.ledger.creation import LATEST
from memtui.engine.ledger.database import MAX_OWN_ROWS, OwnRows
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.ledger.memories import MemoryTable, Record
from memtui.engine.ledger.migrations import MIGRATIONS
from memtui.engine.model import Actor, Address, Draft, OpenConflict, Saved, SearchQuery
from memtui.errors import MemtuiError, StorageError
from tests.conftest import Clock
from tests.engine.settling import settle
from tests.examples import ALL
from tests.faults.io_errors import small_disk
from tests.faults.world import ME, World, at, handles, in_history, ledger_of, new_world, sha

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


ODD: tuple[str | bytes | int | float | None, ...] = ("odd", b"\xff\xfe", -7, 2.5, None)
TRIED = len(ODD) if ALL in os.environ else 1
"""So many of them in each column, or in each of a third of them, others in each run."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return a world whose ledger has a row in every table."""
    world = new_world(tmp_path_factory.mktemp("odd") / "world")
    with world.engine() as engine:
        engine.memories.create(at("a.md"), "one", actor=ME)
        engine.save(at("a.md"), "two", expected_sha256=sha(b"one"), actor=ME)
        (world.folder() / "deep").mkdir(mode=0o750)
        for name in ("gone.md", "deep/old.md"):
            engine.memories.create(at(name), name, actor=ME)
            engine.memories.delete([at(name)], actor=ME)
        engine.memories.create(at("m.md"), "moved", actor=ME)
        engine.memories.rename(at("m.md"), at("n.md"), actor=ME)
        engine.pins.set([at("a.md")], pinned=True, actor=ME)
        engine.pins.record_use(at("a.md"), actor=Actor("agent:x"))
        engine.drafts.save(Draft(at("a.md"), sha(b"two"), "draft", (0, 0), 1))
        engine.drafts.save_conflict(OpenConflict(at("a.md"), sha(b"one"), b"yours", b"two", "[]", 1))
        engine.undo.undo(actor=ME)
    ledger = apsw.Connection(str(world.state / "state.db"))
    for (table,) in ledger.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        ((schema,),) = ledger.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchall()
        loose = re.sub(r" NOT NULL| CHECK \(.*?\)\)", "", str(schema))
        ledger.execute("PRAGMA writable_schema=ON")
        ledger.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (loose, table))
    ledger.close()
    return world


def cells(world: World) -> Iterator[tuple[str, str]]:
    """Yield every table and column but integer keys."""
    ledger = apsw.Connection(str(world.state / "state.db"))
    for (table,) in ledger.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        for _, name, *_, key in ledger.execute(f"PRAGMA table_info({table})").fetchall():
            if not key:
                yield str(table), str(name)
    ledger.close()


def looks(engine: Engine) -> Iterator[Callable[[], object]]:
    """Yield every call that reads the ledger."""
    for path in ("a.md", "n.md", "gone.md"):
        for about in (engine.history.of, engine.drafts.conflict, engine.changes.seen_version):
            yield partial(about, at(path))
    yield partial(engine.rows.get, at("a.md"))
    yield partial(engine.history.read, at("a.md"), sha(b"one"))
    yield from (
        engine.rows.list,
        engine.undo.trash.entries,
        engine.drafts.all,
        engine.history.actors,
        engine.changes.unseen,
        engine.undo.next,
    )
    yield from (
        engine.undo.passed_over,
        engine.rows.vanished,
        engine.rows.status,
        engine.watch.reconcile,
        engine.history.audit,
    )
    yield partial(engine.undo.trash.entries, taken=True)
    yield partial(engine.history.operations, "1", "99")
    yield partial(engine.search.find, SearchQuery("two", versions=True))
    yield partial(engine.save, at("a.md"), "three", expected_sha256=sha(b"two"), actor=ME)
    yield partial(engine.undo.undo, actor=ME)
    yield partial(engine.undo.redo, actor=ME)
    yield partial(engine.memories.restore, at("gone.md"), actor=ME)


def odd(world: World, table: str, column: str, value: str | bytes | float | None) -> bool:
    """Put a value into every row; return False when the column refuses it."""
    ledger = apsw.Connection(str(world.state / "state.db"))
    try:
        ledger.execute(f"UPDATE {table} SET {column} = ?", (value,))
    except apsw.ConstraintError:
        return False
    finally:
        ledger.close()
    return True


@pytest.mark.hypothesis  # tried whole with the properties
def test_an_odd_cell_is_never_more_than_an_error_with_a_code(template: World, tmp_path: Path) -> None:
    blamed, tried, each = [], 0, list(cells(template))
    for table, column in each if ALL in os.environ else random.sample(each, len(each) // 3):
        for value in random.sample(ODD, TRIED):
            world = World(Path(shutil.copytree(template.base, tmp_path / "world", symlinks=True)))
            tried += odd(world, table, column, value)
            with world.engine() as engine:
                for number, look in enumerate(looks(engine)):
                    try:
                        str(look())
                    except MemtuiError:
                        continue
                    except Exception as error:  # noqa: BLE001
                        blamed.append(f"{table}.{column} = {value!r}, look {number}: {error!r}")
            world.remove()
    assert not blamed, "\n".join(blamed)
    assert tried > len(each) // 6 * TRIED


def whole_reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count how often all records of a root are read."""
    original, seen = MemoryTable.records, []

    def records(table: MemoryTable, uid: int, *, not_seen: bool = False) -> dict[str, Record]:
        if not not_seen:
            seen.append(uid)
        return original(table, uid, not_seen=not_seen)

    monkeypatch.setattr(MemoryTable, "records", records)
    return seen


def pins(engine: Engine) -> dict[Address, bool]:
    return {row.address: row.pinned for row in engine.rows.list().items}


def begin(world: World, engine: Engine, count: int = 3) -> None:
    for number in range(count):
        (world.folder() / f"{number}.md").write_text(f"{number}\n")
    settle(engine)
    engine.rows.list()


def test_one_save_costs_one_record(world: World, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(world, engine)
    reads = whole_reads(monkeypatch)
    engine.pins.set([at("1.md")], pinned=True, actor=ME)
    assert pins(engine) == {at("0.md"): False, at("1.md"): True, at("2.md"): False}
    engine.memories.rename(at("1.md"), at("9.md"), actor=ME)
    engine.memories.delete([at("0.md")], actor=ME)
    assert pins(engine) == {at("2.md"): False, at("9.md"): True}
    assert reads == []


def test_what_another_process_wrote_is_read_whole(
    world: World, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(world, engine)
    reads = whole_reads(monkeypatch)
    engine.pins.set([at("1.md")], pinned=True, actor=ME)
    with world.engine() as other:
        other.pins.set([at("2.md")], pinned=True, actor=ME)
    assert pins(engine) == {at("0.md"): False, at("1.md"): True, at("2.md"): True}
    assert reads


def test_very_many_are_read_whole(world: World, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(world, engine)
    monkeypatch.setattr(memories, "MAX_ASKED", 1)
    reads = whole_reads(monkeypatch)
    engine.pins.set([at("1.md"), at("2.md")], pinned=True, actor=ME)
    assert sum(pins(engine).values()) == 2
    assert reads


def test_a_ledger_opened_again_is_read_whole(world: World, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(world, engine)
    engine.pins.set([at("1.md")], pinned=True, actor=ME)
    ledger_of(engine).close()
    reads = whole_reads(monkeypatch)
    assert pins(engine)[at("1.md")]
    assert reads


def test_rows_that_are_forgotten_are_not_guessed() -> None:
    rows = OwnRows("memories", "usage")
    start = rows.count
    rows.note(18, "main", "memories", 7)
    rows.note(18, "main", "audit", 8)
    rows.note(18, "main", "usage", 7)
    assert rows.since(start) == {("memories", 7), ("usage", 7)}
    rows.note(9, "main", "memories", 7)
    assert rows.since(start) is None
    later = rows.count
    for number in range(MAX_OWN_ROWS + 1):
        rows.note(18, "main", "memories", number)
    assert rows.since(later) is None
    assert rows.since(rows.count) == set()
