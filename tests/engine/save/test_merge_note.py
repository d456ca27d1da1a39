"""The audit's sentence about a merge can be read again, also when undo and redo repeat it."""

from memtui.engine.model import MergeOf
from memtui.engine.save.merge_note import Merged, merge_note, read_note, repeated

BASE, YOURS, AGENT, RESULT = ("a" * 64, "b" * 64, "c" * 64, "d" * 64)


def test_it_names_the_four_texts_and_every_decision() -> None:
    note = merge_note(MergeOf(BASE, YOURS, AGENT, ("line 6 yours", "line 9 agent, merged")), RESULT)
    assert (
        note == f"merge: base {BASE}, yours {YOURS}, agent {AGENT}, result {RESULT}; line 6 yours, line 9 agent, merged"
    )
    assert read_note(note) == Merged(BASE, YOURS)


def test_a_memory_that_both_created_has_no_base() -> None:
    assert read_note(merge_note(MergeOf(None, YOURS, None), RESULT)) == Merged(None, YOURS)


def test_undo_and_redo_repeat_it_once() -> None:
    note = merge_note(MergeOf(BASE, YOURS, AGENT, ("line 1 both",)), RESULT)
    undone = repeated(note, "undo")
    assert undone == f"undo of {note}"
    assert repeated(undone, "redo") == f"redo of {note}"
    assert read_note(undone) == Merged(BASE, YOURS)


def test_a_thousand_decisions_become_a_number() -> None:
    note = merge_note(MergeOf(BASE, YOURS, AGENT, tuple(f"line {n} yours" for n in range(1_000))), RESULT)
    assert note.endswith("line 99 yours, 900 more")


def test_other_notes_are_not_about_a_merge() -> None:
    for note in ("", "late write into a replaced file", "merge: ", "merge: base none, yours short", "why: merge: it"):
        assert read_note(note) is None
    assert repeated("interrupted", "undo") == ""
