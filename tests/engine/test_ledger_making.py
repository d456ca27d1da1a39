"""A ledger comes under its name whole and with its log, and no log of another one is taken for its own."""

from pathlib import Path

from memtui.engine.ledger.creation import begin, is_sound
from tests.conftest import Clock
from tests.faults.world import ME, World, at, in_history, ledger_of, sha

A = at("a.md")


def test_a_backup_that_takes_a_ledgers_place_has_a_log(world: World) -> None:
    with world.engine() as engine:
        engine.memories.create(A, b"old\n", actor=ME)
    (world.state / "state.db").write_bytes(b"no database" * 1_000)
    with world.engine() as engine:
        assert sha(b"old\n") in in_history(engine, A)
        assert "journal mode wal" in ledger_of(engine).sqlite_info()


def test_a_ledger_that_is_begun_is_whole_and_leaves_nothing_beside_it(tmp_path: Path, clock: Clock) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    one = str(folder / "one.db")
    (folder / "one.db.part").write_bytes(b"of a process that was stopped")
    assert not is_sound(one, 0)
    begin(one, clock)
    assert is_sound(one, 0)
    assert {path.name for path in folder.iterdir()} == {"one.db"}
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_a_log_that_was_left_is_not_taken_for_a_new_ledgers(world: World) -> None:
    with world.engine() as engine:
        engine.memories.create(A, b"old\n", actor=ME)
        log = (world.state / "state.db-wal").read_bytes()
    assert log
    for path in (world.state / "state.db", *(world.state / "backups").iterdir()):
        path.unlink()
    (world.state / "state.db-wal").write_bytes(log)
    with world.engine() as engine:
        assert engine.history.of(A) == ()
        assert ledger_of(engine).check() == "ok"
