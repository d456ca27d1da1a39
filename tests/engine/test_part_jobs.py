"""Reading and writing as one step: edits that know nothing of each other all land, and half a version is no base."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine import Engine, part
from memtui.engine.model import Conflict, Saved, Unchanged
from memtui.errors import NotFoundError, RefusedError
from tests.faults.injector import hooked, meddling
from tests.faults.world import ME, World, at, ledger_of, open_intents, sha

A = at("a.md")


@pytest.fixture
def file(world: World) -> Path:
    path = world.folder() / "a.md"
    path.write_bytes(b"0\n")
    return path


def appending(line: bytes) -> Callable[[bytes], bytes]:
    return lambda old: old + line


def test_an_edit_makes_the_new_text_of_the_old_one(engine: Engine, file: Path) -> None:
    result = engine.memories.edit(A, lambda old: old + b"1\n", actor=ME)
    assert isinstance(result, Saved)
    assert (result.before, result.sha256) == (sha(b"0\n"), sha(b"0\n1\n"))
    assert file.read_bytes() == b"0\n1\n"
    assert [version.sha256 for version in engine.history.of(A)] == [sha(b"0\n1\n"), sha(b"0\n")]


def test_an_edit_that_changes_nothing_writes_nothing(engine: Engine, file: Path) -> None:
    before = file.stat()
    assert engine.memories.edit(A, lambda old: old, actor=ME) == Unchanged(A, sha(b"0\n"))
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_an_edit_of_nothing_is_told(engine: Engine, file: Path) -> None:
    with pytest.raises(NotFoundError):
        engine.memories.edit(at("b.md"), lambda old: old, actor=ME)


def test_what_an_edit_raises_is_passed_on_and_nothing_happened(engine: Engine, file: Path) -> None:
    def refuse(old: bytes) -> bytes:
        raise LookupError(old)

    with pytest.raises(LookupError):
        engine.memories.edit(A, refuse, actor=ME)
    with pytest.raises(RefusedError) as caught:
        engine.memories.edit(A, lambda _: b"x" * 300_000, actor=ME)
    assert caught.value.code == "E_TOO_BIG"
    assert file.read_bytes() == b"0\n"
    assert not engine.history.audit()
    assert not open_intents(engine)


def test_edits_by_several_threads_and_engines_all_land(world: World, engine: Engine, file: Path) -> None:
    with world.engine() as other:

        def work(who: int) -> None:
            for number in range(10):
                line = f"{who} {number}\n".encode()
                which = other if who % 2 else engine
                assert isinstance(which.memories.edit(A, appending(line), actor=ME), Saved)

        threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    lines = [f"{who} {number}" for who in range(4) for number in range(10)]
    assert sorted(file.read_text().splitlines()) == sorted(["0", *lines])


def test_only_what_is_there_and_stands_is_joined(engine: Engine) -> None:
    ledger = ledger_of(engine)
    engine.memories.create(A, b"0\n", actor=ME)
    done = engine.memories.rename(A, at("b.md"), actor=ME)
    found = part.joined(ledger, done.txn)
    assert found is not None
    assert (found.begun, found.id) == (True, int(done.txn))
    assert part.joined(ledger, None) is None
    assert part.joined(ledger, "99") is None
    engine.undo.undo(actor=ME)
    assert part.joined(ledger, done.txn) is None


def test_a_stranger_in_between_makes_an_edit_a_conflict(engine: Engine, file: Path) -> None:
    def stranger() -> None:
        other = file.with_name("agent-temp")
        other.write_bytes(b"theirs\n")
        other.rename(file)

    with hooked(meddling("exchange", stranger)):
        result = engine.memories.edit(A, lambda old: old + b"1\n", actor=ME)
    assert isinstance(result, Conflict)
    assert file.read_bytes() == b"theirs\n"
    assert result.yours_sha256 == sha(b"0\n1\n")


def test_an_edit_does_not_start_from_half_a_version(
    engine: Engine, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "PATIENCE", 30.0)
    handle = os.open(file, os.O_WRONLY | os.O_TRUNC)
    os.write(handle, b"the")
    results: list[object] = []
    waiting = threading.Event()

    def edit() -> None:
        with hooked(meddling("hold_writers", waiting.set, after=True)):
            results.append(engine.memories.edit(A, lambda old: old + b"1\n", actor=ME))

    thread = threading.Thread(target=edit)
    thread.start()
    assert waiting.wait(100)
    os.write(handle, b"irs\n")
    os.close(handle)
    thread.join()
    assert isinstance(results[0], Saved)
    assert file.read_bytes() == b"theirs\n1\n"
