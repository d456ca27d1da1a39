"""Uses that wait: nobody sees them missing, and none is lost on the way out."""

import time

import pytest

from memtui.engine import Engine
from memtui.engine.ledger import usage
from memtui.engine.ledger.database import Database
from memtui.engine.model import Actor
from memtui.errors import MemtuiError, StorageError
from tests.faults.world import ME, World, at

AGENT = Actor("mcp:x")
A, B = at("a.md"), at("b.md")


@pytest.fixture(autouse=True)
def _slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "DELAY", 3_600.0)


def used(engine: Engine) -> list[int]:
    """Return the uses of every memory."""
    return [row.uses for row in engine.rows.list().items]


def test_this_process_sees_what_waits_at_once(engine: Engine) -> None:
    engine.memories.create(A, b"a", actor=ME)
    for _ in range(5):
        engine.pins.record_use(A, actor=AGENT, soon=True)
    assert engine.rows.get(A).uses == 5
    engine.pins.record_use(A, actor=AGENT, wrote=True, soon=True)
    row = engine.rows.get(A)
    assert (row.uses, row.last_written_at) == (6, row.last_used_at)


def test_others_see_it_with_the_next_change_or_at_the_end(engine: Engine, world: World) -> None:
    engine.memories.create(A, b"a", actor=ME)
    engine.pins.record_use(A, actor=AGENT, soon=True)
    with world.engine() as other:
        assert used(other) == [0]
        engine.memories.create(B, b"b", actor=ME)
        assert used(other) == [1, 0]
        engine.pins.record_use(B, actor=AGENT, soon=True)
        engine.close()
        assert used(other) == [1, 1]


def test_a_second_is_the_longest_wait(engine: Engine, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "DELAY", 0.01)
    engine.memories.create(A, b"a", actor=ME)
    engine.pins.record_use(A, actor=AGENT, soon=True)
    deadline = time.monotonic() + 20
    with world.engine() as other:
        while used(other) != [1] and time.monotonic() < deadline:
            time.sleep(0.005)
        assert used(other) == [1]


def test_what_could_not_be_written_goes_on_waiting(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.memories.create(A, b"a", actor=ME)
    engine.pins.record_use(A, actor=AGENT, soon=True)
    with monkeypatch.context() as patch:

        def fail(self: Database, durable: bool) -> object:
            raise StorageError("no")

        patch.setattr(Database, "enter", fail)
        with pytest.raises(MemtuiError):
            engine.memories.create(B, b"b", actor=ME)
        engine._ledger.settle()
    assert engine.rows.get(A).uses == 1


def test_a_persons_look_is_no_use(engine: Engine) -> None:
    engine.memories.create(A, b"a", actor=ME)
    engine.pins.record_use(A, actor=ME, soon=True)
    assert engine.rows.get(A).uses == 0
