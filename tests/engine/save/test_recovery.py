"""What a dead process left, case by case: the disk says how far it came, and no text goes with what is tidied up."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Changes, Notice, Root
from memtui.errors import MemtuiError
from tests.faults import children
from tests.faults.injector import failing, hooked, meddling
from tests.faults.world import FIRST, ME, World, at, in_history, ledger_of, new_world, open_intents, sha, stored

A = at("a.md")
OLD, NEW, THEIRS = b"old\n", b"old\nand new\n", b"theirs\n"
TEMP = ".memtui-0123456789abcdef"


class Died:
    """A world in which a process died in the middle of a change."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.folder = world.folder()

    def announced(
        self, operation: str, *, before: bytes | None, after: bytes | None, target: str | None = None
    ) -> None:
        """Leave an intent as it is announced."""
        with self.world.engine() as engine:
            ledger, uid = ledger_of(engine), engine.roots.uid(engine.roots.find(FIRST))
            with ledger.transaction():
                for data in (before, after):
                    if data is not None:
                        blob = ledger.versions.store(data, sha(data))
                        ledger.versions.add_version(uid, "a.md", blob, actor="cli", at=1, operation="modified")
                now = sha(before) if before is not None else None
                ledger.audit.conclude(0, 0, uid, "a.md", now, actor="cli", seen=False)
                txn = ledger.audit.begin(operation, actor="cli", label=operation)
                ledger.audit.intend(
                    txn,
                    uid,
                    "a.md",
                    actor="cli",
                    operation=operation,
                    before=sha(before) if before is not None else None,
                    after=sha(after) if after is not None else None,
                    temp=None if target else TEMP,
                    target=(uid, target) if target else None,
                )

    def write(self, name: str, data: bytes) -> Path:
        (self.folder / name).write_bytes(data)
        return self.folder / name

    def recovered(self) -> tuple[str, dict[str, bytes]]:
        """Let the next process recover; returns how the change ended and what is on disk."""
        with self.world.engine() as engine:
            assert engine.roots.recover() == 1
            assert engine.roots.recover() == 0
            assert not open_intents(engine)
            state = engine.history.audit(limit=1)[0].state
        assert not self.world.strays()
        return state, {name.removeprefix("notes/"): data for name, data in self.world.disk().items()}

    def kept(self) -> set[bytes]:
        with self.world.engine() as engine:
            return set(stored(engine).values())


@pytest.fixture
def died(world: World) -> Died:
    return Died(world)


# --- a save


@pytest.mark.parametrize("left", [b"", b"ol", OLD, NEW[:-1], NEW])
def test_a_save_that_was_still_writing_did_not_happen(died: Died, left: bytes) -> None:
    died.write("a.md", OLD)
    died.announced("modified", before=OLD, after=NEW)  # the new text begins with the old one
    died.write(TEMP, left)
    assert died.recovered() == ("aborted", {"a.md": OLD})
    assert {OLD, NEW} <= died.kept()


def test_a_save_over_an_empty_memory_that_was_still_writing_did_not_happen(died: Died) -> None:
    died.write("a.md", b"")
    died.announced("modified", before=b"", after=NEW)
    died.write(TEMP, b"")
    assert died.recovered() == ("aborted", {"a.md": b""})


def test_a_save_that_only_had_to_clean_up_happened(died: Died) -> None:
    died.write("a.md", NEW)
    died.announced("modified", before=OLD, after=NEW)
    died.write(TEMP, OLD)
    assert died.recovered() == ("done", {"a.md": NEW})


def test_a_save_that_was_written_over_since_happened(died: Died) -> None:
    died.write("a.md", THEIRS)
    died.announced("modified", before=OLD, after=NEW)
    died.write(TEMP, OLD)
    assert died.recovered() == ("done", {"a.md": THEIRS})


def test_a_version_that_was_displaced_unseen_gets_its_name_back(died: Died) -> None:
    died.write("a.md", NEW)
    died.announced("modified", before=OLD, after=NEW)
    died.write(TEMP, THEIRS)
    assert died.recovered() == ("conflict", {"a.md": THEIRS})
    assert {OLD, NEW} <= died.kept()


def test_a_version_that_was_displaced_unseen_and_replaced_since_is_kept(died: Died) -> None:
    died.write("a.md", b"later\n")
    died.announced("modified", before=OLD, after=NEW)
    died.write(TEMP, THEIRS)
    state, disk = died.recovered()
    assert (state, disk) == ("conflict", {"a.md": b"later\n"})
    assert THEIRS in died.kept()


