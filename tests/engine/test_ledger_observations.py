"""Decisions about observations stay, follow their memory, are made one after the other, and can be redacted."""

import pytest

from memtui.engine import Engine
from memtui.engine.model import Actor, Address
from memtui.engine.observation import PRIVATE, REDACTED, ObservationMark
from memtui.errors import ConflictError, RefusedError
from tests.faults.world import World

ME = Actor("tui")


def mark(engine: Engine, path: str, **fields: object) -> ObservationMark:
    uid = engine.roots.uid(engine.roots.all()[0])
    made = ObservationMark(b"n" * 10, 0, uid, path, b"", b"k" * 10, b"")
    return made._replace(**fields)  # type: ignore[arg-type]


def test_decisions_follow_one_another(engine: Engine) -> None:
    table = engine.observations
    with pytest.raises(ConflictError):
        table.put(mark(engine, "a.md", state=PRIVATE, seq=7), actor="tui")
    first = table.put(mark(engine, "a.md", state=PRIVATE, patch='{"title": "x"}'), actor="tui", reason="mine")
    assert table.marks() == (first,)
    with pytest.raises(ConflictError):
        table.put(mark(engine, "a.md"), actor="tui")
    plain = table.put(first._replace(state=0, patch=""), actor="cli")
    assert table.marks() == (plain,)
    assert [(one.before, one.after, one.actor) for one in table.log(b"n" * 10)] == [
        ("", "private edited", "tui"),
        ("private edited", "normal", "cli"),
    ]
    assert table.decided_after(first.seq) == (first.seq + 1, frozenset([b"n" * 10]))


def test_a_mark_goes_where_its_memory_goes(engine: Engine) -> None:
    address = Address(engine.roots.all()[0].id, "a.md")
    engine.memories.create(address, "text\n", actor=ME)
    engine.observations.put(mark(engine, "a.md", state=PRIVATE), actor="tui")
    engine.memories.rename(address, Address(address.root, "sub/b.md"), actor=ME)
    assert [one.path for one in engine.observations.marks()] == ["sub/b.md"]
    engine.undo.undo(actor=ME)
    assert [one.path for one in engine.observations.marks()] == ["a.md"]


def test_what_was_written_over_a_redacted_card_is_nowhere(world: World) -> None:
    state = world.state
    with world.engine() as engine:
        table = engine.observations
        edited = table.put(mark(engine, "a.md", patch='{"title": "zanzibar"}'), actor="tui", reason="was zanzibar")
    with world.engine() as engine:
        engine._ledger.back_up()
        assert any(b"zanzibar" in file.read_bytes() for file in state.rglob("*.db"))
        done = engine.redaction.redact_observation(edited, reason="a slip", actor=ME)
        assert (done.state, done.patch) == (REDACTED, "")
        with pytest.raises(RefusedError, match="for good"):
            engine.observations.put(done._replace(state=0), actor="tui")
    assert not [file.name for file in state.rglob("*") if file.is_file() and b"zanzibar" in file.read_bytes()]
