"""The rows of a list as values: filter, marks, what an operation works on."""

from __future__ import annotations

from memtui.ui.list_view import ListRows

WORDS = ("a.md by you", "sub/b.md by Claude", "c.md by nobody")


def filled() -> ListRows[str]:
    found: ListRows[str] = ListRows(lambda word: word.split()[0])
    found.load(WORDS)
    return found


def test_the_filter_wants_every_word_in_any_case() -> None:
    rows = filled()
    for words, left in (((), 3), (("claude",), 1), (("BY",), 3), (("by", "c.md"), 1), (("nothing",), 0)):
        rows.filter(words)
        assert len(rows.shown) == left


def test_marks_count_also_where_the_filter_hides_them_and_go_with_their_rows() -> None:
    rows = filled()
    rows.toggle(0)
    rows.filter(("claude",))
    assert rows.targets(0) == WORDS[:1]
    rows.mark_all()
    assert rows.targets(0) == WORDS[:2]
    rows.load(WORDS[1:])
    assert rows.targets(0) == WORDS[1:2]
    rows.mark_all()
    assert not rows.marks
    rows.filter(())
    rows.mark_range(1, 0, ["a.md"])
    assert rows.targets(0) == WORDS[1:]
    assert rows.marks == {"a.md", "sub/b.md", "c.md"}


def test_without_marks_the_row_is_meant() -> None:
    rows = filled()
    assert rows.targets(2) == WORDS[2:]
    assert rows.targets(3) == ()
