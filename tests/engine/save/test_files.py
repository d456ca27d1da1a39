"""Whatever another program does between two steps of a change, every text stays: on disk or in history."""

import contextlib
import errno
import os
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import Engine, part
from memtui.engine.disk import fsio
from memtui.engine.model import Conflict, Done, Saved, Unchanged
from memtui.errors import ConflictError, MemtuiError, StorageError
from tests.faults.injector import Call, failing, hooked, meddling, plain
from tests.faults.world import ME, World, at, drain, in_history, ledger_of, open_intents, sha, stored

A = at("a.md")
OLD, MINE, THEIRS, LATER = b"old\n", b"mine\n", b"theirs\n", b"theirs, later\n"

pytestmark = pytest.mark.usefixtures("calls")


@pytest.fixture
def file(world: World) -> Path:
    path = world.folder() / "a.md"
    path.write_bytes(OLD)
    return path


def replace(path: Path, data: bytes) -> Callable[[], object]:
    """What most agents do: a new file, renamed over the old one."""

    def act() -> None:
        other = path.with_name("agent-temp")
        other.write_bytes(data)
        other.rename(path)

    return act


def rewrite(path: Path, data: bytes) -> Callable[[], object]:
    """What the others do: truncate and write."""
    return lambda: path.write_bytes(data)


def check(world: World, engine: Engine, *texts: bytes) -> None:
    """Every text is on disk or in history, nothing of ours lies about, nothing is undecided."""
    found = {sha(data) for data in world.disk().values()} | set(stored(engine))
    assert not [text for text in texts if sha(text) not in found]
    engine.roots.recover()
    assert not world.strays()
    assert not open_intents(engine)


# --- saving


def test_a_save_replaces_what_it_expected(world: World, engine: Engine, file: Path) -> None:
    file.chmod(0o640)
    result = engine.save(A, MINE, expected_sha256=sha(OLD), actor=ME)
    assert isinstance(result, Saved)
    assert (result.before, result.sha256) == (sha(OLD), sha(MINE))
    assert file.read_bytes() == MINE
    assert file.stat().st_mode & 0o7777 == 0o640
    assert in_history(engine, A).keys() == {sha(OLD), sha(MINE)}
    check(world, engine, OLD, MINE)


def test_a_save_of_what_is_there_writes_nothing(world: World, engine: Engine, file: Path) -> None:
    before = file.stat()
    result = engine.save(A, OLD, expected_sha256=sha(b"something else"), actor=ME)
    assert isinstance(result, Unchanged)
    after = file.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert not engine.history.audit()


def test_a_save_with_a_stale_expectation_keeps_both_texts(world: World, engine: Engine, file: Path) -> None:
    result = engine.save(A, MINE, expected_sha256=sha(b"stale"), actor=ME)
    assert isinstance(result, Conflict)
    assert file.read_bytes() == OLD
    assert engine.history.read(A, str(result.yours_sha256)) == MINE
    assert engine.history.read(A, str(result.current_sha256)) == OLD
    check(world, engine, OLD, MINE)


BEFORE_THE_SWAP = [("stat_path", 3), ("create_file", 1), ("write_all", 1), ("fsync", 1)]
"""(operation, which call of it) between the look at the target and the swap."""


@pytest.mark.parametrize(("operation", "time"), BEFORE_THE_SWAP)
@pytest.mark.parametrize("act", [replace, rewrite])
def test_a_version_that_lands_before_the_swap_wins(
    world: World,
    engine: Engine,
    file: Path,
    operation: str,
    time: int,
    act: Callable[[Path, bytes], Callable[[], object]],
) -> None:
    with hooked(meddling(operation, act(file, THEIRS), time=time)):
        result = engine.save(A, MINE, expected_sha256=sha(OLD), actor=ME)
    assert isinstance(result, Conflict)
    assert file.read_bytes() == THEIRS
    assert result.current_sha256 == sha(THEIRS)
    assert sha(MINE) in in_history(engine, A)
    check(world, engine, MINE, THEIRS)


SWAP = {"native": "exchange", "portable": "link"}


