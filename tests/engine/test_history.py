"""What comes along with memories from elsewhere: versions below what is newest here, pins in the same step of undo."""

import threading
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.approval import Approver
from memtui.engine.model import Actor, Address, Root, Version, Write
from memtui.errors import RefusedError, StorageError

ME = Actor("cli")
A = Address("notes", "a.md")


def version(data: bytes, at: int, actor: str = "mcp:x") -> tuple[Version, bytes]:
    return Version(sha256(data).hexdigest(), len(data), actor, at, "modified"), data


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    (tmp_path / "notes").mkdir()
    return Engine.open([Root("notes", str(tmp_path / "notes"))], state_dir=str(tmp_path / "state"))


def test_versions_lie_below_what_is_written_after_them_and_come_once(engine: Engine) -> None:
    with engine:
        assert engine.history.keep(A, [version(b"one", 1), version(b"two", 2)], actor=ME) == 2
        assert not engine.rows.list().items
        assert not engine.undo.trash.entries()
        engine.together.do([Write(A, b"three", None)], actor=ME, label="import")
        found = engine.history.of(A)
        assert [(one.actor, one.at) for one in found][1:] == [("mcp:x", 2), ("mcp:x", 1)]
        assert engine.history.read(A, found[2].sha256) == b"one"
        assert found[1].note == "imported"
        assert engine.history.keep(A, [version(b"one", 1), version(b"two", 2)], actor=ME) == 0


def test_a_version_that_is_not_what_it_says_is_refused_whole(engine: Engine) -> None:
    with engine:
        good, bad = version(b"one", 1), (version(b"two", 2)[0], b"other")
        with pytest.raises(StorageError):
            engine.history.keep(A, [good, bad], actor=ME)
        assert engine.history.of(A) == ()


def test_pins_go_with_the_step_that_brought_the_memory(engine: Engine) -> None:
    with engine:
        done = engine.together.do([Write(A, b"one", None)], actor=ME, label="import")
        assert engine.pins.bring([A], actor=ME, joins=done.txn) == 1
        assert engine.rows.get(A).pinned
        engine.undo.undo(actor=ME)
        assert not engine.rows.list().items
        engine.undo.redo(actor=ME)
        assert engine.rows.get(A).pinned
        assert engine.pins.bring([A], actor=ME, joins=done.txn) == 0


def test_pins_alone_are_a_step_of_their_own(engine: Engine) -> None:
    with engine:
        engine.memories.create(A, b"one", actor=ME)
        assert engine.pins.bring([A], actor=ME, joins=None) == 1
        engine.undo.undo(actor=ME)
        assert not engine.rows.get(A).pinned


MARKING: dict[str, Callable[[Engine], object]] = {
    "set_pinned": lambda engine: engine.pins.set([A], pinned=True, actor=ME),
    "pin_along": lambda engine: engine.pins.bring([A], actor=ME, joins=None),
    "keep_versions": lambda engine: engine.history.keep(A, [version(b"old", 1)], actor=ME),
}


@pytest.mark.parametrize("verb", MARKING)
def test_nobody_holds_the_ledger_while_waiting_for_the_roots(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """Whoever lists holds the roots and waits for the ledger: the other way round both would wait for ever."""
    roots, ledger = engine.roots, engine._ledger
    uid = roots.uid
    stuck: list[bool] = []

    def checked(root: Root) -> int:
        other = threading.Thread(target=ledger.generation, daemon=True)
        other.start()
        other.join(20)
        stuck.append(other.is_alive())
        return uid(root)

    with engine:
        engine.memories.create(A, b"one", actor=ME)
        monkeypatch.setattr(roots, "uid", checked)
        MARKING[verb](engine)
    assert stuck
    assert not any(stuck)


def test_a_setting_of_the_user_s_alone_is_recorded_for_a_person_and_refused_to_an_agent(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    roots, state = [Root("notes", str(tmp_path / "notes"))], str(tmp_path / "state")
    agent = Approver("agent:codex", "", "The agent codex runs this memtui.")
    with Engine.open(roots, state_dir=state, approver=lambda: agent) as engine:
        with pytest.raises(RefusedError, match="Only a person may change this setting"):
            engine.history.record_setting("notes", "transcripts.read = all")
        engine.history.record_setting("notes", "transcripts.read = off", known=False)
    with Engine.open(roots, state_dir=state, approver=lambda: Approver("cli", "at /dev/pts/1")) as engine:
        engine.history.record_setting("notes", "transcripts.read = all")
        found = [(one.actor, one.operation, one.note) for one in engine.history.audit(address=Address("notes", ""))]
    assert found == [
        ("cli", "setting", "transcripts.read = all, at /dev/pts/1"),
        ("outside", "setting", "transcripts.read = off"),
    ]
