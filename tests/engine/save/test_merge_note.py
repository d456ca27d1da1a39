"""The audit's sentence about a merge can be read again, also when undo and redo repeat it."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Conflict, Draft, MergeOf, Root, Saved
from memtui.engine.save.merge_note import Merged, merge_note, read_note, repeated

BASE, YOURS, AGENT, RESULT = ("a" * 64, "b" * 64, "c" * 64, "d" * 64)


def test_it_names_the_four_texts_and_every_decision() -> None:
    note = merge_note(MergeOf(BASE, YOURS, AGENT, ("line 6 yours", "line 9 agent, merged")), RESULT)
    assert (
        note == f"merge: base {BASE}, yours {YOURS}, agent {AGENT}, result {RESULT}; line 6 yours, line 9 agent, merged"
    )
    assert read_note(note) == Merged(BASE, YOURS)


def test_a_thousand_decisions_become_a_number() -> None:
    note = merge_note(MergeOf(BASE, YOURS, AGENT, tuple(f"line {n} yours" for n in range(1_000))), RESULT)
    assert note.endswith("line 99 yours, 900 more")


def test_other_notes_are_not_about_a_merge() -> None:
    for note in ("", "late write into a replaced file", "merge: ", "merge: base none, yours short", "why: merge: it"):
        assert read_note(note) is None
    assert repeated("interrupted", "undo") == ""


ME = Actor("tui")
A = Address("notes", "a.md")
OLD, MINE, THEIRS, BOTH = b"base\n", b"yours\n", b"agent\n", b"yours\nagent\n"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "root").mkdir()
    with Engine.open([Root("notes", str(tmp_path / "root"))], state_dir=str(tmp_path / "state")) as opened:
        yield opened


def merge(engine: Engine, yours: bytes = MINE) -> None:
    """What the conflict screen does: the agent is first, the draft is refused, the result is saved."""
    engine.memories.create(A, OLD, actor=ME)
    engine.drafts.save(Draft(A, sha256(OLD).hexdigest(), yours.decode(errors="replace"), (0, 0), 1))
    engine.save(A, THEIRS, expected_sha256=sha256(OLD).hexdigest(), actor=Actor("agent:claude"))
    assert isinstance(engine.save(A, yours, expected_sha256=sha256(OLD).hexdigest(), actor=ME), Conflict)
    of = MergeOf(sha256(OLD).hexdigest(), sha256(yours).hexdigest(), sha256(THEIRS).hexdigest(), ("line 1 both",))
    assert isinstance(engine.save(A, BOTH, expected_sha256=sha256(THEIRS).hexdigest(), actor=ME, merge=of), Saved)
    engine.drafts.drop(A)


def test_undo_restores_the_agents_bytes_and_the_draft(engine: Engine) -> None:
    merge(engine)
    done = engine.undo.undo(actor=ME)
    assert all(outcome.ok for outcome in done.outcomes)
    assert done.also == "Your text is a draft again."
    assert engine.read(A).bytes == THEIRS
    (draft,) = engine.drafts.all()
    assert (draft.address, draft.base_sha256, draft.text) == (A, sha256(OLD).hexdigest(), MINE.decode())


def test_what_is_typed_over_a_draft_that_undo_gave_back_is_no_other_window(engine: Engine) -> None:
    merge(engine)
    engine.drafts.save(Draft(A, sha256(BOTH).hexdigest(), "typed and left again\n", (0, 0), 2))
    engine.drafts.drop(A)
    engine.undo.undo(actor=ME)
    heard: list[str] = []
    engine.events.subscribe(lambda batch: heard.extend(one.text for one in batch.notices))
    engine.drafts.save(Draft(A, sha256(THEIRS).hexdigest(), "typed since\n", (0, 0), 3))
    assert heard == []
    assert MINE in {engine.history.read(A, one.sha256) for one in engine.history.of(A)}


def test_redo_writes_the_result_again_and_takes_the_draft(engine: Engine) -> None:
    merge(engine)
    for _ in range(2):
        engine.undo.undo(actor=ME)
        assert [draft.text for draft in engine.drafts.all()] == [MINE.decode()]
        assert not engine.undo.redo(actor=ME).also
        assert engine.read(A).bytes == BOTH
        assert engine.drafts.all() == ()
    texts = {engine.history.read(A, version.sha256) for version in engine.history.of(A)}
    assert texts >= {OLD, MINE, THEIRS, BOTH}


def test_merge_undo_and_redo_are_three_guarded_writes_in_the_log(engine: Engine) -> None:
    merge(engine)
    engine.undo.undo(actor=ME)
    engine.undo.redo(actor=ME)
    redo, undo, save = (record for record in engine.history.audit(limit=3))
    assert (save.before, save.after) == (sha256(THEIRS).hexdigest(), sha256(BOTH).hexdigest())
    assert (undo.before, undo.after) == (save.after, save.before)
    assert (redo.before, redo.after) == (save.before, save.after)
    assert save.note.startswith("merge: base ")
    assert save.note.endswith("; line 1 both")
    assert undo.note == f"undo of {save.note}"
    assert redo.note == f"redo of {save.note}"


def test_a_draft_begun_since_is_left_alone(engine: Engine) -> None:
    merge(engine)
    engine.drafts.save(Draft(A, sha256(BOTH).hexdigest(), "newer\n", (0, 0), 9))
    engine.undo.undo(actor=ME)
    assert [draft.text for draft in engine.drafts.all()] == ["newer\n"]
    engine.undo.redo(actor=ME)
    assert [draft.text for draft in engine.drafts.all()] == ["newer\n"]


def test_what_was_typed_after_the_undo_survives_the_redo(engine: Engine) -> None:
    merge(engine)
    engine.undo.undo(actor=ME)
    engine.drafts.save(Draft(A, sha256(OLD).hexdigest(), "yours, and more\n", (0, 0), 9))
    engine.undo.redo(actor=ME)
    assert [draft.text for draft in engine.drafts.all()] == ["yours, and more\n"]


def test_undo_over_a_newer_text_becomes_a_merge_itself(engine: Engine) -> None:
    merge(engine)
    newer = b"yours\nagent\nand a third\n"
    engine.save(A, newer, expected_sha256=sha256(BOTH).hexdigest(), actor=Actor("agent:other"))
    engine.undo.undo(actor=ME)  # the third writer's
    (Path(engine.roots.file_path(A))).write_bytes(newer)
    done = engine.undo.undo(actor=ME)
    assert not done.outcomes[0].ok
    assert "c merges the draft of it" in done.left
    assert engine.read(A).bytes == newer
    (draft,) = engine.drafts.all()
    assert (draft.base_sha256, draft.text) == (sha256(BOTH).hexdigest(), THEIRS.decode())


def test_a_text_of_yours_that_is_no_text_stays_in_history(engine: Engine) -> None:
    merge(engine, yours=b"\xff\xfe\n")
    engine.undo.undo(actor=ME)
    assert engine.drafts.all() == ()
    assert engine.read(A).bytes == THEIRS
