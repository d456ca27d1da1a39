"""A damaged ledger is mended: its rows are saved page by page, a backup gives the rest, and what is lost is said."""

import os
import random
import sqlite3
import time
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path

import apsw
import pytest

from memtui.engine import Engine
from memtui.engine.ledger.creation import MENDED, backup_time, begin, is_sound
from memtui.errors import MemtuiError, StorageError
from tests.conftest import Clock
from tests.faults import pages
from tests.faults.ledger import page_zeroed
from tests.faults.world import ME, World, at, in_history, ledger_of, sha

A = at("a.md")
OLD, NEW = b"old\n", b"new\n"
TEXTS = [random.Random(number).randbytes(400).hex().encode() for number in range(40)]


@pytest.fixture
def lived(world: World) -> World:
    """Return a world with a backup, and many versions since."""
    with world.engine() as engine:
        engine.memories.create(A, TEXTS[0], actor=ME)
        engine.memories.create(at("b.md"), OLD, actor=ME)
    with world.engine() as engine:
        for before, after in pairwise(TEXTS):
            engine.save(A, after, expected_sha256=sha(before), actor=ME)
        engine.pins.set([at("b.md")], pinned=True, actor=ME)
    return world


def state(world: World) -> str:
    """Return the path of the ledger."""
    return str(world.state / "state.db")


def leaves(world: World, table: str) -> list[int]:
    """Return the pages that hold a table's rows, counted from 0."""
    with closing(apsw.Connection(state(world))) as database:
        found = database.execute(
            "SELECT pageno - 1 FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path", (table,)
        )
        return [page for (page,) in found]


def aside(world: World) -> list[Path]:
    """Return the ledgers that were moved aside."""
    return [path for path in world.state.glob("state.db.damaged-*") if path.name.rpartition("-")[2].isdigit()]


@pytest.mark.parametrize("table", ["roots", "memories", "blobs", "versions", "txns", "audit", "versions_memory"])
def test_a_change_goes_on_when_the_root_of_a_table_is_gone(lived: World, table: str) -> None:
    page_zeroed(pages.pages_of_tables(lived)[table]).act(lived)
    with lived.engine() as engine:
        engine.save(A, NEW, expected_sha256=sha(TEXTS[-1]), actor=ME)
        assert in_history(engine, A).keys() >= {sha(NEW), sha(TEXTS[0])}
        assert ledger_of(engine).check() == "ok"
        (notice,) = engine.events.notices()
        assert "is mended" in notice
    assert (lived.folder() / "a.md").read_bytes() == NEW
    (kept,) = aside(lived)
    assert kept.name in notice


@pytest.mark.parametrize("page", [0, "schema"])
def test_nothing_is_lost_with_a_page_that_only_told_where_tables_are(lived: World, page: int | str) -> None:
    page_zeroed(leaves(lived, "sqlite_schema")[0] if page == "schema" else 0).act(lived)
    with lived.engine() as engine:
        assert all(_readable(engine, text) for text in TEXTS)
        assert {row.address for row in engine.rows.list().items if row.pinned} == {at("b.md")}
        assert ledger_of(engine).check() == "ok"
        (notice,) = engine.events.notices()
        assert "is mended; nothing of it is lost" in notice
    assert not list(lived.state.glob("*.part*"))


@pytest.mark.parametrize("vacuumed", [False, True])
def test_tables_are_found_without_any_of_the_schema(lived: World, vacuumed: bool) -> None:
    with closing(apsw.Connection(state(lived))) as database:
        if vacuumed:
            database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    schema = leaves(lived, "sqlite_schema")
    for page in (0, *schema):
        page_zeroed(page).act(lived)
    with lived.engine() as engine:
        assert all(_readable(engine, text) for text in TEXTS)
        assert ledger_of(engine).check() == "ok"


