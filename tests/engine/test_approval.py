"""An engine that an agent's process opened approves nothing, and what a person approves is recorded."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.approval import Approver
from memtui.engine.model import Actor, Address, Root
from memtui.errors import RefusedError

HELD = Address("notes", "a.md")
PERSON, AGENT = Approver("tui", "at pts/1 from sh"), Approver("agent:x", "", "The agent x runs this memtui.")
ME, OTHER = Actor("cli"), Actor("mcp:x")


@pytest.fixture
def opened(tmp_path: Path) -> Callable[[Approver], Engine]:
    """An engine on a root of a checkout with a memory that somebody changed."""
    (tmp_path / "notes").mkdir()
    root = Root("notes", str(tmp_path / "notes"), "files", "project", in_checkout=True)

    def open_for(approver: Approver) -> Engine:
        return Engine.open([root], state_dir=str(tmp_path / "state"), approver=lambda: approver)

    with open_for(Approver()) as engine:
        engine.watch.reconcile()
        first = engine.memories.create(HELD, "one\n", actor=ME)
        engine.save(HELD, "two\n", expected_sha256=first.sha256, actor=OTHER)
    return open_for


def first_version(engine: Engine) -> str:
    return engine.history.of(HELD)[-1].sha256


DOORS: dict[str, Callable[[Engine], object]] = {
    "reviewed": lambda e: e.history.review([(HELD, first_version(e))], actor=ME),
    "seen": lambda e: e.changes.mark_seen([HELD]),
    "all seen": lambda e: e.changes.mark_seen(None),
    "changes seen": lambda e: e.changes.mark_shown(e.changes.unseen()),
    "redacted": lambda e: e.redaction.redact(HELD, first_version(e), reason="why", actor=ME),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_person_is_recorded_with_where_they_sit_and_an_agent_refused(
    door: str, opened: Callable[[Approver], Engine]
) -> None:
    with opened(AGENT) as engine, pytest.raises(RefusedError) as caught:
        DOORS[door](engine)
    assert caught.value.code == "E_PERSON"
    with opened(PERSON) as engine:
        before = engine.history.audit()
        DOORS[door](engine)
        (record,) = engine.history.audit()[: -len(before)]
        assert (record.operation, record.state) == (door.split()[-1], "done")
        assert record.note.endswith("at pts/1 from sh")
        assert engine.undo.next() == before[0].txn  # an approval is no step of undo


def test_looking_takes_the_sign_away_without_a_record_and_not_for_an_agent(
    opened: Callable[[Approver], Engine],
) -> None:
    with opened(AGENT) as engine:
        assert engine.changes.mark_seen([HELD], looked=True) == 0
        assert engine.changes.unseen()
    with opened(PERSON) as engine:
        before = engine.history.audit()
        assert engine.changes.mark_seen([HELD], looked=True) == 1
        assert engine.history.audit() == before
