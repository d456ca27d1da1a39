"""What this process wrote is read again row by row; what others wrote, or too much, is read whole."""

import pytest

from memtui.engine import Engine
from memtui.engine.ledger import memories
from memtui.engine.ledger.database import MAX_OWN_ROWS, OwnRows
from memtui.engine.ledger.memories import MemoryTable, Record
from memtui.engine.model import Address
from tests.engine.settling import settle
from tests.faults.world import ME, World, at, ledger_of


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