def test_a_text_whose_record_is_damaged_does_not_block_the_root(died: Died, world: World) -> None:
    died.write("a.md", OLD)
    died.announced("modified", before=OLD, after=NEW)
    died.write(TEMP, NEW[:5])
    with world.engine() as engine, ledger_of(engine).transaction() as db:
        db.execute("UPDATE blobs SET data = x'00' WHERE sha = ?", (bytes.fromhex(sha(NEW)),))
    state, disk = died.recovered()
    assert disk == {"a.md": OLD}
    assert state in ("aborted", "conflict")
    with world.engine() as engine:
        assert NEW[:5] in (engine.history.read(A, version) for version in in_history(engine, A) if version != sha(NEW))
        engine.save(A, THEIRS, expected_sha256=sha(OLD), actor=ME)


def test_a_folder_that_was_displaced_gets_its_name_back(died: Died) -> None:
    died.write("a.md", NEW)
    died.announced("modified", before=OLD, after=NEW)
    (died.folder / TEMP).mkdir()
    (died.folder / TEMP / "inside.md").write_bytes(THEIRS)
    state, disk = died.recovered()
    assert (state, disk) == ("conflict", {"a.md/inside.md": THEIRS})


def test_a_link_that_was_displaced_gets_its_name_back(died: Died) -> None:
    died.write("a.md", NEW)
    died.announced("modified", before=OLD, after=NEW)
    (died.folder / TEMP).symlink_to("/etc/hostname")
    assert died.recovered() == ("conflict", {})
    assert (died.folder / "a.md").is_symlink()


# --- a swap in several steps


SPARE = TEMP + "-old"


@pytest.mark.parametrize(
    ("files", "state", "disk"),
    [
        ({SPARE: OLD, TEMP: NEW}, "aborted", {"a.md": OLD}),
        ({"a.md": NEW, SPARE: OLD}, "done", {"a.md": NEW}),
        ({"a.md": NEW, SPARE: THEIRS}, "conflict", {"a.md": THEIRS}),
        ({SPARE: THEIRS, TEMP: NEW}, "aborted", {"a.md": THEIRS}),
        ({"a.md": THEIRS, SPARE: OLD, TEMP: NEW}, "aborted", {"a.md": THEIRS}),
        ({"a.md": b"later\n", SPARE: THEIRS, TEMP: NEW}, "aborted", {"a.md": b"later\n"}),
    ],
)
def test_a_swap_in_several_steps_is_brought_to_an_end(
    died: Died, files: dict[str, bytes], state: str, disk: dict[str, bytes]
) -> None:
    died.announced("modified", before=OLD, after=NEW)
    for name, data in files.items():
        died.write(name, data)
    assert died.recovered() == (state, disk)
    assert set(files.values()) <= died.kept() | set(disk.values())


@pytest.mark.parametrize(
    ("files", "linked", "disk"),
    [
        ({"a.md": OLD, TEMP: NEW}, ("a.md", SPARE), {"a.md": OLD}),
        ({TEMP: NEW, SPARE: OLD}, (TEMP, "a.md"), {"a.md": NEW}),
        ({"a.md": NEW, SPARE: OLD}, (SPARE, TEMP), {"a.md": NEW}),
    ],
)
def test_no_second_name_is_left_of_a_half_rename(
    died: Died, files: dict[str, bytes], linked: tuple[str, str], disk: dict[str, bytes]
) -> None:
    died.announced("modified", before=OLD, after=NEW)
    for name, data in files.items():
        died.write(name, data)
    os.link(died.folder / linked[0], died.folder / linked[1])
    assert died.recovered()[1] == disk
    assert (died.folder / "a.md").stat().st_nlink == 1


# --- creating, deleting, renaming


def test_a_create_that_has_its_name_happened(died: Died) -> None:
    died.announced("created", before=None, after=NEW)
    died.write("a.md", NEW)
    assert died.recovered() == ("done", {"a.md": NEW})


@pytest.mark.parametrize("left", [None, b"", NEW])
def test_a_create_that_has_no_name_yet_did_not_happen(died: Died, left: bytes | None) -> None:
    died.announced("created", before=None, after=NEW)
    if left is not None:
        died.write(TEMP, left)
    assert died.recovered() == ("aborted", {})
    assert NEW in died.kept()