@pytest.mark.parametrize("again", [replace, rewrite])
@pytest.mark.parametrize("moment", ["at once", "while verifying", "before the swap back", "after the swap back"])
def test_versions_that_land_around_the_swap_are_all_kept(
    world: World,
    engine: Engine,
    file: Path,
    calls: str,
    moment: str,
    again: Callable[[Path, bytes], Callable[[], object]],
) -> None:
    first = meddling("stat_path", replace(file, THEIRS), time=3)
    swap = SWAP[calls]
    swaps = 1 if calls == "native" else 3
    second = {
        "at once": meddling(swap, again(file, LATER), time=swaps, after=True),
        "while verifying": meddling("hold_writers", again(file, LATER), time=2),
        "before the swap back": meddling(swap, again(file, LATER), time=swaps + 1),
        "after the swap back": meddling(swap, again(file, LATER), time=2 * swaps, after=True),
    }[moment]

    def both(number: int, name: str, call: Call, arguments: tuple[Any, ...]) -> Any:
        return first(number, name, lambda *given: second(number, name, call, given), arguments)

    with hooked(both):
        result = engine.save(A, MINE, expected_sha256=sha(OLD), actor=ME)
    assert isinstance(result, Conflict)
    drain(engine)
    # Once it has its name back, a version is its author's to overwrite.
    check(world, engine, MINE, LATER, *([] if moment == "after the swap back" else [THEIRS]))
    if (moment, again) == ("before the swap back", rewrite):
        assert file.read_bytes() == THEIRS  # written into the file that was just taken off again: kept in history
        return
    assert file.read_bytes() == LATER


# --- writers that are not done


class Writing:
    """A program that has truncated a memory and written half of it."""

    def __init__(self, path: Path) -> None:
        self.handle = os.open(path, os.O_WRONLY | os.O_TRUNC)
        os.write(self.handle, THEIRS[:3])

    def finish(self) -> None:
        os.write(self.handle, THEIRS[3:])
        os.close(self.handle)


def test_a_save_waits_for_a_writer_and_keeps_nobody_else_waiting(
    world: World, engine: Engine, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "PATIENCE", 30.0)
    torn = sha(THEIRS[:3])
    writing = Writing(file)
    waiting, results = threading.Event(), []

    def save() -> None:
        with hooked(meddling("hold_writers", waiting.set, after=True)):
            results.append(engine.save(A, MINE, expected_sha256=torn, actor=ME))

    thread = threading.Thread(target=save)
    thread.start()
    assert waiting.wait(100)
    other = at("other.md")
    engine.memories.create(other, OLD, actor=ME)
    writing.finish()
    thread.join()
    assert isinstance(results[0], Conflict)
    assert file.read_bytes() == THEIRS
    assert torn not in stored(engine)
    check(world, engine, MINE, THEIRS)


def test_somebody_who_keeps_a_memory_open_stops_nobody(
    world: World, engine: Engine, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "PATIENCE", 0.05)
    with file.open("r+b") as keeper:
        result = engine.save(A, MINE, expected_sha256=sha(OLD), actor=ME)
        assert isinstance(result, Saved)
        keeper.write(THEIRS)
    drain(engine)
    assert file.read_bytes() == MINE
    check(world, engine, OLD, MINE, THEIRS)


@pytest.mark.parametrize("verb", ["delete", "rename"])
def test_other_changes_wait_for_a_writer_too(
    world: World, engine: Engine, file: Path, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "PATIENCE", 30.0)
    writing = Writing(file)
    waiting = threading.Event()
    done: list[Done] = []

    def change() -> None:
        with hooked(meddling("hold_writers", waiting.set, after=True)):
            done.append(
                engine.memories.delete([A], actor=ME)
                if verb == "delete"
                else engine.memories.rename(A, at("b.md"), actor=ME)
            )

    thread = threading.Thread(target=change)
    thread.start()
    assert waiting.wait(100)
    writing.finish()
    thread.join()
    assert done[0].outcomes[0].ok
    assert sha(THEIRS[:3]) not in stored(engine)
    check(world, engine, THEIRS)


# --- deleting and creating


@pytest.mark.parametrize("act", [replace, rewrite])
def test_a_version_that_lands_before_a_deletion_gets_its_name_back(
    world: World, engine: Engine, file: Path, act: Callable[[Path, bytes], Callable[[], object]]
) -> None:
    with hooked(meddling("rename_noreplace", act(file, THEIRS))):
        (outcome,) = engine.memories.delete([A], actor=ME).outcomes
    assert isinstance(outcome.result, Conflict)
    assert file.read_bytes() == THEIRS
    check(world, engine, OLD, THEIRS)


def test_a_name_taken_again_during_a_deletion_costs_nobody_a_text(world: World, engine: Engine, file: Path) -> None:
    first = meddling("rename_noreplace", replace(file, THEIRS))
    second = meddling("rename_noreplace", lambda: file.write_bytes(LATER), time=2)

    def both(number: int, name: str, call: Call, arguments: tuple[Any, ...]) -> Any:
        return first(number, name, lambda *given: second(number, name, call, given), arguments)

    with hooked(both):
        (outcome,) = engine.memories.delete([A], actor=ME).outcomes
    assert isinstance(outcome.result, Conflict)
    assert file.read_bytes() == LATER
    check(world, engine, OLD, THEIRS, LATER)