def test_a_ledger_without_its_first_page_is_salvaged_by_hand(lived: World) -> None:
    _begin_anew(lived)
    aside_file = Path(state(lived) + ".damaged-1")
    with aside_file.open("r+b") as file:
        file.write(bytes(4096))
    was = aside_file.read_bytes()
    with lived.engine() as engine:
        assert "versions came back" in engine.doctor.salvage()
        assert all(_readable(engine, text) for text in TEXTS)
    assert aside_file.read_bytes() == was


@pytest.mark.parametrize("whole", [True, False])
def test_the_notice_says_from_when_the_backup_is(lived: World, whole: bool) -> None:
    (backup,) = lived.state.glob("backups/*")
    made = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(backup_time(str(backup)) / 1_000))
    if whole:
        for path in lived.state.glob("state.db-*"):
            path.unlink()
        Path(state(lived)).write_bytes(b"no database" * 1_000)
    else:
        page_zeroed(pages.pages_of_tables(lived)["memories"]).act(lived)
    with lived.engine() as engine:
        engine.save(A, NEW, expected_sha256=sha(TEXTS[-1]), actor=ME)
        (notice,) = engine.events.notices()
        (kept,) = (one for one in engine.doctor.findings() if "is damaged and kept" in one.text)
        assert f"--salvage {state(lived)}.damaged-" in kept.advice
    assert made in notice
    assert "history, pins and marks (also of what is private) made since" in notice


def test_who_had_the_ledger_open_is_told_that_another_program_replaced_it(lived: World) -> None:
    with lived.engine() as engine:
        assert engine.history.of(A)
        _begin_anew(lived)
        assert not engine.events.notices()
        engine.save(A, NEW, expected_sha256=sha(TEXTS[-1]), actor=ME)
        (notice,) = engine.events.notices()
        assert notice == "Another program replaced the ledger; memtui goes on with the new one."