def test_a_deletion_that_had_not_begun_did_not_happen(died: Died) -> None:
    died.write("a.md", OLD)
    died.announced("deleted", before=OLD, after=None)
    assert died.recovered() == ("aborted", {"a.md": OLD})


@pytest.mark.parametrize("left", [None, OLD])
def test_a_deletion_that_took_the_name_happened(died: Died, left: bytes | None, world: World) -> None:
    died.announced("deleted", before=OLD, after=None)
    if left is not None:
        died.write(TEMP, left)
    assert died.recovered() == ("done", {})
    with world.engine() as engine:
        assert [entry.sha256 for entry in engine.undo.trash.entries()] == [sha(OLD)]


def test_a_deletion_that_took_another_version_gives_it_back(died: Died) -> None:
    died.announced("deleted", before=OLD, after=None)
    died.write(TEMP, THEIRS)
    assert died.recovered() == ("conflict", {"a.md": THEIRS})


def test_a_deletion_that_only_made_a_second_name_did_not_happen(died: Died) -> None:
    died.announced("deleted", before=OLD, after=None)
    os.link(died.write("a.md", OLD), died.folder / TEMP)
    assert died.recovered() == ("aborted", {"a.md": OLD})
    assert (died.folder / "a.md").stat().st_nlink == 1


@pytest.mark.parametrize(
    ("files", "state"),
    [
        ({"a.md": OLD}, "aborted"),
        ({"b.md": OLD}, "done"),
        ({"a.md": THEIRS, "b.md": OLD}, "done"),
        ({"a.md": OLD, "b.md": THEIRS}, "aborted"),
        ({}, "aborted"),
    ],
)
def test_a_rename_happened_when_the_new_name_has_it(died: Died, files: dict[str, bytes], state: str) -> None:
    died.announced("renamed", before=OLD, after=OLD, target="b.md")
    for name, data in files.items():
        died.write(name, data)
    assert died.recovered() == (state, files)


def test_a_rename_that_made_a_second_name_is_ended(died: Died) -> None:
    died.announced("renamed", before=OLD, after=OLD, target="b.md")
    os.link(died.write("a.md", OLD), died.folder / "b.md")
    assert died.recovered() == ("done", {"b.md": OLD})


def test_a_folder_that_is_gone_ends_its_intent(died: Died, world: World) -> None:
    with world.engine() as engine:
        engine.memories.create(at("sub/a.md"), OLD, actor=ME)
        with ledger_of(engine).transaction() as db:
            db.execute("UPDATE audit SET state = 'intent', temp = ?", (TEMP,))
    (died.folder / "sub/a.md").unlink()
    (died.folder / "sub").rmdir()
    (died.folder / "sub").symlink_to("/")
    assert died.recovered() == ("aborted", {})


# --- around it


def test_what_cannot_be_tidied_up_now_is_tidied_up_later(died: Died, world: World) -> None:
    died.write("a.md", OLD)
    died.announced("modified", before=OLD, after=NEW)
    died.write(TEMP, NEW)
    with world.engine() as engine:
        engine.history.audit()
        for number in range(1, 60):
            with hooked(failing(number, 5)), suppress(MemtuiError):
                engine.roots.recover()
            assert (died.folder / "a.md").read_bytes() == OLD
            assert {OLD, NEW} <= set(stored(engine).values())
        engine.roots.recover()
        assert not open_intents(engine)
    assert not world.strays()


@pytest.mark.parametrize(
    "act", [lambda engine: engine.roots.recover(), lambda engine: engine.memories.create(at("b.md"), NEW, actor=ME)]
)
def test_the_user_is_told_once(died: Died, world: World, act: Callable[[Engine], object]) -> None:
    died.write("a.md", OLD)
    died.announced("modified", before=OLD, after=NEW)
    heard: list[Notice] = []

    def hear(changes: Changes) -> None:
        heard.extend(changes.notices)

    with world.engine() as engine:
        engine.events.subscribe(hear)
        act(engine)
        engine.roots.recover()
    assert [notice.kind for notice in heard] == ["recovered"]


def test_several_processes_may_recover_at_once(died: Died, world: World) -> None:
    died.write("a.md", NEW)
    died.announced("modified", before=OLD, after=NEW)
    died.write(TEMP, THEIRS)

    def recover() -> None:
        with world.engine() as engine:
            engine.roots.recover()

    running = [children.start(recover) for _ in range(4)]
    assert not [ended.trace for ended in (children.finish(*child) for child in running) if ended.trace]
    assert world.disk() == {"notes/a.md": THEIRS}
    with world.engine() as engine:
        assert {sha(OLD), sha(NEW)} <= stored(engine).keys()
        assert not open_intents(engine)