def test_a_late_write_into_a_deleted_memory_is_kept(
    world: World, engine: Engine, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "PATIENCE", 0.0)
    with file.open("r+b") as keeper:
        assert engine.memories.delete([A], actor=ME).outcomes[0].ok
        keeper.write(LATER)
    drain(engine)
    check(world, engine, OLD, LATER)


def test_a_name_that_appears_while_creating_is_not_replaced(world: World, engine: Engine) -> None:
    path = world.folder() / "a.md"
    with (
        hooked(meddling("rename_noreplace", lambda: path.write_bytes(THEIRS))),
        pytest.raises(ConflictError) as caught,
    ):
        engine.memories.create(A, MINE, actor=ME)
    assert caught.value.code == "E_EXISTS"
    assert path.read_bytes() == THEIRS
    check(world, engine, MINE, THEIRS)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/etc/hostname", path)])
def test_what_is_no_memory_is_neither_read_nor_replaced(
    world: World, engine: Engine, make: Callable[[Path], object]
) -> None:
    path = world.folder() / "a.md"
    make(path)
    before = path.lstat()
    acts: list[Callable[[], object]] = [
        lambda: engine.read(A),
        lambda: engine.save(A, MINE, expected_sha256=sha(OLD), actor=ME),
        lambda: engine.save(A, MINE, expected_sha256=None, actor=ME),
        lambda: engine.memories.create(A, MINE, actor=ME),
        lambda: engine.memories.rename(A, at("b.md"), actor=ME),
    ]
    for act in acts:
        with pytest.raises(MemtuiError) as caught:
            act()
        assert caught.value.code in ("E_NOT_REGULAR", "E_SYMLINK", "E_EXISTS", "E_NOT_FOUND")
    after = path.lstat()
    assert (before.st_ino, before.st_mtime_ns, before.st_mode) == (after.st_ino, after.st_mtime_ns, after.st_mode)
    check(world, engine)


def test_something_else_than_a_file_that_takes_the_name_gets_it_back(world: World, engine: Engine, file: Path) -> None:
    def swap() -> None:
        file.unlink()
        file.symlink_to("/etc/hostname")

    with hooked(meddling("stat_path", swap, time=3)):
        try:
            result = engine.save(A, MINE, expected_sha256=sha(OLD), actor=ME)
        except MemtuiError as error:
            assert error.code in ("E_SYMLINK", "E_PERMISSION", "E_CONFLICT")  # noqa: PT017
        else:
            assert isinstance(result, Conflict)
    assert file.is_symlink()
    check(world, engine, OLD, MINE)


def test_a_version_with_the_same_text_that_is_still_open_is_watched(world: World, engine: Engine, file: Path) -> None:
    """The file that was displaced is looked after, not the one that was read before."""
    keepers: list[int] = []

    def same_text_in_another_file() -> None:
        replace(file, OLD)()
        keepers.append(os.open(file, os.O_WRONLY))

    with hooked(meddling("stat_path", same_text_in_another_file, time=3)):
        result = engine.save(A, MINE, expected_sha256=sha(OLD), actor=ME)
    assert isinstance(result, Saved)
    os.write(keepers[0], LATER)
    os.close(keepers[0])
    drain(engine)
    check(world, engine, OLD, MINE, LATER + OLD[len(LATER) :])


# --- the order of the steps


def steps(engine: Engine, change: Callable[[], object]) -> list[str]:
    """The calls of a change, commits of the ledger between them."""
    ledger = ledger_of(engine)
    ledger.rows("SELECT 1")
    found: list[str] = []

    def note(number: int, name: str, call: Call, arguments: tuple[Any, ...]) -> Any:
        found.append(name)
        return call(*arguments)

    def commit(*_: object) -> int:
        found.append("durable commit" if ledger._durable else "commit")
        return 0

    connection = ledger.connection()
    connection.set_wal_hook(commit)
    try:
        with hooked(note):
            change()
    finally:
        connection.set_wal_hook(None)
    return found


def in_order(found: list[str], *wanted: str) -> bool:
    """Whether some steps come one after the other."""
    rest = iter(found)
    return all(step in rest for step in wanted)


