"""What people look at afterwards: operations, pages of the audit, all that was deleted; days are counted by writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine import Engine, now_ms
from memtui.engine.model import Actor, AuditRecord
from memtui.errors import NotFoundError, RefusedError
from tests.conftest import Clock
from tests.engine.settling import settle
from tests.faults.world import ME, SECOND, World, at, ledger_of, sha

A, B = at("a.md"), at("b.md")


def test_an_operation_is_told_with_its_size_and_whether_it_stands(engine: Engine) -> None:
    engine.memories.create(A, b"a\n", actor=ME)
    engine.memories.create(B, b"b\n", actor=ME)
    done = engine.memories.delete([A, B], actor=ME)

    def stands() -> bool:
        (told,) = engine.history.operations(done.txn, done.txn)
        assert (told.label, told.kind, told.records) == ("delete 2 memories", "do", 2)
        return not told.undone

    assert stands()
    for _ in range(2):
        engine.undo.undo(actor=ME)
        assert not stands()
        engine.undo.redo(actor=ME)
        assert stands()


def test_everybody_who_did_something_is_known(engine: Engine) -> None:
    assert engine.history.actors() == ()
    engine.memories.create(A, b"a\n", actor=Actor("mcp:one"))
    engine.memories.create(B, b"b\n", actor=ME)
    assert engine.history.actors() == (ME.name, "mcp:one")
    engine.memories.delete([A], actor=Actor("mcp:one"))
    assert engine.history.actors() == ("mcp:one", ME.name)


def test_what_an_undo_could_not_take_back_stands(world: World, engine: Engine) -> None:
    made = engine.memories.create(A, b"a\n", actor=ME)
    (world.folder() / "a.md").write_bytes(b"by somebody else\n")
    assert not engine.undo.undo(actor=ME).outcomes[0].ok
    (told,) = engine.history.operations(getattr(made, "txn", ""), getattr(made, "txn", ""))
    assert not told.undone


def test_the_audit_is_read_page_by_page(engine: Engine) -> None:
    for number in range(7):
        engine.memories.create(at(f"{number}.md"), b"x\n", actor=ME)
    whole = engine.history.audit(limit=100)
    pages: list[AuditRecord] = []
    page = engine.history.audit(limit=3)
    while page:
        pages += page
        page = engine.history.audit(limit=3, before=page[-1].seq)
    assert tuple(pages) == whole


def test_a_deleted_text_whose_name_was_taken_stays_in_sight_until_it_is_back(world: World, engine: Engine) -> None:
    engine.memories.create(A, b"first\n", actor=ME)
    engine.memories.delete([A], actor=ME)
    engine.memories.create(A, b"second\n", actor=ME)
    assert not engine.undo.trash.entries()
    (entry,) = engine.undo.trash.entries(taken=True)
    assert (entry.sha256, entry.taken) == (sha(b"first\n"), True)
    engine.save(A, b"third\n", expected_sha256=sha(b"second\n"), actor=ME)
    assert [one.taken for one in engine.undo.trash.entries(taken=True)] == [True]
    engine.memories.restore(A, version=sha(b"first\n"), actor=ME)
    assert not engine.undo.trash.entries(taken=True)


def test_a_memory_that_others_renamed_is_not_taken_for_deleted(world: World, engine: Engine) -> None:
    (world.folder() / "a.md").write_bytes(b"a\n")
    settle(engine)
    (world.folder() / "a.md").rename(world.folder() / "b.md")
    settle(engine, deleted=True)
    (world.folder() / "a.md").write_bytes(b"new\n")
    settle(engine)
    assert not engine.undo.trash.entries(taken=True)


def test_an_edit_after_a_restore_does_not_bring_the_deletion_back(engine: Engine) -> None:
    engine.memories.create(A, b"first\n", actor=ME)
    engine.memories.delete([A], actor=ME)
    engine.memories.restore(A, actor=ME)
    engine.save(A, b"second\n", expected_sha256=sha(b"first\n"), actor=ME)
    assert not engine.undo.trash.entries(taken=True)


def test_a_text_of_a_step_is_read_whatever_the_memory_is_called_by_now(engine: Engine) -> None:
    engine.memories.create(A, b"first\n", actor=ME)
    engine.save(A, b"second\n", expected_sha256=sha(b"first\n"), actor=ME)
    engine.memories.rename(A, B, actor=ME)
    engine.memories.create(A, b"another\n", actor=ME)
    step = next(record for record in engine.history.audit() if record.before == sha(b"first\n"))
    assert engine.history.read_audited(step.seq, sha(b"first\n")) == b"first\n"
    assert engine.history.read_audited(step.seq, sha(b"second\n")) == b"second\n"
    for seq, text in ((step.seq, b"another\n"), (9_999, b"first\n")):
        with pytest.raises(NotFoundError):
            engine.history.read_audited(seq, sha(text))
    engine.redaction.redact(B, sha(b"first\n"), reason="a key", actor=ME)
    with pytest.raises(RefusedError):
        engine.history.read_audited(step.seq, sha(b"first\n"))


def test_a_text_of_a_root_that_is_not_open_is_not_given(world: World, engine: Engine) -> None:
    engine.memories.create(at("a.md", SECOND), b"secret\n", actor=ME)
    step = engine.history.audit()[0]
    with Engine.open(world.roots[:1], state_dir=str(world.state)) as other, pytest.raises(NotFoundError):
        other.history.read_audited(step.seq, sha(b"secret\n"))


def told(engine: Engine, seq: int, limit: int = 100) -> tuple[list[tuple[str, str, bool, bool]], int]:
    records, last = engine.history.since(seq, limit)
    return [(r.operation, str(r.address), bool(r.before), bool(r.after)) for r in records], last


def test_a_follower_is_told_every_change_of_a_memory_once_and_no_mark(engine: Engine, world: World) -> None:
    assert (engine.history.last(), told(engine, 0)) == (0, ([], 0))
    engine.memories.create(A, b"a\n", actor=ME)
    engine.pins.set([A], pinned=True, actor=ME)
    first = engine.history.last()
    settle(engine)
    (world.folder() / "b.md").write_bytes(b"outside\n")
    settle(engine)
    settle(engine)
    engine.memories.delete([A], actor=ME)
    found, last = told(engine, 0)
    assert found == [
        ("created", str(A), False, True),
        ("created", str(B), False, True),
        ("deleted", str(A), True, False),
    ]
    assert last == engine.history.last()
    assert told(engine, first) == (found[1:], last)
    some, on = told(engine, 0, 2)
    assert [*some, *told(engine, on)[0]] == found
    assert told(engine, last) == ([], last)


def test_a_change_in_the_making_holds_up_what_comes_behind_it_for_a_while(engine: Engine) -> None:
    engine.memories.create(A, b"a\n", actor=ME)
    made = engine.history.last()
    engine.memories.create(B, b"b\n", actor=ME)

    def begun(seconds_ago: int) -> None:
        with engine._ledger.transaction() as db:
            began = now_ms() - 1000 * seconds_ago
            db.execute("UPDATE audit SET state = 'intent', at = ? WHERE seq = ?", (began, made))

    begun(1)
    assert told(engine, 0) == ([], 0)
    assert engine.history.last() == made - 1
    begun(6)
    assert len(told(engine, 0)[0]) == 2
    assert engine.history.last() > made


DAY = 86_400_000
AGENT = ME._replace(name="agent:one")
WRONG: dict[str, Callable[[int], int]] = {
    "ten years back": lambda now: now - 3_653 * DAY,
    "forty days on": lambda now: now + 40 * DAY,
    "ten years on": lambda now: now + 3_653 * DAY,
    "2106": lambda _: 4_294_967_296_000,
}
"""Clocks that are wrong, from one that is right."""


def text(number: int) -> bytes:
    """Return the text of a version."""
    return f"version {number}\n".encode()


def write(world: World, clock: Clock, number: int, count: int = 1) -> None:
    """Save a memory repeatedly, in one process."""
    with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as engine:
        for each in range(number, number + count):
            engine.save(A, text(each), expected_sha256=sha(text(each - 1)) if each else None, actor=ME)


def kept(world: World, clock: Clock) -> int:
    """Return how many versions can be read."""
    with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as engine:
        return len({engine.history.read(A, version.sha256) for version in engine.history.of(A)})


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_clock_prunes_nothing(world: World, clock: Clock, wrong: str) -> None:
    write(world, clock, 0, 45)
    right = clock.now
    clock.now = WRONG[wrong](right)
    write(world, clock, 45)
    assert kept(world, clock) == 46
    clock.now = right + DAY
    write(world, clock, 46)
    assert kept(world, clock) == 47


def test_days_on_which_it_was_open_make_versions_old(world: World, clock: Clock) -> None:
    write(world, clock, 0, 45)
    for day in range(30):
        clock.advance(days=1)
        write(world, clock, 45 + day)
        assert kept(world, clock) == 46 + day
    clock.advance(days=1)
    write(world, clock, 75)
    # What was written in the 30 days before this one, and what the first of it replaced.
    assert kept(world, clock) == 32


def backups(world: World) -> list[Path]:
    """Return the backups by name."""
    return sorted((world.state / "backups").iterdir())


@pytest.mark.parametrize("wrong", WRONG)
def test_a_backup_of_a_wrong_clock_is_rotated_like_any_other(world: World, clock: Clock, wrong: str) -> None:
    write(world, clock, 0)
    right = clock.now
    clock.now = WRONG[wrong](right)
    write(world, clock, 1)
    odd = set(backups(world))
    clock.now = right
    for day in range(4):
        clock.advance(days=1)
        write(world, clock, 2 + 2 * day)
        there = backups(world)
        write(world, clock, 3 + 2 * day)
        assert backups(world) == there, "one a day"
    assert len(backups(world)) == 3
    assert not odd & set(backups(world))


def test_the_newest_backup_is_not_the_one_from_the_future(world: World, clock: Clock) -> None:
    write(world, clock, 0)
    right = clock.now
    clock.advance(days=40)
    write(world, clock, 1)
    clock.now = right + DAY
    write(world, clock, 2)
    with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as engine:
        newest = ledger_of(engine).backups()[-1]
    assert newest.endswith(f"{clock.now:015d}.db")


@pytest.mark.parametrize("days", [40, 3_653])
def test_a_use_in_the_future_cools_like_any_other(world: World, clock: Clock, days: int) -> None:
    write(world, clock, 0)
    right = clock.now
    clock.advance(days=days)
    with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as engine:
        engine.pins.record_use(A, actor=AGENT)
    clock.now = right
    heats = []
    for day in range(15):
        write(world, clock, 1 + day)
        with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as engine:
            heats.append(engine.rows.get(A).heat)
        clock.advance(days=1)
    assert heats[0] == pytest.approx(1.0)
    assert heats[8] == pytest.approx(0.5, abs=0.06)
    assert heats[14] == pytest.approx(0.25, abs=0.06)
