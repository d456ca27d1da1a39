"""Marks and operations are one stack of undo and redo, in the order of time, on a real engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine import Engine, now_ms
from memtui.engine.model import Actor, Address, Done, PassedOver, Root, Write
from memtui.engine.proposal import Evidence
from memtui.errors import NotFoundError
from memtui.features.proposals.apply import decide
from memtui.features.proposals.value import proposal
from memtui.workbench.undo import LocalStep, LocalSteps

ME, CLAUDE = Actor("tui"), Actor("agent:claude")
A, C = Address("here", "a.md"), Address("here", "c.md")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """A folder with a memory that an agent wrote."""
    with Engine.open([Root("here", str(tmp_path / "here"))], state_dir=str(tmp_path / "state")) as opened:
        opened.memories.create(C, "c\n", actor=ME)
        opened.watch.reconcile()
        opened.memories.create(A, "a\n", actor=CLAUDE)
        yield opened


def save(engine: Engine, text: str) -> None:
    engine.save(C, text, expected_sha256=engine.read(C).sha256, actor=ME)


def label(step: Done | LocalStep | PassedOver) -> str:
    assert not isinstance(step, PassedOver)
    return "seen" if isinstance(step, LocalStep) else step.label.removeprefix("undo ").removeprefix("redo ")


def unseen(engine: Engine) -> list[Address]:
    return [change.address for change in engine.changes.unseen()]


def test_redo_does_again_what_was_undone_last_and_no_older_mark(engine: Engine) -> None:
    steps = LocalSteps()
    steps.mark(engine, engine.changes.unseen())
    assert label(steps.undo(engine, ME)) == "seen"
    save(engine, "mine\n")
    assert label(steps.undo(engine, ME)) == "save here/c.md"
    assert label(steps.redo(engine, ME)) == "save here/c.md"
    assert engine.read(C).bytes == b"mine\n"
    assert unseen(engine) == [A]
    with pytest.raises(NotFoundError):
        steps.redo(engine, ME)
    assert unseen(engine) == [A]


def test_a_mark_ends_what_could_be_done_again(engine: Engine) -> None:
    steps = LocalSteps()
    save(engine, "mine\n")
    steps.undo(engine, ME)
    steps.mark(engine, engine.changes.unseen())
    with pytest.raises(NotFoundError) as caught:
        steps.redo(engine, ME)
    assert caught.value.code == "E_NOTHING_TO_UNDO"
    assert engine.read(C).bytes == b"c\n"
    assert label(steps.undo(engine, ME)) == "seen"
    assert label(steps.redo(engine, ME)) == "seen"


def test_operations_and_marks_go_back_and_forth_in_the_order_of_time(engine: Engine) -> None:
    steps = LocalSteps()
    save(engine, "one\n")
    steps.mark(engine, engine.changes.unseen())
    save(engine, "two\n")
    order = ["save here/c.md", "seen", "save here/c.md"]
    for _ in range(3):
        assert [label(steps.undo(engine, ME)) for _ in order] == order
        assert (engine.read(C).bytes, unseen(engine)) == (b"c\n", [A])
        assert [label(steps.redo(engine, ME)) for _ in order] == order
        assert (engine.read(C).bytes, unseen(engine)) == (b"two\n", [])


def test_a_mark_that_belongs_to_a_step_goes_and_comes_with_it(engine: Engine) -> None:
    steps = LocalSteps()
    save(engine, "one\n")
    step = Write(Address("here", "new.md"), b"new\n", None)
    shows = [Evidence("request", "somebody")]
    made = proposal(engine, kind="add", steps=[step], by="claude", why="because", evidence=shows)
    (stored,) = engine.proposals.add([made])
    decide(engine, [stored.id], "rejected", actor=ME)
    steps.mark(engine, engine.changes.unseen(), [stored.id], joined=True)
    for _ in range(2):
        done = steps.undo(engine, ME)
        assert label(done) == "save here/c.md"
        assert isinstance(done, Done)
        assert done.also == "Also open again: 1 proposal rejected, 1 change seen."
        assert (engine.read(C).bytes, unseen(engine)) == (b"c\n", [A])
        assert engine.proposals.get(stored.id).state == "open"
        assert label(steps.redo(engine, ME)) == "save here/c.md"
        assert (engine.read(C).bytes, unseen(engine)) == (b"one\n", [])
        assert engine.proposals.get(stored.id).state == "rejected"


def test_a_step_of_which_nothing_is_left_is_passed_over(engine: Engine) -> None:
    steps, done = LocalSteps(), list[str]()

    def step(words: str, *, left: bool) -> LocalStep:
        def back(_: Engine, actor: Actor) -> bool:
            assert actor == ME
            done.append(f"back {words}")
            return left

        return LocalStep(words, back, lambda *_: done.append(f"again {words}"))

    for words, left in (("one", True), ("two", False), ("three", True)):
        steps.add(engine, step(words, left=left))
    save(engine, "mine\n")
    assert label(steps.undo(engine, ME)) == "save here/c.md"
    for words in ("three", "one"):
        undone = steps.undo(engine, ME)
        assert isinstance(undone, LocalStep)
        assert undone.words == words
    assert done == ["back three", "back two", "back one"]
    assert label(steps.redo(engine, ME)) == "seen"
    assert done[-1] == "again one"


def test_a_step_from_before_this_run_is_named_first_and_taken_back_when_asked_again(engine: Engine) -> None:
    steps = LocalSteps(began=now_ms() + 60_000)
    save(engine, "mine\n")
    for there in (True, False):
        named = steps.undo(engine, ME)
        assert isinstance(named, PassedOver)
        assert named.newer == ("" if there else "agent:claude")
        assert engine.read(C).bytes == (b"mine\n" if there else b"c\n")
        assert label(steps.undo(engine, ME)) == named.label + ("" if there else " by claude")
        assert [row.address for row in engine.rows.list().items if not row.missing] == ([A, C] if there else [C])


def test_what_somebody_else_did_last_is_named_first(engine: Engine) -> None:
    steps = LocalSteps()
    named = steps.undo(engine, ME)
    assert isinstance(named, PassedOver)
    assert (named.newer, named.folder) == ("agent:claude", "")
    save(engine, "mine\n")
    assert label(steps.undo(engine, ME)) == "save here/c.md"
    assert isinstance(steps.undo(engine, ME), PassedOver)
    assert engine.rows.get(A).sha256 is not None
    assert label(steps.undo(engine, ME)) == "create here/a.md by claude"


def test_an_older_change_is_only_taken_back_when_asked_twice(tmp_path: Path) -> None:
    folders = [Root(name, str(tmp_path / name)) for name in ("here", "there")]
    state = str(tmp_path / "state")
    with Engine.open(folders, state_dir=state) as engine:
        for path in ("here/a.md", "here/b.md", "there/c.md"):
            engine.memories.create(Address.parse(path), "text\n", actor=ME)
    steps = LocalSteps()
    with Engine.open(folders[:1], state_dir=state) as engine:
        told = steps.undo(engine, ME)
        assert told == ("create here/b.md", "create there/c.md", str(tmp_path / "there"))
        assert (tmp_path / "here" / "b.md").exists()
        done = steps.undo(engine, ME)
        assert isinstance(done, Done)
        assert (done.label, done.left) == ("create here/b.md", "")
        assert label(steps.undo(engine, ME)) == "create here/a.md"  # told once
        assert label(steps.redo(engine, ME)) == "create here/a.md"
    with Engine.open(folders, state_dir=state) as engine:
        engine.memories.create(Address.parse("there/d.md"), "text\n", actor=ME)
    with Engine.open(folders[:1], state_dir=state) as engine:
        assert isinstance(steps.undo(engine, ME), PassedOver)  # something newer again
        engine.memories.create(Address.parse("here/e.md"), "text\n", actor=ME)
        assert label(steps.undo(engine, ME)) == "create here/e.md"


def test_an_undo_before_the_start_can_be_done_again(engine: Engine) -> None:
    save(engine, "mine\n")
    engine.undo.undo(actor=ME)
    LocalSteps().redo(engine, ME)
    assert engine.read(C).bytes == b"mine\n"