def test_a_power_cut_finds_every_step_on_disk_before_the_next_relies_on_it(
    world: World, engine: Engine, file: Path, calls: str
) -> None:
    engine.save(A, MINE, expected_sha256=sha(OLD), actor=ME)
    swap = ["exchange"] if calls == "native" else ["link", "unlink", "link", "unlink", "link", "unlink"]
    written = ("durable commit", "create_file", "write_all", "fsync")
    saved = steps(engine, lambda: engine.save(A, LATER, expected_sha256=sha(MINE), actor=ME))
    assert in_order(saved, *written, *swap, "fsync_dir", "open_file", "unlink", "commit"), saved
    made = steps(engine, lambda: engine.memories.create(at("x/b.md"), OLD, actor=ME))
    assert in_order(made, "make_dir", "fsync_dir", *written, "rename_noreplace", "fsync_dir", "commit"), made
    moved = steps(engine, lambda: engine.memories.rename(at("x/b.md"), at("y/c.md"), actor=ME))
    assert in_order(moved, "commit", "rename_noreplace", "fsync_dir", "fsync_dir", "commit"), moved
    gone = steps(engine, lambda: engine.memories.delete([A], actor=ME))
    assert in_order(gone, "commit", "rename_noreplace", "open_file", "unlink", "fsync_dir", "commit"), gone
    # Their texts were durable before; a text that was not is made so first.
    assert "durable commit" not in gone + moved
    (world.folder() / "y/c.md").write_bytes(THEIRS)
    moved = steps(engine, lambda: engine.memories.rename(at("y/c.md"), at("d.md"), actor=ME))
    assert in_order(moved, "durable commit", "rename_noreplace", "fsync_dir", "fsync_dir", "commit"), moved
    (world.folder() / "d.md").write_bytes(LATER)
    gone = steps(engine, lambda: engine.memories.delete([at("d.md")], actor=ME))
    assert in_order(gone, "durable commit", "rename_noreplace", "open_file", "unlink", "fsync_dir", "commit"), gone


@pytest.mark.parametrize("fails", [1, 2])
def test_a_sync_that_fails_once_and_then_succeeds_is_no_saved_text(
    world: World, engine: Engine, file: Path, monkeypatch: pytest.MonkeyPatch, fails: int
) -> None:
    ledger_of(engine).rows("SELECT 1")
    real, tried = os.fsync, []

    def sync(handle: int) -> None:
        tried.append(handle)
        if len(tried) == fails:
            raise OSError(errno.EIO, "once")
        real(handle)

    monkeypatch.setattr(os, "fsync", sync)
    with pytest.raises(StorageError) as caught:
        engine.save(A, MINE, expected_sha256=sha(OLD), actor=ME)
    assert caught.value.code == "E_IO"
    assert file.read_bytes() == OLD
    check(world, engine, OLD, MINE)
    assert isinstance(engine.save(A, MINE, expected_sha256=sha(OLD), actor=ME), Saved)


# --- what a file is besides its text


def test_a_save_keeps_extended_attributes_and_the_access_list(world: World, engine: Engine, file: Path) -> None:
    # Version 2, then tag, bits and id of: the owner, user 1000, the group, the mask, everybody else.
    parts = [(1, 6, -1), (2, 6, 1000), (4, 4, -1), (16, 6, -1), (32, 0, -1)]
    entries = struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", tag, bits, number & 0xFFFFFFFF) for tag, bits, number in parts
    )
    os.setxattr(file, "user.note", b"kept")
    os.setxattr(file, fsio.ACCESS_LIST, entries)
    assert isinstance(engine.save(A, MINE, expected_sha256=sha(OLD), actor=ME), Saved)
    assert os.getxattr(file, "user.note") == b"kept"
    assert os.getxattr(file, fsio.ACCESS_LIST) == entries


@pytest.mark.parametrize(("mode", "made"), [(0o2770, 0o660), (0o2775, 0o664), (0o2750, 0o640), (0o770, 0o600)])
def test_what_is_new_in_a_folder_shared_by_a_group_is_shared(
    world: World, engine: Engine, mode: int, made: int
) -> None:
    shared = world.folder() / "shared"
    shared.mkdir()
    os.chown(shared, -1, 12_345)
    shared.chmod(mode)
    engine.memories.create(at("shared/deep/a.md"), "a", actor=ME)
    engine.memories.create(at("shared/b.md"), "b", actor=ME)
    engine.memories.create(A, "a", actor=ME)
    for path in (shared / "deep/a.md", shared / "b.md"):
        assert path.stat().st_mode & 0o7777 == made
        assert (path.stat().st_gid == 12_345) is bool(mode & 0o2000)
    assert (shared / "deep").stat().st_mode & 0o7777 == (mode if mode & 0o2000 else 0o700)
    assert (world.folder() / "a.md").stat().st_mode & 0o777 == 0o600


