"""The trash as values: other names; every row fits and is safe."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address, TrashEntry
from memtui.features.trash.view import entry_runs, free_name, heading
from memtui.safe_text import cell_width
from memtui.ui.draw.times import RowStyle

NOW = 1_767_225_600_000
ENTRIES = tuple(
    TrashEntry(Address("notes", name), f"{number}" * 64, 10, actor, NOW - number, str(number), taken)
    for number, (name, actor, taken) in enumerate(
        [("a.md", "tui", False), ("sub/b.md", "agent:claude", True), ("c.md", "outside", False)]
    )
)


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
    text = "".join(words for words, _ in entry_runs(entry, width, RowStyle(NOW, plain), marked=True))
    assert cell_width(text) <= max(width, 60)
    assert "\x1b" not in text
    assert "\n" not in text
