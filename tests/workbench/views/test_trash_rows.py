"""The trash as values: filter, marks, other names; every row fits and is safe."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address, Restoring, TrashEntry
from memtui.safe_text import cell_width
from memtui.ui.draw.times import Look
from memtui.workbench.views.trash_rows import Bin, entry_runs, free_name, heading, key, wanted

NOW = 1_767_225_600_000
ENTRIES = tuple(
    TrashEntry(Address("notes", name), f"{number}" * 64, 10, actor, NOW - number, str(number), taken)
    for number, (name, actor, taken) in enumerate(
        [("a.md", "tui", False), ("sub/b.md", "agent:claude", True), ("c.md", "outside", False)]
    )
)


def filled() -> Bin:
    found = Bin()
    found.load(ENTRIES)
    return found


def paths(entries: tuple[TrashEntry, ...]) -> list[str]:
    return [entry.address.path for entry in entries]


def test_the_filter_knows_names_and_writers() -> None:
    trash = filled()
    for words, left in (((), 3), (("claude",), 1), (("you",), 1), (("notes", "c.md"), 1), (("nothing",), 0)):
        trash.filter(words)
        assert len(trash.shown) == left


def test_marks_count_also_where_the_filter_hides_them_and_go_with_their_rows() -> None:
    trash = filled()
    trash.toggle(0)
    trash.filter(("claude",))
    assert paths(trash.targets(0)) == ["a.md"]
    trash.mark_all()
    assert paths(trash.targets(0)) == ["a.md", "sub/b.md"]
    trash.load(ENTRIES[1:])
    assert paths(trash.targets(0)) == ["sub/b.md"]
    trash.mark_all()
    assert not trash.marks
    trash.filter(())
    trash.mark_range(1, 0, frozenset({key(ENTRIES[2])}))
    assert paths(trash.targets(0)) == ["sub/b.md", "c.md"]


def test_without_marks_the_row_is_meant() -> None:
    trash = filled()
    assert paths(trash.targets(2)) == ["c.md"]
    assert trash.targets(3) == ()
    assert wanted(trash.targets(2)) == (Restoring(Address("notes", "c.md"), "2" * 64),)


def test_another_name_is_free_and_beside_the_old_one() -> None:
    taken = {Address("notes", "sub/a-restored.md")}
    assert free_name(Address("notes", "sub/a.md"), taken.__contains__).path == "sub/a-restored-2.md"
    assert free_name(Address("notes", "a.b.md"), taken.__contains__).path == "a.b-restored.md"
    assert free_name(Address("notes", "Makefile"), taken.__contains__).path == "Makefile-restored"


def test_the_heading_says_what_r_would_do() -> None:
    assert heading(ENTRIES[0], 1, NOW)[-1].startswith("r puts it back under its name, notes/a.md")
    said = heading(ENTRIES[1], 9, NOW)
    assert said[1] == "One of 9 memories that were deleted at once."
    assert "r asks for another name" in said[2]


@given(st.text(min_size=1, max_size=80), st.text(max_size=30), st.integers(40, 200), st.booleans(), st.booleans())
def test_each_row_fits_and_is_safe(path: str, actor: str, width: int, taken: bool, plain: bool) -> None:
    entry = TrashEntry(Address("notes", path), "a" * 64, 10, actor, NOW, "1", taken)
    text = "".join(words for words, _ in entry_runs(entry, width, Look(NOW, plain), marked=True))
    assert cell_width(text) <= max(width, 60)
    assert "\x1b" not in text
    assert "\n" not in text