def test_undoing_a_deletion_gives_back_the_date_of_the_file(world: World, engine: Engine, file: Path) -> None:
    os.utime(file, ns=(5, 1_600_000_000_123_456_789))
    engine.memories.delete([A], actor=ME)
    engine.undo.undo(actor=ME)
    assert file.stat().st_mtime_ns == 1_600_000_000_123_456_789
    engine.undo.redo(actor=ME)
    engine.undo.undo(actor=ME)
    assert file.stat().st_mtime_ns == 1_600_000_000_123_456_789


# --- several of one folder


def many(world: World, count: int = 250) -> list[Path]:
    folder = world.folder() / "many"
    folder.mkdir()
    paths = [folder / f"{number:03}.md" for number in range(count)]
    for path in paths:
        path.write_text(path.name)
    return paths


def test_a_folder_of_many_goes_with_few_syncs_and_comes_back(world: World, engine: Engine) -> None:
    files = many(world)
    before = world.disk()
    with hooked(plain) as calls:
        done = engine.memories.delete([at("many")], actor=ME)
    assert all(outcome.ok for outcome in done.outcomes)
    assert len(done.outcomes) == len(files)
    assert calls.count("fsync_dir") <= 3
    assert not world.disk()
    check(world, engine, *(path.name.encode() for path in files))
    with hooked(plain) as calls:
        engine.undo.undo(actor=ME)
    assert calls.count("list_dir") <= 3
    assert world.disk() == before


def test_of_many_those_that_somebody_changes_or_takes_are_told_apart(world: World, engine: Engine) -> None:
    files = many(world, 20)
    engine.watch.reconcile()
    files[3].unlink()
    expected = {at(f"many/{path.name}"): sha(path.name.encode()) for path in files}
    files[5].write_bytes(THEIRS)
    with hooked(meddling("rename_noreplace", replace(files[9], LATER), time=2)):
        done = engine.memories.delete(expected, actor=ME, expected=expected)
    odd = {one.address.name for one in done.outcomes if not one.ok or one.result is not None}
    assert odd == {"003.md", "005.md", "009.md"}
    assert world.disk() == {"notes/many/005.md": THEIRS, "notes/many/009.md": LATER}
    check(world, engine, THEIRS, LATER, *(path.name.encode() for path in files if path != files[3]))


def test_of_many_that_are_renamed_none_lands_on_another_name(world: World, engine: Engine) -> None:
    many(world, 12)
    (world.folder() / "to").mkdir()
    (world.folder() / "to/004.md").write_bytes(THEIRS)
    (world.folder() / "to/O05.MD").write_bytes(THEIRS)
    pairs = [(at(f"many/{number:03}.md"), at(f"to/{number:03}.md")) for number in range(5)]
    pairs += [
        (at("many/005.md"), at("to/o05.md")),
        (at("many/006.md"), at("to/A.md")),
        (at("many/007.md"), at("to/a.md")),
    ]
    codes = [one.error.code if one.error else "" for one in engine.memories.move(pairs, actor=ME).outcomes]
    assert codes == ["", "", "", "", "E_EXISTS", "E_CLASH", "", "E_CLASH"]
    assert (world.folder() / "to/004.md").read_bytes() == THEIRS
    check(world, engine)


@pytest.mark.parametrize("deed", ["delete", "move"])
def test_no_failing_call_loses_one_of_several(world: World, engine: Engine, deed: str) -> None:
    names = [path.name for path in many(world, 4)]
    for count in range(1, 400):
        error = errno.EIO if count % 2 else errno.ENOSPC
        with hooked(failing(count, error)) as calls, contextlib.suppress(MemtuiError):
            if deed == "delete":
                engine.memories.delete([at(f"many/{name}") for name in names], actor=ME)
            else:
                engine.memories.move([(at(f"many/{name}"), at(f"to/{name}")) for name in names], actor=ME)
        check(world, engine, *(name.encode() for name in names))
        for name in names:
            found = [world.folder() / folder / name for folder in ("many", "to")]
            alive = [path for path in found if path.exists()]
            assert len(alive) <= 1
            target = found[0]
            if alive != [target]:
                target.parent.mkdir(exist_ok=True)
                target.write_text(name)
            for other in alive:
                if other != target:
                    other.unlink()
        if len(calls) < count:
            return
    pytest.fail("it never came to its end")
