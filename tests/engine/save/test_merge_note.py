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


def test_a_thousand_decisions_become_a_number() -> None:
    note = merge_note(MergeOf(BASE, YOURS, AGENT, tuple(f"line {n} yours" for n in range(1_000))), RESULT)
    assert note.endswith("line 99 yours, 900 more")


def test_other_notes_are_not_about_a_merge() -> None:
    for note in ("", "late write into a replaced file", "merge: ", "merge: base none, yours short", "why: merge: it"):
        assert read_note(note) is None
    assert repeated("interrupted", "undo") == ""