def test_a_living_process_s_change_is_not_taken_for_a_dead_one_s(world: World, engine: Engine) -> None:
    (world.folder() / "a.md").write_bytes(OLD)
    first, _ = world.roots
    with (
        Engine.open(world.roots, state_dir=str(world.state), lock_wait=0.05) as other,
        engine.roots.site(first, ME) as site,
    ):
        site.ledger.audit.intend(
            site.ledger.audit.begin("save", actor="cli", label=""),
            site.uid,
            "a.md",
            actor="cli",
            operation="modified",
            before=sha(OLD),
            after=None,
            temp=TEMP,
        )
        with pytest.raises(MemtuiError) as caught:
            other.roots.recover()
        assert caught.value.code == "E_LOCKED"
        assert len(open_intents(other)) == 1
    assert (world.folder() / "a.md").read_bytes() == OLD


def test_a_running_engine_tidies_up_what_died_between_two_of_its_changes(tmp_path: Path) -> None:
    world = new_world(tmp_path)
    (world.folder() / "a.md").write_bytes(OLD)
    told: list[Changes] = []
    with world.engine() as engine:
        engine.events.subscribe(told.append)
        engine.memories.create(at("b.md"), "one", actor=ME)
        engine.memories.create(at("c.md"), "two", actor=ME)
        with world.engine() as other:
            root = other.roots.find(FIRST)
            ledger = ledger_of(other)
            with other.roots.site(root, ME) as site:
                txn = ledger.audit.begin("save", actor="cli", label="save")
                ledger.audit.intend(
                    txn, site.uid, "a.md", actor="cli", operation="modified", before=sha(OLD), after=sha(NEW), temp=TEMP
                )
        assert len(open_intents(engine)) == 1
        engine.memories.create(at("d.md"), "three", actor=ME)
        assert not open_intents(engine)
    assert [notice.kind for changes in told for notice in changes.notices] == ["recovered"]


@pytest.mark.parametrize("read_only", [False, True])
def test_the_doctor_tidies_up_and_says_so(died: Died, read_only: bool) -> None:
    died.announced("modified", before=OLD, after=NEW)
    died.write("a.md", OLD)
    died.write(TEMP, NEW[:4])
    with Engine.open(died.world.roots, state_dir=str(died.world.state), read_only=read_only) as engine:
        (found,) = [one for one in engine.doctor.findings() if one.topic == "recovery"]
    assert ("tidied up just now" in found.text) is not read_only
    assert (died.folder / TEMP).exists() is read_only


def test_the_doctor_says_what_waits_in_a_folder_that_is_not_open(died: Died, tmp_path: Path) -> None:
    died.write("a.md", OLD)
    died.announced("modified", before=OLD, after=NEW)
    with Engine.open([Root("other", str(tmp_path / "other"))], state_dir=str(died.world.state)) as engine:
        (found,) = [one for one in engine.doctor.findings() if one.topic == "recovery"]
    assert "not open here" in found.advice


@pytest.mark.parametrize("deed", ["delete", "move"])
def test_several_changes_that_emptied_their_folder_are_all_finished(world: World, deed: str) -> None:
    (world.folder() / "many").mkdir()
    names = ["a.md", "b.md", "c.md"]
    for name in names:
        (world.folder() / "many" / name).write_bytes(name.encode())

    def act() -> None:
        with world.engine() as engine, hooked(meddling("fsync_dir", lambda: os._exit(9), time=1 + (deed == "move"))):
            if deed == "delete":
                engine.memories.delete([at(f"many/{name}") for name in names], actor=ME)
            else:
                engine.memories.move([(at(f"many/{name}"), at(f"to/{name}")) for name in names], actor=ME)

    children.finish(*children.start(act))
    with world.engine() as engine:
        assert engine.roots.recover() == len(names)
        records = ledger_of(engine).memories.records(engine.roots.uid(engine.roots.find(FIRST)))
        assert {path: one.sha256 for path, one in records.items() if one.sha256} == {
            f"to/{name}": sha(name.encode()) for name in names if deed == "move"
        }
        assert not (world.folder() / "many").exists()
        assert all(outcome.ok for outcome in engine.undo.undo(actor=ME).outcomes)
    assert world.disk() == {f"notes/many/{name}": name.encode() for name in names}