def test_a_page_costs_what_was_on_it_and_no_more(lived: World) -> None:
    found = leaves(lived, "blobs")
    assert len(found) > 4
    page_zeroed(found[len(found) // 2]).act(lived)
    with lived.engine() as engine:
        engine.save(A, NEW, expected_sha256=sha(TEXTS[-1]), actor=ME)
        assert sum(_readable(engine, text) for text in TEXTS) >= len(TEXTS) - 8
        ledger_of(engine).salvage(None)
        (notice,) = engine.events.notices()
        assert " texts" in notice
        assert " versions" in notice


def _readable(engine: Engine, text: bytes) -> bool:
    try:
        return engine.history.read(A, sha(text)) == text
    except MemtuiError:
        return False


def test_nothing_is_lost_with_a_page_that_only_an_index_had(lived: World) -> None:
    page_zeroed(pages.pages_of_tables(lived)["audit_memory"]).act(lived)
    with lived.engine() as engine:
        engine.save(A, NEW, expected_sha256=sha(TEXTS[-1]), actor=ME)
        assert all(_readable(engine, text) for text in TEXTS)
        (notice,) = engine.events.notices()
        assert "nothing of it is lost" in notice


def test_a_bulk_change_meets_the_damage_and_is_done(lived: World) -> None:
    page_zeroed(pages.pages_of_tables(lived)["audit"]).act(lived)
    with lived.engine() as engine:
        done = engine.memories.delete(iter([A, at("b.md")]), actor=ME)
        assert [outcome.ok for outcome in done.outcomes] == [True, True]
        assert all(outcome.ok for outcome in engine.undo.undo(actor=ME).outcomes)
    assert (lived.folder() / "a.md").read_bytes() == TEXTS[-1]


def test_pins_meet_the_damage_inside_one_transaction(lived: World) -> None:
    page_zeroed(pages.pages_of_tables(lived)["txns_open"]).act(lived)
    with lived.engine() as engine:
        assert all(outcome.ok for outcome in engine.pins.set([A], pinned=True, actor=ME).outcomes)
        assert ledger_of(engine).check() == "ok"


def test_a_steps_number_is_not_given_again(lived: World) -> None:
    with closing(apsw.Connection(state(lived))) as database:
        ((highest,),) = database.execute("SELECT max(id) FROM txns")
    page_zeroed(pages.pages_of_tables(lived)["txns"]).act(lived)
    with lived.engine() as engine:
        engine.save(A, NEW, expected_sha256=sha(TEXTS[-1]), actor=ME)
        assert int(engine.undo.next() or 0) > highest
        engine.undo.undo(actor=ME)
    assert (lived.folder() / "a.md").read_bytes() == TEXTS[-1]


def test_another_process_writes_on_in_the_mended_ledger(lived: World) -> None:
    page_zeroed(pages.pages_of_tables(lived)["audit"]).act(lived)
    with lived.engine() as other:
        other.history.of(A)
        with lived.engine() as engine:
            engine.save(A, NEW, expected_sha256=sha(TEXTS[-1]), actor=ME)
        other.save(A, OLD, expected_sha256=sha(NEW), actor=ME)
    with lived.engine() as engine:
        assert {sha(NEW), sha(OLD)} <= in_history(engine, A).keys()
    assert len(aside(lived)) == 1


def test_another_programs_database_is_moved_aside_and_not_extended(lived: World) -> None:
    place = Path(state(lived))
    for path in lived.state.glob("state.db*"):
        path.unlink()
    with closing(sqlite3.connect(place)) as foreign:
        foreign.execute("CREATE TABLE something (else_ TEXT)")
        foreign.commit()
    data = place.read_bytes()
    with lived.engine() as engine:
        engine.save(A, NEW, expected_sha256=sha(TEXTS[-1]), actor=ME)
        (notice,) = engine.events.notices()
    (kept,) = aside(lived)
    assert kept.name in notice
    assert kept.read_bytes() == data


def test_a_backup_does_not_bring_a_redacted_text_back(lived: World) -> None:
    secret = sha(TEXTS[0])
    with lived.engine() as engine:
        engine.redaction.redact(A, secret, reason="a key", actor=ME)
    page_zeroed(pages.pages_of_tables(lived)["blobs"]).act(lived)
    with lived.engine() as engine:
        engine.save(A, NEW, expected_sha256=sha(TEXTS[-1]), actor=ME)
        with pytest.raises(MemtuiError) as caught:
            engine.history.read(A, secret)
    assert caught.value.code == "E_REDACTED"


def test_a_kill_before_the_new_ledger_has_its_name_costs_nothing(lived: World, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    def kill(source: str, target: str) -> None:
        if source.endswith(MENDED):
            raise Killed
        rename(source, target)

    page_zeroed(pages.pages_of_tables(lived)["audit_memory"]).act(lived)
    rename = os.replace
    with lived.engine() as engine:
        monkeypatch.setattr(os, "replace", kill)
        with pytest.raises(Killed):
            engine.save(A, NEW, expected_sha256=sha(TEXTS[-1]), actor=ME)
        monkeypatch.undo()
    assert not Path(state(lived)).exists()
    with lived.engine() as engine:
        assert all(_readable(engine, text) for text in TEXTS)


def test_what_was_moved_aside_comes_back_into_the_ledger_that_began_anew(lived: World) -> None:
    _begin_anew(lived)
    with lived.engine() as engine:
        engine.save(A, NEW, expected_sha256=sha(TEXTS[-1]), actor=ME)
        engine.pins.set([A], pinned=True, actor=ME)
        for count in (1, 2):
            said = engine.doctor.salvage("state.db.damaged-1")
            assert said.startswith("0 versions") is (count == 2)
            newest = list(dict.fromkeys(version.sha256 for version in engine.history.of(A)))[:3]
            assert newest == [sha(NEW), sha(TEXTS[-1]), sha(TEXTS[-2])]
            assert all(_readable(engine, text) for text in TEXTS)
            assert {row.address for row in engine.rows.list().items if row.pinned} == {A, at("b.md")}
        engine.undo.undo(actor=ME)
        engine.undo.undo(actor=ME)
        assert ledger_of(engine).check() == "ok"
    assert (lived.folder() / "a.md").read_bytes() == TEXTS[-1]
    assert not list(lived.state.glob("*.part")) + list(lived.state.glob("*.part-mended"))


def test_what_was_unpinned_since_stays_unpinned(lived: World) -> None:
    _begin_anew(lived)
    with lived.engine() as engine:
        engine.pins.set([at("b.md")], pinned=True, actor=ME)
        engine.pins.set([at("b.md")], pinned=False, actor=ME)
        engine.doctor.salvage()
        assert not [row for row in engine.rows.list().items if row.pinned]


def _begin_anew(world: World) -> None:
    """Move the ledger aside, as an earlier memtui did that could not mend it and had no backup."""
    with closing(apsw.Connection(state(world))) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    Path(state(world)).rename(state(world) + ".damaged-1")
    for path in (*world.state.glob("backups/*"), *world.state.glob("state.db-*")):
        path.unlink()


def test_a_file_that_is_no_ledger_is_not_salvaged(lived: World) -> None:
    (lived.state / "state.db.damaged-1").write_bytes(b"no database" * 1_000)
    with lived.engine() as engine:
        with pytest.raises(StorageError, match="is no ledger"):
            engine.doctor.salvage()
        assert sha(TEXTS[-1]) in in_history(engine, A)


def test_with_nothing_to_salvage_that_is_said(lived: World) -> None:
    with lived.engine() as engine:
        assert "sound" in engine.doctor.salvage()


def test_damage_nobody_met_is_one_plain_sentence_and_mended_by_hand(lived: World) -> None:
    page = pages.pages_of_tables(lived)["folders"]
    page_zeroed(page).act(lived)
    with lived.engine() as engine:
        texts = [finding.text for finding in engine.doctor.findings() if finding.topic == "ledger"]
        assert f"{state(lived)} is damaged: page {page + 1} of it cannot be read." in texts
        assert "is mended" in engine.doctor.salvage()
        assert ledger_of(engine).check() == "ok"


@pytest.mark.parametrize("suffix", ["wal", "shm"])
def test_history_is_read_where_nothing_can_be_written_and_changes_say_why_not(lived: World, suffix: str) -> None:
    for path in lived.state.glob("state.db-*"):
        path.unlink()
    (lived.state / f"state.db-{suffix}").mkdir()
    with lived.engine() as engine:
        assert {row.address for row in engine.rows.list().items} == {A, at("b.md")}
        assert sha(TEXTS[0]) in in_history(engine, A)
        assert engine.history.audit(limit=5)
        for change in (engine.undo.undo, partial(engine.save, A, NEW, expected_sha256=sha(TEXTS[-1]))):
            with pytest.raises(StorageError) as caught:
                change(actor=ME)
            assert caught.value.code == "E_STORE"
        assert [finding.level for finding in engine.doctor.findings() if finding.topic == "ledger"] == ["error"]


def test_the_doctor_tells_when_the_state_folder_is_a_file(world: World) -> None:
    (world.folder() / "a.md").write_bytes(OLD)
    world.state.write_bytes(b"")
    with world.engine() as engine:
        assert [finding.level for finding in engine.doctor.findings() if finding.topic == "ledger"] == ["error"]
        with pytest.raises(StorageError):
            engine.undo.undo(actor=ME)


def test_one_that_is_emptied_while_it_is_open_is_missed_before_the_next_save(lived: World) -> None:
    with lived.engine() as engine:
        engine.save(A, b"first\n", expected_sha256=sha(TEXTS[-1]), actor=ME)
        os.truncate(state(lived), 0)
        engine.save(A, b"second\n", expected_sha256=sha(b"first\n"), actor=ME)
        assert any("The ledger was damaged" in notice for notice in engine.events.notices())
        assert {sha(b"first\n"), sha(b"second\n")} <= in_history(engine, A).keys()
        engine.undo.undo(actor=ME)
        assert engine.read(A).bytes == b"first\n"


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
